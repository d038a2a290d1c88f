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
 * Copyright (c) 2026, The tablespace_advisor developers
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
#include "probe/prober.h"
#include "probe/run.h"

/* an engine with requests in flight when its query ended */
static TsaAioEngine *parked_engine = NULL;

/* Complain that no engine could be made. */
static void
report_engine(int error)
{
	errno = -error;
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("could not set up asynchronous I/O: %m")));
}

/*
 * Say once that requests are made one by one, and the remedy.  The kernel
 * refuses asynchronous I/O, or would do it while they are submitted.
 */
static void
tell_single(const TsaProber *prober)
{
	int			refusal = tsa_aio_refusal(prober->engine);

	errno = -refusal;
	if (prober->target.in_memory)
		return;
	if (refusal == 0)
		ereport(NOTICE,
				(errmsg("the file system of tablespace \"%s\" refuses O_DIRECT: one request at a time is measured",
						prober->target.name),
				 errdetail("Reads go through the page cache, which is emptied of the scratch file before.")));
	else
		ereport(NOTICE,
				(errmsg("no asynchronous I/O here: one request at a time is measured"),
				 errdetail("The kernel's answer to io_setup() is: %m."),
				 refusal == -EAGAIN ?
				 errhint("Raise the kernel's limit fs.aio-max-nr.") :
				 errhint("Let the container's seccomp profile allow io_setup, io_submit, io_getevents and io_destroy.")));
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
probe_target(TsaProber *prober, TsaProbeRun *run)
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
					 errdetail("It has no relation file of at least 1 MB with all blocks written."),
					 errhint("Use mode 'scratch'.")));
	}
	else
	{
		prober->own.tablespace = request->tablespace;
		prober->own.name = target->name;
		(void) tsa_existing_open(&prober->own);
		tsa_scratch_open(target, request->file_bytes);
		tsa_scratch_lay_out(target, prober->engine, tsa_probe_max_iops);
	}
	tsa_target_inspect(target);
	prober->uncached = target->no_direct && !request->existing;
	prober->single = prober->uncached ||
		tsa_aio_refusal(prober->engine) != 0;
	if (prober->single)
		tell_single(prober);
	tsa_measure_rows(prober, run);
	run->file_size_bytes = (int64) target->bytes;
	run->device = target->device;
	tsa_target_close(target);
	tsa_target_close(&prober->own);
}

/* Run the probe and fill in its results. */
void
tsa_probe_run(const TsaProbeRequest *request, TsaProbeRun *run)
{
	TsaProber  *prober = palloc0(sizeof(TsaProber));
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
	run->foreign_io_percent = prober->requests > 0 ?
		100 * prober->requests_by_others / prober->requests : NAN;
}
