/*-------------------------------------------------------------------------
 *
 * journal.c
 *	  Access to the journal of moves, tablespace_advisor.job.
 *
 * Statements are constants, their plans are saved, and state.c sees to it that
 * no code but the server's runs with the rights that they need.  A worker keeps
 * the lock on the journal for its life, and so looks but once whether it is the
 * extension's and of this library's version (journal_kept).
 *
 * An error leaves user, settings and snapshot to the abort of the caller's
 * transaction, which restores all three.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

#include "move/job/journal.h"
#include "state/state.h"

/*
 * Locks the journal until the transaction ends, and returns its OID; InvalidOid
 * if there is none.
 */
Oid
tsa_lock_journal(void)
{
	return tsa_state_lock("job", AccessShareLock);
}

/*
 * Does this process hold the lock on the journal, at session level, and has it
 * found all as it should be since?
 */
static bool journal_kept = false;
static bool journal_checked = false;

/*
 * The session-level lock on the journal has been taken, or is lost.
 */
void
tsa_journal_is_kept(bool kept)
{
	journal_kept = kept;
	journal_checked = false;
}

/*
 * Throws unless the journal is there and of this library's version.
 */
static void
check_journal(void)
{
	if (journal_checked)
		return;
	tsa_state_check("job", AccessShareLock);
	journal_checked = journal_kept;
}

/*
 * Takes on the journal's rights, with a snapshot of now and an SPI connection.
 */
void
tsa_journal_open(TsaJournal *journal)
{
	check_journal();
	tsa_state_open(journal);
	PushActiveSnapshot(GetLatestSnapshot());
	SPI_connect();
}

/* Undoes tsa_journal_open(). */
void
tsa_journal_close(TsaJournal *journal)
{
	SPI_finish();
	PopActiveSnapshot();
	tsa_state_close(journal);
}

/* Runs a statement in an open journal; returns the number of rows. */
uint64
tsa_journal_run(TsaJournalQuery *query, Datum *values, const char *nulls,
				bool read_only)
{
	int			rc;

	if (query->plan == NULL)
	{
		SPIPlanPtr	plan = SPI_prepare(query->sql, query->nargs,
									   query->types);

		if (plan == NULL)
			elog(ERROR, "SPI_prepare failed: %s",
				 SPI_result_code_string(SPI_result));
		SPI_keepplan(plan);
		query->plan = plan;
	}
	rc = SPI_execute_plan(query->plan, values, nulls, read_only, 0);
	if (rc < 0)
		elog(ERROR, "SPI_execute_plan failed: %s",
			 SPI_result_code_string(rc));
	return SPI_processed;
}

/* Opens the journal for one statement that changes it; returns its rows. */
uint64
tsa_journal_update(TsaJournalQuery *query, Datum *values, const char *nulls)
{
	TsaJournal	journal;
	uint64		rows;

	tsa_journal_open(&journal);
	rows = tsa_journal_run(query, values, nulls, false);
	tsa_journal_close(&journal);
	return rows;
}

/* Column col (from 1) of a row of the last result; 0 when it is NULL. */
Datum
tsa_journal_value(uint64 row, int col)
{
	bool		isnull;
	Datum		datum = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc, col, &isnull);

	return isnull ? (Datum) 0 : datum;
}

void
tsa_commit_lazily(void)
{
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}
