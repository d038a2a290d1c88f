/*-------------------------------------------------------------------------
 *
 * turns.c
 *	  The rows of a run, measured in turns.
 *
 * The load of others on the device changes from second to second.  Rows that
 * were measured one after another would each meet something else, and their
 * ratios, which costs are made of, would be those of the load.  So rows take
 * short turns, and all meet the same.  So do reads of the tablespace's own
 * relations, data that the probe has not just written, each right before or
 * after reads of the scratch file: one that answers much faster than they do
 * is in a cache, even if all of it is (pairs.c).
 *
 * Reads of the device take turns with each other, then comes the page cache,
 * which is no device, then the writes: a device's work on these in the
 * background would be in the reads.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "probe/counters.h"
#include "probe/prober.h"
#include "state/file_error.h"

/* configuration parameter tablespace_advisor.probe_max_iops; 0: no limit */
int			tsa_probe_max_iops = 0;

/* how much of the file is brought into the page cache for cached reads */
#define CACHED_BYTES		UINT64CONST(67108864)
#define WARM_BYTES			131072

/* a turn lasts so long, or longer where the device takes long to answer */
#define TURN_NS				UINT64CONST(50000000)

/*
 * A cached read takes nothing but a processor.  Where others want it, too, a
 * process has it for a millisecond or some and then waits for others' turns,
 * which is not the time of a read: turns that are shorter than that have such
 * a wait or none, and those that have none are the row.
 */
#define CACHED_TURN_NS		UINT64CONST(250000)

/*
 * A read of the tablespace's own relations is paired with one of the scratch
 * file, up to so many times, in at most such a part of the time each if the
 * device takes long.
 */
#define MAX_PAIRS			100
#define OWN_FILES_PART		20

/*
 * When random reads have had this part of their time, the depth that is found
 * by them takes part.
 */
#define CANDIDATE_AFTER		(1.0 / 3)

typedef enum Phase
{
	PHASE_READS,
	PHASE_CACHE,
	PHASE_WRITES,
	PHASES
} Phase;

/* Callbacks of the measuring loop. */
static uint64
measure_now(void *arg)
{
	(void) arg;
	return tsa_clock_now();
}

/* Callback: may be cancelled here. */
static void
measure_check(void *arg)
{
	(void) arg;
	CHECK_FOR_INTERRUPTS();
}

/* Callback: sleeps for so many nanoseconds, and may be cancelled. */
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
 * the pages brought into the page cache.
 */
static void
choose_files(TsaProber *prober, TsaProbeRow *row)
{
	const TsaWorkload *workload = row->step.workload;
	TsaProbeTarget *target = &prober->target;
	TsaMeasurePlan *plan = &row->plan;
	TsaIoFile  *files = row->cached_files;
	uint64		left = CACHED_BYTES;

	if (row->of_own)
		target = &prober->own;
	plan->files = target->direct;
	plan->nfiles = target->nfiles;
	if (workload->use_fdatasync || workload->buffered)
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
}

/*
 * A request failed.  Own relations may be truncated or dropped meanwhile: there
 * is nothing more to compare with, then.
 */
static void
end_row(const TsaProber *prober, TsaProbeRow *row, int error)
{
	const TsaWorkload *workload = row->step.workload;

	row->done = true;
	if (row->of_own)
		return;
	errno = -error;
	ereport(ERROR,
			(tsa_errcode_for_file_access(),
			 errmsg("could not measure %s in tablespace \"%s\": %m",
					workload->name, prober->target.name)));
}

/*
 * A block that the page cache is yet to write would be written before it is
 * read past the cache, and take longer.
 */
static int
is_dirty(const TsaIoRequest *request)
{
	return tsa_file_is_dirty(request->fd, request->offset, request->length);
}

/* Does a row read blocks of relations past the page cache? */
static bool
leaves_out_dirty(const TsaProber *prober, const TsaProbeRow *row)
{
	const TsaWorkload *workload = row->step.workload;
	const TsaProbeTarget *target = &prober->target;

	return row->of_own ||
		(prober->request->existing && !target->no_direct &&
		 !target->in_memory && !workload->cached && !workload->buffered);
}

/* The common part of every measurement. */
static void
start_plan(const TsaProber *prober, const TsaWorkload *workload, int depth,
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
	/* earlier writes do not make the next one faster */
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

/* When is it a workload's turn? */
static Phase
find_phase(const TsaWorkload *workload)
{
	if (workload->cached)
		return PHASE_CACHE;
	return workload->write_percent > 0 ? PHASE_WRITES : PHASE_READS;
}

/* Choose engine, files and duration of a row, and start it, or end it. */
static void
start_row(TsaProber *prober, TsaProbeRow *row)
{
	const TsaWorkload *workload = row->step.workload;
	int			error;

	start_plan(prober, workload, row->step.queue_depth, &row->plan);
	row->plan.turn_ns = workload->cached ? CACHED_TURN_NS : TURN_NS;
	if (workload->use_fdatasync || workload->cached || workload->buffered)
	{
		tsa_init_sync_engine(&row->sync_engine, workload->use_fdatasync,
							 workload->buffered ? row->step.queue_depth : 0);
		row->plan.engine = &row->sync_engine.base;
	}
	if (row->of_own || row->beside_own)
	{
		row->plan.turn_requests = 1;
		row->plan.duration_ns =
			prober->request->duration_us * 1000 / OWN_FILES_PART;
	}
	if (leaves_out_dirty(prober, row))
		row->plan.leave_out = is_dirty;
	choose_files(prober, row);
	tsa_latency_reset(&row->quiet.latency);
	error = tsa_measure_start(&row->measuring, &row->plan, &row->m);
	row->started = true;
	if (error < 0)
		end_row(prober, row, error);
}

/* The part of its time that a row has had. */
static double
part_done(const TsaProbeRow *row)
{
	return row->done ? 1 : row->joined + (1 - row->joined) *
		(double) row->m.spent_ns / (double) Max(row->plan.duration_ns, 1);
}

/* Say how much of all rows is measured, and which one has the next turn. */
static void
report_progress(TsaProber *prober, const TsaProbeRow *rows, int nrows,
				const TsaProbeRow *next)
{
	char		progress[128];
	double		done = 0;
	int			i;

	for (i = 0; i < nrows; i++)
		done += Min(part_done(&rows[i]), 1);
	snprintf(progress, sizeof(progress),
			 "%.0f %% measured, now %s at queue depth %d",
			 100 * done / Max(nrows, 1), next->step.workload->name,
			 next->step.queue_depth);
	tsa_target_progress(&prober->target, progress);
}

/* Measure one turn of a row. */
static void
measure_turn(TsaProber *prober, TsaProbeRow *row)
{
	const TsaWorkload *workload = row->step.workload;
	TsaCounters before;
	TsaCounters after;
	TsaGrowth	growth;
	int			error;

	if (!row->started)
	{
		start_row(prober, row);
		if (workload->cached)
			warm_cache(row->plan.files, row->plan.nfiles, row->plan.buffer);
	}
	if (row->done)
		return;
	if ((workload->buffered || prober->uncached) && !workload->cached &&
		!row->of_own)
		empty_cache(row->plan.files, row->plan.nfiles);

	tsa_counters_read(prober->target.stat_path, &before);
	pgstat_report_wait_start(PG_WAIT_EXTENSION);
	error = tsa_measure_turn(&row->measuring);
	pgstat_report_wait_end();
	if (error < 0)
	{
		end_row(prober, row, error);
		return;
	}
	tsa_counters_read(prober->target.stat_path, &after);
	tsa_growth_between(&growth, &before, &after);
	tsa_row_keep_turn(prober, row, &growth);
	row->done = tsa_measure_is_done(&row->measuring);
}

/*
 * Read own relations and the scratch file, each of them first every other time,
 * and compare.
 */
static void
measure_pair(TsaProber *prober, TsaProbeRow *own, TsaProbeRow *beside)
{
	bool		own_first = prober->pairs.n % 2 == 0;

	measure_turn(prober, own_first ? own : beside);
	measure_turn(prober, own_first ? beside : own);
	tsa_pairs_add(&prober->pairs, own->measuring.turn.latency.mean_ns,
				  beside->measuring.turn.latency.mean_ns);
	if (beside->done || prober->pairs.n >= MAX_PAIRS)
		own->done = true;
}

/* Throughput of a row so far; 0 where it has none. */
static double
row_iops(const TsaProbeRow *row)
{
	return (double) row->m.latency.count /
		(double) Max(row->m.elapsed_ns, 1);
}

/*
 * The effective_io_concurrency that the random reads measured so far speak
 * for: the smallest depth that reaches nine tenths of the best throughput and
 * gains less than a tenth from the next one.  TSA_CANDIDATE_DEPTH where there
 * is none, or none beyond those that are measured anyway.
 */
static int
find_candidate(const TsaProbeRow *rows, int nrows)
{
	const TsaProbeRow *best = NULL;
	double		peak = 0;
	int			i;
	int			j;

	for (i = 0; i < nrows; i++)
		if (rows[i].step.workload == TSA_RANDOM_READ)
			peak = Max(peak, row_iops(&rows[i]));
	for (i = 0; i < nrows; i++)
	{
		const TsaProbeRow *row = &rows[i];
		const TsaProbeRow *next = NULL;

		if (row->step.workload != TSA_RANDOM_READ ||
			row_iops(row) < 0.9 * peak ||
			(best != NULL && best->step.queue_depth <= row->step.queue_depth))
			continue;
		for (j = 0; j < nrows; j++)
			if (rows[j].step.workload == TSA_RANDOM_READ &&
				rows[j].step.queue_depth > row->step.queue_depth &&
				(next == NULL ||
				 rows[j].step.queue_depth < next->step.queue_depth))
				next = &rows[j];
		if (next == NULL || row_iops(next) < 1.1 * row_iops(row))
			best = row;
	}
	return best != NULL && best->step.queue_depth > 1 ?
		best->step.queue_depth : TSA_CANDIDATE_DEPTH;
}

/* Let rows take part if their depth can be found by now; some never do. */
static void
join_candidates(TsaProbeRow *rows, int nrows)
{
	double		least = 1;
	int			depth;
	int			i;

	for (i = 0; i < nrows; i++)
		if (rows[i].step.workload == TSA_RANDOM_READ)
			least = Min(least, part_done(&rows[i]));
	if (least < CANDIDATE_AFTER)
		return;
	depth = find_candidate(rows, nrows);
	for (i = 0; i < nrows; i++)
	{
		if (rows[i].step.queue_depth != TSA_CANDIDATE_DEPTH)
			continue;
		rows[i].step.queue_depth = depth;
		rows[i].joined = least < 1 ? least : 0;
		if (depth == TSA_CANDIDATE_DEPTH)
			rows[i].done = true;
	}
}

/*
 * For devices that are asked one request at a time: makes one row of all queue
 * depths of a workload.  Rows of prefetching stay, since the kernel prefetches.
 */
static void
make_single(TsaProbeRow *rows, int nrows)
{
	int			i;
	int			j;

	for (i = 0; i < nrows; i++)
	{
		TsaProbeStep *step = &rows[i].step;

		if (step->workload->buffered)
			continue;
		rows[i].made_single = step->queue_depth != 1;
		step->queue_depth = 1;
		for (j = 0; j < nrows; j++)
			if (j != i && !rows[j].done && rows[j].step.queue_depth == 1 &&
				rows[j].step.workload == step->workload &&
				(j < i || rows[i].made_single))
				rows[i].done = true;
	}
}

/* The row of a phase that has had the least of its time, or NULL. */
static TsaProbeRow *
choose_row(TsaProbeRow *rows, int nrows, Phase phase)
{
	TsaProbeRow *chosen = NULL;
	int			i;

	for (i = 0; i < nrows; i++)
		if (find_phase(rows[i].step.workload) == phase && !rows[i].done &&
			rows[i].step.queue_depth != TSA_CANDIDATE_DEPTH &&
			(chosen == NULL || part_done(&rows[i]) < part_done(chosen)))
			chosen = &rows[i];
	return chosen;
}

/* Measure all rows; one without a depth of its own to measure is left out. */
void
tsa_measure_rows(TsaProber *prober, TsaProbeRun *run)
{
	const TsaProbeRequest *request = prober->request;
	int			nrows = request->nsteps;
	TsaProbeRow *rows = palloc0_array(TsaProbeRow, nrows + 2);
	TsaProbeRow *own = &rows[nrows];
	TsaProbeRow *beside = &rows[nrows + 1];
	int			phase;
	int			i;

	for (i = 0; i < nrows; i++)
		rows[i].step = request->steps[i];
	if (prober->single)
		make_single(rows, nrows);
	own->step.workload = beside->step.workload = TSA_RANDOM_READ;
	own->step.queue_depth = beside->step.queue_depth = 1;
	own->of_own = beside->beside_own = true;
	own->done = prober->own.nfiles == 0;
	prober->began_ns = tsa_clock_now();
	for (phase = 0; phase < PHASES; phase++)
	{
		TsaProbeRow *row;

		join_candidates(rows, nrows);
		while ((row = choose_row(rows, nrows + 1, phase)) != NULL)
		{
			report_progress(prober, rows, nrows, row);
			if (row == own)
				measure_pair(prober, own, beside);
			else
				measure_turn(prober, row);
			join_candidates(rows, nrows);
		}
	}
	for (i = 0; i < nrows; i++)
		if (rows[i].started)
			tsa_row_finish(prober, &rows[i], &run->results[run->nresults++]);
}
