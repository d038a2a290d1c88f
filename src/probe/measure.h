/*-------------------------------------------------------------------------
 *
 * measure.h
 *	  Running one workload against an I/O engine.
 *
 * Pure: no server headers, no allocation; clock, interrupts and sleep are the
 * caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_MEASURE_H
#define TSA_MEASURE_H

#include "probe/aio.h"
#include "probe/latency.h"
#include "probe/random.h"
#include "probe/warmup.h"

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
	uint64_t	turn_ns;		/* of a turn, at least; 0: all in one */
	uint64_t	turn_requests;	/* a turn is so many, all count; 0: turn_ns */
	uint64_t	max_iops;		/* 0: no limit */
	uint64_t	clock_ns;		/* taken off every latency */
	uint64_t	seed;

	/* is a request to be left out, another in its place?  NULL: none is */
	int			(*leave_out) (const TsaIoRequest *request);

	uint64_t	(*now) (void *arg);
	void		(*check) (void *arg);	/* may jump out for good */
	void		(*sleep) (void *arg, uint64_t ns);
	void	   *arg;
} TsaMeasurePlan;

/* Samples, and the time that they took. */
typedef struct TsaSamples
{
	TsaLatency	latency;
	uint64_t	elapsed_ns;
} TsaSamples;

typedef struct TsaMeasurement
{
	TsaLatency	latency;		/* after warming up */
	uint64_t	elapsed_ns;		/* that these samples took */
	uint64_t	spent_ns;		/* measuring, warm-up included */
	uint64_t	warmup_ns;
	int			unsteady;		/* was still drifting when warm-up had to end */
	int			repeated;		/* had to use offsets again */
	int			limited;		/* max_iops held it back */
	int			left_out;		/* ended as all that came was to be left out */
	uint64_t	short_reads;

	/* everything done, warm-up and last requests included */
	uint64_t	reads;
	uint64_t	writes;

	/* by position in the space, to see whether part of it is cached */
	uint64_t	region_count[TSA_REGIONS];
	double		region_sum[TSA_REGIONS];
	double		region_square[TSA_REGIONS];
} TsaMeasurement;

/* A measurement under way. */
typedef struct TsaMeasuring
{
	const TsaMeasurePlan *plan;
	TsaMeasurement *m;
	TsaSamples	turn;			/* result of the latest turn */

	/* the next request */
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

	/* progress; times without "ns" of the clock are those spent in turns */
	uint64_t	submitted;
	uint64_t	finished;
	uint64_t	samples;		/* in all turns */
	int			measuring;		/* after warm-up */
	int			count_all;		/* even those of the first filling */
	uint64_t	window_end;
	uint64_t	window_units;	/* a window ends after so many samples, too */
	TsaWarmup	warmup;

	/* the present turn */
	uint64_t	turn_start_ns;
	uint64_t	turn_from_ns;	/* the first filling is through */
	uint64_t	turn_spent;		/* before it, by all turns */
	uint64_t	turn_submitted; /* before it */
	uint64_t	turn_finished;
	int			first_left;		/* of the first filling, still in flight */
} TsaMeasuring;

extern int	tsa_measure_start(TsaMeasuring *run, const TsaMeasurePlan *plan,
							  TsaMeasurement *m);
extern int	tsa_measure_turn(TsaMeasuring *run);
extern int	tsa_measure_is_done(const TsaMeasuring *run);
extern void tsa_measure_keep(TsaMeasuring *run);
extern void tsa_measure_forget(TsaMeasuring *run);
extern double tsa_measure_region_ratio(const TsaMeasurement *m);

#endif							/* TSA_MEASURE_H */
