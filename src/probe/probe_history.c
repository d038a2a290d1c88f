/*-------------------------------------------------------------------------
 *
 * probe_history.c
 *	  Keeping probes in the extension's tables.
 *
 * A caller of the probe needs no right to write its history: state.c.  Where
 * nothing can be written, on a standby and in a read-only transaction, the
 * history is left out with a notice.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "probe/probe_history.h"
#include "state/printable.h"
#include "state/state.h"
#include "state/statement.h"
#include "state/subtransaction.h"

void		(*tsa_after_probe) (int64 run_id) = NULL;

/* Put a string, NULL allowed, into an array of datums. */
static void
put_text(Datum *values, bool *nulls, int i, const char *text)
{
	nulls[i] = text == NULL;
	values[i] = text == NULL ? (Datum) 0 : CStringGetTextDatum(text);
}

/*
 * Put a number, NaN meaning NULL, into an array of datums; with three decimals,
 * since times in microseconds are measured in nanoseconds.
 */
static void
put_float(Datum *values, bool *nulls, int i, double number)
{
	nulls[i] = isnan(number);
	values[i] = Float8GetDatum(rint(number * 1000) / 1000);
}

/* Characters of a line in a text with more words. */
#define LINE_LENGTH 32

/*
 * Put a text of words, NULL allowed, into an array of datums, in lines that fit
 * beside other columns.
 */
static void
put_words(Datum *values, bool *nulls, int i, const char *text)
{
	char	   *folded = text == NULL ? NULL : pstrdup(text);
	char	   *line = folded;
	char	   *last = NULL;	/* space after the last word that fits */

	for (char *at = folded; at != NULL && *at != '\0'; at++)
	{
		if (*at != ' ')
			continue;
		if (at - line > LINE_LENGTH && last != NULL)
		{
			*last = '\n';
			line = last + 1;
		}
		last = at;
	}
	if (last != NULL && strlen(line) > LINE_LENGTH)
		*last = '\n';
	put_text(values, nulls, i, folded);
}

/* Form a row of probe_tablespace(). */
void
tsa_result_form(const char *tablespace, const TsaProbeResult *result,
				Datum *values, bool *nulls)
{
	NameData   *name = palloc(sizeof(NameData));
	int			i = 0;

	memset(nulls, 0, TSA_RESULT_COLUMNS * sizeof(bool));
	namestrcpy(name, tablespace);
	values[i++] = NameGetDatum(name);
	values[i++] = CStringGetTextDatum(result->workload);
	values[i++] = Int32GetDatum(result->queue_depth);
	values[i++] = Int32GetDatum(result->io_size);
	values[i++] = Int64GetDatum(result->samples);
	put_float(values, nulls, i++, result->iops);
	put_float(values, nulls, i++, result->mb_per_s);
	put_float(values, nulls, i++, result->mean_us);
	put_float(values, nulls, i++, result->stddev_us);
	put_float(values, nulls, i++, result->min_us);
	put_float(values, nulls, i++, result->p50_us);
	put_float(values, nulls, i++, result->p90_us);
	put_float(values, nulls, i++, result->p95_us);
	put_float(values, nulls, i++, result->p99_us);
	put_float(values, nulls, i++, result->max_us);
	put_float(values, nulls, i++, result->mean_low_us);
	put_float(values, nulls, i++, result->mean_high_us);
	put_words(values, nulls, i++, result->caveat);
	put_words(values, nulls, i++, result->conditions);
	Assert(i == TSA_RESULT_COLUMNS);
}

/*
 * The histogram as pairs of a bucket's lower bound in nanoseconds and its
 * count, empty buckets left out.
 */
static Datum
form_histogram(const TsaLatency *latency)
{
	Size		most = 2 * lengthof(latency->histogram);
	Datum	   *elements = palloc(most * sizeof(Datum));
	Datum	   *next = elements;
	int			dims[2] = {0, 2};
	int			lower_bounds[2] = {1, 1};
	int			bucket;

	for (bucket = 0; bucket < TSA_LATENCY_BUCKETS; bucket++)
	{
		if (latency->histogram[bucket] == 0)
			continue;
		*next++ = Int64GetDatum((int64) tsa_latency_lower(bucket));
		*next++ = Int64GetDatum((int64) latency->histogram[bucket]);
		dims[0]++;
	}
	return PointerGetDatum(construct_md_array(elements, NULL,
											  dims[0] > 0 ? 2 : 0, dims,
											  lower_bounds, INT8OID,
											  sizeof(int64), FLOAT8PASSBYVAL,
											  TYPALIGN_DOUBLE));
}

/* A text as an argument of a statement; NULL if there is none. */
static TsaArg
text_arg(const char *text)
{
	TsaArg		arg = {TEXTOID, (Datum) 0, true};

	if (text !=NULL)
	{
		arg.value = CStringGetTextDatum(text);
		arg.isnull = false;
	}
	return arg;
}

/* Write the row of the run; returns its number. */
static int64
insert_run(const TsaProbeRun *run)
{
	static TsaStatement statement = {
		.sql = "INSERT INTO tablespace_advisor.probe_run"
		" (tablespace, location, device, mode, file_size_bytes, duration,"
		" started_at, finished_at, foreign_io_percent)"
		" VALUES ($1::pg_catalog.name, $2, $3, $4, $5, $6, $7, $8, $9)"
		" RETURNING run_id"
	};
	const TsaArg args[] = {
		[1] = text_arg(run->tablespace),
		[2] = text_arg(run->location),
		[3] = text_arg(run->device),
		[4] = text_arg(run->mode),
		[5] = {INT8OID, Int64GetDatum(run->file_size_bytes), false},
		[6] = {INTERVALOID, IntervalPGetDatum(run->duration), false},
		[7] = {TIMESTAMPTZOID, TimestampTzGetDatum(run->started_at), false},
		[8] = {TIMESTAMPTZOID, TimestampTzGetDatum(run->finished_at), false},
		[9] = {FLOAT8OID, Float8GetDatum(run->foreign_io_percent),
		isnan(run->foreign_io_percent)}
	};

	tsa_run_args(&statement, args, lengthof(args), TSA_CALLS);
	return DatumGetInt64(tsa_result_column(0, "run_id"));
}

/* The columns that the table has and the function does not return. */
#define MORE_COLUMNS 12

/* Write one result: the columns of the function, then the others. */
static void
insert_result(int64 run_id, const char *tablespace,
			  const TsaProbeResult *result)
{
	const TsaConditions *others = &result->others;
	const double figures[] = {
		others->reads_per_s, others->writes_per_s, others->read_mb_per_s,
		others->write_mb_per_s, others->in_flight, others->busy_percent,
		others->waited_percent, result->turns, result->quiet_percent,
		result->burst_iops, result->burst_seconds
	};
	static TsaStatement statement = {
		"INSERT INTO tablespace_advisor.probe_result"
		" (run_id, workload, queue_depth, io_size, samples, iops, mb_per_s,"
		" mean_us, stddev_us, min_us, p50_us, p90_us, p95_us, p99_us, max_us,"
		" mean_low_us, mean_high_us, caveat, conditions, histogram,"
		" others_reads_per_s, others_writes_per_s, others_read_mb_per_s,"
		" others_write_mb_per_s, others_in_flight, device_busy_percent,"
		" processor_wait_percent, turns, quiet_percent, burst_iops,"
		" burst_seconds)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,"
		" $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27,"
		" $28, $29, $30, $31)",
		TSA_RESULT_COLUMNS + MORE_COLUMNS,
		{
			INT8OID, TEXTOID, INT4OID, INT4OID, INT8OID, FLOAT8OID, FLOAT8OID,
			FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID,
			FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, TEXTOID, TEXTOID,
			INT8ARRAYOID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID,
			FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID,
			FLOAT8OID
		},
		NULL
	};
	Datum		values[TSA_RESULT_COLUMNS + MORE_COLUMNS];
	bool		nulls[TSA_RESULT_COLUMNS + MORE_COLUMNS];
	char		flags[TSA_RESULT_COLUMNS + MORE_COLUMNS];
	int			i;

	StaticAssertStmt(lengthof(figures) == MORE_COLUMNS - 1,
					 "each figure has a column");

	/* the function's first column, the tablespace, gives way to the run */
	tsa_result_form(tablespace, result, values, nulls);
	values[0] = Int64GetDatum(run_id);
	values[TSA_RESULT_COLUMNS] = form_histogram(result->latency);
	nulls[TSA_RESULT_COLUMNS] = false;

	for (i = 0; i < (int) lengthof(figures); i++)
		put_float(values, nulls, TSA_RESULT_COLUMNS + 1 + i, figures[i]);
	for (i = 0; i < (int) lengthof(flags); i++)
		flags[i] = nulls[i] ? 'n' : ' ';

	tsa_run(&statement, values, flags, TSA_CALLS);
}

/*
 * Forget runs that are older than tablespace_advisor.keep_history, but for
 * those with the latest trustworthy result of something: advice stands on it.
 * Rows that somebody else is deleting are left to that session.
 */
static void
prune_runs(void)
{
	static TsaStatement statement = {
		"DELETE FROM tablespace_advisor.probe_run WHERE run_id = ANY (ARRAY("
		"SELECT r.run_id FROM tablespace_advisor.probe_run r"
		" WHERE r.finished_at < pg_catalog.now()"
		"   - pg_catalog.make_interval(days => $1)"
		" AND NOT EXISTS (SELECT FROM tablespace_advisor.probe_result p"
		"   WHERE p.run_id = r.run_id"
		"   AND p.caveat IS NULL AND NOT EXISTS (SELECT"
		"     FROM tablespace_advisor.probe_run r2"
		"     JOIN tablespace_advisor.probe_result p2 USING (run_id)"
		"     WHERE r2.tablespace = r.tablespace"
		"     AND r2.location = r.location AND r2.run_id > r.run_id"
		"     AND p2.workload = p.workload"
		"     AND p2.queue_depth = p.queue_depth AND p2.caveat IS NULL"
		"     AND (p2.conditions IS NULL OR p.conditions IS NOT NULL)))"
		" FOR UPDATE OF r SKIP LOCKED))",
		1, {INT4OID}, NULL
	};
	Datum		values[1] = {Int32GetDatum(tsa_keep_history)};

	if (tsa_keep_history > 0)
		tsa_run(&statement, values, NULL, TSA_CALLS);
}

/* For tsa_try() */
static void
run_after_probe(void *arg)
{
	(*tsa_after_probe) (*(int64 *) arg);
}

/* Let a later stage look at the run; its errors are logged. */
static void
finish_run(const TsaProbeRun *run, int64 run_id)
{
	ErrorData  *error = tsa_after_probe == NULL ? NULL :
	tsa_try(run_after_probe, &run_id);

	if (error == NULL)
		return;
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	ereport(LOG,
			(errmsg("could not keep the advice on tablespace \"%s\": %s",
					tsa_printable_text(run->tablespace), error->message)));
}

/* Keep a run, its results, and its advice. */
void
tsa_history_keep(const TsaProbeRun *run)
{
	TsaState	state;
	int64		run_id;
	int			i;

	if (XactReadOnly)
	{
		ereport(NOTICE,
				(errmsg("the probe is not kept in the history"),
				 RecoveryInProgress() ?
				 errdetail("The server is a standby.") :
				 errdetail("The transaction is read-only.")));
		return;
	}

	tsa_state_check("probe_run", RowExclusiveLock);
	tsa_state_check("probe_result", RowExclusiveLock);
	tsa_state_open(&state);
	run_id = insert_run(run);
	for (i = 0; i < run->nresults; i++)
		insert_result(run_id, run->tablespace, &run->results[i]);
	prune_runs();
	tsa_state_close(&state);
	finish_run(run, run_id);
}
