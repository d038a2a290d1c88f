/*-------------------------------------------------------------------------
 *
 * correction.h
 *	  The arguments with which the planner's own formulas come to the measured
 *	  time of a scan.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CORRECTION_H
#define TSA_CORRECTION_H

#include "cost/locality.h"
#include "cost/page_cost.h"

/* Properties of a scan with an index, beyond TsaScan. */
typedef struct TsaLocalScan
{
	TsaScan		scan;
	int			index_only;
	int			backward;
	int			one_place;		/* index and table share a tablespace */
	int			one_key;		/* all entries of a stretch have the same key */
	int			key_columns;	/* of the index */
	int			reads_again;	/* blocks that the query has read anyway */
	double		leaves;			/* pages of the index that one scan reads */
	double		runs;			/* stretches of the index; 1 but for lists */
	double		visited;		/* entries looked at; 0: those that match */
	double		wanted;			/* share of the rows that will be asked for,
								 * if less than all */
	int			any_order;		/* of a bitmap scan, too */

	/* with loops: whether they go through the index from key to key */
	double		in_order;		/* 1 they do, 0 not at all, -1 backwards */
	double		loop_share;		/* of the keys on the way, those looked up */
	double		loops;			/* if fewer than the planner takes them for */
	int			concurrency;	/* effective_io_concurrency */
} TsaLocalScan;

typedef struct TsaCorrection
{
	TsaLocalityPoint point;		/* blocks that one scan leads to */
	double		unit;			/* cost of a microsecond */
	double		correlation;	/* to be told to the planner */
	double		leaf_raise;		/* of the index's cost, by its own pages */
	double		index_raise;	/* to be added to the index's cost, too */
	double		bitmap_raise;	/* the part of it that bitmap scans need */
	double		startup_raise;	/* how much of the cost the first rows take
								 * beyond their share */
	double		bitmap_heap;	/* the table's part of a bitmap heap scan */
	double		bitmap_core;	/* the planner's value */
} TsaCorrection;

extern double tsa_seq_scan_us(const TsaScan *scan,
							  const TsaReadTimes *times);
extern double tsa_bitmap_heap_wanted(const TsaLocalityPoint *point,
									 const TsaCostSettings *settings,
									 const TsaReadTimes *times,
									 int concurrency, double unit);
extern double tsa_bits_cost(double entries, const TsaCostSettings *settings,
							const TsaReadTimes *times, double unit);
extern void tsa_correct_scan(const TsaLocalScan *local,
							 const TsaCostSettings *settings,
							 const TsaLocality *locality,
							 const TsaCachedTimes *cached,
							 TsaReadTimes *times,
							 TsaCorrection *correction);
extern double tsa_effective_correlation(const TsaLocalScan *local,
										const TsaCostSettings *settings,
										const TsaLocality *locality,
										const TsaReadTimes *times);

#endif							/* TSA_CORRECTION_H */
