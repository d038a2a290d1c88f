/*-------------------------------------------------------------------------
 *
 * bitmap_paths.c
 *	  Bitmap heap scans that the planner takes for dearer than they are.
 *
 * Their paths are added once the planner has made its own: with one index, and
 * with several, their conditions joined by AND.  For that the index paths are
 * remembered as they are costed, until those of the relation are complete.
 * The planner frees partial index paths only, and each of them comes after one
 * that is not partial, so it is not remembered.  Remembered paths live in the
 * memory of that planning, and a callback of its memory context unlinks them
 * at any end.  Not all can stand alone: a path for one arm of an OR does not
 * enforce the others (tsa_stands_alone()).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/memutils.h"
#include "utils/spccache.h"

#include "compat.h"
#include "cost/bitmap_paths.h"
#include "cost/cost.h"

/* more index paths than that of one relation are not combined by AND */
#define MAX_COMBINED	8

/* Relations with paths being made: one, but where planning is nested. */
static dlist_head seen_relations = DLIST_STATIC_INIT(seen_relations);

/* A relation's paths are complete, or the memory of its planning goes away. */
static void
forget_relation(void *arg)
{
	TsaSeenRelation *relation = arg;

	if (relation->is_listed)
		dlist_delete(&relation->node);
	relation->is_listed = false;
}

/* The facts on a relation, or NULL. */
static TsaSeenRelation *
find_relation(const RelOptInfo *rel)
{
	dlist_iter	iter;

	dlist_foreach(iter, &seen_relations)
	{
		TsaSeenRelation *relation = dlist_container(TsaSeenRelation, node,
													iter.cur);

		if (relation->rel == rel)
			return relation;
	}
	return NULL;
}

/* The facts on a relation, made if they are not there. */
TsaSeenRelation *
tsa_seen_relation(RelOptInfo *rel)
{
	TsaSeenRelation *relation = find_relation(rel);
	MemoryContext context;

	if (relation != NULL)
		return relation;
	context = GetMemoryChunkContext(rel);
	relation = MemoryContextAlloc(context, sizeof(TsaSeenRelation));
	relation->rel = rel;
	relation->is_listed = true;
	dlist_init(&relation->scans);
	memset(relation->arms, 0, sizeof(relation->arms));
	relation->next_arm = 0;
	tsa_cost_settings_fill(&relation->settings);
	get_tablespace_page_costs(rel->reltablespace,
							  &relation->settings.table_random,
							  &relation->settings.table_seq);
	relation->concurrency = get_tablespace_io_concurrency(rel->reltablespace);
	relation->callback.func = forget_relation;
	relation->callback.arg = relation;
	dlist_push_head(&seen_relations, &relation->node);
	MemoryContextRegisterResetCallback(context, &relation->callback);
	return relation;
}

/*
 * Finds a path that was costed before: the planner asks again for a parallel
 * scan.  *is_new becomes false if there is any with the same conditions.
 */
const TsaSeenScan *
tsa_seen_find(TsaSeenRelation *relation, const IndexPath *path,
			  double loop_count, bool *is_new)
{
	dlist_iter	iter;

	*is_new = true;
	dlist_foreach(iter, &relation->scans)
	{
		const TsaSeenScan *seen = dlist_container(TsaSeenScan, node, iter.cur);

		if (seen->path->indexinfo != path->indexinfo ||
			seen->path->indexclauses != path->indexclauses ||
			seen->path->path.param_info != path->path.param_info)
			continue;
		*is_new = false;
		if (seen->path->path.pathtype == path->path.pathtype &&
			seen->path->indexscandir == path->indexscandir &&
			seen->loop_count == loop_count)
			return seen;
	}
	return NULL;
}

/*
 * Remember a path, if it lives as long as its relation: those that are made
 * anew for a join need not.
 */
void
tsa_seen_add(TsaSeenRelation *relation, TsaSeenScan *seen,
			 IndexPath *path, bool is_new)
{
	if (GetMemoryChunkContext(path) !=
		GetMemoryChunkContext(relation))
		return;
	seen->path = path;
	seen->for_bitmap = is_new && path->indexclauses != NIL &&
		path->indexinfo->amhasgetbitmap;
	dlist_push_tail(&relation->scans, &seen->node);
}

/*
 * Would a bitmap scan with this path alone return the rows of the query?  An
 * arm of an OR may have clauses that the relation has not, or use a partial
 * index that only the arm implies.
 */
bool
tsa_stands_alone(const RelOptInfo *rel, const IndexPath *path)
{
	ListCell   *lc;

	/* bounded: the planner has it */
	if (path->indexinfo->indpred != NIL &&	/* bounded */
		!path->indexinfo->predOK)
		return false;
	foreach(lc, path->indexclauses)
	{
		RestrictInfo *rinfo = lfirst_node(IndexClause, lc)->rinfo;

		if (!list_member_ptr(rel->baserestrictinfo, rinfo) &&
			!list_member_ptr(rel->joininfo, rinfo) &&
			rinfo->parent_ec == NULL)
			return false;
	}
	return true;
}

/* Do two paths use a condition both? */
static bool
share_clause(const IndexPath *a, const IndexPath *b)
{
	ListCell   *la;
	ListCell   *lb;

	foreach(la, a->indexclauses)
		foreach(lb, b->indexclauses)
	{
		if (lfirst_node(IndexClause, la)->rinfo ==
			lfirst_node(IndexClause, lb)->rinfo)
			return true;
	}
	return false;
}

/*
 * Add a bitmap heap scan with a table's part that costs so much more (or less)
 * than the planner thinks; one with workers, too, where that is possible.
 */
static void
add_bitmap_path(PlannerInfo *root, RelOptInfo *rel, Path *bitmap,
				Relids outer, double loop_count, double difference,
				double pages)
{
	BitmapHeapPath *path;
	int			workers;

	path = create_bitmap_heap_path(root, rel, bitmap, outer, loop_count, 0);
	path->path.total_cost += difference;
	add_path(rel, (Path *) path);

	if (!rel->consider_parallel || !bms_is_empty(outer) ||
		!bms_is_empty(rel->lateral_relids))
		return;
	workers = compute_parallel_worker(rel, pages, -1,
									  max_parallel_workers_per_gather);
	if (workers <= 0)
		return;
	path = create_bitmap_heap_path(root, rel, bitmap, outer, 1.0, workers);
	path->path.total_cost += difference;
	add_partial_path(rel, (Path *) path);
}

/*
 * Is there a path already that costs less than so much?  Most of the time
 * there is, and asking is cheaper than making a path for add_path() to drop.
 */
static bool
is_beaten(const RelOptInfo *rel, const ParamPathInfo *param_info, Cost least)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);

		if ((path->param_info == NULL || path->param_info == param_info) &&
			!tsa_path_is_disabled(path) && path->total_cost < least)
			return true;
	}
	return false;
}

/* The path, with its cost without the addition. */
static IndexPath *
uncorrected_path(const TsaSeenScan *seen)
{
	IndexPath  *path = seen->path;

	if (seen->correction.index_raise == 0)
		return path;
	path = makeNode(IndexPath);
	*path = *seen->path;
	path->indextotalcost = seen->index_cost;
	return path;
}

/* Add the bitmap scan with one index, if the planner overrates it. */
static void
add_single(PlannerInfo *root, RelOptInfo *rel, const TsaSeenScan *seen)
{
	const TsaCorrection *correction = &seen->correction;
	const Path *path = &seen->path->path;
	double		difference = correction->bitmap_heap - correction->bitmap_core;

	if (difference >= correction->index_raise ||
		is_beaten(rel, path->param_info,
				  seen->index_cost + correction->bitmap_heap) ||
		!tsa_stands_alone(rel, seen->path))
		return;
	add_bitmap_path(root, rel, (Path *) uncorrected_path(seen),
					path->param_info ? path->param_info->ppi_req_outer :
					rel->lateral_relids,
					seen->loop_count, difference, correction->point.blocks);
}

/* Bitmap scans of one relation, their conditions joined by AND. */
typedef struct Conjunction
{
	List	   *scans;			/* TsaSeenScans */
	TsaLocalityPoint point;		/* blocks of all together */
	double		selectivity;
	double		entries;		/* of all indexes together */
	Cost		index_cost;
	double		index_raise;
	double		heap;			/* the table's part, and the bits */
} Conjunction;

/* Does any path of a conjunction use the index or a condition of another? */
static bool
overlaps(const Conjunction *conjunction, const IndexPath *path)
{
	ListCell   *lc;

	foreach(lc, conjunction->scans)
	{
		const IndexPath *member = ((const TsaSeenScan *) lfirst(lc))->path;

		if (member->indexinfo == path->indexinfo ||
			share_clause(member, path))
			return true;
	}
	return false;
}

/*
 * Join one more scan to a conjunction, if this saves more blocks of the table
 * than it reads of its index.
 */
static void
join_scan(const TsaSeenRelation *relation, Conjunction *conjunction,
		  TsaSeenScan *seen)
{
	const RelOptInfo *rel = relation->rel;
	const TsaCorrection *correction = &seen->correction;
	TsaLocalityPoint both;
	double		entries = conjunction->entries + correction->point.entries;
	double		heap;

	if (overlaps(conjunction, seen->path))
		return;
	tsa_locality_and(&conjunction->point, &correction->point, rel->pages,
					 rel->tuples, &both);
	heap = tsa_bitmap_heap_wanted(&both, &relation->settings, &seen->times,
								  relation->concurrency, correction->unit);
	/* the rows that are left have paid for their bits */
	heap += tsa_bits_cost(entries - both.entries, &relation->settings,
						  &seen->times, correction->unit);
	if (heap + seen->index_cost >= conjunction->heap)
		return;
	conjunction->scans = lappend(conjunction->scans, seen);
	conjunction->point = both;
	conjunction->selectivity *= seen->selectivity;
	conjunction->entries = entries;
	conjunction->index_cost += seen->index_cost;
	conjunction->index_raise += correction->index_raise;
	conjunction->heap = heap;
}

/*
 * Add the bitmap scan that begins with one index and takes in all others that
 * make it cheaper.
 */
static void
add_conjunction(PlannerInfo *root, const TsaSeenRelation *relation,
				TsaSeenScan *first, const List *candidates)
{
	RelOptInfo *rel = relation->rel;
	Conjunction conjunction = {
		.scans = list_make1(first),
		.point = first->correction.point,
		.selectivity = first->selectivity,
		.entries = first->correction.point.entries,
		.index_cost = first->index_cost,
		.index_raise = first->correction.index_raise,
		.heap = first->correction.bitmap_heap
	};
	TsaScan		scan = {
		.table_pages = rel->pages,.table_tuples = rel->tuples,
		.loop_count = 1
	};
	List	   *quals = NIL;
	double		tuples;
	double		core;
	ListCell   *lc;

	foreach(lc, candidates)
		join_scan(relation, &conjunction, lfirst(lc));
	if (list_length(conjunction.scans) < 2)
		return;

	scan.selectivity = conjunction.selectivity;
	core = tsa_bitmap_heap_cost(tsa_bitmap_pages(&scan, &relation->settings,
												 &tuples),
								scan.table_pages, &relation->settings);
	if (conjunction.heap - core >= conjunction.index_raise ||
		is_beaten(rel, NULL, conjunction.index_cost + conjunction.heap))
		return;
	foreach(lc, conjunction.scans)
		quals = lappend(quals, uncorrected_path(lfirst(lc)));
	add_bitmap_path(root, rel,
					(Path *) create_bitmap_and_path(root, rel, quals),
					rel->lateral_relids, 1.0, conjunction.heap - core,
					conjunction.point.blocks);
}

/* By the blocks that they lead to. */
static int
compare_blocks(const ListCell *a, const ListCell *b)
{
	double		x = ((const TsaSeenScan *) lfirst(a))->correction.point.blocks;
	double		y = ((const TsaSeenScan *) lfirst(b))->correction.point.blocks;

	return x < y ? -1 : x > y;
}

/*
 * The paths of a relation are complete: add the bitmap scans that the planner
 * overrates, and forget it.
 */
void
tsa_add_bitmap_paths(PlannerInfo *root, RelOptInfo *rel)
{
	TsaSeenRelation *relation = find_relation(rel);
	List	   *candidates = NIL;
	dlist_iter	iter;
	ListCell   *lc;

	if (relation == NULL)
		return;
	dlist_foreach(iter, &relation->scans)
	{
		TsaSeenScan *seen = dlist_container(TsaSeenScan, node, iter.cur);

		if (!seen->for_bitmap)
			continue;
		add_single(root, rel, seen);
		if (seen->path->path.param_info == NULL &&
			list_length(candidates) < MAX_COMBINED &&
			!is_beaten(rel, NULL, seen->index_cost) &&
			tsa_stands_alone(rel, seen->path))
			candidates = lappend(candidates, seen);
	}
	forget_relation(relation);
	if (list_length(candidates) < 2)
		return;
	list_sort(candidates, compare_blocks);
	foreach(lc, candidates)
		add_conjunction(root, relation, lfirst(lc), candidates);
}
