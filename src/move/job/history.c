/*-------------------------------------------------------------------------
 *
 * history.c
 *	  The journal of moves in the long run: how long ended jobs are kept, and
 *	  their lines in the server's log.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
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

/*
 * A role that may move a relation can fill the journal, with as many jobs of
 * small indexes as a worker can do.  So no more than these are kept: of a
 * relation, and of a role that is no superuser, since relations come and go.
 */
#define JOBS_OF_RELATION	"50"
#define JOBS_OF_ROLE		"100000"

/* So many are forgotten at a time. */
#define FORGOTTEN_AT_A_TIME	"10000"

/* A job that has ended and has left nothing.  For statements. */
#define TSA_IS_OVER \
	"state IN ('done', 'failed', 'cancelled')" \
	" AND new_filenumbers IS NULL AND old_filenumbers IS NULL" \
	" AND known_indexes IS NULL"

/*
 * The jobs that are to be forgotten after $1 days, or that are too many of a
 * relation or role of batch $2.  Each part is in the order of an index, or all
 * of the journal would be read.  For statements.
 */
#define TSA_TO_FORGET \
	"(SELECT job_id FROM tablespace_advisor.job" \
	"  WHERE " TSA_IS_OVER " AND finished_at < pg_catalog.now()" \
	"    - pg_catalog.make_interval(days => $1)" \
	"  ORDER BY finished_at LIMIT " FORGOTTEN_AT_A_TIME ")" \
	" UNION ALL" \
	" SELECT o.job_id FROM tablespace_advisor.job b" \
	"  CROSS JOIN LATERAL (SELECT job_id FROM tablespace_advisor.job" \
	"    WHERE relation = b.relation AND " TSA_IS_OVER \
	"    ORDER BY job_id DESC LIMIT " FORGOTTEN_AT_A_TIME \
	"    OFFSET " JOBS_OF_RELATION ") o" \
	"  WHERE b.batch_id = $2" \
	" UNION ALL" \
	" SELECT o.job_id FROM pg_catalog.pg_roles r" \
	"  CROSS JOIN LATERAL (SELECT job_id FROM tablespace_advisor.job" \
	"    WHERE owner = r.oid AND batch_id <> $2 AND " TSA_IS_OVER \
	"      AND job_id <= (SELECT job_id FROM tablespace_advisor.job" \
	"        WHERE owner = r.oid" \
	"        ORDER BY job_id DESC LIMIT 1 OFFSET " JOBS_OF_ROLE ")" \
	"    ORDER BY job_id LIMIT " FORGOTTEN_AT_A_TIME ") o" \
	"  WHERE NOT r.rolsuper AND r.oid = (SELECT owner" \
	"    FROM tablespace_advisor.job WHERE job_id = $2)"

/*
 * Forgets jobs that ended longer ago than tablespace_advisor.keep_history, and
 * the oldest of more than are kept of a batch's relations, unless something of
 * them is still to be removed.  The requests about them go before: one that
 * somebody is withdrawing, in a transaction that may stay open, would be
 * waited for, and keeps its job instead.  Nor is that table waited for: a
 * worker has the journal locked, and DROP EXTENSION may have locked the other
 * and wait for the journal.  [T]
 */
void
tsa_prune_jobs(int64 batch_id)
{
	static TsaStatement requests = {
		"DELETE FROM tablespace_advisor.request WHERE job_id = ANY (ARRAY("
		" SELECT job_id FROM tablespace_advisor.request"
		" WHERE job_id = ANY (ARRAY(" TSA_TO_FORGET "))"
		" FOR UPDATE SKIP LOCKED))",
		2, {INT4OID, INT8OID}, NULL
	};
	static TsaStatement jobs = {
		"DELETE FROM tablespace_advisor.job WHERE job_id = ANY (ARRAY("
		" SELECT job_id FROM tablespace_advisor.job j"
		" WHERE job_id = ANY (ARRAY(" TSA_TO_FORGET "))"
		" AND NOT EXISTS (SELECT FROM tablespace_advisor.request p"
		"   WHERE p.job_id = j.job_id)"
		" FOR UPDATE OF j SKIP LOCKED))",
		2, {INT4OID, INT8OID}, NULL
	};
	Datum		values[2];

	if (tsa_keep_history == 0 ||
		!tsa_state_try_lock("request", RowExclusiveLock))
		return;
	values[0] = Int32GetDatum(tsa_keep_history);
	values[1] = Int64GetDatum(batch_id);
	tsa_journal_update_by_index(&requests, values);
	tsa_journal_update_by_index(&jobs, values);
}

/*
 * Before the first move of a database: a publication FOR ALL TABLES has the
 * journal in it, and a subscriber that has no such table stops at its first
 * row.  [T]
 */
void
tsa_warn_of_publication(void)
{
	static TsaStatement query = {
		"SELECT pg_catalog.quote_ident(p.pubname) AS name"
		" FROM pg_catalog.pg_publication p WHERE p.puballtables"
		" AND NOT EXISTS (SELECT FROM tablespace_advisor.job)"
		" ORDER BY 1 LIMIT 1",
		0, {0}, NULL
	};
	TsaState	journal;

	tsa_journal_open(&journal);
	if (tsa_run(&query, NULL, NULL, TSA_READS) == 1)
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("publication %s includes the journal of moves",
						tsa_result_text(0, "name")),
				 errdetail("It is for all tables. A subscriber that does not have the extension stops when it gets the journal's first row."),
				 errhint("Create the extension on subscribers, too; they leave out the rows. Or publish tables or schemas by name.")));
	tsa_state_close(&journal);
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
 * Writes a line to the server's log: the relation, from where to where, the
 * role.  [T]
 */
void
tsa_log_job(int64 job_id)
{
	static TsaStatement query = {
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
	TsaState	journal;

	if (!log_moves)
		return;
	values[0] = Int64GetDatum(job_id);
	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) == 1)
		ereport(LOG,
				(errmsg("moved %s", tsa_result_text(0, "what")),
				 errdetail_internal("%s", tsa_result_text(0, "job"))));
	tsa_state_close(&journal);
}
