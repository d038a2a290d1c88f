/*-------------------------------------------------------------------------
 *
 * row.c
 *	  From turns to a row: which of them count, and the row's conditions.
 *
 * Where others leave the device alone for some of the turns, these turns are
 * the row: that is how the device answers by itself.  Where they never do, or
 * too seldom, all turns are, and the row says under which conditions.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "probe/prober.h"
#include "probe/trust.h"

#define MB_BYTES			(1024.0 * 1024.0)

/* a turn is quiet if others had at most this share of requests and time */
#define QUIET_FOREIGN		0.05
#define QUIET_DELAYED		0.10

/* so many of them are enough, if they have so many samples */
#define ENOUGH_QUIET_TURNS	5
#define ENOUGH_QUIET_SAMPLES 30

/* a fall that leaves less of the time is not waited out */
#define MIN_AFTER_FALL	0.05

/* The part of a row's time that is left. */
static double
part_left(const TsaProbeRow *row)
{
	return 1 - (double) row->m.spent_ns / (double) row->plan.duration_ns;
}

/*
 * Where throughput falls to another level, the device had a credit that is
 * used up: earlier measurements are forgotten, at each fall.
 */
static void
look_for_fall(const TsaProber *prober, TsaProbeRow *row,
			  const TsaGrowth *growth)
{
	const TsaSamples *turn = &row->measuring.turn;
	const TsaConditions others =
	tsa_conditions_of_others(row->step.workload, growth);
	double		requests = others.reads_per_s + others.writes_per_s;
	double		mb = others.read_mb_per_s + others.write_mb_per_s;
	TsaStretch	stretch;

	stretch.requests = (double) turn->latency.count;
	stretch.seconds = (double) turn->elapsed_ns / 1e9;
	stretch.begun = (double) (tsa_clock_now() - prober->began_ns) / 1e9 -
		stretch.seconds;
	stretch.worked = tsa_time_worked(stretch.seconds, growth->seconds,
									 growth->has_delay ? growth->delay : 0);
	stretch.others = isnan(requests) ? 0 : stretch.worked *
		Max(requests, mb * MB_BYTES / row->step.workload->io_size);
	tsa_levels_add(&row->levels, &stretch);
	if (part_left(row) < MIN_AFTER_FALL ||
		!tsa_levels_fall(&row->levels, &row->falls))
		return;
	tsa_measure_forget(&row->measuring);
	tsa_latency_reset(&row->quiet.latency);
	row->quiet.elapsed_ns = 0;
	memset(&row->quiet_growth, 0, sizeof(row->quiet_growth));
}

/* Take the latest turn into account, by the counters' growth. */
void
tsa_row_keep_turn(TsaProber *prober, TsaProbeRow *row, TsaGrowth *growth)
{
	const TsaSamples *turn = &row->measuring.turn;
	double		requests;

	growth->own_reads = row->m.reads - row->growth.own_reads;
	growth->own_writes = row->m.writes - row->growth.own_writes;
	growth->own_seconds = turn->latency.mean_ns / 1e9 *
		(double) (growth->own_reads + growth->own_writes);
	tsa_growth_add(&row->growth, growth);
	tsa_measure_keep(&row->measuring);

	if (turn->elapsed_ns > 0 && !row->step.workload->cached)
		look_for_fall(prober, row, growth);
	if (turn->latency.count == 0 ||
		tsa_share_of_others(row->step.workload, growth,
							&requests) > QUIET_FOREIGN ||
		tsa_share_delayed(growth) > QUIET_DELAYED)
		return;
	tsa_growth_add(&row->quiet_growth, growth);
	tsa_latency_add_turn(&row->quiet.latency, &turn->latency);
	row->quiet.elapsed_ns += turn->elapsed_ns;
}

/* Are there quiet turns enough to leave the others out? */
static bool
is_quiet_enough(const TsaProbeRow *row)
{
	const TsaLatency *quiet = &row->quiet.latency;

	return quiet->turns > 0 &&
		(quiet->turns == row->m.latency.turns ||
		 (quiet->turns >= ENOUGH_QUIET_TURNS &&
		  quiet->count >= ENOUGH_QUIET_SAMPLES));
}

/* The figures of a row. */
static void
form_result(const TsaProbeStep *step, TsaLatency *latency, uint64 elapsed_ns,
			TsaProbeResult *result)
{
	double		low;
	double		high;
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
		(double) Max(elapsed_ns, 1);
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
	result->latency = latency;
}

/* The conditions of the measurement. */
static void
fill_evidence(const TsaProber *prober, const TsaProbeRow *row,
			  const TsaGrowth *growth, const TsaLatency *latency,
			  TsaEvidence *evidence)
{
	const TsaWorkload *workload = row->step.workload;
	const TsaProbeTarget *target = &prober->target;
	double		requests;

	evidence->cached_on_purpose = workload->cached;
	evidence->no_direct = target->no_direct;
	evidence->uncached = prober->uncached;
	evidence->made_single = row->made_single;
	evidence->in_memory = target->in_memory;
	evidence->untrusted_share = target->untrusted_share;
	if (workload->write_percent < 100)
	{
		evidence->own_files_ratio = tsa_pairs_ratio(&prober->pairs);
		evidence->own_files_low = tsa_pairs_ratio_low(&prober->pairs);
	}
	evidence->device_share = tsa_share_from_device(workload, &row->growth);
	evidence->foreign_share = tsa_share_of_others(workload, growth, &requests);
	evidence->delayed_share = tsa_share_delayed(growth);
	evidence->falls = row->falls;
	if (!tsa_levels_fall_at_end(&row->levels, &evidence->fall_at_end))
		evidence->fall_at_end.before = 0;
	evidence->others = tsa_conditions_of_others(workload, growth);
	evidence->clock_taken_off = workload->buffered;
	evidence->samples = latency->count;
	evidence->unsteady = tsa_latency_drifts(latency) ||
		(row->m.unsteady && growth == &row->growth);
	evidence->repeated = row->m.repeated;
	evidence->short_reads = row->m.short_reads > 0;
	evidence->max_iops = row->m.limited ? row->plan.max_iops : 0;
	evidence->left_out = row->m.left_out;
	if (latency->count > 0)
		evidence->clock_share = (double) prober->clock_cost /
			Max(latency->mean_ns, 1);
	if (row->step.queue_depth == 1 && workload->write_percent == 0 &&
		!workload->sequential)
		evidence->region_ratio = tsa_measure_region_ratio(&row->m);
}

/* Turn the measurements into a row. */
void
tsa_row_finish(TsaProber *prober, TsaProbeRow *row, TsaProbeResult *result)
{
	bool		quiet = is_quiet_enough(row);
	const TsaGrowth *growth = quiet ? &row->quiet_growth : &row->growth;
	TsaLatency *latency = quiet ? &row->quiet.latency : &row->m.latency;
	TsaEvidence evidence = {0};
	char		words[2048];
	const char *text;
	double		requests;
	double		share;
	int			fall;

	share = tsa_share_of_others(row->step.workload, &row->growth, &requests);
	prober->requests += requests;
	prober->requests_by_others += Max(share, 0) * requests;
	result->burst_iops = result->burst_seconds = NAN;
	if (row->falls.n > 0)
	{
		result->burst_iops = row->falls.falls[0].before;
		result->burst_seconds = row->falls.falls[row->falls.n - 1].at;
	}
	form_result(&row->step, latency,
				quiet ? row->quiet.elapsed_ns : row->m.elapsed_ns, result);
	result->turns = (int) row->m.latency.turns;
	result->quiet_percent = row->growth.has_device && result->turns > 0 ?
		100.0 * (double) row->quiet.latency.turns / result->turns : NAN;

	fill_evidence(prober, row, growth, latency, &evidence);
	for (fall = 0; fall < evidence.falls.n; fall++)
		evidence.falls.falls[fall].after = fall + 1 < evidence.falls.n ?
			evidence.falls.falls[fall + 1].before : result->iops;
	result->others = evidence.others;
	text = tsa_trust_caveat(&evidence, words, sizeof(words));
	result->caveat = text !=NULL ? pstrdup(text) : NULL;
	text = tsa_trust_conditions(&evidence, words, sizeof(words));
	result->conditions = text !=NULL ? pstrdup(text) : NULL;
}
