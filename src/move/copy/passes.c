/*-------------------------------------------------------------------------
 *
 * passes.c
 *	  The passes of a live copy: what is left to copy, for how long to go on,
 *	  and how to stay out of other people's way meanwhile.
 *
 * Passes run in transactions without an ID and without a snapshot, renewed
 * every 64 MB or second, so that nobody who waits for old snapshots or virtual
 * transaction IDs (CREATE INDEX CONCURRENTLY, DROP INDEX CONCURRENTLY of a
 * sibling) waits longer.  At each renewal the log is read: no replication slot
 * is needed to hold it back.  Should a segment be gone all the same (we queued
 * behind somebody's long AccessExclusive lock), the copy starts again at block
 * 0 in the same storage.
 *
 * If a file itself was truncated, the copy starts again with new storage: see
 * "Rewrites" in locks.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "move/copy/copy.h"
#include "move/copy/throttle.h"

#define RENEW_MS		1000	/* a pass's transaction lasts this long */
#define RENEW_BYTES		(UINT64CONST(64) * 1024 * 1024)
#define NEWS_MS			50		/* least time between reports */
#define LOOK_MS			200		/* time between looks for waiters */
#define LOCK_RETRY_MS	50
#define READY_BLOCKS	64		/* so few are left for the cutover */
#define MAX_PASSES		50		/* of one call */
#define MAX_BACKOFF_MS	30000

/*
 * Milliseconds from one moment to another.
 */
double
tsa_copy_ms_between(const instr_time *from, const instr_time *to)
{
	instr_time	time = *to;

	INSTR_TIME_SUBTRACT(time, *from);
	return INSTR_TIME_GET_MILLISEC(time);
}

/*
 * Milliseconds since.
 */
static double
ms_since(const instr_time *then)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return tsa_copy_ms_between(then, &now);
}

/*
 * Opens the relations, which are locked.  The snapshot that catalog look-ups
 * leave behind is dropped.
 */
void
tsa_copy_open(TsaCopy *copy)
{
	for (int i = 0; i < copy->nrels; i++)
		copy->rels[i].rel = relation_open(copy->rels[i].relid, NoLock);
	InvalidateCatalogSnapshot();
}

/*
 * Closes them, and keeps the locks.
 */
void
tsa_copy_close(TsaCopy *copy)
{
	for (int i = 0; i < copy->nrels; i++)
	{
		relation_close(copy->rels[i].rel, NoLock);
		copy->rels[i].rel = NULL;
	}
}

/*
 * Begins a transaction of a pass and opens the relations, whose locks are held
 * at session level.
 */
void
tsa_copy_begin(TsaCopy *copy)
{
	StartTransactionCommand();
	tsa_copy_open(copy);
	INSTR_TIME_SET_CURRENT(copy->renewed);
	copy->renewed_bytes = copy->bytes;
	if (copy->units != NULL)
		tsa_units_renew(copy->units);
}

/*
 * Ends it.
 */
void
tsa_copy_end(TsaCopy *copy)
{
	tsa_copy_close(copy);
	CommitTransactionCommand();
}

/*
 * Brings the figures of the progress up to date.
 */
void
tsa_copy_count(TsaCopy *copy)
{
	TsaJobProgress *progress = &copy->progress;
	double		ms = ms_since(&copy->started);

	progress->bytes_done = tsa_copy_done_bytes(copy);
	progress->mb_per_s = ms > 0 ? copy->bytes / 1048576.0 / ms * 1000.0 : -1;
	progress->present_mb_per_s = -1;
	progress->rate_reason = NULL;
	if (copy->units != NULL)
	{
		progress->present_mb_per_s = tsa_units_rate(copy->units) / 1048576.0;
		progress->rate_reason = tsa_units_reason(copy->units);
	}
}

/*
 * Writes the progress to the journal, in a transaction that does not wait for
 * its flush.
 */
void
tsa_copy_report(TsaCopy *copy, const char *phase)
{
	copy->progress.phase = phase;
	tsa_copy_count(copy);
	INSTR_TIME_SET_CURRENT(copy->reported);

	StartTransactionCommand();
	tsa_commit_lazily();
	tsa_job_report(copy->job->job_id, &copy->progress);
	CommitTransactionCommand();
}

/*
 * Sleeps; wakes up for interrupts.
 */
void
tsa_copy_nap(double ms)
{
	CHECK_FOR_INTERRUPTS();
	if (ms < 1)
		return;
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 (long) ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * After a lock could not be had: names those who have it, and waits a little.
 * Outside any transaction, with nothing locked.
 */
void
tsa_copy_wait_for_lock(TsaCopy *copy)
{
	const char *phase = copy->progress.phase;

	if (ms_since(&copy->reported) >= RENEW_MS)
	{
		tsa_copy_find_blockers(copy);
		tsa_copy_report(copy, "waiting for lock");
		copy->progress.phase = phase;
		copy->progress.nblockers = 0;
	}
	tsa_copy_nap(LOCK_RETRY_MS);
}

/*
 * Reads the log to its end, in a pass.  False, outside any transaction, if the
 * move has to start with new storage.
 */
static bool
follow(TsaCopy *copy)
{
	tsa_copy_follow(copy);
	if (tsa_copy_was_truncated(copy))
	{
		tsa_copy_end(copy);
		return false;
	}
	if (copy->lost)
		tsa_copy_start_over(copy);
	return true;
}

/*
 * Why the copy has to pause now, or NULL; in a transaction.  The catalog
 * snapshot that the look leaves behind is dropped.
 */
static const char *
pause_reason(TsaCopy *copy, XLogRecPtr standbys_at)
{
	int64		left = copy->progress.bytes_total -
		tsa_copy_done_bytes(copy);
	const char *reason;

	reason = tsa_manners_pause_reason(copy->job, (uint64) Max(left, 0),
									  standbys_at);
	InvalidateCatalogSnapshot();
	return reason;
}

/*
 * Pauses for as long as there is a reason, and until synchronous standbys
 * have flushed what is in the log now.  Outside any transaction; none is open
 * while it sleeps.  The log is followed and waiters pass meanwhile.  False if
 * the move has to start with new storage.
 */
static bool
pause_politely(TsaCopy *copy)
{
	const char *phase = copy->progress.phase;
	XLogRecPtr	standbys_at = GetFlushRecPtr(NULL);
	instr_time	start;
	char		now[NAMEDATALEN + 64];
	double		ms = 10;
	bool		paused = false;
	bool		by_request = false;

	INSTR_TIME_SET_CURRENT(start);
	for (;;)
	{
		const char *reason;
		bool		requested;

		StartTransactionCommand();
		reason = pause_reason(copy, standbys_at);
		snprintf(now, sizeof(now), "paused: %s", reason ? reason : "");
		requested = reason != NULL &&
			tsa_manners_pause_requested(copy->job->job_id);
		if (requested != by_request)
			tsa_job_note_paused(copy->job->job_id, requested);
		by_request = requested;
		CommitTransactionCommand();
		if (reason == NULL)
			break;

		if (!paused || ms_since(&copy->reported) >= RENEW_MS)
			tsa_copy_report(copy, now);
		paused = true;
		tsa_copy_nap(ms);
		ms = Min(ms * 2, LOOK_MS);
		if (tsa_copy_in_the_way(copy) && !tsa_copy_relock(copy))
			return false;
		tsa_copy_begin(copy);
		if (!follow(copy))
			return false;
		tsa_copy_end(copy);
	}
	if (paused)
	{
		if (copy->units != NULL)
			tsa_units_skip(copy->units);
		copy->progress.paused_ms += ms_since(&start);
		tsa_copy_report(copy, phase);
	}
	return true;
}

/*
 * Looks for waiters and lets them pass, and pauses if good manners ask for it.
 * Outside any transaction.  False if the relation was rewritten meanwhile.
 */
bool
tsa_copy_look(TsaCopy *copy)
{
	bool		same;

	same = (!tsa_copy_in_the_way(copy) || tsa_copy_relock(copy)) &&
		pause_politely(copy);
	INSTR_TIME_SET_CURRENT(copy->looked);
	return same;
}

/*
 * Is the pace another one, for a reason that nobody was told yet?
 */
static bool
has_news(TsaCopy *copy)
{
	const TsaJobProgress *told = &copy->progress;
	bool		known = tsa_units_rate(copy->units) >= 0;

	return (tsa_units_reason(copy->units) != told->rate_reason ||
			(known && told->present_mb_per_s < 0)) &&
		ms_since(&copy->reported) >= NEWS_MS;
}

/*
 * Called after a batch of a pass, in its transaction: keeps the pace, looks
 * for waiters, and from time to time ends the transaction, reports, reads the
 * log and begins another.  False, outside any transaction, if the relation
 * was rewritten meanwhile.
 *
 * The pace is for the bulk; a pass over changes that are not getting fewer has
 * none, or it would never end.
 */
bool
tsa_copy_breathe(TsaCopy *copy, uint64 bytes)
{
	double		sleep = tsa_units_work(copy->units, bytes, copy->unlimited);
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	do
	{
		bool		stop = false;

		tsa_copy_nap(Min(sleep - ms_since(&start), LOOK_MS));
		if (ms_since(&copy->looked) >= LOOK_MS)
		{
			INSTR_TIME_SET_CURRENT(copy->looked);
			stop = tsa_copy_in_the_way(copy) ||
				pause_reason(copy, InvalidXLogRecPtr) != NULL;
		}
		if (!stop && !has_news(copy) &&
			ms_since(&copy->renewed) < RENEW_MS &&
			copy->bytes - copy->renewed_bytes < RENEW_BYTES)
			continue;

		tsa_copy_end(copy);
		if (stop && !tsa_copy_look(copy))
			return false;
		if (ms_since(&copy->reported) >= RENEW_MS || has_news(copy))
			tsa_copy_report(copy, copy->progress.phase);
		tsa_copy_begin(copy);
		if (!follow(copy))
			return false;
	} while (sleep - ms_since(&start) >= 1);
	if (sleep > 0)
		tsa_units_wake(copy->units);
	return true;
}

/*
 * One pass over all forks.  False, outside any transaction, if the move has to
 * start with new storage.
 */
static bool
pass_over_forks(TsaCopy *copy)
{
	for (int i = 0; i < copy->nforks; i++)
		if (!tsa_copy_changed_blocks(copy, &copy->forks[i]) ||
			!tsa_copy_new_blocks(copy, &copy->forks[i]))
			return false;
	return true;
}

/*
 * Passes until little is left, or until it gets no less.  False, outside any
 * transaction, if the relation was rewritten.
 */
bool
tsa_copy_passes(TsaCopy *copy)
{
	uint64		last = UINT64_MAX;

	tsa_units_skip(copy->units);
	for (int passes = 0;; passes++)
	{
		uint64		left;
		bool		first;

		tsa_copy_begin(copy);
		if (!follow(copy))
			return false;
		first = tsa_copy_done_bytes(copy) == 0;
		left = tsa_copy_left(copy);
		copy->progress.bytes_total = tsa_copy_source_bytes(copy);
		copy->progress.blocks_left = (int64) left;
		if (left == 0 || (!first && left < READY_BLOCKS) ||
			(!first && left < TSA_MANY_BLOCKS && left >= last) ||
			passes >= MAX_PASSES)
			break;

		/* for good: what is left grows again while a pass keeps the rate */
		copy->unlimited = !first && (copy->unlimited || left > last / 2);
		last = left;
		copy->progress.passes++;
		copy->progress.phase = first ? "copying" : "following changes";
		if (!pass_over_forks(copy))
			return false;
		tsa_copy_end(copy);
		tsa_copy_stop_point(first ? "copied" : "followed");
	}
	tsa_copy_end(copy);
	return true;
}

/*
 * What an attempt that was in vain waits for.  A prepared transaction is named,
 * since nobody can see its process.
 */
const char *
tsa_copy_waiting_phase(TsaCopy *copy)
{
	const char *phase = copy->progress.nblockers > 0 ?
		"waiting for lock" : "following changes";

	for (int i = 0; i < copy->progress.nblockers; i++)
		if (copy->progress.blockers[i] == 0)
		{
			char	   *gids;

			StartTransactionCommand();
			gids = tsa_manners_prepared_blockers(copy->blocked_on);
			if (gids != NULL)
				phase = MemoryContextStrdup(copy->cxt,
											psprintf("waiting for prepared transaction %s",
													 gids));
			CommitTransactionCommand();
			break;
		}
	return phase;
}

/*
 * Waits before the next attempt, and keeps the copy up to date meanwhile.
 * False if the relation was rewritten.
 *
 * An attempt that was not made because a prepared transaction is in the way
 * counts all the same: it may stay for ever.  Who will be done some day is
 * waited for, however long a VACUUM takes.
 */
bool
tsa_copy_back_off(TsaCopy *copy, bool in_vain)
{
	TsaJobProgress *progress = &copy->progress;
	instr_time	start;
	double		ms;

	for (int i = 0; in_vain && i < progress->nblockers; i++)
		if (progress->blockers[i] == 0)
		{
			progress->attempts++;
			in_vain = false;
		}

	if (in_vain)
		ms = RENEW_MS;
	else if (progress->nblockers == 0 &&
			 progress->attempts <= TSA_STRICT_ATTEMPTS)
		ms = 0;					/* the lock was ours, but too much was left */
	else
		ms = Min(100.0 * (1 << Min(progress->attempts - 1, 10)),
				 MAX_BACKOFF_MS);

	INSTR_TIME_SET_CURRENT(start);
	do
	{
		tsa_copy_report(copy, tsa_copy_waiting_phase(copy));
		tsa_copy_nap(Min(ms, RENEW_MS));
		if (!tsa_copy_look(copy) || !tsa_copy_passes(copy))
			return false;
	} while (ms_since(&start) < ms);
	return true;
}
