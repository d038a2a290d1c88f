/*-------------------------------------------------------------------------
 *
 * planner.c
 *	  The planner's hooks: assumed placements, and measured locality.
 *
 * tablespace_advisor.correct_locality.  In get_relation_info_hook the cost
 * function of every measured B-tree is replaced by one that calls the
 * original and then corrects what it returns (correction.c).  That reaches
 * plain, index-only, parameterized and partial index scans, and raises bitmap
 * scans that the planner takes for cheaper than they are.  Bitmap scans that
 * are cheaper than it takes them for are added in set_rel_pathlist_hook: with
 * one index, and with two whose conditions are joined by AND.
 *
 * For these the index paths are remembered as they go by.  They are copied,
 * since the planner frees some; the list of a relation lives in the memory of
 * that planning, and a callback of its memory context unlinks it, whatever
 * the end.  Not all can stand alone: a path for one arm of an OR does not
 * enforce the others (stands_alone()).
 *
 * No query runs here, and no function of a relation's owner: localities come
 * from a cache (locality_cache.c) that reads the extension's table.  Indexes
 * of HypoPG, partitioned ones and those whose cost function somebody else has
 * replaced are left alone.  With the parameter off nothing is looked at.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_am_d.h"
#include "lib/ilist.h"
#include "nodes/pathnodes.h"
#include "nodes/tidbitmap.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/index_selfuncs.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "compat.h"
#include "cost/assume.h"
#include "cost/correction.h"
#include "cost/cost.h"
#include "cost/locality_store.h"

/* more index paths than that of one relation are not combined by AND */
#define MAX_COMBINED	8

/* what grew by more than this is no longer what was measured */
#define MAX_GROWTH		1.2

/* configuration parameters */
bool		tsa_correct_locality = false;
static double assumed_cached_fraction = 0;

/* An index path and what was told about it. */
typedef struct SeenScan
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
} SeenScan;

/* The measured index paths of a relation that is being planned. */
typedef struct SeenRelation
{
	dlist_node	node;
	RelOptInfo *rel;
	List	   *scans;
	MemoryContextCallback callback;
} SeenRelation;

static dlist_head seen_relations = DLIST_STATIC_INIT(seen_relations);

static get_relation_info_hook_type previous_relation_info = NULL;
static set_rel_pathlist_hook_type previous_rel_pathlist = NULL;

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

/* The locality of an index, unless it or its table has grown too much. */
static const TsaLocalityRow *
find_locality(const IndexOptInfo *index)
{
	const TsaLocalityRow *row = tsa_locality_find(index->indexoid);

	if (row == NULL ||
		index->pages > MAX_GROWTH * row->index_blocks ||
		index->rel->pages > MAX_GROWTH * row->table_blocks)
		return NULL;
	return row;
}

/* Into how many stretches of the index lists of constants cut a scan. */
static double
count_runs(PlannerInfo *root, const IndexPath *path)
{
	double		runs = 1;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);
		ListCell   *lq;

		foreach(lq, clause->indexquals)
		{
			Expr	   *qual = lfirst_node(RestrictInfo, lq)->clause;

			if (IsA(qual, ScalarArrayOpExpr))
				runs *= Max(tsa_estimate_array_length(root,
													  lsecond(((ScalarArrayOpExpr *) qual)->args)),
							1);
		}
	}
	return runs;
}

/* Describe a scan as the formulas want it. */
static void
describe_scan(PlannerInfo *root, const IndexPath *path, double loop_count,
			  double selectivity, TsaLocalScan *local,
			  TsaCostSettings *settings)
{
	const IndexOptInfo *index = path->indexinfo;
	const RelOptInfo *rel = index->rel;
	TsaScan    *scan = &local->scan;

	tsa_cost_settings_fill(settings);
	get_tablespace_page_costs(rel->reltablespace, &settings->table_random,
							  &settings->table_seq);
	get_tablespace_page_costs(index->reltablespace, &settings->index_random,
							  NULL);
	memset(local, 0, sizeof(*local));
	scan->table_pages = rel->pages;
	scan->table_tuples = rel->tuples;
	scan->all_visible = rel->allvisfrac;
	scan->index_pages = index->pages;
	scan->index_tuples = index->tuples;
	scan->selectivity = selectivity;
	scan->query_pages = root->total_table_pages;
	scan->loop_count = loop_count;
	local->index_only = path->path.pathtype == T_IndexOnlyScan;
	local->backward = path->indexscandir == BackwardScanDirection;
	local->runs = count_runs(root, path);
	local->concurrency = get_tablespace_io_concurrency(rel->reltablespace);
}

/*
 * The same path, costed before: the planner asks again for a parallel scan.
 * *is_new becomes false if there is any with the same conditions.
 */
static SeenScan *
find_seen(const IndexPath *path, double loop_count, bool *is_new)
{
	SeenRelation *relation = find_relation(path->indexinfo->rel, false);
	ListCell   *lc;

	*is_new = true;
	if (relation == NULL)
		return NULL;
	foreach(lc, relation->scans)
	{
		SeenScan   *seen = lfirst(lc);

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
static void
remember_path(const IndexPath *path, double loop_count, double index_cost,
			  double selectivity, const TsaLocalScan *local,
			  const TsaReadTimes *times, const TsaCorrection *correction,
			  bool is_new)
{
	SeenRelation *relation = find_relation(path->indexinfo->rel, true);
	MemoryContext old;
	SeenScan   *seen;

	old = MemoryContextSwitchTo(GetMemoryChunkContext(relation));
	seen = palloc0(sizeof(SeenScan));
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
	seen->scan = local->scan;
	relation->scans = lappend(relation->scans, seen);
	MemoryContextSwitchTo(old);
}

/* Cost function of a measured B-tree. */
static void
corrected_cost(PlannerInfo *root, IndexPath *path, double loop_count,
			   Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
			   double *correlation, double *pages)
{
	const TsaLocalityRow *row;
	TsaReadTimes times;
	TsaCostSettings settings;
	TsaLocalScan local;
	TsaCorrection correction;
	SeenScan   *seen;
	bool		is_new;

	btcostestimate(root, path, loop_count, startup_cost, total_cost,
				   selectivity, correlation, pages);
	if (path->indexinfo->rel->pages == 0)
		return;
	seen = find_seen(path, loop_count, &is_new);
	if (seen != NULL)
	{
		*total_cost += seen->index_raise;
		*correlation = seen->correlation;
		return;
	}
	describe_scan(root, path, loop_count, *selectivity, &local, &settings);
	row = find_locality(path->indexinfo);
	if (row == NULL)
		return;
	times = row->times;
	tsa_times_blend(&times, assumed_cached_fraction);
	tsa_correct_scan(&local, &settings, &row->locality, &times, &correction);
	remember_path(path, loop_count, *total_cost, *selectivity, &local, &times,
				  &correction, is_new);
	*total_cost += correction.index_raise;
	*correlation = correction.correlation;
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
			path->total_cost < least)
			return true;
	}
	return false;
}

/* Add the bitmap scan with one index, if the planner overrates it. */
static void
add_single(PlannerInfo *root, RelOptInfo *rel, SeenScan *seen)
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

/* Add the bitmap scan with two indexes. */
static void
add_pair(PlannerInfo *root, RelOptInfo *rel, SeenScan *a, SeenScan *b)
{
	TsaCostSettings settings;
	TsaLocalityPoint both;
	TsaScan		scan = a->scan;
	List	   *quals = list_make2(a->path, b->path);
	double		tuples;
	double		core;
	double		ours;

	tsa_cost_settings_fill(&settings);
	get_tablespace_page_costs(rel->reltablespace, &settings.table_random,
							  &settings.table_seq);
	scan.selectivity = a->scan.selectivity * b->scan.selectivity;
	core = tsa_bitmap_heap_cost(tsa_bitmap_pages(&scan, &settings, &tuples),
								scan.table_pages, &settings);
	tsa_locality_and(&a->point, &b->point, scan.table_pages,
					 scan.table_tuples, &both);
	ours = a->unit *
		tsa_locality_bitmap_us(&both, &a->times,
							   get_tablespace_io_concurrency(rel->reltablespace));
	if (ours - core >= a->index_raise + b->index_raise ||
		is_beaten(rel, NULL, a->path->indextotalcost +
				  b->path->indextotalcost + ours))
		return;
	add_bitmap_path(root, rel,
					(Path *) create_bitmap_and_path(root, rel, quals),
					rel->lateral_relids, 1.0, ours - core, both.blocks);
}

/* Add the bitmap scans of a relation that the planner overrates. */
static void
add_bitmap_paths(PlannerInfo *root, RelOptInfo *rel, List *scans)
{
	List	   *combined = NIL;
	ListCell   *lc;
	int			i;
	int			j;

	foreach(lc, scans)
	{
		SeenScan   *seen = lfirst(lc);

		if (!seen->for_bitmap)
			continue;
		add_single(root, rel, seen);
		if (seen->path->path.param_info == NULL &&
			list_length(combined) < MAX_COMBINED &&
			!is_beaten(rel, NULL, seen->path->indextotalcost) &&
			stands_alone(rel, seen->path))
			combined = lappend(combined, seen);
	}
	for (i = 0; i < list_length(combined); i++)
		for (j = i + 1; j < list_length(combined); j++)
		{
			SeenScan   *a = list_nth(combined, i);
			SeenScan   *b = list_nth(combined, j);

			if (a->path->indexinfo != b->path->indexinfo &&
				!share_clause(a->path, b->path))
				add_pair(root, rel, a, b);
		}
}

/* A relation has been looked up in the catalogs. */
static void
relation_info(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	ListCell   *lc;

	if (previous_relation_info)
		previous_relation_info(root, relid, inhparent, rel);
	tsa_assume_placements(relid, rel);
	if (!tsa_correct_locality || inhparent)
		return;
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (index->relam == BTREE_AM_OID && !index->hypothetical &&
			(void *) index->amcostestimate == (void *) btcostestimate &&
			tsa_locality_find(index->indexoid) != NULL)
			index->amcostestimate = (void *) corrected_cost;
	}
}

/* The paths of a relation are complete. */
static void
rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
			 RangeTblEntry *rte)
{
	SeenRelation *seen;

	if (previous_rel_pathlist)
		previous_rel_pathlist(root, rel, rti, rte);
	if (dlist_is_empty(&seen_relations) || rte->rtekind != RTE_RELATION)
		return;
	seen = find_relation(rel, false);
	if (seen != NULL)
		add_bitmap_paths(root, rel, seen->scans);
}

/* Plans made under the other setting are no longer right. */
static void
renew_plans(bool newval, void *extra)
{
	(void) extra;
	if (newval != tsa_correct_locality && IsUnderPostmaster)
		ResetPlanCache();
}

static void
renew_plans_real(double newval, void *extra)
{
	(void) extra;
	if (newval != assumed_cached_fraction && IsUnderPostmaster)
		ResetPlanCache();
}

/* Define the stage's configuration parameters and take the hooks. */
void
tsa_cost_init(void)
{
	DefineCustomBoolVariable("tablespace_advisor.correct_locality",
							 "Plans scans of measured B-trees by their locality.",
							 "What measure_index_locality() found, and the probe's times, take the place of the correlation of a column.",
							 &tsa_correct_locality,
							 false, PGC_USERSET, 0,
							 NULL, renew_plans, NULL);
	DefineCustomRealVariable("tablespace_advisor.cached_fraction",
							 "Share of a table's blocks that caches are taken to hold when locality is corrected.",
							 NULL,
							 &assumed_cached_fraction,
							 0, 0, 1, PGC_USERSET, 0,
							 NULL, renew_plans_real, NULL);
	tsa_locality_cache_init();
	tsa_assume_init();
	tsa_explain_init();
	previous_relation_info = get_relation_info_hook;
	get_relation_info_hook = relation_info;
	previous_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_pathlist;
}
