/*-------------------------------------------------------------------------
 *
 * passes.c
 *	  The passes of a live copy: for how long to go on, and how long to wait
 *	  before another attempt to cut over.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "move/common/session.h"
#include "move/common/sleep.h"
#include "move/common/stop_point.h"
#include "move/copy/backoff.h"
#include "move/copy/copy.h"

#define READY_BLOCKS	64		/* so few are left for the cutover */
#define MAX_PASSES		50		/* of one call */
#define LOOK_BYTES		(INT64CONST(16) * 1024 * 1024)	/* worth a look first */
#define REPORT_MS		1000	/* time between reports while waiting */
#define BLOCKED_MS		100		/* time between searches for blockers */

/*
 * Compares the blocks of all forks that are to be compared: it begins in the
 * middle of one, and ends there.  False, outside any transaction, if the move
 * has to start with new storage.
 */
static bool
compare_forks(TsaCopy *copy)
{
	int			first = copy->compare_first;

	tsa_copy_write_all(copy);
	tsa_copy_report(copy, "comparing");
	for (int i = 0; i <= copy->nforks; i++)
	{
		TsaCopyFork *fork = &copy->forks[(first + i) % copy->nforks];
		BlockNumber before = i == 0 ? fork->compare_from : 0;

		if (!tsa_copy_compare_blocks(copy, fork, fork->trusted_end - before))
			return false;
	}
	return true;
}

/*
 * One pass over all forks, and another over the blocks to be compared.  False,
 * outside any transaction, if the move has to start with new storage.
 */
static bool
pass_over_forks(TsaCopy *copy)
{
	for (int i = 0; i < copy->nforks; i++)
		if (!tsa_copy_changed_blocks(copy, &copy->forks[i]) ||
			!tsa_copy_new_blocks(copy, &copy->forks[i]))
			return false;
	if (tsa_copy_uncompared(copy) > 0 && !compare_forks(copy))
		return false;

	/* it may have started over */
	copy->has_passed = tsa_copy_uncompared(copy) == 0;
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

	/* events before a first look are part of it */
	if (copy->has_passed || copy->progress.bytes_total < LOOK_BYTES)
		tsa_throttle_skip(copy->throttle);
	for (int passes = 0;; passes++)
	{
		uint64		left;
		bool		first;

		tsa_copy_begin(copy);
		if (!tsa_copy_catch_up(copy))
			return false;
		first = !copy->has_passed;
		left = tsa_copy_left(copy);
		copy->progress.bytes_total = tsa_copy_source_bytes(copy);
		copy->progress.blocks_left = (int64) left;
		if (left == 0 || (!first && left < READY_BLOCKS) ||
			(!first && left < TSA_MANY_BLOCKS && left >= last) ||
			passes >= MAX_PASSES)
			break;

		/* for good: the rest grows again while a pass keeps the rate */
		copy->unlimited = !first && (copy->unlimited || left > last / 2);
		last = left;
		copy->progress.passes++;
		copy->progress.phase = first ? "copying" : "following changes";
		if (first && copy->progress.bytes_total >= LOOK_BYTES)
		{
			if (!tsa_copy_look(copy))
				return false;
			tsa_stop_point("looked");
		}
		if (!pass_over_forks(copy) || (first && !tsa_copy_end_pass(copy)))
			return false;
		tsa_copy_write_all(copy);
		tsa_copy_end(copy);
		if (tsa_copy_mark_is_due(copy, first))
		{
			tsa_copy_count(copy);
			tsa_copy_mark(copy);
		}
		if (first)
			tsa_copy_tell_kept(copy);
		if (first && copy->progress.bytes_total > TSA_SMALL_COPY)
			tsa_copy_report(copy, copy->progress.phase);
		tsa_stop_point(first ? "copied" : "followed");
	}
	tsa_copy_end(copy);
	return true;
}

/*
 * The phase that shows the obstacle of a failed attempt.  A prepared
 * transaction is named, since it has no process.
 */
const char *
tsa_copy_waiting_phase(TsaCopy *copy)
{
	const char *phase = copy->nblockers > 0 ?
	"waiting for lock" : "following changes";

	for (int i = 0; i < copy->nblockers; i++)
		if (copy->blockers[i] == 0)
		{
			char	   *gids;

			tsa_begin();
			gids = copy->callbacks->find_prepared_blockers(copy->callbacks->arg,
														   copy->blocked_on,
														   copy->blocked_by);
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
 * Is the last attempt's obstacle gone, as far as can be seen?  A search for
 * sessions in the way is made from time to time only.
 */
static bool
is_over(TsaCopy *copy, TsaCutover reason, instr_time *searched)
{
	if (reason == TSA_CUTOVER_LATER)
		return false;
	if (tsa_copy_may_try(copy) && tsa_copy_is_free(copy))
		return true;
	if (reason == TSA_CUTOVER_BUSY)
		return tsa_copy_may_queue(copy);
	if (tsa_ms_since(searched) < BLOCKED_MS)
		return false;
	INSTR_TIME_SET_CURRENT(*searched);
	return !tsa_copy_is_blocked(copy);
}

/*
 * Sleeps for so long; but less if a session waits for us, or another attempt
 * makes sense: the next session in the way may not be far.
 */
static void
sleep_and_look(TsaCopy *copy, double ms, TsaCutover reason)
{
	instr_time	start;
	instr_time	searched;

	INSTR_TIME_SET_CURRENT(start);
	searched = start;
	do
		tsa_sleep(Min(ms - tsa_ms_since(&start), TSA_LOOK_MS));
	while (ms - tsa_ms_since(&start) >= 1 && !tsa_copy_poll_waiters(copy) &&
		   !is_over(copy, reason, &searched));
	copy->progress.waited_ms += tsa_ms_since(&start);
}

/*
 * Waits before the next attempt, and keeps the copy up to date meanwhile.
 * False if the relation was rewritten.
 *
 * An attempt that was not made because a prepared transaction is in the way
 * counts all the same: it may stay for ever.  A blocker that is bound to
 * finish is waited for, however long a VACUUM takes.
 */
bool
tsa_copy_back_off(TsaCopy *copy, TsaCutover reason)
{
	instr_time	start;
	int			tries;
	double		ms;

	for (int i = 0; reason == TSA_CUTOVER_BLOCKED && i < copy->nblockers; i++)
		if (copy->blockers[i] == 0)
		{
			copy->attempts++;
			reason = TSA_CUTOVER_LATER;
		}

	/* strict ones do not count that had the lock, but too much left */
	tries = copy->attempts;
	if (copy->nblockers == 0)
		tries -= TSA_STRICT_ATTEMPTS;
	ms = reason != TSA_CUTOVER_LATER ? 0 :
		tsa_backoff_ms(tries, copy->held_up_ms);

	INSTR_TIME_SET_CURRENT(start);
	do
	{
		tsa_copy_report(copy, tsa_copy_waiting_phase(copy));
		sleep_and_look(copy, reason != TSA_CUTOVER_LATER ? REPORT_MS :
					   Min(ms, REPORT_MS), reason);
		if (!tsa_copy_yield_and_pause(copy) || !tsa_copy_passes(copy))
			return false;
	} while (tsa_ms_since(&start) < ms);
	return true;
}
