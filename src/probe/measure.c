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
 * No measurement reads an offset twice: random offsets come from a
 * permutation of the space with a fresh key, and a measurement that has used
 * all of them ends before its time.  One that only writes goes on with another
 * pass: a fast disk takes a scratch file in a tenth of a second, which is not
 * what it can keep up.  Only a space too small for 100 samples
 * is gone over again, which is reported.
 *
 * Pure: no server headers, no allocation.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "probe/measure.h"
#include "probe/warmup.h"

#define WARMUP_SHARE	0.3
#define WINDOW_SHARE	0.025
#define LEAST_SAMPLES	10
#define SHORTEST_JUMP	3
#define LEAST_BEFORE_REPEAT 100
#define WAIT_NS			UINT64_C(50000000)

/* State of one tsa_measure_run(). */
typedef struct Run
{
	const TsaMeasurePlan *plan;
	TsaMeasurement *m;

	/* what to request next */
	TsaPermutation perm;
	uint64_t	units;			/* requests that the space has room for */
	uint64_t	next_unit;		/* of them used in this pass */
	uint64_t	random;
	uint64_t	next_submit_ns; /* under max_iops */
	int			exhausted;

	/* requests not in flight, and one that the engine was too busy for */
	TsaIoRequest *idle[TSA_MAX_DEPTH];
	int			nidle;
	TsaIoRequest *held;

	/* progress */
	uint64_t	submitted;
	int			first_left;		/* of the first filling, still in flight */
	int			measuring;		/* after warm-up */
	int			count_all;		/* even those of the first filling */
	uint64_t	start_ns;
	uint64_t	measure_ns;
	uint64_t	window_end_ns;
	uint64_t	window_units;	/* a window ends after so many samples, too */
	TsaWarmup	warmup;
} Run;

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
stamp_buffer(Run *run, TsaIoRequest *request)
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
next_pass(Run *run)
{
	const TsaMeasurePlan *plan = run->plan;

	if (!plan->may_repeat)
	{
		if (run->m->latency.count >= LEAST_BEFORE_REPEAT)
			return 0;
		run->m->repeated = 1;
	}
	run->next_unit = 0;
	if (!plan->sequential)
		tsa_permutation_init(&run->perm, run->units,
							 tsa_random_next(&run->random));
	return 1;
}

/*
 * How far to jump: short jumps as likely as long ones of ten times the
 * length, at least three units, so that nothing is read ahead.
 */
static uint64_t
next_jump(Run *run)
{
	double		share = (double) (tsa_random_next(&run->random) >> 11) /
	(double) (UINT64_C(1) << 53);

	return (uint64_t) (SHORTEST_JUMP *
					   pow((double) run->plan->skip_units / SHORTEST_JUMP,
						   share));
}

/*
 * The next request, or NULL when queue depth, rate limit or the space have
 * none left for now.
 */
static TsaIoRequest *
next_request(Run *run, uint64_t now)
{
	const TsaMeasurePlan *plan = run->plan;
	TsaIoRequest *request;
	uint64_t	unit;

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
	if (run->next_unit >= run->units && !next_pass(run))
	{
		run->exhausted = 1;
		return NULL;
	}

	if (plan->sequential)
		unit = (run->perm.key[0] + run->next_unit) % run->units;
	else
		unit = tsa_permutation_at(&run->perm, run->next_unit);
	run->next_unit += plan->skip_units > 0 ? next_jump(run) : 1;

	request = run->idle[--run->nidle];
	aim_request(plan, request, unit);
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
fill_queue(Run *run, uint64_t now)
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

/* Is the warm-up over? */
static void
end_warm_up(Run *run, uint64_t now)
{
	const TsaMeasurePlan *plan = run->plan;
	uint64_t	spent = now - run->start_ns;
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
	run->measure_ns = now;
	run->measuring = 1;
}

/* Note where in the space a random read was slow or fast. */
static void
note_region(Run *run, const TsaIoRequest *request, double latency)
{
	int			region = (int) (request->unit * TSA_REGIONS / run->units);

	run->m->region_count[region]++;
	run->m->region_sum[region] += latency;
	run->m->region_square[region] += latency * latency;
}

/* Account for a finished request.  Returns a negative error number. */
static int
finish_request(Run *run, TsaIoRequest *request, uint64_t now)
{
	TsaMeasurement *m = run->m;
	uint64_t	latency = now - request->submitted_ns;

	run->idle[run->nidle++] = request;
	if (request->serial < (uint64_t) run->plan->depth)
		run->first_left--;
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
						   now >= run->window_end_ns, run->window_units))
			run->window_end_ns = now +
				(uint64_t) (WINDOW_SHARE * (double) run->plan->duration_ns);
	}
	else if (run->count_all || request->serial >= (uint64_t) run->plan->depth)
	{
		tsa_latency_add(&m->latency, latency);
		m->elapsed_ns = now - run->measure_ns;
		note_region(run, request, (double) latency);
	}
	return 0;
}

/* Is there enough? */
static int
is_done(const Run *run, uint64_t now)
{
	uint64_t	spent = now - run->start_ns;

	if (run->exhausted)
		return 1;
	if (!run->measuring)
		return 0;
	return (spent >= run->plan->duration_ns &&
			run->m->latency.count >= LEAST_SAMPLES) ||
		(spent >= 2 * run->plan->duration_ns && run->m->latency.count > 0);
}

/* How long to wait for a request before looking around again. */
static uint64_t
waiting_time(const Run *run, uint64_t now)
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
reap_requests(Run *run, uint64_t *now)
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

/* Prepare the state of a measurement. */
static void
start_run(Run *run, const TsaMeasurePlan *plan, TsaMeasurement *m)
{
	int			i;

	memset(run, 0, sizeof(*run));
	memset(m, 0, sizeof(*m));
	tsa_latency_reset(&m->latency);
	run->plan = plan;
	run->m = m;
	run->random = plan->seed;
	run->units = count_units(plan);
	if (run->units == 0)
		return;
	tsa_permutation_init(&run->perm, run->units,
						 tsa_random_next(&run->random));
	run->perm.key[0] %= plan->sequential ? run->units : UINT64_MAX;
	if (plan->write_percent > 0)
		tsa_random_fill(plan->buffer, plan->depth * plan->io_size,
						&run->random);

	for (i = plan->depth - 1; i >= 0; i--)
	{
		plan->requests[i].buffer = plan->buffer + i * plan->io_size;
		run->idle[run->nidle++] = &plan->requests[i];
	}
	run->first_left = plan->depth;
	run->start_ns = plan->now(plan->arg);
	run->window_end_ns = run->start_ns +
		(uint64_t) (WINDOW_SHARE * (double) plan->duration_ns);
	run->window_units = plan->may_repeat ? UINT64_MAX :
		(uint64_t) (WINDOW_SHARE * (double) run->units);
}

/*
 * Measure.  Returns 0, or the negative error number of the request that
 * failed; others may then still be in flight, as they may when check() jumps
 * out, and it is for the caller to keep engine and buffers until they are
 * done.
 */
int
tsa_measure_run(const TsaMeasurePlan *plan, TsaMeasurement *m)
{
	Run			run;
	uint64_t	now;
	int			error;

	start_run(&run, plan, m);
	if (run.units == 0)
		return -EINVAL;

	now = run.start_ns;
	while (!is_done(&run, now))
	{
		plan->check(plan->arg);
		error = fill_queue(&run, now);
		if (error < 0)
			return error;
		error = reap_requests(&run, &now);
		if (error < 0)
			return error;
		if (!run.measuring)
			end_warm_up(&run, now);
	}

	if (tsa_latency_drifts(&m->latency))
		m->unsteady = 1;

	/* wait for the last requests, which do not count */
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
				m->writes++;
			else
				m->reads++;
	}
	return 0;
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
