/*-------------------------------------------------------------------------
 *
 * rate_control.c
 *	  How fast a copy may go beside others.
 *
 * While nobody else is there a copy goes as fast as it can.  Beside others it
 * works in units and sleeps after each, for a share of the time that is
 * controlled by additive increase and multiplicative decrease.  The controlled
 * quantity is the others' loss: the part of the work that they do while the
 * copy sleeps that they do not get done over all.  Measuring it so needs to
 * know nothing about the device, and follows a load that changes by itself,
 * because every sleep measures anew.
 *
 * Four things are looked at.  Read bytes of the source's and of the target's
 * device, less the copy's own: bytes, not requests, because the kernel says
 * exactly how many bytes a process has read, but not in how many requests.
 * Transactions that write, by their IDs: they feel the copy's WAL and its
 * writes.  And the processor, for which the copy's own waiting stands.
 * A device without counters is judged by the copy's own reads, which get
 * slower when others use it as well.
 *
 * A device on which a request takes milliseconds when the copy sleeps serves
 * one at a time: a request that comes in the middle of a unit waits for its
 * end, and each unit begins with a seek.  So a unit is a turn at the device: a
 * few requests, of which the first seeks and the others follow it, as many as
 * turn.c says.  The cost of a turn is the time of its reads, not that of the
 * rest of the work, unless others need the resource that this takes.  Rare
 * readers lose no throughput, but they do wait; so there the share has an
 * upper bound as well.  Elsewhere a unit has steps: short sleeps within it,
 * for most of its time, and a rest at its end, in which the load is measured
 * without the copy.
 *
 * A session that hardly waits for a device has little to lose there.  How much
 * that is, in bytes, depends on the device: when the requests of sessions that
 * read while the copy sleeps take a fiftieth of the time at most, so many
 * bytes a second are ignored, and for a while twice as many.  Beside sessions
 * that only write, a copy may begin with a burst (burst.c).
 *
 * Every move ends: the share has a lower bound, and so has the rate.  min_rate
 * and a time by which the copy has to end (deadline.c) are higher bounds of
 * the rate: they make sleeps shorter, and leave the share alone, so that it is
 * the same as without them as soon as they do not matter any more.  max_rate
 * is a bound, not a target; copies that share one take equal parts.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/copy/rate_control.h"

#include <math.h>
#include <string.h>

#define FIRST_LOOK		0.05	/* seconds until the first decision */
#define FULL_WINDOW		0.1		/* seconds between the others, at full speed */
#define FIRST_REST		0.12	/* before the first read: a window, and more */
#define FIRST_RESTS		3		/* such, at most */
#define WINDOW			0.25	/* and else */
#define MEMORY			2.0		/* seconds after which a sample counts 1/e */
#define LATELY			0.5		/* the same of the counters that show others */

#define START_SHARE		0.2		/* when somebody appears */
#define MIN_SHARE		0.02
#define MAX_SHARE		0.9		/* beside others: sleeps measure */
#define SLOW_SHARE		0.25	/* of a device that serves one at a time */
#define CONTENDED_SHARE 0.25	/* of a processor that others wait for */
#define MIN_RATE		(1024.0 * 1024.0)

#define INCREASE		0.02
#define DECREASE		0.75
#define LITTLE_LOSS		0.06	/* less: faster */
#define MUCH_LOSS		0.10	/* more: slower */

/* Where turns are taken: there are few of them, and few requests. */
#define TURN_WINDOW		1.0
#define TURN_MEMORY		6.0
#define TURN_LITTLE_LOSS 0.09
#define TURN_MUCH_LOSS	0.105

#define SLOW_REQUEST	0.002	/* seconds */
#define CONTENDED		0.25	/* of its working time the copy waits */
#define CPU_EVIDENCE	0.05	/* seconds of work that say something */
#define SLOWER_READS	2.0		/* than the best ones */

/*
 * Others are there from so many bytes or transactions a second on; to come they
 * need some more, and in more than one window, because everybody reads a little
 * now and then, a program that starts for example.
 */
#define PRESENT_BYTES	65536.0
#define PRESENT_WRITERS 10.0
#define STRAY_BYTES		32768.0
#define STRAY_WRITERS	3.0
#define ONE_WINDOW		0.75	/* of their needs, at most */
#define DOUBT			0.1		/* seconds in which nothing happened, added */
#define LITTLE_USE		0.02	/* of the time somebody waits for the device */
#define USE_EVIDENCE	0.1		/* seconds of sleep that tell it */
#define IGNORANCE		30.0	/* seconds after which 1/e of it is ignored */

#define MAX_UNIT		(2.0 * 1024 * 1024)
#define MIN_TURN		0.25	/* of a unit's work */
#define MAX_SECONDS		1.0		/* longest unit */
#define MIN_UNIT		TSA_TURN_BATCH

/* A unit in steps. */
#define STEPS_UNIT		(16.0 * 1024 * 1024)
#define STEPS_SECONDS	0.15
#define STEPS_PART		0.75	/* of the time, the rest is for resting */
#define SHORT_SLEEP		0.002	/* seconds, at least */
#define UNIT_OF_RATE	0.1		/* a unit: so long at max_rate */

/*
 * max_rate in bytes per second, 0 for none.
 */
void
tsa_init_rate(TsaRate *control, bool adapts, double max_rate)
{
	memset(control, 0, sizeof(*control));
	control->adapts = adapts;
	control->max_rate = max_rate;
	control->copies = 1;
	control->sharers = 1;
	control->share = 1;
	control->rate = -1;
	control->reason = adapts ? TSA_REASON_IDLE : TSA_REASON_UNLIMITED;
	control->first_look = true;
	tsa_turns_init(&control->turns);
}

/*
 * Are sleeps shorter than the share asks for?  Others' loss by that says
 * nothing about the share.
 */
static void
set_hurried(TsaRate *control, bool hurried)
{
	if (control->hurried && !hurried)
		memcpy(control->all, control->asleep, sizeof(control->all));
	control->hurried = hurried;
}

/*
 * As tsa_init_rate(), with the figures on others that another copy has just
 * found.  Limits are to be set; the copy's own figures begin anew.
 */
void
tsa_rate_go_on(TsaRate *control, const TsaRate *last)
{
	*control = *last;
	control->first_rests = FIRST_RESTS;
	control->rate = -1;
	control->bounded = false;
	set_hurried(control, false);
	control->best_read = control->read_seconds = control->read_bytes = 0;
	control->present[TSA_CONTENTION_UNKNOWN] = false;
	memset(control->lost, 0, sizeof(control->lost));
}

/*
 * Changes max_rate of a copy under way.
 */
void
tsa_rate_set_max_rate(TsaRate *control, bool adapts, double max_rate)
{
	if (control->adapts != adapts)
		control->reason = adapts ? TSA_REASON_IDLE : TSA_REASON_UNLIMITED;
	control->adapts = adapts;
	control->max_rate = max_rate;
	control->bounded = false;
}

/*
 * The part of their possible work that the others do not get done; negative
 * while that is not known.
 */
double
tsa_rate_loss(const TsaRate *control, TsaContention who)
{
	const TsaRateSums *all = &control->all[who];
	const TsaRateSums *asleep = &control->asleep[who];

	if (asleep->seconds < FIRST_LOOK || asleep->done <= 0 || all->seconds <= 0)
		return -1;
	return fmax(0, 1 - (all->done / all->seconds) /
				(asleep->done / asleep->seconds));
}

/*
 * Bytes per second while the copy works, 0 while that is not known.
 */
double
tsa_rate_speed(const TsaRate *control)
{
	double		speed;

	if (control->speed_seconds < FIRST_LOOK)
		return 0;
	speed = control->speed_bytes / control->speed_seconds;
	return control->max_rate > 0 ?
		fmin(speed, control->max_rate / control->sharers) : speed;
}

/*
 * The work of others per second lately: bytes, transactions.
 */
double
tsa_rate_lately(const TsaRate *control, TsaContention who)
{
	return control->lately > 0 ?
		control->lately_done[who] / control->lately : 0;
}

/*
 * The part of their possible work that others have not got done since the copy
 * began, of those with the largest loss; negative if that is not known, as
 * when they were there for a moment only.
 */
double
tsa_rate_others_lost(const TsaRate *control)
{
	return control->adapts ?
		tsa_lost_most(control->lost, TSA_CONTENTIONS) : -1;
}

/* Accounts for others' losses.  Reads of another copy look like others'. */
static void
note_loss(TsaRate *control, const TsaRateSample *sample, TsaContention who)
{
	const TsaRateSums *asleep = &control->asleep[who];

	if (asleep->seconds >= FIRST_LOOK && asleep->done > 0)
		control->usual[who] = asleep->done / asleep->seconds;
	control->lost[who].seen |= control->present[who];
	if (!control->present[who] ||
		(control->copies > 1 && who != TSA_CONTENTION_SERVER))
		tsa_lost_leave(&control->lost[who]);
	else
		tsa_lost_add(&control->lost[who], sample->working, sample->seconds,
					 sample->done[who]);
}

/*
 * Does their device serve one request at a time?
 */
static bool
is_slow(const TsaRate *control, TsaContention who)
{
	const TsaRateSums *asleep = &control->asleep[who];

	return asleep->requests >= 4 &&
		asleep->request_seconds / asleep->requests >= SLOW_REQUEST;
}

/*
 * Do the users of that device hardly wait for it?
 */
static bool
is_little_used(const TsaRate *control, TsaContention who)
{
	const TsaRateSums *asleep = &control->asleep[who];

	return asleep->seconds >= USE_EVIDENCE && asleep->requests > 0 &&
		asleep->request_seconds < LITTLE_USE * asleep->seconds;
}

/*
 * Is, or was, somebody there in the window with so much work done per second?
 */
static bool
is_there(TsaRate *control, TsaContention who, double per_second, double stray)
{
	double		counts = control->done[who];
	double		needed;

	control->ignored[who] *= exp(-control->window / IGNORANCE);
	if (control->present[who] && is_little_used(control, who))
		control->ignored[who] = 2 * control->asleep[who].done /
			control->asleep[who].seconds;
	per_second = fmax(per_second, control->ignored[who]);
	needed = per_second * control->lately + stray;
	if (control->window < LATELY)	/* a longer one is evidence by itself */
		counts = fmin(counts, ONE_WINDOW * needed);
	control->lately_done[who] += counts;
	if (control->present[who])
		return control->done[who] >= per_second * (control->window + DOUBT);
	return control->lately_done[who] >= needed;
}

/*
 * Which kinds of others were there in the window?  True if it is somebody
 * after a window in which nobody was.
 */
static bool
find_contention(TsaRate *control)
{
	bool		alone = true;
	bool		anybody = false;
	bool		there[TSA_CONTENTIONS];

	there[TSA_CONTENTION_SOURCE] = is_there(control, TSA_CONTENTION_SOURCE,
											PRESENT_BYTES, STRAY_BYTES);
	there[TSA_CONTENTION_TARGET] = is_there(control, TSA_CONTENTION_TARGET,
											PRESENT_BYTES, STRAY_BYTES);
	there[TSA_CONTENTION_SERVER] = is_there(control, TSA_CONTENTION_SERVER,
											PRESENT_WRITERS, STRAY_WRITERS);
	there[TSA_CONTENTION_PROCESSOR] = control->worked >= CPU_EVIDENCE &&
		control->cpu_wait / control->worked >= CONTENDED;
	there[TSA_CONTENTION_UNKNOWN] = false;

	if (control->read_bytes >= MAX_UNIT)
	{
		double		cost = control->read_seconds / control->read_bytes;

		if (control->best_read == 0 || cost < control->best_read)
			control->best_read = cost;
		there[TSA_CONTENTION_UNKNOWN] =
			cost > SLOWER_READS * control->best_read;
	}

	for (int who = 0; who < TSA_CONTENTIONS; who++)
	{
		if (there[who] && !control->present[who])
		{
			memset(&control->asleep[who], 0, sizeof(TsaRateSums));
			memset(&control->all[who], 0, sizeof(TsaRateSums));
			control->usual[who] = 0;
		}
		alone &= !control->present[who];
		anybody |= there[who];
		control->present[who] = there[who];
	}
	return alone && anybody;
}

/*
 * The kind of others with the largest loss, and that loss.
 */
static TsaContention
find_loser(const TsaRate *control, double *loss)
{
	TsaContention loser = TSA_CONTENTIONS;

	*loss = -1;
	for (int who = TSA_CONTENTIONS - 1; who >= 0; who--)
	{
		double		lost = tsa_rate_loss(control, (TsaContention) who);

		if (!control->present[who])
			continue;
		if (who == TSA_CONTENTION_UNKNOWN)
			lost = 1;			/* with a loss that cannot be measured */
		if (loser == TSA_CONTENTIONS || lost >= *loss)
		{
			loser = (TsaContention) who;
			*loss = lost;
		}
	}
	return loser;
}

/*
 * The upper bound of the share beside the others there.  A reader that keeps a
 * slow device busy has the measured loss; a rare reader waits.  Others' loss
 * of processor time is measured if they write.
 */
static double
max_share(const TsaRate *control)
{
	double		most = MAX_SHARE;

	for (int who = 0; who < TSA_CONTENTIONS; who++)
		if (control->present[who] && is_slow(control, (TsaContention) who) &&
			control->asleep[who].request_seconds < control->asleep[who].seconds)
			most = fmin(most, SLOW_SHARE);
	if (control->present[TSA_CONTENTION_PROCESSOR] &&
		!control->present[TSA_CONTENTION_SERVER])
		most = fmin(most, CONTENDED_SHARE);
	return most / control->copies;
}

/*
 * Do the readers of the source's device, one at a time, lose most?
 */
static bool
takes_turns(const TsaRate *control)
{
	return control->reason == TSA_REASON_SOURCE &&
		control->present[TSA_CONTENTION_SOURCE] &&
		is_slow(control, TSA_CONTENTION_SOURCE);
}

/*
 * Is the next window one of a burst, where only writers are there?
 */
static bool
bursts(TsaRate *control)
{
	const bool *present = control->present;

	return present[TSA_CONTENTION_SERVER] && !present[TSA_CONTENTION_SOURCE] &&
		!present[TSA_CONTENTION_TARGET] && !present[TSA_CONTENTION_UNKNOWN] &&
		tsa_burst_goes_on(&control->burst, control->share >= 1,
						  control->window,
						  control->usual[TSA_CONTENTION_SERVER],
						  control->done[TSA_CONTENTION_SERVER]);
}

/*
 * Decides on the share of the time for the next window.
 */
static void
decide(TsaRate *control)
{
	bool		came = find_contention(control);
	bool		turns = takes_turns(control);
	double		little = turns ? TURN_LITTLE_LOSS : LITTLE_LOSS;
	double		much = turns ? TURN_MUCH_LOSS : MUCH_LOSS;
	double		loss;
	TsaContention loser = find_loser(control, &loss);

	control->rate = control->bytes / control->window;
	if (loser == TSA_CONTENTIONS)
	{
		control->share = fmin(1, control->share * 2);
		if (control->share == 1)
			control->reason = TSA_REASON_IDLE;
		return;
	}

	if (bursts(control))
	{
		control->share = 1;
		control->reason = TSA_REASON_BURST;
		return;
	}
	if (control->share >= 1)	/* the cost of a burst says no more */
		memcpy(control->all, control->asleep, sizeof(control->all));
	if (came || control->share >= 1)
		control->share = fmin(control->share, START_SHARE / control->copies);
	else if (loss > much && !control->hurried)
		control->share *= turns ? fmax(DECREASE, little / loss) : DECREASE;
	else if (loss < little / 2)
		control->share += 2 * INCREASE / control->copies;
	else if (loss < little)
		control->share += INCREASE / control->copies;
	control->share = fmin(control->share, max_share(control));
	control->share = fmax(control->share, MIN_SHARE / control->copies);
	control->reason = (TsaRateReason) (TSA_REASON_SOURCE + loser);
}

/*
 * Takes a sample into account.
 */
void
tsa_rate_note(TsaRate *control, const TsaRateSample *sample)
{
	bool		turns = takes_turns(control);
	double		factor = exp(-sample->seconds /
							 (turns ? TURN_MEMORY : MEMORY));
	double		lately_factor = exp(-sample->seconds / LATELY);
	double		due = control->first_look ? FIRST_LOOK :
	control->share >= 1 ? FULL_WINDOW : turns ? TURN_WINDOW : WINDOW;

	control->others_read = sample->done[TSA_CONTENTION_SOURCE] > 0 ||
		sample->reads_waiting;
	control->window += sample->seconds;
	control->bytes += sample->bytes;
	control->worked *= lately_factor;
	control->cpu_wait *= lately_factor;
	control->lately = control->lately * lately_factor + sample->seconds;
	tsa_turns_fade(&control->turns, factor);
	if (sample->working)
	{
		control->worked += sample->worked;
		control->cpu_wait += sample->cpu_wait;
		control->read_seconds += sample->read_seconds;
		control->read_bytes += sample->read_bytes;
		control->speed_bytes = control->speed_bytes * factor + sample->bytes;
		control->speed_seconds =
			control->speed_seconds * factor + sample->worked;
	}
	for (int who = 0; who <= TSA_CONTENTION_SERVER; who++)
	{
		TsaRateSums got = {sample->seconds, sample->done[who],
		sample->requests[who], sample->request_seconds[who]};

		control->lately_done[who] *= lately_factor;
		if (!sample->known[who])
			continue;
		control->done[who] += sample->done[who];
		tsa_sums_fade(&control->all[who], factor);
		tsa_sums_fade(&control->asleep[who], factor);
		tsa_sums_add(&control->all[who], &got);
		if (!sample->working)
			tsa_sums_add(&control->asleep[who], &got);
		note_loss(control, sample, (TsaContention) who);
	}

	if (control->window < due)
		return;
	/* just after work the loss looks larger than it is, and a bounded rate */
	if (sample->working && control->window < 4 * due &&
		(control->share < 1 || (control->max_rate > 0 &&
								control->bytes * control->sharers >
								control->max_rate * control->window)))
		return;
	control->first_look = false;
	if (control->adapts)
		decide(control);
	else
		control->rate = control->bytes / control->window;
	control->window = control->bytes = 0;
	control->read_seconds = control->read_bytes = 0;
	memset(control->done, 0, sizeof(control->done));
}

/*
 * Seconds to rest before the first read, after a sample without work: 0 as
 * soon as nobody else reads from the source's device, or hardly waits for it,
 * or when such readers have been there for long enough.  One window is not
 * enough to be seen (is_there()), and the last one tells their work without
 * the copy.  Reads of another copy look like reads of others while this one
 * reads nothing.
 */
double
tsa_rate_first_rest(TsaRate *control)
{
	if (!control->adapts || !control->others_read ||
		is_little_used(control, TSA_CONTENTION_SOURCE) ||
		control->copies > 1 || control->first_rests >= FIRST_RESTS)
		return 0;
	control->first_rests++;
	return FIRST_REST;
}

/*
 * The longest sleep after so many bytes in so much time that leaves the rate
 * at its target; negative if they took longer than that.
 */
static double
longest_sleep(const TsaRate *control, double bytes, double elapsed)
{
	double		seconds = bytes * control->copies / MIN_RATE;

	if (control->min_rate > 0)
		seconds = fmin(seconds,
					   bytes * control->sharers / control->min_rate - elapsed);
	if (control->needed_rate > 0)
		seconds = fmin(seconds, bytes / control->needed_rate - elapsed);
	return seconds;
}

/*
 * Seconds to sleep within a unit, of so many bytes so far, of which so many
 * seconds have been worked in so much time; 0: go on.
 */
double
tsa_rate_short_sleep(const TsaRate *control, double bytes, double worked,
					 double elapsed)
{
	double		sleep;

	if (!tsa_rate_has_steps(control))
		return 0;
	sleep = worked * fmax(1, STEPS_PART / control->share) - elapsed;
	sleep = fmin(sleep, longest_sleep(control, bytes, elapsed));
	return sleep >= SHORT_SLEEP ? sleep : 0;
}

/*
 * The work of others at the source's device.
 */
static TsaTurnsOthers
turns_others(const TsaRate *control)
{
	const TsaRateSums *asleep = &control->asleep[TSA_CONTENTION_SOURCE];
	double		loss = tsa_rate_loss(control, TSA_CONTENTION_SOURCE);
	TsaTurnsOthers others = {
		.request = asleep->request_seconds / asleep->requests,
		.waiting = asleep->request_seconds / asleep->seconds,
		.lost = loss * control->all[TSA_CONTENTION_SOURCE].seconds
	};

	return others;
}

/*
 * How much of a unit's work others feel, in which so many bytes were copied and
 * so many seconds spent in reading.  If it was a turn, the next one is fitted.
 */
double
tsa_rate_turn(TsaRate *control, double bytes, double worked, double reading)
{
	TsaTurnsOthers others;

	if (!takes_turns(control))
		return worked;
	others = turns_others(control);
	tsa_turns_fit(&control->turns, &others, bytes, reading);
	return fmin(worked, fmax(reading, MIN_TURN * worked));
}

/*
 * Seconds to sleep after a unit of so many bytes, in which others have felt so
 * many seconds of work in so much time.
 */
double
tsa_rate_rest(TsaRate *control, double bytes, double worked, double elapsed)
{
	double		polite = 0;
	double		bound = 0;
	double		longest = longest_sleep(control, bytes, elapsed);
	bool		full = tsa_rate_is_full(control);

	if (!full)
		polite = worked / control->share - elapsed;
	set_hurried(control, !full && polite > longest &&
				(control->min_rate > 0 || control->needed_rate > 0));
	polite = fmin(polite, longest);
	if (control->max_rate > 0)
		bound = bytes * control->sharers / control->max_rate - elapsed;
	control->bounded = bound > fmax(polite, 0);
	return fmax(0, fmax(polite, bound));
}

/*
 * Seconds at the beginning of a sleep that tell nothing of others: their
 * requests have waited for the turn.  To be noted as work in which nothing was
 * copied.
 */
double
tsa_rate_settling(const TsaRate *control, double rest)
{
	if (!takes_turns(control))
		return 0;
	return fmin(rest / 2, turns_others(control).request);
}

/*
 * The reason for the present rate.
 */
TsaRateReason
tsa_rate_reason(const TsaRate *control)
{
	if (control->bounded)
		return TSA_REASON_BOUND;
	if (control->late && control->adapts)
		return TSA_REASON_LATE;
	if (!control->hurried)
		return control->reason;
	return control->needed_rate > control->min_rate / control->sharers ?
		TSA_REASON_DEADLINE : TSA_REASON_MIN_RATE;
}

/*
 * Does the copy go as fast as it can?
 */
bool
tsa_rate_is_full(const TsaRate *control)
{
	return control->share >= 1 || !control->adapts || control->late;
}

/*
 * Are there short sleeps within a unit?  Not on a device that serves one at a
 * time, or may: there a unit has to be over soon.
 */
bool
tsa_rate_has_steps(const TsaRate *control)
{
	return !tsa_rate_is_full(control) &&
		!is_slow(control, TSA_CONTENTION_SOURCE) &&
		!control->present[TSA_CONTENTION_UNKNOWN];
}

/*
 * Bytes to copy between two rests.
 */
double
tsa_rate_unit_bytes(const TsaRate *control)
{
	double		unit = tsa_rate_has_steps(control) ? STEPS_UNIT :
	is_slow(control, TSA_CONTENTION_SOURCE) ? control->turns.bytes : MAX_UNIT;

	if (control->max_rate > 0)
		unit = fmin(unit,
					control->max_rate / control->sharers * UNIT_OF_RATE);
	return fmax(tsa_whole_batches(unit), MIN_UNIT);
}

/*
 * The longest time between two rests, in seconds.
 */
double
tsa_rate_unit_seconds(const TsaRate *control)
{
	return tsa_rate_has_steps(control) ? STEPS_SECONDS : MAX_SECONDS;
}
