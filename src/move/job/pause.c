/*-------------------------------------------------------------------------
 *
 * pause.c
 *	  Requests to pause a job.
 *
 * pause_move() inserts a row into tablespace_advisor.pause,
 * which the worker reads: a flag in the job's own row would make the worker
 * wait for a caller whose transaction stays open.  For the same reason the
 * worker never deletes such a row: it is deleted by resume_move() or, with
 * the jobs, by forgetting them, and means nothing once its job has ended.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "move/job/journal.h"
#include "move/job/pause.h"

/* Runs a statement on the requests to pause; true if it finds a row. */
static bool
run_on_pause(TsaJournalQuery *query, int64 job_id)
{
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	return tsa_journal_update(query, values, NULL) == 1;
}

bool
tsa_pause_is_requested(int64 job_id)
{
	static TsaJournalQuery query = {
		"SELECT FROM tablespace_advisor.pause WHERE job_id = $1",
		1, {INT8OID}, NULL
	};

	return run_on_pause(&query, job_id);
}

bool
tsa_request_pause(int64 job_id)
{
	static TsaJournalQuery query = {
		"INSERT INTO tablespace_advisor.pause (job_id) VALUES ($1)"
		" ON CONFLICT DO NOTHING",
		1, {INT8OID}, NULL
	};

	return run_on_pause(&query, job_id);
}

bool
tsa_withdraw_pause(int64 job_id)
{
	static TsaJournalQuery query = {
		"DELETE FROM tablespace_advisor.pause WHERE job_id = $1",
		1, {INT8OID}, NULL
	};

	return run_on_pause(&query, job_id);
}
