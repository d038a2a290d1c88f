/*-------------------------------------------------------------------------
 *
 * bitmap_paths.h
 *	  Bitmap heap scans that the planner takes for dearer than they are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BITMAP_PATHS_H
#define TSA_BITMAP_PATHS_H

#include "nodes/pathnodes.h"

#include "cost/correction.h"

/* An index path and what was told about it. */
typedef struct TsaSeenScan
{
	IndexPath  *path;			/* a copy, with the uncorrected cost */
	double		loop_count;
	bool		for_bitmap;		/* the first with these conditions */
	double		correlation;	/* what was returned */
	double		index_raise;	/* what was added to the index's cost */
	double		bitmap_heap;	/* the table's part of a bitmap heap scan */
	double		bitmap_core;	/* what the planner takes it for */
	double		unit;
	TsaLocalityPoint point;
	TsaReadTimes times;
	TsaScan		scan;
} TsaSeenScan;

extern const TsaSeenScan *tsa_seen_find(const IndexPath *path,
										double loop_count, bool *is_new);
extern void tsa_seen_add(const IndexPath *path, double loop_count,
						 double index_cost, double selectivity,
						 const TsaScan *scan, const TsaReadTimes *times,
						 const TsaCorrection *correction, bool is_new);
extern void tsa_add_bitmap_paths(PlannerInfo *root, RelOptInfo *rel);

#endif							/* TSA_BITMAP_PATHS_H */
