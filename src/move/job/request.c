/*-------------------------------------------------------------------------
 *
 * request.c
 *	  Requests to a job that is queued or under way.
 *
 * pause_move() and alter_move() write to a row of tablespace_advisor.request,
 * which the worker reads: the job's own row would make the worker wait for a
 * caller in a transaction that stays open.  For the same reason the worker
 * never writes to it.  It goes with the job when that is forgotten, and a
 * request to pause means nothing once the job has ended.
 *
 * A foreign key would replace the snapshot of a caller's transaction
 * (statement.c), so each insertion locks the row of the job itself.
 *
 * Limits that are asked for stand in the place of the job's own, all of them:
 * alter_move() has filled in those that it leaves.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"

#include "move/job/job_limits.h"
#include "move/job/journal.h"
#include "move/job/request.h"

/* Runs a statement on the requests of a job; true if it finds a row. */
static bool
run_on_request(TsaStatement *query, int64 job_id)
{
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	return tsa_journal_update(query, values, NULL) == 1;
}

/* Is the job asked to pause? */
bool
tsa_pause_is_requested(int64 job_id)
{
	static TsaStatement query = {
		"SELECT FROM tablespace_advisor.request WHERE job_id = $1 AND pause",
		1, {INT8OID}, NULL
	};

	return run_on_request(&query, job_id);
}

/* Asks a job to pause.  True if it was not asked before. */
bool
tsa_request_pause(int64 job_id)
{
	static TsaStatement query = {
		"INSERT INTO tablespace_advisor.request AS r (job_id)"
		" SELECT job_id FROM tablespace_advisor.job"
		" WHERE job_id = $1 FOR KEY SHARE"
		" ON CONFLICT (job_id) DO UPDATE SET pause = true WHERE NOT r.pause",
		1, {INT8OID}, NULL
	};

	return run_on_request(&query, job_id);
}

/* Takes that back.  True if there was something to take back. */
bool
tsa_withdraw_pause(int64 job_id)
{
	static TsaStatement query = {
		"UPDATE tablespace_advisor.request SET pause = false"
		" WHERE job_id = $1 AND pause",
		1, {INT8OID}, NULL
	};

	return run_on_request(&query, job_id);
}

/* Asks a job to keep other limits from now on. */
void
tsa_request_limits(int64 job_id, const TsaLimits *limits)
{
	static TsaStatement query = {
		"INSERT INTO tablespace_advisor.request"
		" (job_id, pause, alters, max_rate, min_rate, finish_by,"
		" during, lock_timeout_ms)"
		" SELECT job_id, false, true, $2, $3, $4, $5, $6"
		" FROM tablespace_advisor.job WHERE job_id = $1 FOR KEY SHARE"
		" ON CONFLICT (job_id) DO UPDATE SET alters = true,"
		" max_rate = excluded.max_rate, min_rate = excluded.min_rate,"
		" finish_by = excluded.finish_by, during = excluded.during,"
		" lock_timeout_ms = excluded.lock_timeout_ms",
		6, {INT8OID, INT8OID, INT8OID, TIMESTAMPTZOID, TEXTOID, INT4OID}, NULL
	};
	TsaLimitsValues v = tsa_limits_values(limits);
	Datum		values[6];
	char		nulls[] = "      ";

	values[0] = Int64GetDatum(job_id);
	for (int i = 0; i < 4; i++)
	{
		values[i + 1] = v.values[i];
		nulls[i + 1] = v.nulls[i] ? 'n' : ' ';
	}
	values[5] = Int32GetDatum(limits->lock_timeout_ms);
	tsa_journal_update(&query, values, nulls);
}

/*
 * How long moves of an owner waited for locks lately: nine of ten no longer.
 */
double
tsa_recent_waits_ms(Oid owner)
{
	/* nine of ten waited no longer */
	static TsaStatement query = {
		"SELECT pg_catalog.percentile_disc(0.9) WITHIN GROUP"
		"   (ORDER BY r.waited_ms) AS ms"
		" FROM (SELECT j.waited_ms, j.state, j.method"
		"   FROM tablespace_advisor.job j WHERE j.owner = $1"
		"   ORDER BY j.job_id DESC LIMIT 50) r"
		" WHERE r.state = 'done' AND r.method = 'copy'",
		1, {OIDOID}, NULL
	};
	Datum		values[1];
	Datum		ms;
	double		waits = 0;
	TsaState	journal;

	values[0] = ObjectIdGetDatum(owner);
	tsa_journal_open(&journal);
	tsa_state_use_indexes();
	tsa_run(&query, values, NULL, TSA_READS);
	ms = tsa_result_column(0, "ms");
	if (ms != (Datum) 0)
		waits = DatumGetFloat8(ms);
	tsa_state_close(&journal);
	return waits;
}

/*
 * The limits of a job as they are now, and bytes that are left of the other
 * moves of its call (0 where no time is set by which it has to end).
 */
void
tsa_read_limits(int64 job_id, TsaLimits *limits, int64 *others_left)
{
	static TsaStatement query = {
		"SELECT l.max_rate, l.min_rate, l.finish_by, l.lock_timeout_ms,"
		" l.during,"
		" CASE WHEN l.finish_by IS NOT NULL THEN"
		"   tablespace_advisor.bytes_left_beside(l.job_id) END AS others_left"
		" FROM tablespace_advisor.job_limits l WHERE l.job_id = $1",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaState	journal;

	*limits = TSA_NO_LIMITS;
	*others_left = 0;
	values[0] = Int64GetDatum(job_id);
	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) == 1)
	{
		tsa_limits_of_result(limits);
		*others_left = DatumGetInt64(tsa_result_column(0, "others_left"));
	}
	tsa_state_close(&journal);
}
