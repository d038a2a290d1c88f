/*-------------------------------------------------------------------------
 *
 * throttle.c
 *	  The throttle of a live copy: it works in units, and sleeps between them.
 *
 * rate_control.c decides how long to sleep, from figures that contention.c
 * counts.  While nobody else is there the copy runs without units: it is as
 * fast as the server's own way of copying a relation, and all this costs is a
 * look at the counters every 50 ms.  Beside others a unit is
 *
 * - asked for in one go, in file order, in requests as long as the device takes
 *   (the kernel cuts longer ones into pieces, and those of several requests
 *   then arrive in any order).  A disk that seeks for 5 ms and transfers 90
 *   MB/s would otherwise seek for each 128 kB of read-ahead, which takes it as
 *   long as 450 kB of transfer.  Only runs of blocks that are not in shared
 *   buffers are asked for, and, after some time at full speed, 4 MB beyond the
 *   unit, once: the kernel, which has begun to read ahead by itself, finds
 *   nothing to read there and ends it.  It would go on while the copy sleeps;
 * - copied as ever (blocks.c), but where short sleeps help (rate_control.c)
 *   with one after each batch or two: sessions that commit then flush our WAL
 *   in small pieces with theirs, and nobody waits for many of them;
 * - followed by a flush of the WAL that the unit before has written, if nobody
 *   has done that;
 * - handed to the kernel for writing, which is waited for after the next unit.
 *   So little is dirty when the checkpointer syncs, and the device's queue is
 *   short.
 *
 * A copy begins with the figures that the worker's last one, of the same
 * devices, had on others, and a unit that is not over at the end of the first
 * pass is followed by its sleep, too.  So a thousand small relations keep the
 * rate as a large one does.
 *
 * None of this has a part in the argument for the copy's correctness.  Reading
 * ahead fills the system's cache and changes nothing.  WAL may be flushed at
 * any time.  Writing back early does not replace the sync, which is the
 * checkpointer's.
 *
 * Nothing in this file is called in the window or after it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/smgr.h"

#include "compat.h"
#include "journal/window_clock.h"
#include "move/copy/deadline.h"
#include "move/copy/contention.h"
#include "move/copy/kernel_io.h"
#include "move/copy/rate_control.h"
#include "move/copy/throttle.h"

#define LOOK_S			0.05	/* between looks at the counters */

/* More than the kernel reads ahead by itself, see the head of this file. */
#define AHEAD_BLOCKS	((BlockNumber) (4 * 1024 * 1024 / BLCKSZ))

/* For so long a copy's figures on others are of use to the next one. */
#define KNOWN_S			5.0

/* Before finish_by no copy sleeps at the end of a pass. */
#define DEADLINE_S		1.0

/* Asked for at a time by a unit in steps. */
#define STEP_BLOCKS		((BlockNumber) (2 * 1024 * 1024 / BLCKSZ))

struct TsaThrottle
{
	char		reason[256];	/* with figures */
	TsaRate		control;
	TsaCounters counters;
	int64		call_id;		/* the call; its copies share the limits */
	TsaLimits	limits;
	double		window;			/* seconds, until finish_by, that there were */
	double		others_left;	/* bytes of other moves of the call */
	double		waits_ms;		/* that moves waited for locks lately */
	uint64		opened;			/* by the clock of counters.h */
	double		paused;			/* seconds since, for standbys and the like */
	uint64		started;		/* the unit */
	double		bytes;			/* of the unit */
	double		read_ms;
	double		ask_ms;			/* asking, until the last block was there */
	uint64		step_started;
	double		worked;			/* seconds of the unit, without sleeps */
	bool		rests;			/* sleeps after a unit, or within one */
	XLogRecPtr	flush_to;		/* end of the unit before */
	bool		all_speed;
	BlockNumber ask_blocks;		/* as much as the device takes at once */
	bool		ran_free;		/* the kernel may be reading ahead by itself */
	bool		asked;			/* for the unit's reads */
	RelFileLocator asked_of;
	ForkNumber	asked_fork;
	BlockNumber asked_from;		/* the last time, from here */
	BlockNumber asked_end;		/* asked for up to here */
	TsaBlockRange written;		/* in this unit */
	TsaBlockRange in_flight;	/* handed to the kernel after the last one */
};

/* Figures on others of the last copy of this process. */
static struct
{
	uint64		at;				/* by the clock of counters.h; 0: none yet */
	TsaRate		control;
	char		stat_path[2][MAXPGPATH];
}			known = {0};

/*
 * Seconds at work until the copy is to have ended, which may be minus infinity.
 */
static double
seconds_left(const TsaThrottle *throttle)
{
	return tsa_window_seconds_until(&throttle->limits.during,
									throttle->limits.finish_by);
}

/* Is there a time by which the move has to end? */
static bool
has_deadline(const TsaThrottle *throttle)
{
	return !TIMESTAMP_IS_NOEND(throttle->limits.finish_by);
}

/* Puts limits into effect. The rate for a deadline is computed anew. */
static void
take_limits(TsaThrottle *throttle, const TsaLimits *limits)
{
	throttle->limits = *limits;
	tsa_rate_set_max_rate(&throttle->control, limits->mode == TSA_RATE_ADAPTS,
						  limits->max_rate);
	throttle->control.min_rate = limits->min_rate;
	throttle->control.needed_rate = 0;
	throttle->control.late = false;
	throttle->window = has_deadline(throttle) ? seconds_left(throttle) : 0;
}

/*
 * Do the figures of the last copy hold for these devices?  Without counters
 * nobody knows whether they are the same.
 */
static bool
is_known(const TsaCounters *counters)
{
	return known.at > 0 && known.stat_path[0][0] != '\0' &&
		counters->last.time_ns - known.at < KNOWN_S * 1e9 &&
		strcmp(counters->stat_path[0], known.stat_path[0]) == 0 &&
		strcmp(counters->stat_path[1], known.stat_path[1]) == 0;
}

/*
 * See throttle.h.
 */
TsaThrottle *
tsa_throttle_open(MemoryContext context, const TsaCopyOrder *order)
{
	TsaThrottle *throttle = MemoryContextAllocZero(context,
												   sizeof(TsaThrottle));

	tsa_contention_open(&throttle->counters, order->source_tablespace,
						order->target_tablespace);
	if (is_known(&throttle->counters) && known.control.adapts &&
		order->limits.mode == TSA_RATE_ADAPTS)
		tsa_rate_go_on(&throttle->control, &known.control);
	else
		tsa_init_rate(&throttle->control,
					  order->limits.mode == TSA_RATE_ADAPTS,
					  order->limits.max_rate);
	take_limits(throttle, &order->limits);
	throttle->ask_blocks =
		(BlockNumber) tsa_contention_request_kb(&throttle->counters) *
		1024 / BLCKSZ;
	throttle->call_id = order->call_id;
	throttle->waits_ms = order->waits_ms;
	throttle->opened = throttle->started = throttle->step_started =
		tsa_clock_now();
	return throttle;
}

/*
 * See throttle.h.
 */
bool
tsa_throttle_renew(TsaThrottle *throttle, const TsaLimits *limits,
				   int64 others_left)
{
	bool		changed = limits->mode != throttle->limits.mode ||
	limits->max_rate != throttle->limits.max_rate ||
	limits->min_rate != throttle->limits.min_rate ||
	limits->finish_by != throttle->limits.finish_by ||
	memcmp(&limits->during, &throttle->limits.during,
		   sizeof(limits->during)) != 0;

	if (changed)
		take_limits(throttle, limits);
	throttle->others_left = others_left;
	throttle->control.copies = tsa_contention_copies();
	if (limits->max_rate > 0 || limits->min_rate > 0 || has_deadline(throttle))
		throttle->control.sharers =
			tsa_contention_copies_of_call(throttle->call_id);
	return changed;
}

/*
 * See throttle.h.
 */
bool
tsa_throttle_is_pressed(const TsaThrottle *throttle)
{
	TsaDeadline deadline = {.window = throttle->window};

	if (!has_deadline(throttle))
		return false;
	deadline.seconds = seconds_left(throttle);
	deadline.waits = throttle->waits_ms / 1e3;
	return tsa_deadline_is_near(&deadline);
}

/*
 * See throttle.h.
 */
const char *
tsa_throttle_finish_by(const TsaThrottle *throttle)
{
	return timestamptz_to_str(throttle->limits.finish_by);
}

/*
 * Bytes per second that can be had: while the copy works, and as if it had to
 * pause as much as until now.
 */
static double
possible_speed(const TsaThrottle *throttle)
{
	double		seconds = (tsa_clock_now() - throttle->opened) / 1e9;
	double		paused = seconds > 0 ? Min(throttle->paused / seconds, 1) : 0;

	return tsa_rate_speed(&throttle->control) * (1 - paused);
}

/*
 * See throttle.h.
 */
bool
tsa_throttle_aim(TsaThrottle *throttle, int64 left)
{
	TsaDeadline deadline = {.window = throttle->window};

	if (!has_deadline(throttle))
		return false;
	deadline.seconds = seconds_left(throttle);
	deadline.bytes = Max(left, 0);
	deadline.others = throttle->others_left;
	deadline.waits = throttle->waits_ms / 1e3;
	deadline.sharers = throttle->control.sharers;
	throttle->control.needed_rate = tsa_deadline_rate(&deadline);
	throttle->control.late = tsa_deadline_is_missed(&deadline,
													possible_speed(throttle),
													throttle->control.late);
	return throttle->control.late;
}

/*
 * Does the copy sleep between units?
 */
static bool
takes_rests(const TsaThrottle *throttle)
{
	return !throttle->all_speed &&
		(!tsa_rate_is_full(&throttle->control) ||
		 throttle->control.max_rate > 0);
}

/*
 * See throttle.h.
 */
void
tsa_throttle_read_ahead(TsaThrottle *throttle, Relation rel, ForkNumber fork,
						BlockNumber from, BlockNumber end)
{
	bool		steps = tsa_rate_has_steps(&throttle->control);
	BlockNumber unit = steps ? STEP_BLOCKS :
	(BlockNumber) (tsa_rate_unit_bytes(&throttle->control) / BLCKSZ);
	BlockNumber segment_end = (from / (BlockNumber) RELSEG_SIZE + 1) *
	(BlockNumber) RELSEG_SIZE;
	uint64		start = tsa_clock_now();

	if (tsa_io_is_direct())
		return;
	if (!takes_rests(throttle))
	{
		throttle->ran_free = true;
		return;
	}
	if (from < throttle->asked_from)	/* another file, or round again */
		throttle->asked_end = 0;
	throttle->asked_from = from;
	if (throttle->bytes > 0 &&
		(!steps || from + AHEAD_BLOCKS < throttle->asked_end))
		return;
	if (steps || throttle->ran_free)
		unit += AHEAD_BLOCKS;
	end = Min(end, from + unit);
	if (segment_end > from)		/* it is 0 at the very end */
		end = Min(end, segment_end);
	throttle->asked = true;
	if (RelFileLocatorEquals(throttle->asked_of, tsa_rel_locator(rel)) &&
		throttle->asked_fork == fork && throttle->asked_end > from)
		from = throttle->asked_end;
	if (from < end)
		tsa_ask_for(tsa_rel_locator(rel), fork, from, end,
					throttle->ask_blocks);
	throttle->asked_of = tsa_rel_locator(rel);
	throttle->asked_fork = fork;
	throttle->asked_end = Max(from, end);
	throttle->ask_ms += (tsa_clock_now() - start) / 1e6;
}

/*
 * See throttle.h.
 */
void
tsa_throttle_note_read(TsaThrottle *throttle, double ms)
{
	throttle->read_ms += ms;
}

/*
 * See throttle.h.
 */
void
tsa_throttle_note_written(TsaThrottle *throttle, RelFileLocator locator,
						  ForkNumber fork, BlockNumber from,
						  BlockNumber nblocks)
{
	TsaBlockRange *written = &throttle->written;

	if (written->nblocks == 0 || written->fork != fork ||
		!RelFileLocatorEquals(written->locator, locator) ||
		written->from + written->nblocks != from)
	{
		written->locator = locator;
		written->fork = fork;
		written->from = from;
		written->nblocks = 0;
	}
	written->nblocks += nblocks;
}

/*
 * Ends a unit that others should not feel: its WAL is flushed, its blocks are
 * handed to the kernel, and those of the unit before are on the device.
 */
static void
end_unit(TsaThrottle *throttle)
{
	if (!XLogRecPtrIsInvalid(throttle->flush_to))
		XLogFlush(throttle->flush_to);
	if (!XLogRecPtrIsInvalid(XactLastRecEnd))
		throttle->flush_to = XactLastRecEnd;
#ifdef HAVE_SYNC_FILE_RANGE
	tsa_write_back(&throttle->written, SYNC_FILE_RANGE_WRITE);
	tsa_write_back(&throttle->in_flight, SYNC_FILE_RANGE_WAIT_BEFORE |
				   SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
#endif
	throttle->in_flight = throttle->written;
}

/*
 * Takes the counters as the beginning of a stretch.
 */
static void
begin_stretch(TsaThrottle *throttle)
{
	throttle->started = throttle->step_started =
		throttle->counters.last.time_ns;
	throttle->bytes = 0;
	throttle->worked = throttle->read_ms = throttle->ask_ms = 0;
	throttle->asked = false;
	throttle->written.nblocks = 0;
}

/*
 * Notes the changes since the last reading, and starts anew.
 */
static void
note_stretch(TsaThrottle *throttle, bool working)
{
	TsaRateSample sample = {0};

	sample.worked = working ? throttle->worked : 0;
	sample.bytes = working ? throttle->bytes : 0;
	sample.read_seconds = throttle->read_ms / 1000.0;
	tsa_contention_read(&throttle->counters, throttle->control.copies, working,
						&sample);
	tsa_rate_note(&throttle->control, &sample);
	known.at = throttle->counters.last.time_ns;
	known.control = throttle->control;
	memcpy(known.stat_path, throttle->counters.stat_path,
		   sizeof(known.stat_path));
	begin_stretch(throttle);
}

/*
 * Is the unit over, after so many seconds?  Without requests for its blocks
 * one may take long for few of them.
 */
static bool
unit_is_over(const TsaThrottle *throttle, double elapsed)
{
	double		most = tsa_rate_unit_seconds(&throttle->control);

	if (!throttle->asked)
		most = Min(most, LOOK_S);
	return throttle->bytes >= tsa_rate_unit_bytes(&throttle->control) ||
		elapsed >= most;
}

/*
 * Ends a unit.  Milliseconds to sleep.
 */
static double
rest_after_unit(TsaThrottle *throttle)
{
	double		bytes = throttle->bytes;
	double		elapsed;
	double		turn;
	uint64		now;

	end_unit(throttle);
	now = tsa_clock_now();
	throttle->worked += (now - throttle->step_started) / 1e9;
	turn = tsa_rate_turn(&throttle->control, bytes, throttle->worked,
						 (throttle->ask_ms + throttle->read_ms) / 1000);
	elapsed = (now - throttle->started) / 1e9;
	note_stretch(throttle, true);
	return 1000 * tsa_rate_rest(&throttle->control, bytes, turn, elapsed);
}

/*
 * See throttle.h.
 */
double
tsa_throttle_work(TsaThrottle *throttle, uint64 bytes, bool all_speed)
{
	uint64		now = tsa_clock_now();
	double		elapsed = (now - throttle->started) / 1e9;

	throttle->bytes += bytes;
	throttle->all_speed = all_speed;
	throttle->worked += (now - throttle->step_started) / 1e9;
	throttle->step_started = now;
	if (!takes_rests(throttle))
	{
		if (elapsed >= LOOK_S)
			note_stretch(throttle, true);
		throttle->in_flight.nblocks = 0;
		return 0;
	}

	throttle->rests = unit_is_over(throttle, elapsed);
	if (!throttle->rests)
		return 1000 * tsa_rate_short_sleep(&throttle->control, throttle->bytes,
										   throttle->worked, elapsed);
	return rest_after_unit(throttle);
}

/*
 * See throttle.h.
 */
double
tsa_throttle_end_pass(TsaThrottle *throttle)
{
	double		sleep;

	throttle->rests = throttle->bytes > 0 && takes_rests(throttle);
	if (throttle->bytes > 0 && !throttle->rests)
		note_stretch(throttle, true);
	if (!throttle->rests)
		return 0;
	sleep = rest_after_unit(throttle);
	if (has_deadline(throttle)) /* which nothing left to copy asks for */
		sleep = Min(sleep, 1000 * (seconds_left(throttle) - DEADLINE_S));
	return Max(sleep, 0);
}

/*
 * See throttle.h.
 */
double
tsa_throttle_look(TsaThrottle *throttle, bool first)
{
	if (first)
		note_stretch(throttle, false);
	throttle->rests = true;
	return 1000 * tsa_rate_first_rest(&throttle->control);
}

/*
 * See throttle.h.
 */
double
tsa_throttle_settling(const TsaThrottle *throttle, double ms)
{
	if (!throttle->rests || ms <= 0)
		return 0;
	return 1000 * tsa_rate_settling(&throttle->control, ms / 1000);
}

/*
 * See throttle.h.
 */
void
tsa_throttle_note_settled(TsaThrottle *throttle)
{
	note_stretch(throttle, true);
}

/*
 * See throttle.h.
 */
void
tsa_throttle_wake(TsaThrottle *throttle)
{
	if (throttle->rests)
		note_stretch(throttle, false);
	else
		throttle->step_started = tsa_clock_now();
}

/*
 * See throttle.h.
 */
void
tsa_throttle_skip(TsaThrottle *throttle)
{
	TsaRateSample sample = {0};

	tsa_contention_read(&throttle->counters, throttle->control.copies, false,
						&sample);
	begin_stretch(throttle);
}

/*
 * See throttle.h.
 */
void
tsa_throttle_skip_pause(TsaThrottle *throttle, double ms)
{
	tsa_throttle_skip(throttle);
	throttle->paused += ms / 1000;
}

/*
 * See throttle.h.
 */
double
tsa_throttle_rate(const TsaThrottle *throttle)
{
	return throttle->control.rate;
}

/*
 * See throttle.h.
 */
double
tsa_throttle_most_ahead(const TsaThrottle *throttle)
{
	return throttle->counters.max_in_flight;
}

/*
 * See throttle.h.
 */
double
tsa_throttle_share(const TsaThrottle *throttle)
{
	return tsa_rate_is_full(&throttle->control) ? 1 : throttle->control.share;
}

/*
 * See throttle.h.
 */
double
tsa_throttle_others_lost(const TsaThrottle *throttle)
{
	return 100 * tsa_rate_others_lost(&throttle->control);
}

/*
 * See throttle.h.
 */
const char *
tsa_throttle_reason(const TsaThrottle *throttle)
{
	bool		blind = !tsa_contention_has_device(&throttle->counters);

	if (throttle->all_speed)
		return "full speed: changes come faster than the rate";
	switch (tsa_rate_reason(&throttle->control))
	{
		case TSA_REASON_IDLE:
			return blind ?
				"full speed: own reads are not slowed down; the device has no counters" :
				"full speed: nobody else reads or writes much";
		case TSA_REASON_UNLIMITED:
			return "full speed: unlimited";
		case TSA_REASON_BURST:
			return "full speed: for some seconds, beside other transactions";
		case TSA_REASON_LATE:
			return "full speed: it cannot end by finish_by";
		case TSA_REASON_BOUND:
			return throttle->control.late ?
				"bounded by max_rate: it cannot end by finish_by" :
				"bounded by max_rate";
		case TSA_REASON_MIN_RATE:
			return "no slower: min_rate";
		case TSA_REASON_DEADLINE:
			return "no slower: finish_by";
		case TSA_REASON_SOURCE:
			return "others read from the source's device";
		case TSA_REASON_TARGET:
			return "others read from the target's device";
		case TSA_REASON_SERVER:
			return "other transactions write";
		case TSA_REASON_PROCESSOR:
			return "others need the processors";
		case TSA_REASON_OWN_TIMING:
			return "own reads are slowed down; the device has no counters";
	}
	return NULL;				/* keep compiler quiet */
}

/*
 * See throttle.h.
 */
const char *
tsa_throttle_explain(TsaThrottle *throttle)
{
	const TsaRate *control = &throttle->control;
	const char *reason = tsa_throttle_reason(throttle);

	if (throttle->all_speed || tsa_rate_reason(control) != TSA_REASON_IDLE ||
		!tsa_contention_has_device(&throttle->counters))
		return reason;
	snprintf(throttle->reason, sizeof(throttle->reason),
			 "%s (others: %.1f MB/s from the devices, %.0f writing transactions/s; own wait for a processor: %.0f%%)",
			 reason,
			 (tsa_rate_lately(control, TSA_CONTENTION_SOURCE) +
			  tsa_rate_lately(control, TSA_CONTENTION_TARGET)) / 1048576.0,
			 tsa_rate_lately(control, TSA_CONTENTION_SERVER),
			 control->worked > 0 ?
			 100 * control->cpu_wait / control->worked : 0);
	return throttle->reason;
}
