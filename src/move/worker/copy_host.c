/*-------------------------------------------------------------------------
 *
 * copy_host.c
 *	  Runs a live copy for a job: the engine's durable notes, and its
 *	  questions, go to the journal; its figures go to shared memory.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/memutils.h"

#include "move/job/job.h"
#include "move/job/journal.h"
#include "move/job/marks.h"
#include "move/job/request.h"
#include "move/worker/copy_host.h"

/* The job of the copy. */
typedef struct CopyHost
{
	int64		job_id;
	TsaPendingDrops *drops;
	TsaLiveProgress *live;
	TsaUserPlace *place;
} CopyHost;

/*
 * Callback storage_made: the journal and this worker's list of files to drop
 * name n new files.  Throws if the job has ended.
 */
static void
note_storage_made(void *arg, const TsaKeptCopy *made, int n,
				  const TsaLsnRanges *lsns, int64 compared)
{
	CopyHost   *host = arg;
	RelFileLocator *storage = palloc(sizeof(RelFileLocator) * n);

	for (int i = 0; i < n; i++)
		storage[i] = made[i].copy;
	tsa_job_note_new_storage(host->job_id, made, n, lsns, compared);
	tsa_note_present_storage(host->drops, storage, n);
	pfree(storage);
}

/* Callback mark: adds a mark to the journal. */
static void
note_mark(void *arg, const TsaKeptCopy *made, int n,
		  const TsaLsnRanges *lsns, const TsaMoveProgress *progress)
{
	tsa_job_add_mark(((CopyHost *) arg)->job_id, made, n, lsns, progress);
}

/* Callback storage_dropped: neither the journal nor the worker names files. */
static void
note_storage_dropped(void *arg)
{
	CopyHost   *host = arg;

	tsa_job_note_new_storage(host->job_id, NULL, 0, NULL, 0);
	tsa_forget_present_storage(host->drops);
}

/* Callback before_switch: locks the job's row; throws if the job has ended. */
static void
lock_job(void *arg)
{
	tsa_job_lock(((CopyHost *) arg)->job_id);
}

/* Callback switching: the journal names n old files; throws likewise. */
static void
note_switch(void *arg, const RelFileLocator *old_storage, int n)
{
	tsa_job_note_switched(((CopyHost *) arg)->job_id, old_storage, n);
}

/* Callback switched: n old files are left for this worker to drop. */
static void
switch_is_committed(void *arg, const RelFileLocator *old_storage, int n)
{
	tsa_note_present_storage(((CopyHost *) arg)->drops, old_storage, n);
}

/* Callback report: to shared memory, and to the user's limit of workers. */
static void
report_progress(void *arg, const TsaMoveProgress *progress)
{
	CopyHost   *host = arg;

	tsa_watch_user_place(host->place, progress->bytes_gained);
	tsa_write_live_progress(host->live, progress);
}

/* Callback paused: the job's state. */
static void
note_paused(void *arg, bool paused)
{
	tsa_job_note_paused(((CopyHost *) arg)->job_id, paused);
}

/* Callback indexes_changed: the list of n indexes in the journal. */
static void
note_indexes(void *arg, const Oid *indexes, int n)
{
	tsa_job_note_indexes(((CopyHost *) arg)->job_id, indexes, n);
}

/* Callback read_limits: limits, and bytes of the call's other moves. */
static void
read_limits(void *arg, TsaLimits *limits, int64 *others_left)
{
	tsa_read_limits(((CopyHost *) arg)->job_id, limits, others_left);
}

/* Callback pause_is_requested: has pause_move() been called for the job? */
static bool
pause_is_requested(void *arg)
{
	return tsa_pause_is_requested(((CopyHost *) arg)->job_id);
}

/*
 * A copy that takes longer than a moment should not keep others' files.
 */
static void
takes_longer(void *arg)
{
	tsa_perform_drops(((CopyHost *) arg)->drops, true);
}

/*
 * A prepared transaction holds the lock on its own ID; by the virtual one its
 * other locks are found.
 */
static char *
find_prepared_blockers(void *arg pg_attribute_unused(), Oid relid,
					   TransactionId xid)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.printable(pg_catalog.string_agg(DISTINCT"
		"   pg_catalog.format('\"%s\"', p.gid), ', ')) AS gids"
		" FROM pg_catalog.pg_prepared_xacts p"
		" JOIN pg_catalog.pg_locks x ON x.pid IS NULL"
		"   AND x.transactionid = p.transaction"
		" JOIN pg_catalog.pg_locks l ON l.pid IS NULL"
		"   AND l.virtualtransaction = x.virtualtransaction"
		" WHERE (l.locktype = 'relation' AND l.relation = $1 AND l.database ="
		"   (SELECT oid FROM pg_catalog.pg_database"
		"    WHERE datname = pg_catalog.current_database()))"
		"   OR (l.locktype = 'transactionid' AND l.transactionid = $2)",
		2, {OIDOID, XIDOID}, NULL
	};
	MemoryContext context = CurrentMemoryContext;
	Datum		values[2];
	TsaState	journal;
	char	   *gids = NULL;

	values[0] = ObjectIdGetDatum(relid);
	values[1] = TransactionIdGetDatum(xid);
	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) == 1)
	{
		gids = tsa_result_text(0, "gids");
		if (gids != NULL)
			gids = MemoryContextStrdup(context, gids);
	}
	tsa_state_close(&journal);
	return gids;
}

/*
 * Moves a job's relation by live copy; see tsa_live_copy().
 */
void
tsa_copy_for_job(const TsaJob *job, TsaPendingDrops *drops,
				 TsaLiveProgress *live, TsaUserPlace *place,
				 TsaCopyResult *result)
{
	CopyHost	host = {
		.job_id = job->job_id,
		.drops = drops,
		.live = live,
		.place = place
	};
	TsaCopyCallbacks callbacks = {
		.arg = &host,
		.storage_made = note_storage_made,
		.mark = note_mark,
		.storage_dropped = note_storage_dropped,
		.before_switch = lock_job,
		.switching = note_switch,
		.switched = switch_is_committed,
		.report = report_progress,
		.paused = note_paused,
		.indexes_changed = note_indexes,
		.read_limits = read_limits,
		.pause_is_requested = pause_is_requested,
		.takes_longer = takes_longer,
		.find_prepared_blockers = find_prepared_blockers
	};
	TsaCopyOrder order = {
		.relid = job->relid,
		.kind = job->kind,
		.source_tablespace = job->source_tablespace,
		.target_tablespace = job->target_tablespace,
		.lock_timeout_ms = job->lock_timeout_ms,
		.limits = job->limits,
		.call_id = job->batch_id,
		.nindexes = job->nindexes,
		.indexes = job->indexes,
		.index_names = job->index_names,
		.nkept = job->nkept,
		.kept = job->kept,
		.kept_lsns = job->kept_lsns,
		.kept_compared = job->kept_compared
	};

	if (!TIMESTAMP_IS_NOEND(job->limits.finish_by))
	{
		StartTransactionCommand();
		order.waits_ms = tsa_recent_waits_ms(job->owner);
		CommitTransactionCommand();
	}
	tsa_note_present_storage(drops, job->new_storage, job->nnew);
	tsa_live_copy(&order, &callbacks, result);
}
