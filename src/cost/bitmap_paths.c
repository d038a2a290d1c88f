/*-------------------------------------------------------------------------
 *
 * bitmap_paths.c
 *	  Bitmap heap scans that the planner takes for dearer than they are.
 *
 * Their paths are added once the planner has made its own: with one index,
 * and with several whose conditions are joined by AND.  For that the index
 * paths are remembered as they are costed.  They are copied, since the
 * planner frees some; the list of a relation lives in the memory of that
 * planning, and a callback of its memory context unlinks it, whatever the
 * end.  Not all can stand alone: a path for one arm of an OR does not enforce
 * the others (stands_alone()).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/ilist.h"
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

/* The measured index paths of a relation that is being planned. */
typedef struct SeenRelation
{
	dlist_node	node;
	RelOptInfo *rel;
	List	   *scans;
	MemoryContextCallback callback;
} SeenRelation;

static dlist_head seen_relations = DLIST_STATIC_INIT(seen_relations);

/* The memory of a planning goes away. */
static void
forget_relation(void *arg)
{
	dlist_delete(&((SeenRelation *) arg)->node);
}

/* The list of a relation; it may have to be made. */
static SeenRelation *
find_relation(RelOptInfo *rel, bool create)
{
	MemoryContext context;
	SeenRelation *seen;
	dlist_iter	iter;

	dlist_foreach(iter, &seen_relations)
	{
		seen = dlist_container(SeenRelation, node, iter.cur);
		if (seen->rel == rel)
			return seen;
	}
	if (!create)
		return NULL;
	context = GetMemoryChunkContext(rel);
	seen = MemoryContextAllocZero(context, sizeof(SeenRelation));
	seen->rel = rel;
	seen->callback.func = forget_relation;
	seen->callback.arg = seen;
	dlist_push_head(&seen_relations, &seen->node);
	MemoryContextRegisterResetCallback(context, &seen->callback);
	return seen;
}

/*
 * The same path, costed before: the planner asks again for a parallel scan.
 * *is_new becomes false if there is any with the same conditions.
 */
const TsaSeenScan *
tsa_seen_find(const IndexPath *path, double loop_count, bool *is_new)
{
	SeenRelation *relation = find_relation(path->indexinfo->rel, false);
	ListCell   *lc;

	*is_new = true;
	if (relation == NULL)
		return NULL;
	foreach(lc, relation->scans)
	{
		TsaSeenScan *seen = lfirst(lc);

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

/* Remember a path. */
void
tsa_seen_add(const IndexPath *path, double loop_count, double index_cost,
			 double selectivity, const TsaScan *scan,
			 const TsaReadTimes *times, const TsaCorrection *correction,
			 bool is_new)
{
	SeenRelation *relation = find_relation(path->indexinfo->rel, true);
	MemoryContext old;
	TsaSeenScan *seen;

	old = MemoryContextSwitchTo(GetMemoryChunkContext(relation));
	seen = palloc0(sizeof(TsaSeenScan));
	seen->path = makeNode(IndexPath);
	*seen->path = *path;
	seen->path->path.rows = path->path.param_info ?
		path->path.param_info->ppi_rows : path->indexinfo->rel->rows;
	seen->path->indextotalcost = index_cost;
	seen->path->indexselectivity = selectivity;
	seen->loop_count = loop_count;
	seen->for_bitmap = is_new && path->indexclauses != NIL &&
		path->indexinfo->amhasgetbitmap;
	seen->correlation = correction->correlation;
	seen->index_raise = correction->index_raise;
	seen->bitmap_heap = correction->bitmap_heap;
	seen->bitmap_core = correction->bitmap_core;
	seen->unit = correction->unit;
	seen->point = correction->point;
	seen->times = *times;
	seen->scan = *scan;
	relation->scans = lappend(relation->scans, seen);
	MemoryContextSwitchTo(old);
}

/*
 * Would a bitmap scan with this path alone return what the query asks for?
 * Arms of an OR are restricted by what is no restriction of the relation, or
 * use a partial index that only the arm implies.
 */
static bool
stands_alone(const RelOptInfo *rel, const IndexPath *path)
{
	ListCell   *lc;

	if (path->indexinfo->indpred != NIL && !path->indexinfo->predOK)
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
 * Add a bitmap heap scan whose table's part costs so much more (or less) than
 * the planner thinks; one with workers, too, where that is possible.
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

/* Add the bitmap scan with one index, if the planner overrates it. */
static void
add_single(PlannerInfo *root, RelOptInfo *rel, TsaSeenScan *seen)
{
	const Path *path = &seen->path->path;
	double		difference = seen->bitmap_heap - seen->bitmap_core;

	if (difference >= seen->index_raise ||
		is_beaten(rel, path->param_info,
				  seen->path->indextotalcost + seen->bitmap_heap) ||
		!stands_alone(rel, seen->path))
		return;
	add_bitmap_path(root, rel, (Path *) seen->path,
					path->param_info ? path->param_info->ppi_req_outer :
					rel->lateral_relids,
					seen->loop_count, difference, seen->point.blocks);
}

/* Bitmap scans of one relation whose conditions are joined by AND. */
typedef struct Conjunction
{
	List	   *quals;			/* IndexPaths */
	TsaLocalityPoint point;		/* what they lead to together */
	double		selectivity;
	Cost		index_cost;
	double		index_raise;
	double		heap;			/* the table's part */
} Conjunction;

/* Does any path of a conjunction use the index or a condition of another? */
static bool
overlaps(const Conjunction *conjunction, const IndexPath *path)
{
	ListCell   *lc;

	foreach(lc, conjunction->quals)
	{
		const IndexPath *member = lfirst(lc);

		if (member->indexinfo == path->indexinfo ||
			share_clause(member, path))
			return true;
	}
	return false;
}

/*
 * Join one more scan to a conjunction, if what both lead to is less to read
 * than what that takes from its index.
 */
static void
join_scan(RelOptInfo *rel, Conjunction *conjunction, TsaSeenScan *seen)
{
	TsaLocalityPoint both;
	int			concurrency = get_tablespace_io_concurrency(rel->reltablespace);
	double		heap;

	if (overlaps(conjunction, seen->path))
		return;
	tsa_locality_and(&conjunction->point, &seen->point,
					 seen->scan.table_pages, seen->scan.table_tuples, &both);
	heap = seen->unit *
		tsa_locality_bitmap_us(&both, &seen->times, concurrency);
	if (heap + seen->path->indextotalcost >= conjunction->heap)
		return;
	conjunction->quals = lappend(conjunction->quals, seen->path);
	conjunction->point = both;
	conjunction->selectivity *= seen->scan.selectivity;
	conjunction->index_cost += seen->path->indextotalcost;
	conjunction->index_raise += seen->index_raise;
	conjunction->heap = heap;
}

/*
 * Add the bitmap scan that begins with one index and takes in all others that
 * make it cheaper.
 */
static void
add_conjunction(PlannerInfo *root, RelOptInfo *rel, TsaSeenScan *first,
				List *candidates)
{
	Conjunction conjunction = {
		.quals = list_make1(first->path),
		.point = first->point,
		.selectivity = first->scan.selectivity,
		.index_cost = first->path->indextotalcost,
		.index_raise = first->index_raise,
		.heap = first->bitmap_heap
	};
	TsaCostSettings settings;
	TsaScan		scan = first->scan;
	double		tuples;
	double		core;
	ListCell   *lc;

	foreach(lc, candidates)
		join_scan(rel, &conjunction, lfirst(lc));
	if (list_length(conjunction.quals) < 2)
		return;

	tsa_cost_settings_fill(&settings);
	get_tablespace_page_costs(rel->reltablespace, &settings.table_random,
							  &settings.table_seq);
	scan.selectivity = conjunction.selectivity;
	core = tsa_bitmap_heap_cost(tsa_bitmap_pages(&scan, &settings, &tuples),
								scan.table_pages, &settings);
	if (conjunction.heap - core >= conjunction.index_raise ||
		is_beaten(rel, NULL, conjunction.index_cost + conjunction.heap))
		return;
	add_bitmap_path(root, rel,
					(Path *) create_bitmap_and_path(root, rel,
													conjunction.quals),
					rel->lateral_relids, 1.0, conjunction.heap - core,
					conjunction.point.blocks);
}

/* By the blocks that they lead to. */
static int
compare_blocks(const ListCell *a, const ListCell *b)
{
	double		x = ((const TsaSeenScan *) lfirst(a))->point.blocks;
	double		y = ((const TsaSeenScan *) lfirst(b))->point.blocks;

	return x < y ? -1 : x > y;
}

/* Add the bitmap scans of a relation that the planner overrates. */
void
tsa_add_bitmap_paths(PlannerInfo *root, RelOptInfo *rel)
{
	SeenRelation *relation = find_relation(rel, false);
	List	   *candidates = NIL;
	ListCell   *lc;

	if (relation == NULL)
		return;
	foreach(lc, relation->scans)
	{
		TsaSeenScan *seen = lfirst(lc);

		if (!seen->for_bitmap)
			continue;
		add_single(root, rel, seen);
		if (seen->path->path.param_info == NULL &&
			list_length(candidates) < MAX_COMBINED &&
			!is_beaten(rel, NULL, seen->path->indextotalcost) &&
			stands_alone(rel, seen->path))
			candidates = lappend(candidates, seen);
	}
	if (list_length(candidates) < 2)
		return;
	list_sort(candidates, compare_blocks);
	foreach(lc, candidates)
		add_conjunction(root, rel, lfirst(lc), candidates);
}
