/*-------------------------------------------------------------------------
 *
 * delay_point.c
 *	  The steps between two transactions of a pass: the copy keeps its rate,
 *	  pauses for the sake of others, and yields to sessions that wait for its
 *	  locks.
 *
 * transactions.c says why passes run in short transactions.  At each renewal
 * the WAL is read: no replication slot is needed to hold it back.  Should a
 * segment be gone all the same, the copy starts again at block 0 in the same
 * storage, and compares the blocks there: see "Starting over" in blocks.c.
 *
 * If a file itself was truncated, the copy starts again with new storage: see
 * "Rewrites" in locks.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "utils/snapmgr.h"

#include "journal/window_clock.h"
#include "move/common/relation.h"
#include "move/common/session.h"
#include "move/common/sleep.h"
#include "move/copy/copy.h"
#include "move/copy/pause_conditions.h"
#include "move/copy/wal_cache.h"

#define RENEW_MS		1000	/* a pass's transaction lasts this long */
#define RENEW_BYTES		(UINT64CONST(64) * 1024 * 1024)
#define NEWS_MS			100		/* least time between reports */
#define TELL_MS			250		/* news end a transaction that old */
#define LOOK_AROUND_MS	200		/* time between looks for reasons to pause */

/*
 * Bytes that are left of the relations, as far as is known.
 */
static int64
bytes_left(const TsaCopy *copy)
{
	int64		left = copy->progress.bytes_total - tsa_copy_done_bytes(copy);

	return Max(left, 0);
}

/*
 * Takes aim at the time by which the copy has to end.  That it cannot is said
 * once.
 */
static void
aim(TsaCopy *copy)
{
	bool		late = tsa_throttle_aim(copy->throttle, bytes_left(copy) +
										tsa_copy_bytes_to_compare(copy));

	if (late && !copy->progress.is_late)
		ereport(WARNING,
				(errmsg("the move of relation with OID %u cannot end by %s",
						copy->order->relid,
						tsa_throttle_finish_by(copy->throttle)),
				 errdetail("It goes on at full speed, and still pauses for standbys, WAL space and locks.")));
	copy->progress.is_late |= late;
}

/*
 * Reads the WAL to its end, in a pass.  False, outside any transaction, if the
 * move has to start with new storage.
 */
bool
tsa_copy_catch_up(TsaCopy *copy)
{
	XLogRecPtr	flushed = GetFlushRecPtr(NULL);
	TsaFollowed followed = tsa_copy_follow(copy);

	tsa_drop_read_wal(flushed, &copy->wal_segment);
	if (tsa_copy_was_truncated(copy))
	{
		tsa_copy_end(copy);
		return false;
	}
	if (followed == TSA_FOLLOWED_LOST)
	{
		tsa_copy_trust(copy);
		tsa_copy_start_over(copy);
	}
	return true;
}

/*
 * Why the copy has to pause now, or NULL; in a transaction.  The catalog
 * snapshot that the look leaves behind is dropped.
 */
static const char *
pause_reason(TsaCopy *copy, XLogRecPtr standbys_at)
{
	const char *reason;

	reason = tsa_find_pause_reason(copy->order, copy->callbacks,
								   (uint64) bytes_left(copy), standbys_at);
	InvalidateCatalogSnapshot();
	if (reason == NULL && tsa_is_outside_window(&copy->during))
		reason = "its time window is closed";
	return reason;
}

/*
 * Sleeps for so many milliseconds, or until a session waits for us: true then.
 */
static bool
sleep_unless_waited_for(TsaCopy *copy, double ms)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	do
	{
		tsa_sleep(Min(ms - tsa_ms_since(&start), TSA_LOOK_MS));
		if (tsa_copy_poll_waiters(copy))
			return true;
	} while (ms - tsa_ms_since(&start) >= 1);
	return false;
}

/*
 * A pause has ended, which was requested or not.
 */
static void
end_pause(TsaCopy *copy, bool was_requested)
{
	TsaMoveProgress *progress = &copy->progress;
	double		paused_ms = tsa_common_clock() - progress->pausing;

	if (copy->throttle != NULL)
		tsa_throttle_skip_pause(copy->throttle,
								was_requested ? 0 : paused_ms);
	progress->paused_ms += paused_ms;
	progress->pausing = 0;
}

/*
 * Pauses for as long as there is a reason, and until synchronous standbys
 * have flushed the WAL that there is now.  Outside any transaction; none is
 * open while it sleeps.  Meanwhile it follows the WAL and yields to waiters.
 * False if the move has to start with new storage, or is suspended.
 */
static bool
pause_for_others(TsaCopy *copy)
{
	const TsaCopyCallbacks *callbacks = copy->callbacks;
	const char *phase = copy->progress.phase;
	XLogRecPtr	standbys_at = GetFlushRecPtr(NULL);
	double		start = tsa_common_clock();
	char		now[NAMEDATALEN + 64];
	double		ms = 10;
	bool		paused = false;
	bool		by_request = false;
	bool		was_requested = false;

	for (;;)
	{
		const char *reason;
		bool		requested;

		if (tsa_copy_suspends(copy))
			return false;
		tsa_begin();
		reason = pause_reason(copy, standbys_at);
		snprintf(now, sizeof(now), "paused: %s", reason ? reason : "");
		requested = reason != NULL &&
			callbacks->pause_is_requested(callbacks->arg);
		if (requested != by_request)
			callbacks->paused(callbacks->arg, requested);
		by_request = requested;
		was_requested |= requested || tsa_is_outside_window(&copy->during);
		CommitTransactionCommand();
		if (reason == NULL)
			break;

		if (!paused)
			copy->progress.pausing = start;
		if (!paused || tsa_ms_since(&copy->reported) >= RENEW_MS)
		{
			if (copy->throttle != NULL)
				aim(copy);
			tsa_copy_report_pause(copy, now);
		}
		paused = true;
		if (sleep_unless_waited_for(copy, ms) && !tsa_copy_yield(copy))
			return false;
		ms = Min(ms * 2, LOOK_AROUND_MS);
		tsa_copy_begin(copy);
		if (!tsa_copy_catch_up(copy))
			return false;
		tsa_copy_end(copy);
	}
	if (paused)
	{
		end_pause(copy, was_requested);
		tsa_copy_report(copy, phase);

		/* the role may have lost rights since the pause began */
		tsa_begin();
		tsa_check_move_rights(copy->heapid, copy->order->target_tablespace);
		CommitTransactionCommand();
	}
	return true;
}

/*
 * Yields to waiters if there are any, and pauses if the throttle asks for it.
 * Outside any transaction.  False if the relation was rewritten meanwhile.
 */
bool
tsa_copy_yield_and_pause(TsaCopy *copy)
{
	bool		same;

	same = (!tsa_copy_has_waiters(copy) || tsa_copy_yield(copy)) &&
		pause_for_others(copy);
	INSTR_TIME_SET_CURRENT(copy->looked);
	copy->looked_around = copy->looked;
	return same;
}

/*
 * Is the rate another one, for a reason that nobody was told yet?
 */
static bool
has_news(TsaCopy *copy)
{
	const TsaMoveProgress *told = &copy->progress;
	bool		known = tsa_throttle_rate(copy->throttle) >= 0;

	return (tsa_throttle_reason(copy->throttle) != copy->told_reason ||
			(known && told->present_mb_per_s < 0)) &&
		tsa_ms_since(&copy->reported) >= NEWS_MS;
}

/*
 * Between two transactions of a pass: reports, if there is reason to, begins
 * the next one and reads the WAL.  False, outside any transaction, if the
 * relation was rewritten meanwhile.
 */
static bool
go_on(TsaCopy *copy, bool report)
{
	if (report)
		tsa_copy_report(copy, copy->progress.phase);
	tsa_copy_begin(copy);
	return tsa_copy_catch_up(copy);
}

/*
 * Within a pass's transaction: has a look shown a waiter, since the last delay
 * point?  Looks if it is time to.
 */
bool
tsa_copy_is_waited_for(TsaCopy *copy)
{
	if (!copy->is_waited_for && tsa_ms_since(&copy->looked) >= TSA_LOOK_MS)
	{
		INSTR_TIME_SET_CURRENT(copy->looked);
		copy->is_waited_for = tsa_copy_poll_waiters(copy);
	}
	return copy->is_waited_for;
}

/*
 * In a pass's transaction: is it time to look for waiters or for reasons to
 * pause, and is there one?
 */
static bool
has_to_stop(TsaCopy *copy)
{
	bool		is_waited_for = tsa_copy_is_waited_for(copy);

	copy->is_waited_for = false;
	if (is_waited_for)
		return true;
	if (tsa_ms_since(&copy->looked_around) < LOOK_AROUND_MS)
		return false;
	INSTR_TIME_SET_CURRENT(copy->looked_around);
	return pause_reason(copy, InvalidXLogRecPtr) != NULL;
}

/*
 * Sleeps for so many milliseconds in a pass's transaction, looks for waiters,
 * and from time to time ends the transaction, reports, reads the WAL and begins
 * another.  That flushes the WAL, so news of the rate waits for it a little.
 * False, outside any transaction, if the relation was rewritten meanwhile.
 */
static bool
sleep_in_pass(TsaCopy *copy, double sleep)
{
	double		settling = tsa_throttle_settling(copy->throttle, sleep);
	instr_time	start;

	copy->has_new_limits = false;
	INSTR_TIME_SET_CURRENT(start);
	if (settling > 0)
	{
		tsa_sleep(settling);
		tsa_throttle_note_settled(copy->throttle);
	}
	do
	{
		bool		mark = tsa_copy_mark_is_due(copy, false);
		bool		stop;

		tsa_sleep(Min(sleep - tsa_ms_since(&start), TSA_LOOK_MS));
		stop = has_to_stop(copy);
		if (!stop && !mark && tsa_ms_since(&copy->renewed) <
			(has_news(copy) ? TELL_MS : RENEW_MS) &&
			copy->bytes - copy->renewed_bytes < RENEW_BYTES &&
			!tsa_wal_tail_is_left_behind(copy->tail))
			continue;

		if (mark)
			tsa_copy_write_all(copy);
		tsa_copy_end(copy);
		if (mark)
		{
			tsa_copy_count(copy);
			tsa_copy_mark(copy);
		}
		if (stop && !tsa_copy_yield_and_pause(copy))
			return false;
		if (!go_on(copy, tsa_ms_since(&copy->reported) >= RENEW_MS ||
				   has_news(copy)))
			return false;
	} while (sleep - tsa_ms_since(&start) >= 1 && !copy->has_new_limits);
	if (sleep > 0)
		tsa_throttle_wake(copy->throttle);
	return true;
}

/*
 * Before the first pass, in its transaction: looks for other readers, and
 * reports.  False, outside any transaction, if the relation was rewritten
 * meanwhile.
 */
bool
tsa_copy_look(TsaCopy *copy)
{
	double		sleep = tsa_throttle_look(copy->throttle, true);

	while (sleep > 0)
	{
		if (!sleep_in_pass(copy, sleep))
			return false;
		sleep = tsa_throttle_look(copy->throttle, false);
	}
	if (tsa_throttle_reason(copy->throttle) == copy->told_reason)
		return true;
	tsa_copy_end(copy);
	return go_on(copy, true);
}

/*
 * At the end of the first pass, in its transaction: keeps the rate.  False,
 * outside any transaction, if the relation was rewritten meanwhile.
 */
bool
tsa_copy_end_pass(TsaCopy *copy)
{
	return sleep_in_pass(copy, tsa_throttle_end_pass(copy->throttle));
}

/*
 * Called after a batch of a pass, in its transaction: keeps the rate.  False,
 * outside any transaction, if the relation was rewritten meanwhile.
 *
 * The rate is for the bulk; a pass over changes that are not getting fewer has
 * none, or it would never end.
 */
bool
tsa_copy_delay_point(TsaCopy *copy, uint64 bytes)
{
	aim(copy);
	return sleep_in_pass(copy, tsa_throttle_work(copy->throttle, bytes,
												 copy->unlimited));
}
