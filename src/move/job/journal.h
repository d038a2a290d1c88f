/*-------------------------------------------------------------------------
 *
 * journal.h
 *	  Statements on the journal of moves, with the journal's rights.
 *
 * [T] marks functions that must be called inside a transaction.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOURNAL_H
#define TSA_JOURNAL_H

#include "postgres.h"

#include "state/state.h"
#include "state/statement.h"

/* The states of a job that has not ended, for statements. */
#define TSA_UNFINISHED "('queued', 'running', 'paused', 'interrupted')"

/* [T] The session's lock on the journal, see journal.c. */
extern bool tsa_keep_journal(void);
extern void tsa_lose_journal(void);
extern bool tsa_journal_keeps(Oid relid);	/* [T] */
extern void tsa_release_journal(void);

extern void tsa_journal_open(TsaState *journal);
extern uint64 tsa_journal_update(TsaStatement *statement, Datum *values,
								 const char *nulls);
extern void tsa_journal_plan(TsaStatement *statement);
extern uint64 tsa_journal_update_by_index(TsaStatement *statement,
										  Datum *values);
extern uint64 tsa_journal_update_args(TsaStatement *statement,
									  const TsaArg *args, int nargs);

#endif							/* TSA_JOURNAL_H */
