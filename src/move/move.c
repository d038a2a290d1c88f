/*-------------------------------------------------------------------------
 *
 * move.c
 *	  The functions that people call: move_indexes_concurrently(),
 *	  move_table_concurrently(), cancel_move(), pause_move(), resume_move(),
 *	  alter_move(), retry_move() and undo_move().
 *
 * A call checks, queues, commits and, unless told otherwise, waits for its
 * worker.  While it waits it holds no lock, no transaction id and, but for
 * the moments when it reads the journal, no snapshot: a rebuild waits for all
 * that, in a way that the deadlock detector cannot see.  For the same reason
 * the procedures have neither SET nor SECURITY DEFINER, which would forbid it
 * to commit.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
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

#include "journal/window_clock.h"
#include "move/call.h"
#include "move/common/sleep.h"
#include "move/job/batch_lock.h"
#include "move/job/cancel.h"
#include "move/job/job.h"
#include "move/job/journal.h"
#include "move/job/queue.h"
#include "move/job/request.h"
#include "move/plan/children.h"
#include "move/plan/plan.h"
#include "move/plan/rules.h"
#include "move/wait_for_batch.h"
#include "move/worker/job_storage.h"
#include "move/worker/launcher.h"
#include "move/worker/recover.h"
#include "move/worker/start.h"
#include "state/printable.h"
#include "state/state.h"
#include "state/tablespace.h"

/* A worker without a job has ended after so long. */
#define WORKER_EXIT_MS	2000
#define EXIT_LOOK_MS	20

PG_FUNCTION_INFO_V1(tsa_move_indexes_concurrently);
PG_FUNCTION_INFO_V1(tsa_move_table_concurrently);
PG_FUNCTION_INFO_V1(tsa_cancel_move);
PG_FUNCTION_INFO_V1(tsa_pause_move);
PG_FUNCTION_INFO_V1(tsa_resume_move);
PG_FUNCTION_INFO_V1(tsa_retry_move);
PG_FUNCTION_INFO_V1(tsa_undo_move);
PG_FUNCTION_INFO_V1(tsa_alter_move);

/* The method that a name asks for. */
static TsaMoveMethod
parse_method(const char *name)
{
	TsaMoveMethod method;

	if (!tsa_move_method_by_name(name, &method) ||
		method == TSA_METHOD_CATALOG || method == TSA_METHOD_LOCK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid method \"%s\"", name),
				 errhint("Available methods are \"auto\", \"copy\" and \"rebuild\".")));
	return method;
}

/*
 * Reads and checks the arguments that the procedures share; the third one is
 * left to the caller.
 */
static void
parse_options(FunctionCallInfo fcinfo, TsaMoveOptions *options)
{
	static const TsaMoveArgs args = {
		.max_rate = 4,.lock_timeout = 5,.wait = 6,.dry_run = 7,
		.min_rate = 9,.until = 10,.finish_by = 11,
		.during = 12
	};

	*options = TSA_NO_OPTIONS;
	options->target = DatumGetObjectId(tsa_required_arg(fcinfo, 0, "target"));
	if (!PG_ARGISNULL(1))
		options->tablespace =
			tsa_parse_tablespace(NameStr(*PG_GETARG_NAME(1)));
	options->method =
		parse_method(TextDatumGetCString(tsa_required_arg(fcinfo, 3, "method")));
	tsa_parse_move_options(fcinfo, &args, options);
	options->hot_only = DatumGetBool(tsa_required_arg(fcinfo, 8, "hot_only"));
}

/*
 * Plans, queues and, unless told otherwise, awaits the moves of a call, and
 * returns its result row.
 */
static Datum
move_concurrently(FunctionCallInfo fcinfo, const TsaMoveOptions *options,
				  List *(*plan) (const TsaMoveOptions *))
{
	MemoryContext context = CurrentMemoryContext;
	BackgroundWorkerHandle *handle = NULL;
	List	   *moves;
	List	   *ids = NIL;

	if (!options->dry_run)
		tsa_begin_call(fcinfo);
	tsa_check_children(options->target, get_func_name(fcinfo->flinfo->fn_oid));
	moves = plan(options);
	if (moves != NIL && options->dry_run)
		tsa_announce_total(moves);
	if (moves == NIL || options->dry_run)
		return tsa_job_ids_row(fcinfo, NIL);

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	MemoryContextSwitchTo(context);
	ids = tsa_queue_moves(moves, options);
	handle = tsa_start_workers(*(int64 *) linitial(ids),
							   tsa_count_copies(moves));
	SPI_commit();
	if (options->wait)
	{
		tsa_wait_for_batch(*(int64 *) linitial(ids), handle, NULL);
		tsa_report_failure(*(int64 *) linitial(ids));
	}
	SPI_finish();
	MemoryContextSwitchTo(context);
	return tsa_job_ids_row(fcinfo, ids);
}

/*
 * move_indexes_concurrently(target, tablespace, indexes, ...): returns the row
 * of job ids; errors as in its COMMENT.
 */
Datum
tsa_move_indexes_concurrently(PG_FUNCTION_ARGS)
{
	TsaMoveOptions options;

	tsa_check_signature(fcinfo, "job", 14);
	parse_options(fcinfo, &options);
	if (!PG_ARGISNULL(2))
		options.indexes = PG_GETARG_ARRAYTYPE_P_COPY(2);
	return move_concurrently(fcinfo, &options, tsa_plan_indexes);
}

/*
 * move_table_concurrently(target, tablespace, with_indexes, ...): likewise;
 * 0A000 for method "rebuild".
 */
Datum
tsa_move_table_concurrently(PG_FUNCTION_ARGS)
{
	TsaMoveOptions options;

	tsa_check_signature(fcinfo, "job", 14);
	(void) tsa_required_arg(fcinfo, 1, "tablespace");
	parse_options(fcinfo, &options);
	options.with_indexes = DatumGetBool(tsa_required_arg(fcinfo, 2,
														 "with_indexes"));
	if (options.method == TSA_METHOD_REBUILD)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move a table by method \"rebuild\""),
				 errdetail("VACUUM FULL and CLUSTER rebuild a table, and lock it until they are done."),
				 errhint("Use method \"copy\" or \"auto\"; where that does not apply, ALTER TABLE ... SET TABLESPACE moves the table and locks it until it is copied.")));
	return move_concurrently(fcinfo, &options, tsa_plan_tables);
}

/*
 * Loads the job that a function names; it must be the caller's or, if the
 * caller is a member of that role, pg_signal_backend's to meddle with.
 */
static void
load_own_job(FunctionCallInfo fcinfo, bool signal_suffices, TsaJob *job)
{
	int64		job_id;

	tsa_refuse_restricted_operation(fcinfo);
	tsa_refuse_when_read_only();
	job_id = DatumGetInt64(tsa_required_arg(fcinfo, 0, "job_id"));
	tsa_recover_for_caller(false);
	if (!tsa_job_load(job_id, job))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("job " INT64_FORMAT " does not exist", job_id),
				 errhint("The view tablespace_moves lists the jobs of this database.")));
	if (!has_privs_of_role(GetUserId(), job->owner) &&
		!(signal_suffices && !superuser_arg(job->owner) &&
		  has_privs_of_role(GetUserId(), ROLE_PG_SIGNAL_BACKEND)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for job " INT64_FORMAT, job_id),
				 errhint("It takes the privileges of the role that queued it%s.",
						 signal_suffices ? ", or of pg_signal_backend" : "")));
}

/*
 * Tells why nothing is done with a job, and returns false: it has ended
 * (NULL), or the given reason.
 */
static Datum
nothing_done(const TsaJob *job, const char *reason)
{
	if (reason == NULL && tsa_job_has_ended(job))
		ereport(NOTICE,
				(errmsg("job " INT64_FORMAT " has ended: %s", job->job_id,
						tsa_job_state_name(job->state)),
				 job->state == TSA_JOB_DONE ?
				 errhint("undo_move() moves the relation back.") :
				 errhint("retry_move() queues the move again.")));
	else
		ereport(NOTICE,
				(errmsg("job " INT64_FORMAT " %s", job->job_id,
						reason ? reason : "is ending")));
	return BoolGetDatum(false);
}

/*
 * Cancels a job.  The copy of one that was interrupted has no worker that would
 * drop it.
 */
Datum
tsa_cancel_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;

	load_own_job(fcinfo, true, &job);
	if (!tsa_cancel_job(&job))
		return nothing_done(&job, NULL);
	if (tsa_job_load(job.job_id, &job) && tsa_job_has_ended(&job) &&
		job.nnew > 0 && tsa_drop_job_storage(&job))
		tsa_jobs_note_removed(&job.job_id, 1);
	PG_RETURN_BOOL(true);
}

/* pause_move(job_id): false if the job has ended. */
Datum
tsa_pause_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;

	load_own_job(fcinfo, true, &job);
	if (tsa_job_has_ended(&job))
		return nothing_done(&job, NULL);
	if (job.method != TSA_METHOD_COPY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot pause job " INT64_FORMAT, job.job_id),
				 errdetail("Only a live copy can pause; the method of this move is \"%s\".",
						   tsa_move_method_name(job.method)),
				 errhint("cancel_move() ends it.")));
	if (!tsa_request_pause(job.job_id))
		return nothing_done(&job, "is asked to pause already");
	PG_RETURN_BOOL(true);
}

/* resume_move(job_id): false if the job has ended or was not to pause. */
Datum
tsa_resume_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;

	load_own_job(fcinfo, true, &job);
	if (!tsa_withdraw_pause(job.job_id) || tsa_job_has_ended(&job))
		return nothing_done(&job, tsa_job_has_ended(&job) ?
							NULL : "is not asked to pause");
	PG_RETURN_BOOL(true);
}

/* Changes those limits that arguments are given for. */
static void
alter_limits(FunctionCallInfo fcinfo, TsaLimits *limits)
{
	if (!PG_ARGISNULL(1))
		tsa_parse_max_rate(PG_GETARG_DATUM(1), limits);
	if (!PG_ARGISNULL(2))
		tsa_parse_min_rate(PG_GETARG_DATUM(2), limits);
	if (!PG_ARGISNULL(3))
		limits->finish_by = PG_GETARG_TIMESTAMPTZ(3);
	if (!PG_ARGISNULL(4))
		limits->lock_timeout_ms =
			tsa_parse_lock_timeout(PG_GETARG_INTERVAL_P(4));
	if (!PG_ARGISNULL(5))
		tsa_parse_during(PG_GETARG_DATUM(5), limits);
	tsa_check_limits(limits);
}

/*
 * Starts a worker for a job that has waited for its time window, and does not
 * any more when this transaction commits.  The worker that has found the window
 * closed may be about to end.  If no other can be had now, the launcher tries
 * again, or the next call.
 */
static void
wake_job(TsaJob *job)
{
	for (int ms = 0; ms < WORKER_EXIT_MS; ms += EXIT_LOOK_MS)
	{
		if (!tsa_job_load(job->job_id, job) ||
			(job->state != TSA_JOB_QUEUED && job->state != TSA_JOB_INTERRUPTED))
			return;
		if (tsa_batch_is_dead(job->batch_id))
		{
			(void) tsa_take_over_batch(job->batch_id);
			return;
		}
		tsa_sleep(EXIT_LOOK_MS);
	}
}

/*
 * alter_move(job_id, max_rate, min_rate, finish_by, lock_timeout, during):
 * false if the job has ended.
 */
Datum
tsa_alter_move(PG_FUNCTION_ARGS)
{
	TsaJob		job;
	bool		waited;
	bool		alters_rate;

	load_own_job(fcinfo, false, &job);
	tsa_check_signature(fcinfo, "job", 6);
	alters_rate = !PG_ARGISNULL(1) || !PG_ARGISNULL(2) || !PG_ARGISNULL(3) ||
		!PG_ARGISNULL(4);
	if (tsa_job_has_ended(&job) || (!alters_rate && PG_ARGISNULL(5)))
		return nothing_done(&job, tsa_job_has_ended(&job) ?
							NULL : "keeps its limits: none is given");
	if (alters_rate && job.method != TSA_METHOD_COPY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot alter job " INT64_FORMAT, job.job_id),
				 errdetail("Only a live copy keeps a rate; the method of this move is \"%s\".",
						   tsa_move_method_name(job.method))));
	waited = tsa_is_outside_window(&job.limits.during);
	alter_limits(fcinfo, &job.limits);
	tsa_request_limits(job.job_id, &job.limits);
	if (waited && !tsa_is_outside_window(&job.limits.during))
		wake_job(&job);
	PG_RETURN_BOOL(true);
}

/* Refuses to move to a tablespace that has been dropped since the job. */
static void
check_tablespace_again(const TsaJob *job, bool back)
{
	if (get_tablespace_name(back ? job->source_tablespace :
							job->target_tablespace) != NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("tablespace \"%s\" has been dropped",
					tsa_printable_text(NameStr(back ? job->source_name :
											   job->target_name))),
			 back ? errdetail("Job " INT64_FORMAT " moved the relation from there.",
							  job->job_id) :
			 errdetail("Job " INT64_FORMAT " was to move the relation there.",
					   job->job_id),
			 errhint("Choose another tablespace: move_table_concurrently(), move_indexes_concurrently().")));
}

/*
 * Queues the move of a job's relation again, with the job's options, or, if
 * "back", to where the job found it.  Returns the new job's id, or 0 if the
 * relation is there.  The worker waits until this transaction ends; if it
 * rolls back, there is nothing to do.
 */
static int64
move_again(const TsaJob *job, bool back)
{
	TsaMoveOptions options = TSA_NO_OPTIONS;
	List	   *moves;
	List	   *ids;

	check_tablespace_again(job, back);
	options.target = job->relid;
	options.tablespace = back ? job->source_tablespace : job->target_tablespace;
	options.method = job->method == TSA_METHOD_LOCK ?
		TSA_METHOD_LOCK : job->method_wanted;
	options.limits = job->limits;
	if (options.limits.finish_by <= GetCurrentTimestamp())
		options.limits.finish_by = DT_NOEND;
	options.lock_up_to = job->lock_up_to;
	options.lock_timeout_ms = job->lock_timeout_ms;
	if (job->kind == RELKIND_INDEX || job->kind == RELKIND_PARTITIONED_INDEX)
		moves = back ? tsa_plan_index_back(&options) :
			tsa_plan_indexes(&options);
	else
	{
		options.with_indexes = job->nindexes > 0;
		moves = tsa_plan_table_again(&options, job, back);
	}
	if (moves == NIL)
		return 0;
	options.method = job->method_wanted;
	ids = tsa_queue_moves(moves, &options);
	(void) tsa_start_workers(*(int64 *) linitial(ids), tsa_count_copies(moves));
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
				 errhint("Only failed or cancelled moves can be retried. If the move is still being cancelled, call wait_for_moves() first.")));

	job_id = move_again(&job, false);
	if (job_id == 0)
		PG_RETURN_NULL();
	tsa_keep_forecast(job.job_id, job_id);
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

	job_id = move_again(&job, true);
	if (job_id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("job " INT64_FORMAT " has been undone already",
						job.job_id)));
	PG_RETURN_INT64(job_id);
}
