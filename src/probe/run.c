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

#include "compat.h"
#include "probe/counters.h"
#include "probe/run.h"
#include "probe/target.h"
#include "probe/trust.h"

/*
 * Sequential requests have the size of the kernel's default read-ahead, two
 * at a time, because that is how a sequential scan reaches the device: one
 * window being read while the one before is being consumed.
 */
#define SEQUENTIAL_SIZE		(128 * 1024)
#define SEQUENTIAL_DEPTH	2

/* how much of the file is brought into the page cache for cached reads */
#define CACHED_BYTES		(UINT64CONST(64) * 1024 * 1024)

#define MB_BYTES			(1024.0 * 1024.0)

/*
 * The default workloads are what the later stages need and what every server
 * does all the time: reads at each depth, scans, commits and hits of the page
 * cache.  The others load the device with writes and have to be asked for.
 */
const TsaWorkload tsa_workloads[TSA_WORKLOADS] = {
	/* name, sequential, write %, fdatasync, cached, depth, size, default */
	{"random read", false, 0, false, false, 0, BLCKSZ, true},
	{"sequential read", true, 0, false, false, SEQUENTIAL_DEPTH, SEQUENTIAL_SIZE, true},
	{"random write", false, 100, false, false, 0, BLCKSZ, false},
	{"sequential write", true, 100, false, false, SEQUENTIAL_DEPTH, SEQUENTIAL_SIZE, false},
	{"mixed", false, 50, false, false, 0, BLCKSZ, false},
	{"sync write", true, 100, true, false, 1, BLCKSZ, true},
	{"cached read", false, 0, false, true, 1, BLCKSZ, true},
};

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

	/* the device's requests during all steps, where counted */
	double		device_total;
	double		device_foreign;
} Prober;

/* The device's and the process's counters at one moment. */
typedef struct Counters
{
	bool		have_process;
	bool		have_device;
	TsaProcessIo process;
	TsaDeviceIo device;
} Counters;

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

/* Read the counters, as far as they are to be had. */
static void
read_counters(const Prober *prober, Counters *counters)
{
	const char *path = prober->target.stat_path;

	counters->have_process = tsa_process_io_read(&counters->process) == 0;
	counters->have_device = path != NULL &&
		tsa_device_io_read(path, &counters->device) == 0;
}

/*
 * What share of the bytes asked for did a device move?  -1 where unknown.
 */
static double
share_from_device(const TsaProbeStep *step, const TsaMeasurement *m,
				  const Counters *before, const Counters *after)
{
	double		asked = (double) (m->reads + m->writes) *
		step->workload->io_size;
	double		moved = 0;

	if (!before->have_process || !after->have_process || asked == 0)
		return -1;
	if (m->reads > 0)
		moved += (double) (after->process.read_bytes -
						   before->process.read_bytes);
	if (m->writes > 0)
		moved += (double) (after->process.write_bytes -
						   before->process.write_bytes);
	return moved / asked;
}

/*
 * What share of the device's requests did others make?  -1 where unknown.
 *
 * Requests are counted, which weighs small ones as they deserve; sequential
 * workloads count in units of their own size, because the kernel splits and
 * merges theirs.  While the probe itself writes, only reads count as foreign:
 * writes may be those of a journal on its behalf.
 */
static double
share_of_others(Prober *prober, const TsaProbeStep *step,
				const TsaMeasurement *m, const Counters *before,
				const Counters *after)
{
	double		scale = step->workload->io_size;
	double		reads;
	double		writes;
	double		foreign;

	if (!before->have_device || !after->have_device || step->workload->cached)
		return -1;
	if (step->workload->sequential)
	{
		reads = (double) (after->device.read_bytes -
						  before->device.read_bytes) / scale;
		writes = (double) (after->device.write_bytes -
						   before->device.write_bytes) / scale;
	}
	else
	{
		reads = (double) (after->device.reads - before->device.reads);
		writes = (double) (after->device.writes - before->device.writes);
	}
	foreign = Max(reads - (double) m->reads, 0);
	if (step->workload->write_percent == 0)
		foreign += writes;
	if (reads + writes <= 0)
		return -1;

	prober->device_total += reads + writes;
	prober->device_foreign += foreign;
	return foreign / (reads + writes);
}

/* Bring files into the page cache. */
static void
warm_cache(const TsaIoFile *files, int nfiles, char *buffer)
{
	int			i;

	for (i = 0; i < nfiles; i++)
	{
		uint64		offset;

		for (offset = 0; offset < files[i].bytes; offset += SEQUENTIAL_SIZE)
		{
			CHECK_FOR_INTERRUPTS();
			if (pg_pread(files[i].fd, buffer, SEQUENTIAL_SIZE,
						 (off_t) offset) <= 0)
				break;
		}
	}
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
	if (workload->use_fdatasync)
		plan->files = target->cached;
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
	char		caveat[2048];
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
	result->caveat = tsa_trust_caveat(evidence, caveat, sizeof(caveat));
	if (result->caveat != NULL)
		result->caveat = pstrdup(caveat);
	result->latency = latency;
}

/* Measure one row. */
static void
measure_step(Prober *prober, const TsaProbeStep *step, TsaProbeResult *result)
{
	const TsaWorkload *workload = step->workload;
	TsaMeasurement *m = palloc(sizeof(TsaMeasurement));
	TsaMeasurePlan plan = {0};
	TsaSyncEngine sync_engine;
	TsaIoFile	cached_files[TSA_MAX_PROBE_FILES];
	TsaEvidence evidence = {0};
	Counters	before = {0};
	Counters	after = {0};
	int			error;

	plan.engine = tsa_aio_base(prober->engine);
	if (workload->use_fdatasync || workload->cached)
	{
		tsa_sync_engine_init(&sync_engine, workload->use_fdatasync);
		plan.engine = &sync_engine.base;
	}
	plan.requests = tsa_aio_requests(prober->engine);
	plan.buffer = tsa_aio_buffer(prober->engine);
	plan.io_size = workload->io_size;
	plan.depth = step->queue_depth;
	plan.sequential = workload->sequential;
	plan.write_percent = workload->write_percent;
	plan.may_repeat = workload->use_fdatasync || workload->cached;
	plan.may_fall_short = prober->request->existing;
	plan.duration_ns = prober->step_ns;
	plan.max_iops = workload->cached ? 0 : (uint64) tsa_probe_max_iops;
	plan.clock_ns = workload->cached ? prober->clock_cost : 0;
	plan.seed = pg_prng_uint64(&pg_global_prng_state);
	plan.now = measure_now;
	plan.check = measure_check;
	plan.sleep = measure_sleep;
	choose_files(prober, workload, cached_files, &plan);

	read_counters(prober, &before);
	error = tsa_measure_run(&plan, m);
	if (error < 0)
		report_measure(prober, workload, error);
	read_counters(prober, &after);

	evidence.cached_on_purpose = workload->cached;
	evidence.no_direct = prober->target.no_direct;
	evidence.in_memory = prober->target.in_memory;
	evidence.untrusted_share = prober->target.untrusted_share;
	evidence.device_share = share_from_device(step, m, &before, &after);
	evidence.foreign_share = share_of_others(prober, step, m, &before, &after);
	form_result(prober, step, m, &evidence, result);
}

/* Do all steps. */
static void
measure_steps(Prober *prober, TsaProbeRun *run)
{
	const TsaProbeRequest *request = prober->request;
	int			i;

	for (i = 0; i < request->nsteps; i++)
	{
		const TsaProbeStep *step = &request->steps[i];

		tsa_target_progress(&prober->target,
							psprintf("%s at queue depth %d",
									 step->workload->name, step->queue_depth),
							100.0 * i / request->nsteps);
		measure_step(prober, step, &run->results[i]);
	}
}

/* The largest depth and the buffer memory that the steps need. */
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
							(Size) step->queue_depth *
							step->workload->io_size);
	}
}

/* Where a tablespace is, in the words of pg_tablespace_location(). */
static char *
find_location(Oid tablespace)
{
	char	   *location;

	location = text_to_cstring(DatumGetTextPP(DirectFunctionCall1(pg_tablespace_location,
																  ObjectIdGetDatum(tablespace))));
	return location[0] == '\0' ? pstrdup(DataDir) : location;
}

/* Open, measure and close. */
static void
probe_target(Prober *prober, TsaProbeRun *run)
{
	const TsaProbeRequest *request = prober->request;
	TsaProbeTarget *target = &prober->target;

	if (request->existing)
		tsa_existing_open(target);
	else
	{
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
	run->nresults = request->nsteps;
	run->results = palloc0(request->nsteps * sizeof(TsaProbeResult));

	prober->request = request;
	prober->target.tablespace = request->tablespace;
	prober->target.name = request->tablespace_name;
	prober->target.location = pstrdup(run->location);
	prober->target.started_at = run->started_at;
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
	run->foreign_io_percent = prober->device_total > 0 ?
		100 * prober->device_foreign / prober->device_total : NAN;
}
