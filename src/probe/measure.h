/*-------------------------------------------------------------------------
 *
 * measure.h
 *	  Running one workload against an I/O engine.
 *
 * Pure: no server headers, no allocation; clock, interrupts and sleep are the
 * caller's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_MEASURE_H
#define TSA_MEASURE_H

#include "probe/aio.h"
#include "probe/latency.h"
#include "probe/random.h"

#define TSA_MAX_DEPTH	256
#define TSA_REGIONS		4

/* Part of the space that requests address. */
typedef struct TsaIoFile
{
	int			fd;
	uint64_t	bytes;
} TsaIoFile;

typedef struct TsaMeasurePlan
{
	TsaIoEngine *engine;
	TsaIoRequest *requests;		/* depth of them, of the engine's own */
	char	   *buffer;			/* depth * io_size bytes */

	const TsaIoFile *files;
	int			nfiles;

	size_t		io_size;
	int			depth;
	int			sequential;		/* or random, without repetition */
	uint64_t	skip_units;		/* sequential, in jumps up to so far; 0: none */
	int			write_percent;
	int			may_repeat;		/* go round the space as often as time allows */
	int			may_fall_short; /* files may shrink meanwhile */
	uint64_t	duration_ns;
	uint64_t	max_iops;		/* 0: no limit */
	uint64_t	clock_ns;		/* taken off every latency */
	uint64_t	seed;

	uint64_t	(*now) (void *arg);
	void		(*check) (void *arg);	/* may jump out for good */
	void		(*sleep) (void *arg, uint64_t ns);
	void	   *arg;
} TsaMeasurePlan;

typedef struct TsaMeasurement
{
	TsaLatency	latency;		/* after warming up */
	uint64_t	elapsed_ns;		/* that these samples took */
	uint64_t	warmup_ns;
	int			unsteady;		/* was still drifting when warm-up had to end */
	int			repeated;		/* had to use offsets again */
	int			limited;		/* max_iops held it back */
	uint64_t	short_reads;

	/* everything done, warm-up and last requests included */
	uint64_t	reads;
	uint64_t	writes;

	/* by position in the space, to see whether part of it is cached */
	uint64_t	region_count[TSA_REGIONS];
	double		region_sum[TSA_REGIONS];
	double		region_square[TSA_REGIONS];
} TsaMeasurement;

extern int	tsa_measure_run(const TsaMeasurePlan *plan, TsaMeasurement *m);
extern double tsa_measure_region_ratio(const TsaMeasurement *m);

#endif							/* TSA_MEASURE_H */
