/*-------------------------------------------------------------------------
 *
 * journal.h
 *	  Statements on the journal of moves, with the journal's rights.
 *
 * [T] marks what must be called inside a transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOURNAL_H
#define TSA_JOURNAL_H

#include "postgres.h"

#include "executor/spi.h"

#include "state/state.h"

#define TSA_MAX_QUERY_ARGS 28

/* The states of a job that has not ended, for statements. */
#define TSA_UNFINISHED "('queued', 'running', 'paused')"

/*
 * A statement on the journal and its plan, saved at first use.  Its parameters
 * are either numbered, with types here, or named like :this and described by
 * TsaJournalArg; a statement with more than a few has names.
 */
typedef struct TsaJournalQuery
{
	const char *sql;
	int			nargs;
	Oid			types[TSA_MAX_QUERY_ARGS];
	SPIPlanPtr	plan;
} TsaJournalQuery;

/* A named parameter, in the same place at each call. */
typedef struct TsaJournalArg
{
	const char *name;
	Oid			type;
	Datum		value;
	bool		isnull;
} TsaJournalArg;

/* What tsa_journal_open() changed. */
typedef TsaState TsaJournal;

/* [T] The session's lock on the journal, see journal.c. */
extern bool tsa_keep_journal(void);
extern void tsa_lose_journal(void);

extern void tsa_journal_open(TsaJournal *journal);
extern void tsa_journal_close(TsaJournal *journal);
extern uint64 tsa_journal_run(TsaJournalQuery *query, Datum *values,
							  const char *nulls, bool read_only);
extern uint64 tsa_journal_update(TsaJournalQuery *query, Datum *values,
								 const char *nulls);
extern uint64 tsa_journal_update_by_index(TsaJournalQuery *query,
										  Datum *values);
extern uint64 tsa_journal_run_named(TsaJournalQuery *query,
									const TsaJournalArg *args, int nargs,
									bool read_only);
extern uint64 tsa_journal_update_named(TsaJournalQuery *query,
									   const TsaJournalArg *args, int nargs);
extern Datum tsa_journal_column(uint64 row, const char *name);
extern char *tsa_journal_text(uint64 row, const char *name);

#endif							/* TSA_JOURNAL_H */
