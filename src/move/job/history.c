/*-------------------------------------------------------------------------
 *
 * history.c
 *	  The journal of moves in the long run: how long ended jobs are kept, and
 *	  who else gets them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"

#include "move/job/history.h"
#include "move/job/journal.h"
#include "state/state.h"

/*
 * Forgets jobs that ended longer ago than tablespace_advisor.keep_history,
 * unless something of them is still to be removed.  The requests to pause them
 * go along.  That table is not waited for: a worker has the journal locked, and
 * DROP EXTENSION may have locked the other and wait for the journal.  [T]
 */
void
tsa_prune_jobs(void)
{
	static TsaJournalQuery query = {
		"DELETE FROM tablespace_advisor.job WHERE job_id = ANY (ARRAY("
		" SELECT job_id FROM tablespace_advisor.job"
		" WHERE state IN ('done', 'failed', 'cancelled')"
		" AND finished_at < pg_catalog.now()"
		"   - pg_catalog.make_interval(days => $1)"
		" AND new_filenumbers IS NULL AND old_filenumbers IS NULL"
		" AND known_indexes IS NULL FOR UPDATE SKIP LOCKED))",
		1, {INT4OID}, NULL
	};
	Datum		values[1];

	if (tsa_keep_history == 0 ||
		!tsa_state_try_lock("pause", RowExclusiveLock))
		return;
	values[0] = Int32GetDatum(tsa_keep_history);
	tsa_journal_update(&query, values, NULL);
}

/*
 * Before the first move of a database: a publication FOR ALL TABLES has the
 * journal in it, and a subscriber that has no such table stops at its first
 * row.  [T]
 */
void
tsa_warn_of_publication(void)
{
	static TsaJournalQuery query = {
		"SELECT pg_catalog.quote_ident(p.pubname)"
		" FROM pg_catalog.pg_publication p WHERE p.puballtables"
		" AND NOT EXISTS (SELECT FROM tablespace_advisor.job)"
		" ORDER BY 1 LIMIT 1",
		0, {0}, NULL
	};
	TsaJournal	journal;

	tsa_journal_open(&journal);
	if (tsa_journal_run(&query, NULL, NULL, true) == 1)
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("publication %s includes the journal of moves",
						TextDatumGetCString(tsa_journal_value(0, 1))),
				 errdetail("It is for all tables. A subscriber that does not have the extension stops when it gets the journal's first row."),
				 errhint("Create the extension on subscribers, too; they leave out the rows. Or publish tables or schemas by name.")));
	tsa_journal_close(&journal);
}
