/*-------------------------------------------------------------------------
 *
 * pace.c
 *	  How fast a copy may go beside others.
 *
 * While nobody else is there a copy goes as fast as it can.  Beside others it
 * works in units and sleeps after each, for a share of the time that is
 * controlled by additive increase and multiplicative decrease.  What is
 * controlled is the others' loss: the part of what they get done while the
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
 * one at a time: whoever comes in the middle of a unit waits for its end, and
 * each unit begins with a seek.  So a unit is a turn at the device: as long as
 * a few requests, of which the first seeks and the others follow it.  What it
 * costs is the time of its reads, not that of the rest of the work, unless
 * others need what that takes.  Those who come seldom lose no throughput, but
 * they do wait; so there the share has an upper bound as well.  Elsewhere a
 * unit has steps: short sleeps within it,
 * for most of its time, and a rest at its end, in which the load is measured
 * without the copy.
 *
 * Who hardly waits for a device has little to lose there.  How much that is, in
 * bytes, depends on the device: when the requests of those who read while the
 * copy sleeps take a fiftieth of the time at most, so many bytes a second are
 * ignored, and for a while twice as many.
 *
 * Every move ends: the share has a lower bound, and so has the rate.  min_rate
 * and a time by which the copy has to end (deadline.c) are higher bounds of the
 * rate: they make sleeps shorter, and leave the share alone, so that it is what
 * it would be without them as soon as they do not matter any more.
 *
 * max_rate is a bound and not a target: time in which less was copied is not
 * made up for.  Copies that share one take equal parts of it.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "move/copy/pace.h"

#include <math.h>
#include <string.h>

#define FIRST_LOOK		0.05	/* seconds until the first decision */
#define FULL_WINDOW		0.1		/* seconds between the others, at full speed */
#define WINDOW			0.25	/* and else */
#define MEMORY			2.0		/* seconds after which a sample counts 1/e */
#define LATELY			0.5		/* the same of what tells who is there */

#define START_SHARE		0.2		/* when somebody appears */
#define MIN_SHARE		0.02
#define MAX_SHARE		0.9		/* beside others: sleeps are what measures */
#define SLOW_SHARE		0.25	/* on a device that serves one at a time */
#define CONTENDED_SHARE 0.25	/* of a processor that others wait for */
#define MIN_RATE		(1024.0 * 1024.0)

#define INCREASE		0.02
#define DECREASE		0.75
#define LITTLE_LOSS		0.06	/* less: faster */
#define MUCH_LOSS		0.10	/* more: slower */

/* The same where turns are taken: there are few of them, and few requests. */
#define TURN_WINDOW		1.0
#define TURN_MEMORY		6.0
#define TURN_LITTLE_LOSS 0.10
#define TURN_MUCH_LOSS	0.12

#define SLOW_REQUEST	0.002	/* seconds */
#define CONTENDED		0.25	/* of its working time the copy waits */
#define CPU_EVIDENCE	0.05	/* seconds of work that say something */
#define SLOWER_READS	2.0		/* than the best ones */

/*
 * Somebody is there from so many bytes or transactions a second on; to come he
 * needs some more, and in more than one window, because everybody reads a
 * little now and then, a program that starts for example.
 */
#define PRESENT_BYTES	65536.0
#define PRESENT_WRITERS 10.0
#define STRAY_BYTES		32768.0
#define STRAY_WRITERS	3.0
#define ONE_WINDOW		0.75	/* of what he needs to come, at most */
#define DOUBT			0.1		/* seconds in which nothing happened, added */
#define LITTLE_USE		0.02	/* of the time somebody waits for the device */
#define USE_EVIDENCE	0.1		/* seconds of sleep that tell it */
#define IGNORANCE		30.0	/* seconds after which 1/e of it is ignored */

#define MAX_UNIT		(2.0 * 1024 * 1024)
#define SLOW_UNIT		(1.5 * 1024 * 1024) /* of a device that seeks */
#define MIN_TURN		0.25	/* of a unit's work */
#define SETTLED			1.0		/* seconds in which a read has ended */
#define MAX_SECONDS		1.0		/* longest unit */
#define MIN_UNIT		(128.0 * 1024)

/* A unit in steps. */
#define STEPS_UNIT		(16.0 * 1024 * 1024)
#define STEPS_SECONDS	0.15
#define STEPS_PART		0.75	/* of the time, the rest is for resting */
#define SHORT_SLEEP		0.002	/* seconds, at least */
#define UNIT_OF_RATE	0.1		/* a unit is what max_rate allows in so long */

/*
 * max_rate in bytes per second, 0 for none.
 */
void
tsa_init_pace(TsaPace *pace, bool adapts, double max_rate)
{
	memset(pace, 0, sizeof(*pace));
	pace->adapts = adapts;
	pace->max_rate = max_rate;
	pace->copies = 1;
	pace->sharers = 1;
	pace->share = 1;
	pace->rate = -1;
	pace->reason = adapts ? TSA_PACE_IDLE : TSA_PACE_UNLIMITED;
	pace->first_look = true;
}

/*
 * The same for a copy under way.
 */
void
tsa_pace_set_max_rate(TsaPace *pace, bool adapts, double max_rate)
{
	if (pace->adapts != adapts)
		pace->reason = adapts ? TSA_PACE_IDLE : TSA_PACE_UNLIMITED;
	pace->adapts = adapts;
	pace->max_rate = max_rate;
}

/*
 * Of the bytes that a device has read those that are others'.  "own" are ours
 * in the same time, counted when they are asked for; a device counts them when
 * they are there.  So what is under way now is taken off later.  Each of the
 * other copies is taken to have read as much, which need not be so: of what
 * they have under way nothing is assumed.
 *
 * What we read elsewhere must not hide others: more than "most" is never under
 * way, nor is what has been so all the time for a second.
 */
double
tsa_pace_bytes_of_others(TsaInFlight * in_flight, double most, double own,
						 int copies, double device, double seconds)
{
	double		others = device - own * copies - in_flight->bytes;

	in_flight->bytes = fmin(fmax(in_flight->bytes + own - device, 0), most);
	in_flight->least = fmin(in_flight->least, in_flight->bytes);
	in_flight->seconds += seconds;
	if (in_flight->seconds >= SETTLED)
	{
		in_flight->bytes -= in_flight->least;
		in_flight->least = in_flight->bytes;
		in_flight->seconds = 0;
	}
	return fmax(others, 0);
}

static void
add_to_sums(TsaPaceSums *sums, const TsaPaceSample *sample, TsaNeighbour who)
{
	sums->seconds += sample->seconds;
	sums->done += sample->done[who];
	sums->requests += sample->requests[who];
	sums->request_seconds += sample->request_seconds[who];
}

static void
fade(TsaPaceSums *sums, double factor)
{
	sums->seconds *= factor;
	sums->done *= factor;
	sums->requests *= factor;
	sums->request_seconds *= factor;
}

/*
 * What part of what they could do the others do not get done; negative while
 * that is not known.
 */
double
tsa_pace_loss(const TsaPace *pace, TsaNeighbour who)
{
	const TsaPaceSums *all = &pace->all[who];
	const TsaPaceSums *asleep = &pace->asleep[who];

	if (asleep->seconds < FIRST_LOOK || asleep->done <= 0 || all->seconds <= 0)
		return -1;
	return fmax(0, 1 - (all->done / all->seconds) /
				(asleep->done / asleep->seconds));
}

/*
 * Bytes per second while the copy works, 0 while that is not known.
 */
double
tsa_pace_speed(const TsaPace *pace)
{
	double		speed;

	if (pace->speed_seconds < FIRST_LOOK)
		return 0;
	speed = pace->speed_bytes / pace->speed_seconds;
	return pace->max_rate > 0 ?
		fmin(speed, pace->max_rate / pace->sharers) : speed;
}

/*
 * What others have got done per second lately: bytes, transactions.
 */
double
tsa_pace_lately(const TsaPace *pace, TsaNeighbour who)
{
	return pace->lately > 0 ? pace->lately_done[who] / pace->lately : 0;
}

/*
 * What part of what they could do others have not got done since the copy
 * began, those who have lost most; negative if that is not known.
 */
double
tsa_pace_others_lost(const TsaPace *pace)
{
	double		lost = pace->adapts ? 0 : -1;

	for (int who = 0; who < TSA_NEIGHBOURS; who++)
		if (pace->could_do[who] > 0)
			lost = fmax(lost,
						1 - pace->have_done[who] / pace->could_do[who]);
	return lost;
}

/*
 * Keeps account of what others lose.
 */
static void
note_loss(TsaPace *pace, const TsaPaceSample *sample, TsaNeighbour who)
{
	const TsaPaceSums *asleep = &pace->asleep[who];

	if (!pace->present[who])
		return;
	if (asleep->seconds >= FIRST_LOOK && asleep->done > 0)
		pace->usual[who] = asleep->done / asleep->seconds;
	if (pace->usual[who] <= 0)
		return;
	pace->could_do[who] += pace->usual[who] * sample->seconds;
	pace->have_done[who] += sample->done[who];
}

/*
 * Does the neighbour's device serve one request at a time?
 */
static bool
is_slow(const TsaPace *pace, TsaNeighbour who)
{
	const TsaPaceSums *asleep = &pace->asleep[who];

	return asleep->requests >= 4 &&
		asleep->request_seconds / asleep->requests >= SLOW_REQUEST;
}

/*
 * Do those who use the neighbour's device hardly wait for it?
 */
static bool
is_little_used(const TsaPace *pace, TsaNeighbour who)
{
	const TsaPaceSums *asleep = &pace->asleep[who];

	return asleep->seconds >= USE_EVIDENCE && asleep->requests > 0 &&
		asleep->request_seconds < LITTLE_USE * asleep->seconds;
}

/*
 * Is, or was, a neighbour there in the window who gets so much done per second?
 */
static bool
is_there(TsaPace *pace, TsaNeighbour who, double per_second, double stray)
{
	double		counts = pace->done[who];
	double		needed;

	pace->ignored[who] *= exp(-pace->window / IGNORANCE);
	if (pace->present[who] && is_little_used(pace, who))
		pace->ignored[who] = 2 * pace->asleep[who].done /
			pace->asleep[who].seconds;
	per_second = fmax(per_second, pace->ignored[who]);
	needed = per_second * pace->lately + stray;
	if (pace->window < LATELY)	/* a longer one is evidence by itself */
		counts = fmin(counts, ONE_WINDOW * needed);
	pace->lately_done[who] += counts;
	if (pace->present[who])
		return pace->done[who] >= per_second * (pace->window + DOUBT);
	return pace->lately_done[who] >= needed;
}

/*
 * Who was there in the window?  True if it is somebody after a window in which
 * nobody was.
 */
static bool
find_neighbours(TsaPace *pace)
{
	bool		alone = true;
	bool		anybody = false;
	bool		there[TSA_NEIGHBOURS];

	there[TSA_NEIGHBOUR_SOURCE] = is_there(pace, TSA_NEIGHBOUR_SOURCE,
										   PRESENT_BYTES, STRAY_BYTES);
	there[TSA_NEIGHBOUR_TARGET] = is_there(pace, TSA_NEIGHBOUR_TARGET,
										   PRESENT_BYTES, STRAY_BYTES);
	there[TSA_NEIGHBOUR_SERVER] = is_there(pace, TSA_NEIGHBOUR_SERVER,
										   PRESENT_WRITERS, STRAY_WRITERS);
	there[TSA_NEIGHBOUR_PROCESSOR] = pace->worked >= CPU_EVIDENCE &&
		pace->cpu_wait / pace->worked >= CONTENDED;
	there[TSA_NEIGHBOUR_UNKNOWN] = false;

	if (pace->read_bytes >= MAX_UNIT)
	{
		double		cost = pace->read_seconds / pace->read_bytes;

		if (pace->best_read == 0 || cost < pace->best_read)
			pace->best_read = cost;
		there[TSA_NEIGHBOUR_UNKNOWN] = cost > SLOWER_READS * pace->best_read;
	}

	for (int who = 0; who < TSA_NEIGHBOURS; who++)
	{
		if (there[who] && !pace->present[who])
		{
			memset(&pace->asleep[who], 0, sizeof(TsaPaceSums));
			memset(&pace->all[who], 0, sizeof(TsaPaceSums));
			pace->usual[who] = 0;
		}
		alone &= !pace->present[who];
		anybody |= there[who];
		pace->present[who] = there[who];
	}
	return alone && anybody;
}

/*
 * The neighbour who loses most, and that loss.
 */
static TsaNeighbour
find_loser(const TsaPace *pace, double *loss)
{
	TsaNeighbour loser = TSA_NEIGHBOURS;

	*loss = -1;
	for (int who = TSA_NEIGHBOURS - 1; who >= 0; who--)
	{
		double		his = tsa_pace_loss(pace, (TsaNeighbour) who);

		if (!pace->present[who])
			continue;
		if (who == TSA_NEIGHBOUR_UNKNOWN)
			his = 1;			/* whose loss cannot be measured */
		if (loser == TSA_NEIGHBOURS || his >= *loss)
		{
			loser = (TsaNeighbour) who;
			*loss = his;
		}
	}
	return loser;
}

/*
 * The upper bound of the share beside those who are there.  What others lose
 * of the processors is measured if they write.
 */
static double
most_share(const TsaPace *pace)
{
	double		most = MAX_SHARE;

	for (int who = 0; who < TSA_NEIGHBOURS; who++)
		if (pace->present[who] && is_slow(pace, (TsaNeighbour) who))
			most = fmin(most, SLOW_SHARE);
	if (pace->present[TSA_NEIGHBOUR_PROCESSOR] &&
		!pace->present[TSA_NEIGHBOUR_SERVER])
		most = fmin(most, CONTENDED_SHARE);
	return most / pace->copies;
}

/*
 * Do those lose most who read from the source's device, one at a time?
 */
static bool
takes_turns(const TsaPace *pace)
{
	return pace->reason == TSA_PACE_SOURCE &&
		pace->present[TSA_NEIGHBOUR_SOURCE] &&
		is_slow(pace, TSA_NEIGHBOUR_SOURCE);
}

/*
 * Decides on the share of the time for the next window.
 */
static void
decide(TsaPace *pace)
{
	bool		came = find_neighbours(pace);
	bool		turns = takes_turns(pace);
	double		little = turns ? TURN_LITTLE_LOSS : LITTLE_LOSS;
	double		much = turns ? TURN_MUCH_LOSS : MUCH_LOSS;
	double		loss;
	TsaNeighbour loser = find_loser(pace, &loss);

	pace->rate = pace->bytes / pace->window;
	if (loser == TSA_NEIGHBOURS)
	{
		pace->share = fmin(1, pace->share * 2);
		if (pace->share == 1)
			pace->reason = TSA_PACE_IDLE;
		return;
	}

	if (came)
		pace->share = fmin(pace->share, START_SHARE / pace->copies);
	else if (loss > much && !pace->hurried)
		pace->share *= DECREASE;
	else if (loss < little / 2)
		pace->share += 2 * INCREASE / pace->copies;
	else if (loss < little)
		pace->share += INCREASE / pace->copies;
	pace->share = fmin(pace->share, most_share(pace));
	pace->share = fmax(pace->share, MIN_SHARE / pace->copies);
	pace->reason = (TsaPaceReason) (TSA_PACE_SOURCE + loser);
}

/*
 * Takes a sample into account.
 */
void
tsa_pace_note(TsaPace *pace, const TsaPaceSample *sample)
{
	bool		turns = takes_turns(pace);
	double		factor = exp(-sample->seconds /
							 (turns ? TURN_MEMORY : MEMORY));
	double		lately_factor = exp(-sample->seconds / LATELY);
	double		due = pace->first_look ? FIRST_LOOK :
	pace->share >= 1 ? FULL_WINDOW : turns ? TURN_WINDOW : WINDOW;

	pace->window += sample->seconds;
	pace->bytes += sample->bytes;
	pace->worked *= lately_factor;
	pace->cpu_wait *= lately_factor;
	pace->lately = pace->lately * lately_factor + sample->seconds;
	if (sample->working)
	{
		pace->worked += sample->worked;
		pace->cpu_wait += sample->cpu_wait;
		pace->read_seconds += sample->read_seconds;
		pace->read_bytes += sample->read_bytes;
		pace->speed_bytes = pace->speed_bytes * factor + sample->bytes;
		pace->speed_seconds = pace->speed_seconds * factor + sample->worked;
	}
	for (int who = 0; who <= TSA_NEIGHBOUR_SERVER; who++)
	{
		pace->lately_done[who] *= lately_factor;
		if (!sample->known[who])
			continue;
		pace->done[who] += sample->done[who];
		fade(&pace->all[who], factor);
		fade(&pace->asleep[who], factor);
		add_to_sums(&pace->all[who], sample, (TsaNeighbour) who);
		if (!sample->working)
			add_to_sums(&pace->asleep[who], sample, (TsaNeighbour) who);
		note_loss(pace, sample, (TsaNeighbour) who);
	}

	if (pace->window < due)
		return;
	/* just after work the loss looks larger than it is */
	if (sample->working && pace->share < 1 && pace->window < 4 * due)
		return;
	pace->first_look = false;
	if (pace->adapts)
		decide(pace);
	else
		pace->rate = pace->bytes / pace->window;
	pace->window = pace->bytes = 0;
	pace->read_seconds = pace->read_bytes = 0;
	memset(pace->done, 0, sizeof(pace->done));
}

/*
 * The longest sleep after so many bytes in so much time that leaves the rate at
 * what it has to be.
 */
static double
longest_sleep(const TsaPace *pace, double bytes, double elapsed)
{
	double		seconds = bytes * pace->copies / MIN_RATE;

	if (pace->min_rate > 0)
		seconds = fmin(seconds,
					   bytes * pace->sharers / pace->min_rate - elapsed);
	if (pace->needed_rate > 0)
		seconds = fmin(seconds, bytes / pace->needed_rate - elapsed);
	return fmax(seconds, 0);
}

/*
 * Seconds to sleep within a unit, of so many bytes so far, of which so many
 * seconds have been worked in so much time; 0: go on.
 */
double
tsa_pace_short_sleep(const TsaPace *pace, double bytes, double worked,
					 double elapsed)
{
	double		sleep;

	if (!tsa_pace_has_steps(pace))
		return 0;
	sleep = worked * fmax(1, STEPS_PART / pace->share) - elapsed;
	sleep = fmin(sleep, longest_sleep(pace, bytes, elapsed));
	return sleep >= SHORT_SLEEP ? sleep : 0;
}

/*
 * How much of a unit's work others feel, of which so many seconds were spent
 * in reading.
 */
double
tsa_pace_turn(const TsaPace *pace, double worked, double reading)
{
	if (!takes_turns(pace))
		return worked;
	return fmin(worked, fmax(reading, MIN_TURN * worked));
}

/*
 * Are sleeps shorter than the share asks for?  What others lost by that says
 * nothing about the share.
 */
static void
set_hurried(TsaPace *pace, bool hurried)
{
	if (pace->hurried && !hurried)
		memcpy(pace->all, pace->asleep, sizeof(pace->all));
	pace->hurried = hurried;
}

/*
 * Seconds to sleep after a unit of so many bytes, in which others have felt so
 * many seconds of work in so much time.
 */
double
tsa_pace_rest(TsaPace *pace, double bytes, double worked, double elapsed)
{
	double		polite = 0;
	double		bound = 0;
	double		longest = longest_sleep(pace, bytes, elapsed);

	if (!tsa_pace_is_full(pace))
		polite = worked / pace->share - elapsed;
	set_hurried(pace, polite > longest &&
				(pace->min_rate > 0 || pace->needed_rate > 0));
	polite = fmin(polite, longest);
	if (pace->max_rate > 0)
		bound = bytes * pace->sharers / pace->max_rate - elapsed;
	pace->bounded = bound > fmax(polite, 0);
	return fmax(0, fmax(polite, bound));
}

/*
 * Why is the rate what it is?
 */
TsaPaceReason
tsa_pace_reason(const TsaPace *pace)
{
	if (pace->bounded)
		return TSA_PACE_BOUND;
	if (pace->late && pace->adapts)
		return TSA_PACE_LATE;
	if (!pace->hurried)
		return pace->reason;
	return pace->needed_rate > pace->min_rate / pace->sharers ?
		TSA_PACE_DEADLINE : TSA_PACE_MIN_RATE;
}

/*
 * Does the copy go as fast as it can?
 */
bool
tsa_pace_is_full(const TsaPace *pace)
{
	return pace->share >= 1 || !pace->adapts || pace->late;
}

/*
 * Are there short sleeps within a unit?  Not on a device that serves one at a
 * time, or may: there a unit has to be over soon.
 */
bool
tsa_pace_has_steps(const TsaPace *pace)
{
	return !tsa_pace_is_full(pace) &&
		!is_slow(pace, TSA_NEIGHBOUR_SOURCE) &&
		!pace->present[TSA_NEIGHBOUR_UNKNOWN];
}

/*
 * Bytes to copy between two rests.
 */
double
tsa_pace_unit_bytes(const TsaPace *pace)
{
	double		unit = tsa_pace_has_steps(pace) ? STEPS_UNIT :
	is_slow(pace, TSA_NEIGHBOUR_SOURCE) ? SLOW_UNIT : MAX_UNIT;

	if (pace->max_rate <= 0)
		return unit;
	return fmax(MIN_UNIT,
				fmin(unit, pace->max_rate / pace->sharers * UNIT_OF_RATE));
}

/*
 * The longest time between two rests, in seconds.
 */
double
tsa_pace_unit_seconds(const TsaPace *pace)
{
	return tsa_pace_has_steps(pace) ? STEPS_SECONDS : MAX_SECONDS;
}
