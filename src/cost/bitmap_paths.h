/*-------------------------------------------------------------------------
 *
 * bitmap_paths.h
 *	  Bitmap heap scans that the planner takes for dearer than they are.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BITMAP_PATHS_H
#define TSA_BITMAP_PATHS_H

#include "lib/ilist.h"
#include "nodes/pathnodes.h"

#include "cost/correction.h"

/* An index path and its correction. */
typedef struct TsaSeenScan
{
	dlist_node	node;
	IndexPath  *path;
	double		loop_count;
	bool		for_bitmap;		/* the first with these conditions */
	double		index_cost;		/* without additions */
	double		selectivity;
	TsaReadTimes times;
	TsaCorrection correction;
} TsaSeenScan;

/* Indexes with their last arm of an OR. */
#define TSA_SEEN_ARMS	4

/* The addition to the cost of an arm of an OR. */
typedef struct TsaSeenArm
{
	const IndexOptInfo *index;
	double		loop_count;
	double		selectivity;
	double		leaf_pages;
	double		runs;
	bool		one_key;
	Cost		startup_raise;
	Cost		total_raise;
} TsaSeenArm;

/* A relation that is being planned, and its measured index paths. */
typedef struct TsaSeenRelation
{
	dlist_node	node;
	bool		is_listed;
	RelOptInfo *rel;
	TsaCostSettings settings;	/* index_random: of the last index */
	int			concurrency;	/* effective_io_concurrency */
	dlist_head	scans;
	TsaSeenArm	arms[TSA_SEEN_ARMS];
	int			next_arm;
	MemoryContextCallback callback;
} TsaSeenRelation;

extern TsaSeenRelation *tsa_seen_relation(RelOptInfo *rel);
extern const TsaSeenScan *tsa_seen_find(TsaSeenRelation *relation,
										const IndexPath *path,
										double loop_count, bool *is_new);
extern void tsa_seen_add(TsaSeenRelation *relation, TsaSeenScan *seen,
						 IndexPath *path, bool is_new);
extern bool tsa_stands_alone(const RelOptInfo *rel, const IndexPath *path);
extern void tsa_add_bitmap_paths(PlannerInfo *root, RelOptInfo *rel);

#endif							/* TSA_BITMAP_PATHS_H */
