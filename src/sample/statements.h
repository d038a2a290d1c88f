/*-------------------------------------------------------------------------
 *
 * statements.h
 *	  Rows of pg_stat_statements().
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_STATEMENTS_H
#define TSA_STATEMENTS_H

#include "postgres.h"

#include "nodes/execnodes.h"

/* Takes the rows in setResult; false if they have not the columns it needs. */
typedef bool (*TsaTakeStatements) (ReturnSetInfo *result, void *arg);

extern int	tsa_column_of(TupleDesc rows, const char *name, Oid type);
extern bool tsa_call_statements(bool with_texts, TsaTakeStatements take,
								void *arg);

#endif							/* TSA_STATEMENTS_H */
