/*-------------------------------------------------------------------------
 *
 * move.c
 *	  What people call: move_indexes_concurrently(), cancel_move(),
 *	  pause_move(), resume_move(), retry_move() and undo_move().
 *
 * A call checks, queues, commits and, unless told otherwise, waits for its
 * worker.  While it waits it holds no lock, no transaction id and, but for
 * the moments when it reads the journal, no snapshot: a rebuild waits for all
 * that, in a way that the deadlock detector cannot see.  For the same reason
 * the procedure has neither SET nor SECURITY DEFINER, which would forbid it
 * to commit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "move/journal.h"
#include "move/manners.h"
#include "move/plan.h"
#include "move/wait.h"
#include "move/worker.h"

PG_FUNCTION_INFO_V1(tsa_move_indexes_concurrently);
PG_FUNCTION_INFO_V1(tsa_cancel_move);
PG_FUNCTION_INFO_V1(tsa_pause_move);
PG_FUNCTION_INFO_V1(tsa_resume_move);
PG_FUNCTION_INFO_V1(tsa_retry_move);
PG_FUNCTION_INFO_V1(tsa_undo_move);

/* Nothing can be moved, or written down, where nothing can be written. */
static void
refuse_when_read_only(void)
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
static Datum
required_arg(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
	return PG_GETARG_DATUM(n);
}

/* The method that a name asks for. */
static TsaMoveMethod
parse_method(const char *name)
{
	TsaMoveMethod method;

	if (!tsa_move_method_by_name(name, &method) ||
		method == TSA_METHOD_CATALOG)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid method \"%s\"", name),
				 errhint("Available methods are \"auto\", \"copy\" and \"rebuild\".")));
	return method;
}

/* A rate such as '200 MB' in bytes per second. */
static int64
parse_max_rate(Datum rate)
{
	int64		bytes = DatumGetInt64(DirectFunctionCall1(pg_size_bytes, rate));

	if (bytes <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"max_rate\" must be positive")));
	return bytes;
}

/* A lock timeout in milliseconds. */
static int
parse_lock_timeout(const Interval *timeout)
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

/* A tablespace by name that a relation of a database can be in. */
static Oid
parse_tablespace(const char *name)
{
	Oid			tablespace = get_tablespace_oid(name, false);

	if (tablespace == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only shared relations can be placed in pg_global tablespace")));
	return tablespace;
}

/* Reads and checks the arguments of move_indexes_concurrently(). */
static void
parse_options(FunctionCallInfo fcinfo, TsaMoveOptions *options)
{
	memset(options, 0, sizeof(*options));
	options->target = DatumGetObjectId(required_arg(fcinfo, 0, "target"));
	if (!PG_ARGISNULL(1))
		options->tablespace =
			parse_tablespace(NameStr(*PG_GETARG_NAME(1)));
	if (!PG_ARGISNULL(2))
		options->indexes = PG_GETARG_ARRAYTYPE_P_COPY(2);
	options->method =
		parse_method(TextDatumGetCString(required_arg(fcinfo, 3, "method")));
	if (!PG_ARGISNULL(4))
		options->max_rate = parse_max_rate(PG_GETARG_DATUM(4));
	options->lock_timeout_ms =
		parse_lock_timeout(DatumGetIntervalP(required_arg(fcinfo, 5,
														  "lock_timeout")));
	options->wait = DatumGetBool(required_arg(fcinfo, 6, "wait"));
	options->dry_run = DatumGetBool(required_arg(fcinfo, 7, "dry_run"));
	options->hot_only = DatumGetBool(required_arg(fcinfo, 8, "hot_only"));
	options->schema = get_func_namespace(fcinfo->flinfo->fn_oid);
}

/*
 * Has an unfinished rebuild put this index in the place of the one that its
 * job names?  It still waits for the readers of the old one.
 */
static bool
is_being_rebuilt(const TsaMove *move)
{
	static TsaJournalQuery query = {
		"SELECT FROM tablespace_advisor.job"
		" WHERE method = 'rebuild' AND state IN ('queued', 'running', 'paused')"
		" AND heap = $1 AND schema_name = $2 AND relation_name = $3",
		3, {OIDOID, NAMEOID, NAMEOID}, NULL
	};
	Datum		values[3];

	values[0] = ObjectIdGetDatum(move->heapid);
	values[1] = NameGetDatum(&move->schema_name);
	values[2] = NameGetDatum(&move->relation_name);
	return tsa_journal_update(&query, values, NULL) > 0;
}

/*
 * Inserts the jobs of a call, all or none, and returns their ids (int64 *).
 */
static List *
queue_jobs(List *moves, const TsaMoveOptions *options)
{
	List	   *ids = NIL;
	ListCell   *lc;

	foreach(lc, moves)
	{
		TsaMove    *move = lfirst(lc);
		int64	   *id = palloc(sizeof(int64));

		*id = is_being_rebuilt(move) ? 0 :
			tsa_job_insert(move, options,
						   ids == NIL ? 0 : *(int64 *) linitial(ids));
		if (*id == 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("index \"%s\" is being moved already",
							NameStr(move->relation_name)),
					 errhint("See tablespace_moves; cancel_move() ends the other move.")));
		ids = lappend(ids, id);
	}
	return ids;
}

/* How many of the moves are live copies. */
static int
count_copies(List *moves)
{
	ListCell   *lc;
	int			n = 0;

	foreach(lc, moves)
		n += ((TsaMove *) lfirst(lc))->method == TSA_METHOD_COPY;
	return n;
}

/* The result row of a procedure whose only output is job_ids. */
static Datum
job_ids_row(FunctionCallInfo fcinfo, List *ids)
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
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}

Datum
tsa_move_indexes_concurrently(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	CallContext *call = (CallContext *) fcinfo->context;
	TsaMoveOptions options;
	BackgroundWorkerHandle *handle = NULL;
	List	   *moves;
	List	   *ids = NIL;

	parse_options(fcinfo, &options);
	if (!options.dry_run)
		refuse_when_read_only();
	if (!options.dry_run &&
		(call == NULL || !IsA(call, CallContext) || call->atomic ||
		 IsSubTransaction()))
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("move_indexes_concurrently() cannot run inside a transaction block"),
				 errdetail("It commits, so that its background worker sees what is to be done.")));

	if (!options.dry_run)
		tsa_jobs_settle_dead();
	moves = tsa_plan_indexes(&options);
	if (moves == NIL || options.dry_run)
		return job_ids_row(fcinfo, NIL);

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	MemoryContextSwitchTo(context);
	ids = queue_jobs(moves, &options);
	handle = tsa_start_worker(*(int64 *) linitial(ids), count_copies(moves));
	SPI_commit();
	if (options.wait)
		tsa_wait_for_batch(*(int64 *) linitial(ids), handle, options.schema);
	SPI_finish();
	MemoryContextSwitchTo(context);
	return job_ids_row(fcinfo, ids);
}

/*
 * Loads the job that a function names; it must be the caller's or, if the
 * caller is a member of that role, pg_signal_backend's to meddle with.
 */
static void
load_own_job(FunctionCallInfo fcinfo, bool signal_suffices, TsaJob *job)
{
	int64		job_id;

	refuse_when_read_only();
	job_id = DatumGetInt64(required_arg(fcinfo, 0, "job_id"));
	tsa_jobs_settle_dead();
	if (!tsa_job_load(job_id, job))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("job " INT64_FORMAT " does not exist", job_id)));
	if (!has_privs_of_role(GetUserId(), job->owner) &&
		!(signal_suffices && !superuser_arg(job->owner) &&
		  has_privs_of_role(GetUserId(), ROLE_PG_SIGNAL_BACKEND)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for job " INT64_FORMAT, job_id)));
}

Datum
tsa_cancel_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;

	load_own_job(fcinfo, true, &job);
	PG_RETURN_BOOL(tsa_job_request_cancel(&job));
}

Datum
tsa_pause_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;

	load_own_job(fcinfo, true, &job);
	if (tsa_job_has_ended(&job))
		PG_RETURN_BOOL(false);
	if (job.method != TSA_METHOD_COPY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot pause job " INT64_FORMAT, job.job_id),
				 errdetail("Only a live copy can pause; the method of this move is \"%s\".",
						   tsa_move_method_name(job.method)),
				 errhint("cancel_move() ends it.")));
	PG_RETURN_BOOL(tsa_manners_request_pause(job.job_id));
}

Datum
tsa_resume_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;

	load_own_job(fcinfo, true, &job);
	PG_RETURN_BOOL(tsa_manners_withdraw_pause(job.job_id) &&
				   !tsa_job_has_ended(&job));
}

/*
 * Queues the move of a job's relation, with the job's options, to a
 * tablespace.  Returns the new job's id, or 0 if the relation is there.  The
 * worker waits until this transaction ends; if it rolls back, there is
 * nothing to do.
 */
static int64
move_again(const TsaJob *job, Oid tablespace)
{
	TsaMoveOptions options = {0};
	List	   *moves;
	List	   *ids;

	options.target = job->relid;
	options.tablespace = tablespace;
	options.method = job->method_wanted;
	options.max_rate = job->max_rate;
	options.lock_timeout_ms = job->lock_timeout_ms;
	moves = tsa_plan_indexes(&options);
	if (moves == NIL)
		return 0;
	ids = queue_jobs(moves, &options);
	(void) tsa_start_worker(*(int64 *) linitial(ids), count_copies(moves));
	return *(int64 *) linitial(ids);
}

/* Queues the move of a failed or cancelled job again. */
Datum
tsa_retry_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;
	int64		job_id;

	load_own_job(fcinfo, false, &job);
	if (job.state != TSA_JOB_FAILED && job.state != TSA_JOB_CANCELLED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("job " INT64_FORMAT " is %s", job.job_id,
						tsa_job_state_name(job.state)),
				 errhint("Only a failed or cancelled move can be repeated.")));

	job_id = move_again(&job, job.target_tablespace);
	if (job_id == 0)
		PG_RETURN_NULL();
	PG_RETURN_INT64(job_id);
}

/* Queues a move back to where a job found its relation. */
Datum
tsa_undo_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;
	int64		job_id;

	load_own_job(fcinfo, false, &job);
	if (job.state != TSA_JOB_DONE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("job " INT64_FORMAT " is %s", job.job_id,
						tsa_job_state_name(job.state)),
				 errhint("Only a move that is done can be undone.")));

	job_id = move_again(&job, job.source_tablespace);
	if (job_id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("job " INT64_FORMAT " has been undone already",
						job.job_id)));
	PG_RETURN_INT64(job_id);
}
