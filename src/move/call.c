/*-------------------------------------------------------------------------
 *
 * call.c
 *	  The common part of procedures that move relations: arguments, conditions
 *	  on the caller's transaction, the result row.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "move/call.h"
#include "move/job/job.h"
#include "move/worker/recover.h"
#include "state/printable.h"
#include "state/state.h"

/* Nothing can be moved, or written down, where nothing can be written. */
void
tsa_refuse_when_read_only(void)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot move relations during recovery"),
				 errhint("Run it on the primary: a standby follows.")));
	if (XactReadOnly)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot move relations in a read-only transaction")));
}

/* The argument number n, which must not be NULL. */
Datum
tsa_required_arg(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
	return PG_GETARG_DATUM(n);
}

/* The range of a rate; pg_size_bytes() at most knows its units. */
static void
hint_at_rates(void *name)
{
	if (geterrcode() != ERRCODE_INVALID_PARAMETER_VALUE)
		return;
	if (strcmp(name, "max_rate") == 0)
		errhint("Write bytes per second such as \"200 MB\", \"none\" for no bound, or \"unlimited\".");
	else
		errhint("Write bytes per second such as \"200 MB\", or \"none\".");
}

/* A rate such as '200 MB' in bytes per second; 0: none. */
static int64
parse_rate(Datum rate, char *name)
{
	ErrorContextCallback callback = {error_context_stack, hint_at_rates, name};
	const char *string = TextDatumGetCString(rate);
	int64		bytes;

	if (pg_strcasecmp(string, "none") == 0)
		return 0;
	error_context_stack = &callback;
	bytes = DatumGetInt64(DirectFunctionCall1(pg_size_bytes, rate));
	if (bytes <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be positive", name)));
	error_context_stack = callback.previous;
	if (strspn(string, " 0123456789.") == strlen(string))
		ereport(NOTICE,
				(errmsg("\"%s\" is " INT64_FORMAT " bytes per second",
						name, bytes),
				 errhint("Units are bytes, kB, MB, GB and TB.")));
	return bytes;
}

/* A rate, 'none' or 'unlimited'. */
void
tsa_parse_max_rate(Datum rate, TsaLimits *limits)
{
	bool		unlimited =
	pg_strcasecmp(TextDatumGetCString(rate), "unlimited") == 0;

	limits->mode = unlimited ? TSA_RATE_UNLIMITED : TSA_RATE_ADAPTS;
	limits->max_rate = unlimited ? 0 : parse_rate(rate, "max_rate");
}

/* A rate or 'none'. */
void
tsa_parse_min_rate(Datum rate, TsaLimits *limits)
{
	limits->min_rate = parse_rate(rate, "min_rate");
}

/* A daily time window such as '22:00-05:00', or 'none'. */
void
tsa_parse_during(Datum during, TsaLimits *limits)
{
	const char *string = TextDatumGetCString(during);
	TsaWindowText status;

	memset(&limits->during, 0, sizeof(limits->during));
	if (pg_strcasecmp(string, "none") == 0)
		return;
	status = tsa_parse_window(string, &limits->during);
	if (status != TSA_WINDOW_GOOD)
		ereport(ERROR,
				(errcode(status == TSA_WINDOW_EMPTY ?
						 ERRCODE_INVALID_PARAMETER_VALUE :
						 ERRCODE_INVALID_DATETIME_FORMAT),
				 errmsg("invalid time window \"%s\"",
						tsa_printable_text(string)),
				 status == TSA_WINDOW_EMPTY ?
				 errdetail("It closes when it opens.") : 0,
				 errhint("Write when it opens and closes in the time zone \"log_timezone\", such as \"01:00-05:00\" or \"22:00-05:00\", or \"none\".")));
}

/* Limits that cannot both be kept are refused. */
void
tsa_check_limits(const TsaLimits *limits)
{
	if (tsa_limits_conflict(limits))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"min_rate\" must not be over \"max_rate\"")));
}

/* A lock timeout in milliseconds. */
int
tsa_parse_lock_timeout(const Interval *timeout)
{
	double		ms;

	ms = timeout->time / 1000.0 +
		((double) timeout->day + (double) timeout->month * DAYS_PER_MONTH) *
		SECS_PER_DAY * 1000.0;
	if (ms < 1 || ms > INT_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"lock_timeout\" must be between 1 ms and %d ms",
						INT_MAX)));
	return (int) ms;
}

/*
 * Reads and checks the arguments that all these procedures have.
 */
void
tsa_parse_move_options(FunctionCallInfo fcinfo, const TsaMoveArgs *args,
					   TsaMoveOptions *options)
{
	Datum		timeout = tsa_required_arg(fcinfo, args->lock_timeout,
										   "lock_timeout");

	if (!PG_ARGISNULL(args->max_rate))
		tsa_parse_max_rate(PG_GETARG_DATUM(args->max_rate), &options->limits);
	if (!PG_ARGISNULL(args->min_rate))
		tsa_parse_min_rate(PG_GETARG_DATUM(args->min_rate), &options->limits);
	if (!PG_ARGISNULL(args->finish_by))
		options->limits.finish_by = PG_GETARG_TIMESTAMPTZ(args->finish_by);
	if (!PG_ARGISNULL(args->during))
		tsa_parse_during(PG_GETARG_DATUM(args->during), &options->limits);
	tsa_check_limits(&options->limits);
	if (!PG_ARGISNULL(args->until))
		options->until = PG_GETARG_TIMESTAMPTZ(args->until);
	options->lock_timeout_ms =
		tsa_parse_lock_timeout(DatumGetIntervalP(timeout));
	options->wait = DatumGetBool(tsa_required_arg(fcinfo, args->wait, "wait"));
	options->dry_run =
		DatumGetBool(tsa_required_arg(fcinfo, args->dry_run, "dry_run"));
	options->wants_forecast = true;
}

/*
 * Refuses a call that could not queue its moves: it has to commit.
 */
static void
check_call(FunctionCallInfo fcinfo)
{
	tsa_refuse_when_read_only();
	if (!tsa_may_commit(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s() cannot run inside a transaction block",
						get_func_name(fcinfo->flinfo->fn_oid)),
				 errdetail("It commits, so that its background worker sees the queued moves."),
				 errhint("Send CALL as a statement of its own, turn autocommit on, or call it from a top-level procedure or DO block in PL/pgSQL, with a variable for job_ids.")));
}

/*
 * Recovers the jobs of dead workers and commits that: the rest may take long,
 * or fail.  So may work that the caller has put off until a commit.
 */
static void
recover_and_commit(void)
{
	MemoryContext context = CurrentMemoryContext;

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	SPI_commit();
	MemoryContextSwitchTo(context);
	(void) tsa_recover_jobs(true);
	SPI_commit();
	SPI_finish();
	MemoryContextSwitchTo(context);
}

/*
 * The beginning of a procedure that queues moves.
 */
void
tsa_begin_call(FunctionCallInfo fcinfo)
{
	check_call(fcinfo);
	if (tsa_has_dead_batch())
		recover_and_commit();
	else
		(void) tsa_recover_jobs(true);	/* or of another database */
}

/* The result row of a procedure with job_ids as its only output. */
Datum
tsa_job_ids_row(FunctionCallInfo fcinfo, List *ids)
{
	int			n = list_length(ids);
	Datum	   *elems = palloc(sizeof(Datum) * (n + 1));
	TupleDesc	desc;
	Datum		values[1];
	bool		nulls[1] = {false};

	for (int i = 0; i < n; i++)
		elems[i] = Int64GetDatum(*(int64 *) list_nth(ids, i));
	values[0] = PointerGetDatum(construct_array(elems, n, INT8OID,
												sizeof(int64), FLOAT8PASSBYVAL,
												TYPALIGN_DOUBLE));
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg_internal("return type must be a row type")));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}
