/*-------------------------------------------------------------------------
 *
 * state.h
 *	  The extension's own tables, in the schema tablespace_advisor.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_STATE_H
#define TSA_STATE_H

#include "postgres.h"

#include "fmgr.h"
#include "storage/lockdefs.h"

/* The changes of tsa_state_open(). */
typedef struct TsaState
{
	Oid			userid;
	int			sec_context;
	int			guc_level;
} TsaState;

/* Takes its values from a row; false if they make no sense. */
typedef bool (*TsaTakeRow) (const Datum *values, const bool *nulls, void *arg);

/* tablespace_advisor.keep_history, in days; 0: for ever */
extern int	tsa_keep_history;

extern void tsa_init_state(void);
extern bool tsa_state_is_current(void);
extern bool tsa_state_is_new(void);
extern Oid	tsa_state_extension(void);
extern Oid	tsa_state_public_schema(void);
extern Oid	tsa_state_schema_of(const char *extension);
extern Oid	tsa_state_table(const char *table);
extern Oid	tsa_state_lock(const char *table, LOCKMODE mode);
extern Oid	tsa_state_try_lock(const char *table, LOCKMODE mode);
extern bool tsa_state_read_row(Oid table, Oid key, int ncolumns,
							   TsaTakeRow take, void *arg);
extern void tsa_state_check(const char *table, LOCKMODE mode);
extern void tsa_check_signature(FunctionCallInfo fcinfo, const char *table,
								int nargs);
extern void tsa_refuse_restricted_operation(FunctionCallInfo fcinfo);
extern bool tsa_may_commit(FunctionCallInfo fcinfo);
extern void tsa_state_show_all_relations(void);
extern void tsa_state_use_indexes(void);

/* The extension's rights, for the statements of statement.h. */
extern void tsa_state_open(TsaState *state);
extern void tsa_state_close(TsaState *state);

#endif							/* TSA_STATE_H */
