/*-------------------------------------------------------------------------
 *
 * regret.h
 *	  How much slower than the best plans the planner's are likely to be.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_REGRET_H
#define TSA_REGRET_H

#include "cost/correction.h"

/* One index of a tablespace's tables. */
typedef struct TsaRegretIndex
{
	TsaScan		scan;			/* but for the selectivity */
	double		index_random;	/* 0: the tablespace's own */
	double		cached;			/* share of its blocks that caches hold */
	TsaLocality locality;		/* npoints 0: made up from the correlation */
} TsaRegretIndex;

typedef struct TsaRegretInput
{
	TsaRegretIndex *indexes;
	int			nindexes;
	TsaReadTimes times;
	double		random_low;		/* 95 % interval of times.random */
	double		random_high;
	double		sequential_low; /* of times.sequential */
	double		sequential_high;
	TsaCostSettings settings;	/* table_random is the current one */
	int			concurrency;	/* effective_io_concurrency, the current one */
	int			recommended;	/* the one that is recommended */
	double		advised;		/* an earlier outcome's best; 0: none */
	void		(*check) (void);	/* may jump out for good */
} TsaRegretInput;

typedef struct TsaRegretOutcome
{
	double		best;			/* random_page_cost */
	double		low;			/* about as good between these */
	double		high;
	double		regret_current; /* times as long as the best plans, 1 or more */
	double		regret_kept;	/* that with prefetching as recommended */
	double		regret_best;	/* and with the best one */
	double		regret_locality;	/* and with locality corrected */
	double		gain_low;		/* least regret_kept / _best of the draws */
	double		prefetch_gain_low;	/* least regret_current / _kept */
} TsaRegretOutcome;

/* Plans of a scan, in the order of TsaWorstPlan's numbers. */
enum
{
	TSA_INDEX_SCAN,
	TSA_BITMAP_SCAN,
	TSA_SEQ_SCAN
};

/* A plan and how long it takes, in microseconds. */
typedef struct TsaTimedPlan
{
	int			plan;
	double		us;
} TsaTimedPlan;

/*
 * For how many rows of an index the planner's choice is furthest from the best.
 */
typedef struct TsaWorstPlan
{
	double		rows;
	TsaTimedPlan chosen;
	TsaTimedPlan best;
	TsaTimedPlan recommended;	/* with the recommended value */
	TsaTimedPlan corrected;		/* and with locality corrected, too */
} TsaWorstPlan;

extern void tsa_locality_assume(const TsaScan *scan, TsaLocality *locality);
extern void tsa_regret_weigh(TsaRegretInput *input,
							 TsaRegretOutcome *outcome);
extern void tsa_regret_worst(const TsaRegretInput *input,
							 TsaRegretIndex *index, double random_page_cost,
							 TsaWorstPlan *worst);

#endif							/* TSA_REGRET_H */
