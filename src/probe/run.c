/*-------------------------------------------------------------------------
 *
 * run.c
 *	  One run of the probe: all its workloads against one tablespace.
 *
 * Lifetimes.  Files and memory belong to the resource owner and the memory
 * context of the calling query.  The asynchronous engine does not: when a
 * query is cancelled while requests are in flight, waiting for them could
 * take longer than a cancel may (a slow disk, a deep queue), and freeing
 * their buffers would let the device write into memory that is somebody
 * else's by then.  So the engine is parked in parked_engine, and the next
 * probe of the session frees it, having waited for its requests in a way that
 * can be cancelled too; at most one engine is ever parked.  When the process
 * exits, the kernel waits.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_tablespace_d.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "probe/counters.h"
#include "probe/evidence.h"
#include "probe/run.h"
#include "probe/target.h"
#include "probe/trust.h"

/* how much of the file is brought into the page cache for cached reads */
#define CACHED_BYTES		UINT64CONST(67108864)
#define WARM_BYTES			131072

#define MB_BYTES			(1024.0 * 1024.0)

/* a 20th of the measuring time goes to the tablespace's own relations */
#define OWN_FILES_PART		20

/* configuration parameter tablespace_advisor.probe_max_iops; 0: no limit */
int			tsa_probe_max_iops = 0;

/* an engine whose requests were still in flight when its query ended */
static TsaAioEngine *parked_engine = NULL;

/* State of one run. */
typedef struct Prober
{
	const TsaProbeRequest *request;
	TsaProbeTarget target;
	TsaAioEngine *engine;
	uint64		clock_cost;
	uint64		step_ns;		/* measuring time of each step */
	int			steps_done;

	TsaForeignIo foreign;		/* during all steps */

	/* 25th percentile of the tablespace's own relations; NAN: none */
	double		own_fast_ns;
	double		own_ratio;		/* that, over the scratch file's */
} Prober;

/* Callbacks of the measuring loop. */
static uint64
measure_now(void *arg)
{
	(void) arg;
	return tsa_clock_now();
}

static void
measure_check(void *arg)
{
	(void) arg;
	CHECK_FOR_INTERRUPTS();
}

static void
measure_sleep(void *arg, uint64 ns)
{
	(void) arg;
	/* a wait shorter than the timer's millisecond is not worth the latch */
	if (ns < UINT64CONST(1000000))
		pg_usleep((long) (ns / 1000) + 1);
	else
		tsa_probe_sleep((long) (ns / 1000000));
}

/* Complain that no engine could be made. */
static void
report_engine(int error)
{
	errno = -error;
	if (error == -EAGAIN)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not set up asynchronous I/O: %m"),
				 errhint("Raise the kernel's limit fs.aio-max-nr.")));
	if (error == -ENOMEM)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not set up asynchronous I/O: %m")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot set up asynchronous I/O: %m"),
			 errdetail("The probe needs the system calls of Linux native asynchronous I/O, which this kernel or container does not offer.")));
}

/* Make an engine, having got rid of a parked one. */
static TsaAioEngine *
acquire_engine(int depth, Size buffer_bytes)
{
	TsaAioEngine *engine = NULL;
	int			error;

	while (parked_engine != NULL)
	{
		if (tsa_aio_destroy(parked_engine) == 0)
			parked_engine = NULL;
		else
			tsa_probe_sleep(10);
	}
	error = tsa_aio_create(&engine, depth, buffer_bytes);
	if (error < 0)
		report_engine(error);
	return engine;
}

/* Free an engine, or park it when that would take waiting. */
static void
release_engine(TsaAioEngine *engine)
{
	if (tsa_aio_destroy(engine) != 0)
		parked_engine = engine;
}

/* Bring files into the page cache. */
static void
warm_cache(const TsaIoFile *files, int nfiles, char *buffer)
{
	int			i;

	for (i = 0; i < nfiles; i++)
	{
		uint64		offset;

		for (offset = 0; offset < files[i].bytes; offset += WARM_BYTES)
		{
			CHECK_FOR_INTERRUPTS();
			if (pg_pread(files[i].fd, buffer, WARM_BYTES,
						 (off_t) offset) <= 0)
				break;
		}
	}
}

/* Drop files from the page cache; they hold nothing that is not on disk. */
static void
empty_cache(const TsaIoFile *files, int nfiles)
{
	int			i;

	for (i = 0; i < nfiles; i++)
		(void) posix_fadvise(files[i].fd, 0, 0, POSIX_FADV_DONTNEED);
}

/*
 * Choose the files of a workload into the plan.  Cached reads are confined to
 * what is brought into the page cache.
 */
static void
choose_files(Prober *prober, const TsaWorkload *workload, TsaIoFile *files,
			 TsaMeasurePlan *plan)
{
	TsaProbeTarget *target = &prober->target;
	uint64		left = CACHED_BYTES;

	plan->files = target->direct;
	plan->nfiles = target->nfiles;
	if (workload->use_fdatasync || workload->buffered)
		plan->files = target->cached;
	if (workload->buffered)
		empty_cache(plan->files, plan->nfiles);
	if (!workload->cached)
		return;

	for (plan->nfiles = 0; plan->nfiles < target->nfiles; plan->nfiles++)
	{
		files[plan->nfiles] = target->cached[plan->nfiles];
		files[plan->nfiles].bytes = Min(files[plan->nfiles].bytes, left);
		left -= files[plan->nfiles].bytes;
	}
	plan->files = files;
	warm_cache(plan->files, plan->nfiles, plan->buffer);
}

/* Complain that a request failed. */
static void
report_measure(const Prober *prober, const TsaWorkload *workload, int error)
{
	errno = -error;
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not measure %s in tablespace \"%s\": %m",
					workload->name, prober->target.name)));
}

/* Turn a measurement into a row. */
static void
form_result(const Prober *prober, const TsaProbeStep *step,
			TsaMeasurement *m, TsaEvidence *evidence, TsaProbeResult *result)
{
	TsaLatency *latency = &m->latency;
	double		low;
	double		high;
	char		words[2048];
	const char *text;
	double	   *percentiles[] = {
		&result->p50_us, &result->p90_us, &result->p95_us, &result->p99_us
	};
	const double points[] = {0.50, 0.90, 0.95, 0.99};
	int			i;

	result->workload = step->workload->name;
	result->queue_depth = step->queue_depth;
	result->io_size = step->workload->io_size;
	result->samples = (int64) latency->count;
	result->iops = (double) latency->count * 1e9 /
		(double) Max(m->elapsed_ns, 1);
	result->mb_per_s = result->iops * result->io_size / MB_BYTES;
	result->mean_us = latency->mean_ns / 1e3;
	result->stddev_us = latency->count < 2 ? NAN :
		tsa_latency_stddev(latency) / 1e3;
	result->min_us = (double) latency->min_ns / 1e3;
	result->max_us = (double) latency->max_ns / 1e3;
	for (i = 0; i < (int) lengthof(points); i++)
	{
		double		value;

		*percentiles[i] = tsa_latency_percentile(latency, points[i], &value) ?
			value / 1e3 : NAN;
	}
	result->mean_low_us = result->mean_high_us = NAN;
	if (tsa_latency_interval(latency, &low, &high))
	{
		result->mean_low_us = low / 1e3;
		result->mean_high_us = high / 1e3;
	}

	evidence->clock_taken_off = step->workload->buffered;
	evidence->samples = latency->count;
	evidence->unsteady = m->unsteady;
	evidence->repeated = m->repeated;
	evidence->short_reads = m->short_reads > 0;
	evidence->max_iops = m->limited ? (uint64) tsa_probe_max_iops : 0;
	evidence->clock_share = (double) prober->clock_cost /
		Max(latency->mean_ns, 1);
	if (step->queue_depth == 1 && step->workload->write_percent == 0 &&
		!step->workload->sequential)
		evidence->region_ratio = tsa_measure_region_ratio(m);
	text = tsa_trust_caveat(evidence, words, sizeof(words));
	result->caveat = text !=NULL ? pstrdup(text) : NULL;
	text = tsa_trust_conditions(evidence, words, sizeof(words));
	result->conditions = text !=NULL ? pstrdup(text) : NULL;

	result->others = evidence->others;
	result->latency = latency;
}

/* What every measurement has in common. */
static void
start_plan(Prober *prober, const TsaWorkload *workload, int depth,
		   TsaMeasurePlan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->engine = tsa_aio_base(prober->engine);
	plan->requests = tsa_aio_requests(prober->engine);
	plan->buffer = tsa_aio_buffer(prober->engine);
	plan->io_size = workload->io_size;
	plan->depth = workload->buffered ? 1 : Max(depth, 1);
	plan->sequential = workload->sequential;
	plan->skip_units = (uint64_t) workload->skip_blocks;
	plan->write_percent = workload->write_percent;
	/* what was written before does not make the next write faster */
	plan->may_repeat = workload->write_percent == 100 || workload->cached;
	plan->may_fall_short = prober->request->existing;
	plan->duration_ns = prober->step_ns;
	plan->max_iops = workload->cached ? 0 : (uint64) tsa_probe_max_iops;
	plan->clock_ns = workload->cached || workload->buffered ?
		prober->clock_cost : 0;
	plan->seed = pg_prng_uint64(&pg_global_prng_state);
	plan->now = measure_now;
	plan->check = measure_check;
	plan->sleep = measure_sleep;
}

/*
 * Before anything else, read a little of the tablespace's own relations, if
 * it has any: data that the probe has not just written.  A scratch file that
 * answers much faster is in a cache, even if all of it is.  The sample is
 * small, so its faster quarter is what counts: busy processors make some reads
 * look slow, but not so many.
 */
static void
sample_own_files(Prober *prober)
{
	TsaProbeTarget own = {0};
	TsaMeasurement *m;
	TsaMeasurePlan plan;

	own.tablespace = prober->request->tablespace;
	own.name = prober->target.name;
	if (!tsa_existing_open(&own))
		return;

	m = palloc(sizeof(TsaMeasurement));
	start_plan(prober, TSA_RANDOM_READ, 1, &plan);
	plan.files = own.direct;
	plan.nfiles = own.nfiles;
	plan.may_fall_short = true;
	plan.duration_ns = prober->request->duration_us * 1000 / OWN_FILES_PART;
	if (tsa_measure_run(&plan, m) < 0 ||
		!tsa_latency_percentile(&m->latency, 0.25, &prober->own_fast_ns))
		prober->own_fast_ns = NAN;
	pfree(m);
	tsa_target_close(&own);
}

/* Compare the scratch file with them, at the row made for it. */
static void
compare_own_files(Prober *prober, const TsaProbeStep *step,
				  const TsaMeasurement *m)
{
	double		median;

	if (step->workload == TSA_RANDOM_READ && step->queue_depth == 1 &&
		!isnan(prober->own_fast_ns) &&
		tsa_latency_percentile(&m->latency, 0.5, &median))
		prober->own_ratio = prober->own_fast_ns / Max(median, 1);
}

/* Measure one row. */
static void
measure_step(Prober *prober, const TsaProbeStep *step, TsaProbeResult *result)
{
	const TsaWorkload *workload = step->workload;
	TsaProbeTarget *target = &prober->target;
	TsaMeasurement *m = palloc(sizeof(TsaMeasurement));
	TsaMeasurePlan plan;
	TsaSyncEngine sync_engine;
	TsaIoFile	cached_files[TSA_MAX_PROBE_FILES];
	TsaEvidence evidence = {0};
	TsaCounters before;
	TsaCounters after;
	int			error;

	start_plan(prober, workload, step->queue_depth, &plan);
	if (workload->use_fdatasync || workload->cached || workload->buffered)
	{
		tsa_sync_engine_init(&sync_engine, workload->use_fdatasync,
							 workload->buffered ? step->queue_depth : 0);
		plan.engine = &sync_engine.base;
	}
	choose_files(prober, workload, cached_files, &plan);

	tsa_counters_read(target->stat_path, &before);
	pgstat_report_wait_start(PG_WAIT_EXTENSION);
	error = tsa_measure_run(&plan, m);
	pgstat_report_wait_end();
	if (error < 0)
		report_measure(prober, workload, error);
	tsa_counters_read(target->stat_path, &after);
	compare_own_files(prober, step, m);

	evidence.cached_on_purpose = workload->cached;
	evidence.no_direct = target->no_direct;
	evidence.in_memory = target->in_memory;
	evidence.untrusted_share = target->untrusted_share;
	evidence.own_files_ratio = workload->write_percent < 100 ?
		prober->own_ratio : 0;
	evidence.device_share = tsa_share_from_device(workload, m, &before, &after);
	evidence.foreign_share = tsa_share_of_others(workload, m, &before, &after,
												 &prober->foreign);
	evidence.delayed_share = tsa_share_delayed(&before, &after);
	evidence.others = tsa_conditions_of_others(workload, m, &before, &after);
	form_result(prober, step, m, &evidence, result);
}

/*
 * The effective_io_concurrency that the random reads measured so far speak
 * for: the smallest depth that reaches nine tenths of the best throughput and
 * gains less than a tenth from the next one.  TSA_CANDIDATE_DEPTH where there
 * is none, or none beyond those that are measured anyway.
 */
static int
find_candidate(const TsaProbeRun *run)
{
	const TsaProbeResult *best = NULL;
	double		peak = 0;
	int			i;
	int			j;

	for (i = 0; i < run->nresults; i++)
		if (strcmp(run->results[i].workload, TSA_RANDOM_READ->name) == 0)
			peak = Max(peak, run->results[i].iops);
	for (i = 0; i < run->nresults; i++)
	{
		const TsaProbeResult *result = &run->results[i];
		const TsaProbeResult *next = NULL;

		if (strcmp(result->workload, TSA_RANDOM_READ->name) != 0 ||
			result->iops < 0.9 * peak ||
			(best != NULL && best->queue_depth <= result->queue_depth))
			continue;
		for (j = 0; j < run->nresults; j++)
			if (strcmp(run->results[j].workload, TSA_RANDOM_READ->name) == 0 &&
				run->results[j].queue_depth > result->queue_depth &&
				(next == NULL ||
				 run->results[j].queue_depth < next->queue_depth))
				next = &run->results[j];
		if (next == NULL || next->iops < 1.1 * result->iops)
			best = result;
	}
	return best != NULL && best->queue_depth > 1 ? best->queue_depth :
		TSA_CANDIDATE_DEPTH;
}

/* Do all steps; one without a depth of its own to measure is left out. */
static void
measure_steps(Prober *prober, TsaProbeRun *run)
{
	const TsaProbeRequest *request = prober->request;
	int			i;

	for (i = 0; i < request->nsteps; i++)
	{
		TsaProbeStep *step = &request->steps[i];
		char		progress[128];

		if (step->queue_depth == TSA_CANDIDATE_DEPTH)
			step->queue_depth = find_candidate(run);
		if (step->queue_depth == TSA_CANDIDATE_DEPTH)
			continue;
		snprintf(progress, sizeof(progress),
				 "%s at queue depth %d, row %d of %d", step->workload->name,
				 step->queue_depth, i + 1, request->nsteps);
		tsa_target_progress(&prober->target, progress);
		measure_step(prober, step, &run->results[run->nresults++]);
	}
}

/*
 * The largest depth and the buffer memory that the steps need; a depth still
 * to be found is one of those of random reads.
 */
static void
size_engine(const TsaProbeRequest *request, int *depth, Size *buffer_bytes)
{
	int			i;

	*depth = TSA_LAYOUT_DEPTH;
	*buffer_bytes = TSA_LAYOUT_DEPTH * TSA_LAYOUT_CHUNK;
	for (i = 0; i < request->nsteps; i++)
	{
		const TsaProbeStep *step = &request->steps[i];

		*depth = Max(*depth, step->queue_depth);
		*buffer_bytes = Max(*buffer_bytes,
							(Size) Max(step->queue_depth, 1) *
							step->workload->io_size);
	}
}

/* Where a tablespace is, in the words of pg_tablespace_location(). */
static char *
find_location(Oid tablespace)
{
	Datum		answer = DirectFunctionCall1(pg_tablespace_location,
											 ObjectIdGetDatum(tablespace));
	char	   *location = TextDatumGetCString(answer);

	return location[0] == '\0' ? pstrdup(DataDir) : location;
}

/* Open, measure and close. */
static void
probe_target(Prober *prober, TsaProbeRun *run)
{
	const TsaProbeRequest *request = prober->request;
	TsaProbeTarget *target = &prober->target;

	if (request->existing)
	{
		if (!tsa_existing_open(target))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("cannot measure tablespace \"%s\" by its relations",
							target->name),
					 errdetail("It holds no relation file of at least 1 MB whose blocks have all been written."),
					 errhint("Use mode 'scratch'.")));
	}
	else
	{
		sample_own_files(prober);
		tsa_scratch_open(target, request->file_bytes);
		tsa_scratch_lay_out(target, prober->engine, tsa_probe_max_iops);
	}
	tsa_target_inspect(target);
	measure_steps(prober, run);
	run->file_size_bytes = (int64) target->bytes;
	run->device = target->device;
	tsa_target_close(target);
}

/* Run the probe and fill in what it found. */
void
tsa_probe_run(const TsaProbeRequest *request, TsaProbeRun *run)
{
	Prober	   *prober = palloc0(sizeof(Prober));
	int			depth;
	Size		buffer_bytes;

	run->tablespace = request->tablespace_name;
	run->location = find_location(request->tablespace);
	run->mode = request->existing ? "existing" : "scratch";
	run->duration = request->duration;
	run->started_at = GetCurrentTimestamp();
	run->results = palloc0(request->nsteps * sizeof(TsaProbeResult));

	prober->request = request;
	prober->target.tablespace = request->tablespace;
	prober->target.name = request->tablespace_name;
	prober->target.started_at = run->started_at;
	prober->own_fast_ns = NAN;
	prober->clock_cost = tsa_clock_cost();
	prober->step_ns = Max(request->duration_us * 1000 / request->nsteps, 1);

	size_engine(request, &depth, &buffer_bytes);
	prober->engine = acquire_engine(depth, buffer_bytes);
	PG_TRY();
	{
		probe_target(prober, run);
	}
	PG_FINALLY();
	{
		release_engine(prober->engine);
	}
	PG_END_TRY();

	run->finished_at = GetCurrentTimestamp();
	run->foreign_io_percent = prober->foreign.total > 0 ?
		100 * prober->foreign.by_others / prober->foreign.total : NAN;
}
