/*-------------------------------------------------------------------------
 *
 * history.c
 *	  The journal of moves in the long run: how long ended jobs are kept, who
 *	  else gets them, and what the server's log says of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "move/job/history.h"
#include "move/job/journal.h"
#include "state/state.h"

/* A job that is to be forgotten after $1 days.  For statements. */
#define TSA_IS_OLD \
	"(state IN ('done', 'failed', 'cancelled')" \
	" AND finished_at < pg_catalog.now()" \
	"   - pg_catalog.make_interval(days => $1)" \
	" AND new_filenumbers IS NULL AND old_filenumbers IS NULL" \
	" AND known_indexes IS NULL)"

/*
 * Forgets jobs that ended longer ago than tablespace_advisor.keep_history,
 * unless something of them is still to be removed.  The requests about them
 * go before: one that somebody is withdrawing, in a transaction that may stay
 * open, would be waited for, and keeps its job instead.  Nor is that table
 * waited for: a worker has the journal locked, and DROP EXTENSION may have
 * locked the other and wait for the journal.  [T]
 */
void
tsa_prune_jobs(void)
{
	static TsaJournalQuery requests = {
		"DELETE FROM tablespace_advisor.request WHERE job_id = ANY (ARRAY("
		" SELECT p.job_id FROM tablespace_advisor.request p"
		" JOIN tablespace_advisor.job j USING (job_id)"
		" WHERE " TSA_IS_OLD " FOR UPDATE OF p SKIP LOCKED))",
		1, {INT4OID}, NULL
	};
	static TsaJournalQuery jobs = {
		"DELETE FROM tablespace_advisor.job WHERE job_id = ANY (ARRAY("
		" SELECT job_id FROM tablespace_advisor.job j WHERE " TSA_IS_OLD
		" AND NOT EXISTS (SELECT FROM tablespace_advisor.request p"
		"   WHERE p.job_id = j.job_id)"
		" FOR UPDATE OF j SKIP LOCKED))",
		1, {INT4OID}, NULL
	};
	Datum		values[1];

	if (tsa_keep_history == 0 ||
		!tsa_state_try_lock("request", RowExclusiveLock))
		return;
	values[0] = Int32GetDatum(tsa_keep_history);
	tsa_journal_update(&requests, values, NULL);
	tsa_journal_update(&jobs, values, NULL);
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
		"SELECT pg_catalog.quote_ident(p.pubname) AS name"
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
						tsa_journal_text(0, "name")),
				 errdetail("It is for all tables. A subscriber that does not have the extension stops when it gets the journal's first row."),
				 errhint("Create the extension on subscribers, too; they leave out the rows. Or publish tables or schemas by name.")));
	tsa_journal_close(&journal);
}

/* tablespace_advisor.log_moves */
static bool log_moves = true;

/*
 * Registers the configuration parameter.
 */
void
tsa_init_job_history(void)
{
	DefineCustomBoolVariable("tablespace_advisor.log_moves",
							 "Logs each relation that has moved to another tablespace.",
							 "Moves are no commands that log_statement shows, and fire no event triggers.",
							 &log_moves, true,
							 PGC_SUSET, 0, NULL, NULL, NULL);
}

/*
 * Writes a line to the server's log: what has moved, from where to where, by
 * whom.  [T]
 */
void
tsa_log_job(int64 job_id)
{
	static TsaJournalQuery query = {
		"SELECT pg_catalog.format('%s %I.%I from tablespace %I to %I',"
		"   CASE WHEN kind IN ('i', 'I') THEN 'index' ELSE 'table' END,"
		"   schema_name, relation_name, from_tablespace_name,"
		"   to_tablespace_name) AS what,"
		" pg_catalog.format('Job %s of role %s, method %s, %s indexes along.',"
		"   job_id, owner::pg_catalog.regrole, method,"
		"   coalesce(pg_catalog.cardinality(indexes), 0)) AS job"
		" FROM tablespace_advisor.job WHERE job_id = $1",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaJournal	journal;

	if (!log_moves)
		return;
	values[0] = Int64GetDatum(job_id);
	tsa_journal_open(&journal);
	if (tsa_journal_run(&query, values, NULL, true) == 1)
		ereport(LOG,
				(errmsg("moved %s", tsa_journal_text(0, "what")),
				 errdetail_internal("%s", tsa_journal_text(0, "job"))));
	tsa_journal_close(&journal);
}
