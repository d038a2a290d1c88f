/*-------------------------------------------------------------------------
 *
 * statement.h
 *	  Statements that run with the extension's rights.
 *
 * Between tsa_state_open() and tsa_state_close() (state.h).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_STATEMENT_H
#define TSA_STATEMENT_H

#include "postgres.h"

#include "executor/spi.h"

#define TSA_MAX_ARGS 32

/*
 * A statement and its plan, saved at first use.  Its parameters' types are
 * here, or come with their values (TsaArg) where there are more than a few.
 */
typedef struct TsaStatement
{
	const char *sql;
	int			nargs;
	Oid			types[TSA_MAX_ARGS];
	SPIPlanPtr	plan;
} TsaStatement;

/* A parameter: args[n] is $n, args[0] is not used. */
typedef struct TsaArg
{
	Oid			type;
	Datum		value;
	bool		isnull;
} TsaArg;

/* How a statement sees and changes rows, see statement.c. */
typedef enum TsaStatementMode
{
	TSA_READS,
	TSA_WRITES,
	TSA_CALLS
} TsaStatementMode;

extern uint64 tsa_run(TsaStatement *statement, Datum *values,
					  const char *nulls, TsaStatementMode mode);
extern uint64 tsa_run_args(TsaStatement *statement, const TsaArg *args,
						   int nargs, TsaStatementMode mode);
extern void tsa_plan(TsaStatement *statement);
extern int	tsa_set_isolation(int level);
extern Datum tsa_result_column(uint64 row, const char *name);
extern char *tsa_result_text(uint64 row, const char *name);

#endif							/* TSA_STATEMENT_H */
