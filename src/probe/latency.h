/*-------------------------------------------------------------------------
 *
 * latency.h
 *	  Statistics of a stream of latencies in fixed memory.
 *
 * Pure: no server headers, no allocation, no system calls.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LATENCY_H
#define TSA_LATENCY_H

#include <stdint.h>

/*
 * Histogram geometry: values below 2^(BITS + 1) ns have a bucket each; above,
 * every power of two is cut into 2^BITS equal buckets, so that the middle of
 * a bucket is at most 2^-(BITS + 1) = 0.8 % away from any value in it.  The
 * last bucket ends at 2^41 ns (36 minutes).
 */
#define TSA_LATENCY_BITS		6
#define TSA_LATENCY_SUB			(1 << TSA_LATENCY_BITS)
#define TSA_LATENCY_MAX_SHIFT	34
#define TSA_LATENCY_BUCKETS \
	((TSA_LATENCY_MAX_SHIFT + 2) * TSA_LATENCY_SUB)

/* batch means: complete batches are merged in pairs when all are used */
#define TSA_MAX_BATCHES			32
#define TSA_MIN_BATCHES			10

/* fewer turns than these say nothing of how much turns differ */
#define TSA_MIN_TURNS			5

typedef struct TsaLatency
{
	uint64_t	count;
	uint64_t	min_ns;
	uint64_t	max_ns;
	double		mean_ns;		/* running mean and ... */
	double		m2;				/* ... sum of squared deviations (Welford) */

	int			batches;		/* complete batches */
	uint64_t	batch_size;		/* samples in each of them */
	double		batch_sum[TSA_MAX_BATCHES];
	uint64_t	open_count;		/* the batch being filled */
	double		open_sum;

	/* turns: their number, and sums over them of ... */
	uint64_t	turns;
	double		turn_square;	/* ... the square of a turn's sum ... */
	double		turn_product;	/* ... that sum times its samples ... */
	double		turn_counts;	/* ... and the square of its samples */

	uint64_t	histogram[TSA_LATENCY_BUCKETS];
} TsaLatency;

extern void tsa_latency_reset(TsaLatency *lat);
extern void tsa_latency_add(TsaLatency *lat, uint64_t ns);
extern void tsa_latency_add_turn(TsaLatency *lat, const TsaLatency *turn);
extern double tsa_latency_stddev(const TsaLatency *lat);
extern int	tsa_latency_percentile(const TsaLatency *lat, double p,
								   double *ns);
extern int	tsa_latency_interval(const TsaLatency *lat, double *low_ns,
								 double *high_ns);
extern int	tsa_latency_drifts(const TsaLatency *lat);

extern uint64_t tsa_latency_lower(int bucket);
extern double tsa_student_975(int freedom);

#endif							/* TSA_LATENCY_H */
