/*-------------------------------------------------------------------------
 *
 * measure.c
 *	  Running one workload against an I/O engine.
 *
 * A closed loop: depth requests are kept in flight, each is replaced as soon
 * as it is reaped, and its latency runs from submit to reap.
 *
 * Samples count only in the steady state.  Requests of the first filling of
 * the queue find a queue that is still empty, so they never count; after
 * them, warm-up ends when the mean latency of the two latest of four
 * successive time windows no longer differs from that of the two before by
 * more than its noise or 5 %, or when 30 % of the time or of the offsets are
 * gone (which is reported, and so is a drift later on).  Requests in flight at
 * the end are waited for but not counted.
 *
 * A measurement may be made in turns, so that several share the load of
 * others.  Each turn fills the queue anew, and these first requests do not
 * count; a turn lasts until enough has come after that.  Where two of them are
 * to be compared with each other only, in turns of a few requests, all of
 * these count: the part that a warm-up would leave out is in both.
 *
 * No measurement reads an offset twice: random offsets come from a permutation
 * of the space with a fresh key, and a measurement that has used all of them
 * ends before its time.  One that only writes goes on with another pass: a
 * fast disk takes a scratch file in a tenth of a second, and cannot keep that
 * up.  Only a space too small for 100 samples is gone over again, which is
 * reported.
 *
 * Pure: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "probe/measure.h"

#define WARMUP_SHARE	0.3
#define WINDOW_SHARE	0.025
#define MIN_SAMPLES	10
#define MAX_OVERTIME	4		/* for as many */
#define SHORTEST_JUMP	3
#define MIN_BEFORE_REPEAT 100
#define MAX_LEFT_OUT	100		/* one after the other: nothing else is there */
#define WAIT_NS			UINT64_C(50000000)

/* a turn is at least so many requests, and so many fillings of the queue */
#define MIN_IN_TURN	30
#define MIN_FILLINGS	4

/* How many requests the space has room for. */
static uint64_t
count_units(const TsaMeasurePlan *plan)
{
	uint64_t	units = 0;
	int			i;

	for (i = 0; i < plan->nfiles; i++)
		units += plan->files[i].bytes / plan->io_size;
	return units;
}

/* Aim a request at a place in the space. */
static void
aim_request(const TsaMeasurePlan *plan, TsaIoRequest *request, uint64_t unit)
{
	int			i;

	request->unit = unit;
	for (i = 0; i < plan->nfiles - 1; i++)
	{
		uint64_t	units = plan->files[i].bytes / plan->io_size;

		if (unit < units)
			break;
		unit -= units;
	}
	request->fd = plan->files[i].fd;
	request->offset = unit * plan->io_size;
	request->length = plan->io_size;
}

/* Make a block unlike all others, so that no layer below can merge them. */
static void
stamp_buffer(TsaMeasuring *run, TsaIoRequest *request)
{
	size_t		i;

	for (i = 0; i + sizeof(uint64_t) <= request->length; i += 512)
	{
		uint64_t	value = tsa_random_next(&run->random);

		memcpy((char *) request->buffer + i, &value, sizeof(value));
	}
}

/* Start a pass over the space: at its end, or in a fresh order. */
static int
next_pass(TsaMeasuring *run)
{
	const TsaMeasurePlan *plan = run->plan;

	if (!plan->may_repeat)
	{
		if (run->samples >= MIN_BEFORE_REPEAT)
			return 0;
		run->m->repeated = 1;
	}
	run->next_unit = 0;
	if (!plan->sequential)
		tsa_init_permutation(&run->perm, run->units,
							 tsa_random_next(&run->random));
	return 1;
}

/*
 * How far to jump: short jumps as likely as long ones of ten times the
 * length, at least three units, so that nothing is read ahead.
 */
static uint64_t
next_jump(TsaMeasuring *run)
{
	double		share = (double) (tsa_random_next(&run->random) >> 11) /
	(double) (UINT64_C(1) << 53);

	return (uint64_t) (SHORTEST_JUMP *
					   pow((double) run->plan->skip_units / SHORTEST_JUMP,
						   share));
}

/* Choose where in the space the next request goes; 0 when none is left. */
static int
choose_place(TsaMeasuring *run, TsaIoRequest *request)
{
	const TsaMeasurePlan *plan = run->plan;
	int			left_out;

	for (left_out = 0; left_out < MAX_LEFT_OUT; left_out++)
	{
		uint64_t	unit;

		if (run->next_unit >= run->units && !next_pass(run))
			return 0;
		if (plan->sequential)
			unit = (run->perm.key[0] + run->next_unit) % run->units;
		else
			unit = tsa_permutation_at(&run->perm, run->next_unit);
		run->next_unit += plan->skip_units > 0 ? next_jump(run) : 1;
		aim_request(plan, request, unit);
		if (plan->leave_out == NULL || !plan->leave_out(request))
			return 1;
	}
	run->m->left_out = 1;
	return 0;
}

/*
 * The next request, or NULL when queue depth, rate limit or the space have
 * none left for now.
 */
static TsaIoRequest *
next_request(TsaMeasuring *run, uint64_t now)
{
	const TsaMeasurePlan *plan = run->plan;
	TsaIoRequest *request;

	if (run->nidle == 0 || run->exhausted)
		return NULL;
	if (plan->max_iops > 0)
	{
		if (now < run->next_submit_ns)
		{
			run->m->limited = 1;
			return NULL;
		}
		run->next_submit_ns = now + UINT64_C(1000000000) / plan->max_iops;
	}
	request = run->idle[run->nidle - 1];
	if (!choose_place(run, request))
	{
		run->exhausted = 1;
		return NULL;
	}
	run->nidle--;
	request->is_write = (int) (tsa_random_next(&run->random) % 100) <
		plan->write_percent;
	if (request->is_write)
		stamp_buffer(run, request);
	request->serial = run->submitted++;
	return request;
}

/*
 * Fill the queue.  Returns a negative error number on failure.
 *
 * Requests are submitted one by one, each with a time of its own.  Submitting
 * all that are due in one call saves system calls, but makes them travel in
 * convoys: it raised the median latency at depth 32 by a third and lowered
 * throughput.
 */
static int
fill_queue(TsaMeasuring *run, uint64_t now)
{
	const TsaMeasurePlan *plan = run->plan;

	for (;;)
	{
		TsaIoRequest *request = run->held;
		int			error;

		if (request == NULL)
			request = next_request(run, now);
		if (request == NULL)
			return 0;
		run->held = NULL;
		request->submitted_ns = plan->now(plan->arg);
		error = plan->engine->ops->submit(plan->engine, request);
		if (error == -EAGAIN && plan->engine->in_flight > 0)
		{
			run->held = request;
			return 0;
		}
		if (error < 0)
			return error;
	}
}

/* The time spent so far, in this turn and all before. */
static uint64_t
time_spent(const TsaMeasuring *run, uint64_t now)
{
	return run->turn_spent + now - run->turn_start_ns;
}

/*
 * End the warm-up if latencies are steady, or it has had its share of the time:
 * "unsteady" tells.  Else do nothing.
 */
static void
end_warm_up(TsaMeasuring *run, uint64_t now)
{
	const TsaMeasurePlan *plan = run->plan;
	uint64_t	spent = time_spent(run, now);
	int			flat;

	if (run->first_left > 0)
	{
		/* even the first requests are not back after twice the time */
		if (spent < 2 * plan->duration_ns)
			return;
		run->count_all = 1;
		flat = 0;
	}
	else
	{
		flat = tsa_warmup_is_flat(&run->warmup);
		if (!flat &&
			(double) spent < WARMUP_SHARE * (double) plan->duration_ns &&
			(plan->may_repeat || (double) run->next_unit <
			 WARMUP_SHARE * (double) run->units))
			return;
		/* too few samples to see a drift is not a drift */
		if (run->warmup.finished < TSA_WARMUP_WINDOWS)
			flat = 1;
	}
	run->m->unsteady = !flat;
	run->m->warmup_ns = spent;
	run->turn_from_ns = now;
	run->measuring = 1;
}

/* Note where in the space a random read was slow or fast. */
static void
note_region(TsaMeasuring *run, const TsaIoRequest *request, double latency)
{
	int			region = (int) (request->unit * TSA_REGIONS / run->units);

	run->m->region_count[region]++;
	run->m->region_sum[region] += latency;
	run->m->region_square[region] += latency * latency;
}

/* Account for a finished request.  Returns a negative error number. */
static int
finish_request(TsaMeasuring *run, TsaIoRequest *request, uint64_t now)
{
	TsaMeasurement *m = run->m;
	uint64_t	latency = now - request->submitted_ns;
	int			first = request->serial - run->turn_submitted <
	(uint64_t) run->plan->depth;

	run->idle[run->nidle++] = request;
	run->finished++;
	if (first && --run->first_left == 0)
		run->turn_from_ns = now;
	if (request->result < 0)
		return (int) request->result;
	if (request->result != (int64_t) request->length)
	{
		if (!run->plan->may_fall_short || ++m->short_reads > run->units)
			return -EIO;
		return 0;
	}
	if (request->is_write)
		m->writes++;
	else
		m->reads++;

	latency -= latency > run->plan->clock_ns ? run->plan->clock_ns : latency;
	if (!run->measuring)
	{
		if (tsa_warmup_add(&run->warmup, (double) latency,
						   time_spent(run, now) >= run->window_end,
						   run->window_units))
			run->window_end = time_spent(run, now) +
				(uint64_t) (WINDOW_SHARE * (double) run->plan->duration_ns);
	}
	else if (run->count_all || !first)
	{
		tsa_latency_add(&run->turn.latency, latency);
		run->turn.elapsed_ns = now - run->turn_from_ns;
		run->samples++;
		note_region(run, request, (double) latency);
	}
	return 0;
}

/*
 * Is the measurement complete: time and samples enough, far too much time, or
 * the file at its end?
 */
static int
is_done(const TsaMeasuring *run, uint64_t now)
{
	uint64_t	spent = time_spent(run, now);

	if (run->exhausted)
		return 1;
	if (!run->measuring)
		return 0;
	return (spent >= run->plan->duration_ns &&
			run->samples >= MIN_SAMPLES) ||
		(spent >= MAX_OVERTIME * run->plan->duration_ns && run->samples > 0);
}

/* Is there enough for this turn? */
static int
is_turn_over(const TsaMeasuring *run, uint64_t now)
{
	uint64_t	finished = run->finished - run->turn_finished;

	if (is_done(run, now))
		return 1;
	if (run->plan->turn_requests > 0)
		return finished >= run->plan->turn_requests;
	return run->plan->turn_ns > 0 &&
		now - run->turn_start_ns >= run->plan->turn_ns &&
		finished >= MIN_IN_TURN &&
		finished >= MIN_FILLINGS * (uint64_t) run->plan->depth;
}

/* How long to wait for a request before looking around again. */
static uint64_t
waiting_time(const TsaMeasuring *run, uint64_t now)
{
	if (run->plan->max_iops > 0 && run->nidle > 0 && !run->exhausted &&
		run->next_submit_ns < now + WAIT_NS)
		return run->next_submit_ns > now ? run->next_submit_ns - now : 1;
	return WAIT_NS;
}

/*
 * Wait for requests and account for them, or just wait when none is due.
 *
 * Several may come back at once.  Each is replaced before the next one is
 * looked at, and its latency runs until then, as if they were fetched one by
 * one: so the queue is as deep as it should be, and depth = requests per second
 * x mean latency.  Otherwise a fast device's latency came out a fifth too low.
 */
static int
reap_requests(TsaMeasuring *run, uint64_t *now)
{
	const TsaMeasurePlan *plan = run->plan;
	TsaIoRequest *done[TSA_MAX_DEPTH];
	int			finished;
	int			i;

	if (plan->engine->in_flight == 0)
	{
		plan->sleep(plan->arg, waiting_time(run, *now));
		*now = plan->now(plan->arg);
		return 0;
	}
	finished = plan->engine->ops->reap(plan->engine, done, plan->depth,
									   (int64_t) waiting_time(run, *now));
	*now = plan->now(plan->arg);
	for (i = 0; i < finished; i++)
	{
		int			error;

		if (i > 0)
			*now = plan->now(plan->arg);
		error = finish_request(run, done[i], *now);
		if (error == 0 && i < finished - 1)
			error = fill_queue(run, *now);
		if (error < 0)
			return error;
	}
	return finished < 0 ? finished : 0;
}

/*
 * Begin a measurement; plan and *m have to stay where they are.  Returns
 * -EINVAL where there is no space for a single request.
 */
int
tsa_measure_start(TsaMeasuring *run, const TsaMeasurePlan *plan,
				  TsaMeasurement *m)
{
	memset(run, 0, sizeof(*run));
	memset(m, 0, sizeof(*m));
	tsa_latency_reset(&m->latency);
	run->plan = plan;
	run->m = m;
	run->random = plan->seed;
	run->units = count_units(plan);
	if (run->units == 0)
		return -EINVAL;
	tsa_init_permutation(&run->perm, run->units,
						 tsa_random_next(&run->random));
	run->perm.key[0] %= plan->sequential ? run->units : UINT64_MAX;
	run->window_end = (uint64_t) (WINDOW_SHARE * (double) plan->duration_ns);
	run->window_units = plan->may_repeat ? UINT64_MAX :
		(uint64_t) (WINDOW_SHARE * (double) run->units);
	run->measuring = run->count_all = plan->turn_requests > 0;
	return 0;
}

/* Prepare a turn: requests and buffer were others' meanwhile. */
static void
start_turn(TsaMeasuring *run)
{
	const TsaMeasurePlan *plan = run->plan;
	int			i;

	if (plan->write_percent > 0)
		tsa_random_fill(plan->buffer, plan->depth * plan->io_size,
						&run->random);
	run->nidle = 0;
	for (i = plan->depth - 1; i >= 0; i--)
	{
		plan->requests[i].buffer = plan->buffer + i * plan->io_size;
		run->idle[run->nidle++] = &plan->requests[i];
	}
	run->first_left = plan->depth;
	run->turn_submitted = run->submitted;
	run->turn_finished = run->finished;
	run->turn_start_ns = run->turn_from_ns = plan->now(plan->arg);
	if (plan->max_iops > 0 && run->submitted > 0)
		run->next_submit_ns = run->turn_start_ns +
			UINT64_C(1000000000) / plan->max_iops;
	tsa_latency_reset(&run->turn.latency);
	run->turn.elapsed_ns = 0;
}

/* Wait for the last requests of a turn, which do not count. */
static int
drain_queue(TsaMeasuring *run)
{
	const TsaMeasurePlan *plan = run->plan;

	if (run->held != NULL)
		run->submitted--;
	run->held = NULL;
	while (plan->engine->in_flight > 0)
	{
		TsaIoRequest *done[TSA_MAX_DEPTH];
		int			finished;
		int			i;

		plan->check(plan->arg);
		finished = plan->engine->ops->reap(plan->engine, done, plan->depth,
										   WAIT_NS);
		if (finished < 0)
			return finished;
		for (i = 0; i < finished; i++)
			if (done[i]->is_write)
				run->m->writes++;
			else
				run->m->reads++;
	}
	return 0;
}

/*
 * Measure for a turn.  The figures are in run->turn until the next one, and
 * counts when tsa_measure_keep() is called.  Returns 0, or the negative error
 * number of the request that failed; others may then still be in flight, as
 * they may when check() jumps out, and it is for the caller to keep engine and
 * buffers until they are done.
 */
int
tsa_measure_turn(TsaMeasuring *run)
{
	const TsaMeasurePlan *plan = run->plan;
	uint64_t	now;
	int			error;

	start_turn(run);
	now = run->turn_start_ns;
	while (!is_turn_over(run, now))
	{
		plan->check(plan->arg);
		error = fill_queue(run, now);
		if (error == 0)
			error = reap_requests(run, &now);
		if (error < 0)
			return error;
		if (!run->measuring)
			end_warm_up(run, now);
	}
	error = drain_queue(run);
	now = plan->now(plan->arg);
	run->turn_spent += now - run->turn_start_ns;
	run->turn_start_ns = now;
	run->m->spent_ns = run->turn_spent;
	return error;
}

/* Is the measurement complete? */
int
tsa_measure_is_done(const TsaMeasuring *run)
{
	return is_done(run, run->turn_start_ns);
}

/* Let the latest turn count. */
void
tsa_measure_keep(TsaMeasuring *run)
{
	tsa_latency_add_turn(&run->m->latency, &run->turn.latency);
	run->m->elapsed_ns += run->turn.elapsed_ns;
}

/* Let nothing count that has been kept so far. */
void
tsa_measure_forget(TsaMeasuring *run)
{
	TsaMeasurement *m = run->m;

	tsa_latency_reset(&m->latency);
	m->elapsed_ns = 0;
	m->unsteady = 0;
	memset(m->region_count, 0, sizeof(m->region_count));
	memset(m->region_sum, 0, sizeof(m->region_sum));
	memset(m->region_square, 0, sizeof(m->region_square));
}

/*
 * By which factor the slowest quarter of the space is slower than the fastest
 * one, or 1 where the difference is no more than noise (four standard
 * errors).  A large factor means that part of the space is answered by a
 * cache.
 */
double
tsa_measure_region_ratio(const TsaMeasurement *m)
{
	double		low = 0;
	double		high = 0;
	double		low_variance = 0;
	double		high_variance = 0;
	int			i;

	for (i = 0; i < TSA_REGIONS; i++)
	{
		double		n = (double) m->region_count[i];
		double		mean;
		double		variance;

		if (m->region_count[i] < 8)
			return 1;
		mean = m->region_sum[i] / n;
		variance = (m->region_square[i] - m->region_sum[i] * mean) /
			(n - 1) / n;
		if (i == 0 || mean < low)
		{
			low = mean;
			low_variance = variance;
		}
		if (i == 0 || mean > high)
		{
			high = mean;
			high_variance = variance;
		}
	}
	if (low <= 0 ||
		high - low <= 4 * sqrt(fmax(low_variance + high_variance, 0)))
		return 1;
	return high / low;
}
