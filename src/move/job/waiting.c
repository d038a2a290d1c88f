/*-------------------------------------------------------------------------
 *
 * waiting.c
 *	  Jobs that wait for their daily time window.
 *
 * They are queued or interrupted, have no worker, and need none before the
 * window opens: see the view waiting_job.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"

#include "move/job/batch_lock.h"
#include "move/job/journal.h"
#include "move/job/waiting.h"

/* The time that a query finds; DT_NOEND if none. */
static TimestampTz
find_opening(TsaStatement *query, int64 arg)
{
	TimestampTz opening = DT_NOEND;
	Datum		values[1];
	TsaState	journal;

	values[0] = Int64GetDatum(arg);
	tsa_journal_open(&journal);
	if (tsa_run(query, values, NULL, TSA_READS) == 1 &&
		tsa_result_column(0, "opens_at") != (Datum) 0)
		opening = DatumGetTimestampTz(tsa_result_column(0, "opens_at"));
	tsa_state_close(&journal);
	return opening;
}

/*
 * When the next window opens that a job of this database waits for.
 */
TimestampTz
tsa_next_opening(void)
{
	static TsaStatement query = {
		"SELECT pg_catalog.min(opens_at) AS opens_at"
		" FROM tablespace_advisor.waiting_job",
		0, {0}, NULL
	};

	return find_opening(&query, 0);
}

/*
 * When the next window opens, if all that is left of a batch waits for one.
 */
TimestampTz
tsa_opening_of_batch(int64 batch_id)
{
	static TsaStatement query = {
		"SELECT pg_catalog.min(w.opens_at) AS opens_at"
		" FROM tablespace_advisor.job j"
		" LEFT JOIN tablespace_advisor.waiting_job w USING (job_id)"
		" WHERE j.batch_id = $1 AND j.state IN " TSA_UNFINISHED
		" HAVING pg_catalog.count(*) = pg_catalog.count(w.opens_at)",
		1, {INT8OID}, NULL
	};

	return find_opening(&query, batch_id);
}

/*
 * Says when that is, unless it has been told already.  Returns it.
 */
TimestampTz
tsa_tell_opening(int64 batch_id, TimestampTz told)
{
	TimestampTz opening = tsa_opening_of_batch(batch_id);

	if (!TIMESTAMP_IS_NOEND(opening) && opening != told)
		ereport(NOTICE,
				(errmsg("what is to be moved waits for its time window, which opens at %s",
						timestamptz_to_str(opening))));
	return opening;
}

/*
 * How many calls of a user, but that one, just wait for their windows.  Those
 * that have a worker count by its locks.
 */
int
tsa_count_waiting_calls(Oid user, int64 but)
{
	static TsaStatement query = {
		"SELECT DISTINCT batch_id FROM tablespace_advisor.waiting_job"
		" WHERE call_user = $1 AND batch_id <> $2",
		2, {OIDOID, INT8OID}, NULL
	};
	Datum		values[2];
	TsaState	journal;
	int			n = 0;

	values[0] = ObjectIdGetDatum(user);
	values[1] = Int64GetDatum(but);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Datum		batch_id = tsa_result_column(i, "batch_id");

		n += !tsa_is_batch_worker(DatumGetInt64(batch_id), 0);
	}
	tsa_state_close(&journal);
	return n;
}
