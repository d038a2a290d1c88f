/*-------------------------------------------------------------------------
 *
 * units.c
 *	  The units in which a live copy works, and its sleeps between them.
 *
 * How long to sleep is decided by rate_control.c, from what contention.c
 * counts.  While nobody else is there the copy runs without units: it is as
 * fast as the server's own way of copying a relation, and all this costs is a
 * look at the counters every 50 ms.  Beside others a unit is
 *
 * - asked for in one go, in file order, in requests as long as the device takes
 *   (the kernel cuts what is longer into pieces, and those of several requests
 *   then arrive in any order).  A disk that seeks for 5 ms and transfers
 *   90 MB/s would otherwise seek for each 128 kB of read-ahead, which takes it
 *   as long as 450 kB of transfer.  Only runs of blocks that are not in shared
 *   buffers are asked for, and 4 MB beyond the unit, once: the kernel, which
 *   has begun to read ahead by itself, finds nothing to read there and ends
 *   it.  It would go on while the copy sleeps;
 * - copied as ever (blocks.c), but where short sleeps help (rate_control.c)
 *   with one after each batch or two: those who commit then flush our WAL in
 *   small pieces with theirs, and nobody waits for many of them;
 * - followed by a flush of the WAL that the unit before has written, if nobody
 *   has done that;
 * - handed to the kernel for writing, which is waited for after the next unit.
 *   So little is dirty when the checkpointer syncs, and the device's queue is
 *   short.
 *
 * None of this has a part in the argument for the copy's correctness.  Reading
 * ahead fills the system's cache and changes nothing.  WAL may be flushed at
 * any time.  Writing back early does not replace the sync, which is the
 * checkpointer's.
 *
 * Errors of writing back.  The kernel reports a failed write once to each open
 * file, and to those opened later only if nobody was told yet.  To wait for
 * writing back can therefore take away the report that the checkpointer's
 * fsync, of a file that it opens later, should get.  So an error of that wait
 * is not swallowed: it ends the move, and the copy is dropped.  Nothing in
 * this file is called in the window or after it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "storage/smgr.h"

#include "compat.h"
#include "move/copy/deadline.h"
#include "move/copy/contention.h"
#include "move/copy/rate_control.h"
#include "move/copy/units.h"

#define LOOK_S			0.05	/* between looks at the counters */

/* More than the kernel reads ahead by itself, see the head of this file. */
#define AHEAD_BLOCKS	((BlockNumber) (4 * 1024 * 1024 / BLCKSZ))

/* Asked for at a time by a unit in steps. */
#define STEP_BLOCKS		((BlockNumber) (2 * 1024 * 1024 / BLCKSZ))

/* Blocks of the new storage. */
typedef struct BlockRange
{
	RelFileLocator locator;
	ForkNumber	fork;
	BlockNumber from;
	BlockNumber nblocks;
} BlockRange;

struct TsaUnits
{
	char		reason[256];	/* with figures */
	TsaRate		control;
	TsaOthers	others;
	int64		call_id;		/* whose copies share the limits */
	TsaLimits	limits;
	double		window;			/* seconds, until finish_by, that there were */
	double		others_left;	/* bytes of other moves of the call */
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
	bool		asked;			/* for what the unit will read */
	RelFileLocator asked_of;
	ForkNumber	asked_fork;
	BlockNumber asked_end;		/* asked for up to here */
	BlockRange	written;		/* in this unit */
	BlockRange	in_flight;		/* handed to the kernel after the last one */
};

/*
 * Seconds until the copy is to have ended.
 */
static double
seconds_left(const TsaUnits *units)
{
	return (units->limits.finish_by - GetCurrentTimestamp()) /
		(double) USECS_PER_SEC;
}

static bool
has_deadline(const TsaUnits *units)
{
	return !TIMESTAMP_IS_NOEND(units->limits.finish_by);
}

static void
take_limits(TsaUnits *units, const TsaLimits * limits)
{
	units->limits = *limits;
	tsa_rate_set_max_rate(&units->control, limits->mode == TSA_RATE_ADAPTS,
						  limits->max_rate);
	units->control.min_rate = limits->min_rate;
	units->control.needed_rate = 0;
	units->control.late = false;
	units->window = has_deadline(units) ? seconds_left(units) : 0;
}

/*
 * See units.h.
 */
TsaUnits *
tsa_units_open(MemoryContext context, const TsaCopyOrder *order)
{
	TsaUnits   *units = MemoryContextAllocZero(context, sizeof(TsaUnits));

	tsa_init_rate(&units->control, order->limits.mode == TSA_RATE_ADAPTS,
				  order->limits.max_rate);
	take_limits(units, &order->limits);
	tsa_others_open(&units->others, order->source_tablespace,
					order->target_tablespace);
	units->ask_blocks =
		(BlockNumber) tsa_others_request_kb(&units->others) * 1024 / BLCKSZ;
	units->call_id = order->call_id;
	units->opened = units->started = units->step_started = tsa_clock_now();
	return units;
}

/*
 * See units.h.
 */
bool
tsa_units_renew(TsaUnits *units, const TsaLimits * limits, int64 others_left)
{
	bool		changed = limits->mode != units->limits.mode ||
	limits->max_rate != units->limits.max_rate ||
	limits->min_rate != units->limits.min_rate ||
	limits->finish_by != units->limits.finish_by;

	if (changed)
		take_limits(units, limits);
	units->others_left = others_left;
	units->control.copies = tsa_others_copies();
	if (limits->max_rate > 0 || limits->min_rate > 0 || has_deadline(units))
		units->control.sharers = tsa_others_copies_of_call(units->call_id);
	return changed;
}

/*
 * See units.h.
 */
const char *
tsa_units_finish_by(const TsaUnits *units)
{
	return timestamptz_to_str(units->limits.finish_by);
}

/*
 * Bytes per second that can be had: while the copy works, and as if it had to
 * pause as much as until now.
 */
static double
possible_speed(const TsaUnits *units)
{
	double		seconds = (tsa_clock_now() - units->opened) / 1e9;
	double		paused = seconds > 0 ? Min(units->paused / seconds, 1) : 0;

	return tsa_rate_speed(&units->control) * (1 - paused);
}

/*
 * See units.h.
 */
bool
tsa_units_aim(TsaUnits *units, int64 left)
{
	TsaDeadline deadline = {.window = units->window};

	if (!has_deadline(units))
		return false;
	deadline.seconds = seconds_left(units);
	deadline.bytes = Max(left, 0);
	deadline.others = units->others_left;
	deadline.sharers = units->control.sharers;
	units->control.needed_rate = tsa_deadline_rate(&deadline);
	units->control.late = tsa_deadline_is_missed(&deadline,
												 possible_speed(units),
												 units->control.late);
	return units->control.late;
}

/*
 * Does the copy sleep between units?
 */
static bool
has_units(const TsaUnits *units)
{
	return !units->all_speed &&
		(!tsa_rate_is_full(&units->control) || units->control.max_rate > 0);
}

/*
 * Is a block in shared buffers?
 */
static bool
is_buffered(RelFileLocator locator, ForkNumber fork, BlockNumber block)
{
	BufferTag	tag;
	uint32		hash;
	LWLock	   *lock;
	bool		found;

	tsa_init_buffer_tag(&tag, locator, fork, block);
	hash = BufTableHashCode(&tag);
	lock = BufMappingPartitionLock(hash);
	LWLockAcquire(lock, LW_SHARED);
	found = BufTableLookup(&tag, hash) >= 0;
	LWLockRelease(lock);
	return found;
}

/*
 * Opens the segment of a fork that has a block, for the transaction; negative
 * if that fails.
 */
static int
open_segment(RelFileLocator locator, ForkNumber fork, BlockNumber block)
{
	BlockNumber segment = block / (BlockNumber) RELSEG_SIZE;
	char		path[MAXPGPATH];

	tsa_relation_path(path, sizeof(path), locator, fork);
	if (segment > 0)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), ".%u",
				 segment);
	return OpenTransientFile(path, O_RDWR | PG_BINARY);
}

/*
 * Asks the kernel to read what is not in shared buffers of these blocks, all
 * of one segment, and waits until the last of them is there: what the device
 * does for us is to be over when the copy goes to sleep.  Nothing depends on
 * it.
 */
static void
ask_for(RelFileLocator locator, ForkNumber fork, BlockNumber from,
		BlockNumber end, BlockNumber at_once)
{
#ifdef POSIX_FADV_WILLNEED
	int			fd = open_segment(locator, fork, from);
	off_t		last = -1;
	char		byte;

	if (fd < 0)
		return;
	(void) posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	while (from < end)
	{
		BlockNumber n = 0;

		while (n < at_once && from + n < end &&
			   !is_buffered(locator, fork, from + n))
			n++;
		if (n > 0)
		{
			off_t		offset = (off_t) (from % RELSEG_SIZE) * BLCKSZ;
			off_t		length = (off_t) n * BLCKSZ;

			(void) posix_fadvise(fd, offset, length, POSIX_FADV_WILLNEED);
			last = offset + length - 1;
		}
		from += Max(n, 1);
	}
	if (last >= 0 && pread(fd, &byte, 1, last) < 0)
		ereport(DEBUG1,
				(errcode_for_file_access(),
				 errmsg("could not read ahead: %m")));
	(void) CloseTransientFile(fd);
#endif
}

/*
 * See units.h.
 */
void
tsa_units_read_ahead(TsaUnits *units, Relation rel, ForkNumber fork,
					 BlockNumber from, BlockNumber end)
{
	bool		steps = tsa_rate_has_steps(&units->control);
	BlockNumber unit = steps ? STEP_BLOCKS :
	(BlockNumber) (tsa_rate_unit_bytes(&units->control) / BLCKSZ);
	BlockNumber segment_end = (from / (BlockNumber) RELSEG_SIZE + 1) *
	(BlockNumber) RELSEG_SIZE;
	uint64		start = tsa_clock_now();

	if (!has_units(units) || tsa_io_is_direct())
		return;
	if (units->bytes > 0 &&
		(!steps || from + AHEAD_BLOCKS < units->asked_end))
		return;
	end = Min(end, from + unit + AHEAD_BLOCKS);
	if (segment_end > from)		/* it is 0 at the very end */
		end = Min(end, segment_end);
	units->asked = true;
	if (RelFileLocatorEquals(units->asked_of, tsa_rel_locator(rel)) &&
		units->asked_fork == fork && units->asked_end > from)
		from = units->asked_end;
	if (from < end)
		ask_for(tsa_rel_locator(rel), fork, from, end, units->ask_blocks);
	units->asked_of = tsa_rel_locator(rel);
	units->asked_fork = fork;
	units->asked_end = Max(from, end);
	units->ask_ms += (tsa_clock_now() - start) / 1e6;
}

/*
 * See units.h.
 */
void
tsa_units_note_read(TsaUnits *units, double ms)
{
	units->read_ms += ms;
}

/*
 * Asks the kernel to write blocks, or waits until it has; all are of one
 * segment or the rest is left out.
 */
static void
write_back(const BlockRange *range, unsigned int flags)
{
#ifdef HAVE_SYNC_FILE_RANGE
	BlockNumber first = range->from % (BlockNumber) RELSEG_SIZE;
	BlockNumber n = Min(range->nblocks, (BlockNumber) RELSEG_SIZE - first);
	int			fd;

	if (range->nblocks == 0 || !enableFsync)
		return;
	fd = open_segment(range->locator, range->fork, range->from);
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open the file of a copy: %m")));
	if (sync_file_range(fd, (off_t) first * BLCKSZ, (off_t) n * BLCKSZ,
						flags) != 0 &&
		errno != ENOSYS && errno != EINVAL && errno != ESPIPE)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write back the file of a copy: %m")));
	(void) CloseTransientFile(fd);
#endif
}

/*
 * See units.h.
 */
void
tsa_units_note_written(TsaUnits *units, RelFileLocator locator,
					   ForkNumber fork, BlockNumber from, BlockNumber nblocks)
{
	BlockRange *written = &units->written;

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
end_unit(TsaUnits *units)
{
	if (!XLogRecPtrIsInvalid(units->flush_to))
		XLogFlush(units->flush_to);
	if (!XLogRecPtrIsInvalid(XactLastRecEnd))
		units->flush_to = XactLastRecEnd;
#ifdef HAVE_SYNC_FILE_RANGE
	write_back(&units->written, SYNC_FILE_RANGE_WRITE);
	write_back(&units->in_flight, SYNC_FILE_RANGE_WAIT_BEFORE |
			   SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
#endif
	units->in_flight = units->written;
}

/*
 * Takes the counters as the beginning of a stretch.
 */
static void
begin_stretch(TsaUnits *units)
{
	units->started = units->step_started = units->others.last.time_ns;
	units->bytes = units->worked = units->read_ms = units->ask_ms = 0;
	units->asked = false;
	units->written.nblocks = 0;
}

/*
 * Takes note of what has happened since the last reading, and starts anew.
 */
static void
note_stretch(TsaUnits *units, bool working)
{
	TsaRateSample sample = {0};

	sample.worked = working ? units->worked : 0;
	sample.bytes = working ? units->bytes : 0;
	sample.read_seconds = units->read_ms / 1000.0;
	tsa_others_read(&units->others, units->control.copies, working, &sample);
	tsa_rate_note(&units->control, &sample);
	begin_stretch(units);
}

/*
 * Is the unit over, after so many seconds?  One whose blocks were not asked
 * for may take long for few of them.
 */
static bool
unit_is_over(const TsaUnits *units, double elapsed)
{
	double		most = tsa_rate_unit_seconds(&units->control);

	if (!units->asked)
		most = Min(most, LOOK_S);
	return units->bytes >= tsa_rate_unit_bytes(&units->control) ||
		elapsed >= most;
}

/*
 * See units.h.
 */
double
tsa_units_work(TsaUnits *units, uint64 bytes, bool all_speed)
{
	uint64		now = tsa_clock_now();
	double		elapsed = (now - units->started) / 1e9;
	double		unit_bytes;
	double		turn;

	units->bytes += bytes;
	units->all_speed = all_speed;
	units->worked += (now - units->step_started) / 1e9;
	units->step_started = now;
	if (!has_units(units))
	{
		if (elapsed >= LOOK_S)
			note_stretch(units, true);
		units->in_flight.nblocks = 0;
		return 0;
	}

	units->rests = unit_is_over(units, elapsed);
	if (!units->rests)
		return 1000 * tsa_rate_short_sleep(&units->control, units->bytes,
										   units->worked, elapsed);
	end_unit(units);
	now = tsa_clock_now();
	unit_bytes = units->bytes;
	units->worked += (now - units->step_started) / 1e9;
	turn = tsa_rate_turn(&units->control, units->worked,
						 (units->ask_ms + units->read_ms) / 1000);
	elapsed = (now - units->started) / 1e9;
	note_stretch(units, true);
	return 1000 * tsa_rate_rest(&units->control, unit_bytes, turn, elapsed);
}

/*
 * See units.h.
 */
void
tsa_units_wake(TsaUnits *units)
{
	if (units->rests)
		note_stretch(units, false);
	else
		units->step_started = tsa_clock_now();
}

/*
 * See units.h.
 */
void
tsa_units_skip(TsaUnits *units)
{
	TsaRateSample sample = {0};

	tsa_others_read(&units->others, units->control.copies, false, &sample);
	begin_stretch(units);
}

/*
 * See units.h.
 */
void
tsa_units_skip_pause(TsaUnits *units, double ms)
{
	tsa_units_skip(units);
	units->paused += ms / 1000;
}

/*
 * See units.h.
 */
double
tsa_units_rate(const TsaUnits *units)
{
	return units->control.rate;
}

/*
 * See units.h.
 */
double
tsa_units_others_lost(const TsaUnits *units)
{
	return 100 * tsa_rate_others_lost(&units->control);
}

/*
 * See units.h.
 */
const char *
tsa_units_reason(const TsaUnits *units)
{
	bool		blind = !tsa_others_has_device(&units->others);

	if (units->all_speed)
		return "full speed: changes come faster than the rate";
	switch (tsa_rate_reason(&units->control))
	{
		case TSA_REASON_IDLE:
			return blind ?
				"full speed: own reads are not slowed down; the device has no counters" :
				"full speed: nobody else reads or writes much";
		case TSA_REASON_UNLIMITED:
			return "full speed: unlimited";
		case TSA_REASON_LATE:
			return "full speed: it cannot end by finish_by";
		case TSA_REASON_BOUND:
			return units->control.late ?
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
 * See units.h.
 */
const char *
tsa_units_explain(TsaUnits *units)
{
	const TsaRate *control = &units->control;
	const char *reason = tsa_units_reason(units);

	if (units->all_speed || tsa_rate_reason(control) != TSA_REASON_IDLE ||
		!tsa_others_has_device(&units->others))
		return reason;
	snprintf(units->reason, sizeof(units->reason),
			 "%s (others: %.1f MB/s from the devices, %.0f writing transactions/s; own wait for a processor: %.0f%%)",
			 reason,
			 (tsa_rate_lately(control, TSA_CONTENTION_SOURCE) +
			  tsa_rate_lately(control, TSA_CONTENTION_TARGET)) / 1048576.0,
			 tsa_rate_lately(control, TSA_CONTENTION_SERVER),
			 control->worked > 0 ?
			 100 * control->cpu_wait / control->worked : 0);
	return units->reason;
}
