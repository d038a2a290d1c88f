/*-------------------------------------------------------------------------
 *
 * planner.c
 *	  The planner's hooks: assumed placements, and measured locality.
 *
 * tablespace_advisor.correct_locality.  When the planner has looked a relation
 * up (get_relation_info_hook, build_simple_rel_hook from 19 on) the cost
 * function of every measured B-tree is replaced by one that calls the original
 * and then corrects its result (correction.c).  That reaches plain,
 * index-only, parameterized and partial index scans, and raises bitmap scans
 * that the planner takes for cheaper than they are.  Bitmap scans that are
 * cheaper than it takes them for are added in set_rel_pathlist_hook
 * (bitmap_paths.c).
 *
 * No query runs here, and no function of a relation's owner: localities come
 * from a cache (locality_cache.c) that reads the extension's table.  Indexes
 * of HypoPG, partitioned ones and those with a cost function that somebody
 * else has replaced are left alone.  With the parameter off nothing is looked
 * at.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_am_d.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "compat.h"
#include "cost/bitmap_paths.h"
#include "cost/correction.h"
#include "cost/cost.h"
#include "cost/locality_store.h"
#include "cost/loops.h"

/* configuration parameters */
bool		tsa_correct_locality = false;
static double assumed_cached_fraction = -1; /* negative: as measured */

#if TSA_HAVE_SIMPLE_REL_HOOK
static build_simple_rel_hook_type previous_simple_rel = NULL;
#else
static get_relation_info_hook_type previous_relation_info = NULL;
#endif
static set_rel_pathlist_hook_type previous_rel_pathlist = NULL;

/* The locality of an index, unless it or its table has grown too much. */
static const TsaLocalityRow *
find_locality(const IndexOptInfo *index)
{
	const TsaLocalityRow *row = tsa_locality_find(index->indexoid);

	if (row == NULL ||
		index->pages > TSA_MAX_GROWTH * row->index_blocks ||
		index->rel->pages > TSA_MAX_GROWTH * row->table_blocks)
		return NULL;
	return row;
}

/* The share of the table that caches are taken to hold. */
double
tsa_cached_share(const TsaLocalityRow *row)
{
	if (assumed_cached_fraction >= 0)
		return assumed_cached_fraction;
	return row->has_residency && tsa_residency_holds(&row->residency) ?
		row->resident.all.cached_fraction : 0;
}

/*
 * The times of reads of the table, caches taken into account: those of the
 * row, or else made up in "times".
 */
static const TsaCachedTimes *
choose_times(const TsaLocalityRow *row, TsaCachedTimes *times)
{
	if (assumed_cached_fraction < 0)
		return row->has_residency && tsa_residency_holds(&row->residency) ?
			&row->resident : &row->cold;
	tsa_times_cached(&row->times, 0, assumed_cached_fraction, times);
	return times;
}

/* Does a condition leave one key of its column, or one per constant? */
static bool
is_equality(const IndexOptInfo *index, const IndexClause *clause)
{
	const Expr *qual = linitial_node(RestrictInfo, clause->indexquals)->clause;
	Oid			operator;

	if (IsA(qual, OpExpr))
		operator = ((const OpExpr *) qual)->opno;
	else if (IsA(qual, ScalarArrayOpExpr))
		operator = ((const ScalarArrayOpExpr *) qual)->opno;
	else
		return IsA(qual, NullTest) &&
			((const NullTest *) qual)->nulltesttype == IS_NULL;
	return get_op_opfamily_strategy(operator,
									index->opfamily[clause->indexcol]) ==
		BTEqualStrategyNumber;
}

/*
 * Into how many stretches of the index lists of constants cut a scan, and
 * whether all entries of each have the same key.
 */
static void
describe_stretches(PlannerInfo *root, const IndexPath *path,
				   TsaLocalScan *local)
{
	const IndexOptInfo *index = path->indexinfo;
	bool		may_repeat = !index->unique &&
	list_length(path->indexclauses) >= index->nkeycolumns;
	int			fixed = 0;		/* columns */
	ListCell   *lc;

	local->runs = 1;
	foreach(lc, path->indexclauses)
	{
		const IndexClause *clause = lfirst_node(IndexClause, lc);
		ListCell   *lq;

		if (may_repeat && clause->indexcol == fixed &&
			is_equality(index, clause))
			fixed++;
		foreach(lq, clause->indexquals)
		{
			Expr	   *qual = lfirst_node(RestrictInfo, lq)->clause;
			Node	   *list;

			if (!IsA(qual, ScalarArrayOpExpr))
				continue;
			list = lsecond(((ScalarArrayOpExpr *) qual)->args);
			local->runs *= Max(tsa_estimate_array_length(root, list), 1);
		}
	}
	local->one_key = fixed == index->nkeycolumns;
	local->key_columns = index->nkeycolumns;
}

/*
 * Does the query make something else of the rows, so that all are read however
 * few of the results are wanted?
 */
static bool
is_grouped(const Query *query)
{
	return query->groupClause != NIL || query->groupingSets != NIL ||
		query->distinctClause != NIL || query->havingQual != NULL ||
		query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs;
}

/*
 * The share of its rows that will be asked for of a scan in the order that the
 * query wants, if its conditions leave all rows the same chance.
 */
static double
find_wanted(const PlannerInfo *root, const IndexPath *path)
{
	const RelOptInfo *rel = path->path.parent;
	int			parent;

	if (path->path.param_info != NULL ||
		!pathkeys_contained_in(root->query_pathkeys, path->path.pathkeys))
		return 1;
	if (root->limit_tuples <= 0)
		return root->tuple_fraction < 1 && !is_grouped(root->parse) ?
			root->tuple_fraction : 1;
	if (bms_get_singleton_member(rel->top_parent_relids, &parent))
		rel = root->simple_rel_array[parent];
	return root->limit_tuples / Max(rel->rows, 1);
}

/* Describe a scan as the formulas want it. */
static void
describe_scan(PlannerInfo *root, const TsaSeenRelation *relation,
			  const IndexPath *path, double loop_count, double selectivity,
			  double leaf_pages, TsaLocalScan *local)
{
	const IndexOptInfo *index = path->indexinfo;
	const RelOptInfo *rel = index->rel;
	TsaScan    *scan = &local->scan;

	memset(local, 0, sizeof(*local));
	scan->table_pages = rel->pages;
	scan->table_tuples = rel->tuples;
	scan->all_visible = rel->allvisfrac;
	scan->index_pages = index->pages;
	scan->index_tuples = index->tuples;
	scan->selectivity = selectivity;
	scan->table_quals = list_length(rel->baserestrictinfo);
	scan->query_pages = root->total_table_pages;
	scan->loop_count = loop_count;
	local->index_only = path->path.pathtype == T_IndexOnlyScan;
	local->backward = path->indexscandir == BackwardScanDirection;
	local->one_place = index->reltablespace == rel->reltablespace;
	local->concurrency = relation->concurrency;
	local->leaves = leaf_pages;
	describe_stretches(root, path, local);
	if (loop_count > 1)
		tsa_describe_loops(root, path, local);
	else
		local->reads_again = tsa_reads_again(root, path);
	/* the planner rounds the pages of each stretch up */
	if (leaf_pages > 1)
		local->visited = local->runs * (leaf_pages - 1) *
			index->tuples / index->pages;
	if (root->limit_tuples > 0 || root->tuple_fraction > 0)
	{
		local->wanted = find_wanted(root, path);
		/* a joined relation may be read to its end before the first result */
		local->any_order = local->wanted < 1 && root->query_pathkeys == NIL &&
			bms_membership(root->all_baserels) == BMS_SINGLETON;
	}
}

/* Are two numbers within a twentieth of each other? */
static bool
is_like(double a, double b)
{
	return a <= 1.05 * b && b <= 1.05 * a;
}

/*
 * The last arm of an OR with this index, if it is like this one.  A long OR
 * has many arms that are, and pricing each would take a third of the time of
 * planning.
 */
static const TsaSeenArm *
find_arm(const TsaSeenRelation *relation, const TsaSeenArm *arm)
{
	for (int i = 0; i < TSA_SEEN_ARMS; i++)
	{
		const TsaSeenArm *seen = &relation->arms[i];

		if (seen->index == arm->index &&
			seen->loop_count == arm->loop_count &&
			seen->runs == arm->runs && seen->one_key == arm->one_key &&
			is_like(seen->selectivity, arm->selectivity) &&
			is_like(seen->leaf_pages, arm->leaf_pages))
			return seen;
	}
	return NULL;
}

/*
 * Raise the cost of an arm of an OR.  It goes into bitmap scans only, is not
 * asked for again, and no other path is made of it, so it is not remembered
 * beyond the next arms.
 */
static void
raise_arm(TsaSeenRelation *relation, const IndexPath *path,
		  const TsaLocalScan *local, Cost *startup_cost, Cost *total_cost)
{
	TsaSeenArm	arm = {
		.index = path->indexinfo,.loop_count = local->scan.loop_count,
		.selectivity = local->scan.selectivity,.leaf_pages = local->leaves,
		.runs = local->runs,.one_key = local->one_key
	};
	const TsaSeenArm *seen = find_arm(relation, &arm);
	const TsaLocalityRow *row;
	TsaCachedTimes cached;
	TsaReadTimes times;
	TsaCorrection correction;

	if (seen == NULL)
	{
		row = find_locality(path->indexinfo);
		if (row == NULL)
		{
			path->indexinfo->amcostestimate = (void *) btcostestimate;
			return;
		}
		tsa_correct_scan(local, &relation->settings, &row->locality,
						 choose_times(row, &cached), &times, &correction);
		arm.startup_raise = correction.startup_raise;
		arm.total_raise = correction.leaf_raise +
			Min(correction.index_raise, correction.bitmap_raise);
		relation->arms[relation->next_arm] = arm;
		relation->next_arm = (relation->next_arm + 1) % TSA_SEEN_ARMS;
		seen = &arm;
	}
	*startup_cost += seen->startup_raise;
	*total_cost += seen->total_raise;
}

/* Correct the result of an index's cost function. */
static void
apply(const TsaCorrection *correction, Cost *startup_cost, Cost *total_cost,
	  double *correlation)
{
	*startup_cost += correction->startup_raise;
	*total_cost += correction->leaf_raise + correction->index_raise;
	*correlation = correction->correlation;
}

/*
 * Cost function of a measured B-tree.  A scan for one row is left as it is:
 * one page is charged, and one page is read.
 */
static void
corrected_cost(PlannerInfo *root, IndexPath *path, double loop_count,
			   Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
			   double *correlation, double *pages)
{
	RelOptInfo *rel = path->indexinfo->rel;
	TsaSeenRelation *relation;
	const TsaLocalityRow *row;
	const TsaSeenScan *before = NULL;
	TsaSeenScan *seen;
	TsaLocalScan local;
	TsaCachedTimes cached;
	bool		is_alone;
	bool		is_new = true;

	btcostestimate(root, path, loop_count, startup_cost, total_cost,
				   selectivity, correlation, pages);
	if (rel->pages == 0 ||
		(loop_count <= 1 && tsa_clamp_rows(*selectivity * rel->tuples) <= 1))
		return;
	relation = tsa_seen_relation(rel);
	is_alone = tsa_stands_alone(rel, path);
	if (is_alone)
		before = tsa_seen_find(relation, path, loop_count, &is_new);
	if (before != NULL)
	{
		apply(&before->correction, startup_cost, total_cost, correlation);
		return;
	}
	if (path->indexinfo->reltablespace == rel->reltablespace)
		relation->settings.index_random = relation->settings.table_random;
	else
		get_tablespace_page_costs(path->indexinfo->reltablespace,
								  &relation->settings.index_random, NULL);
	describe_scan(root, relation, path, loop_count, *selectivity, *pages,
				  &local);
	if (!is_alone)
	{
		raise_arm(relation, path, &local, startup_cost, total_cost);
		return;
	}
	row = find_locality(path->indexinfo);
	if (row == NULL)
	{
		/* nor for its next path, which may be a partial one */
		path->indexinfo->amcostestimate = (void *) btcostestimate;
		return;
	}
	seen = palloc(sizeof(TsaSeenScan));
	seen->loop_count = loop_count;
	seen->selectivity = *selectivity;
	tsa_correct_scan(&local, &relation->settings, &row->locality,
					 choose_times(row, &cached), &seen->times,
					 &seen->correction);
	seen->index_cost = *total_cost + seen->correction.leaf_raise;
	tsa_seen_add(relation, seen, path, is_new);
	apply(&seen->correction, startup_cost, total_cost, correlation);
}

/* A relation has been looked up in the catalogs. */
static void
prepare_relation(Oid relid, bool inhparent, RelOptInfo *rel)
{
	ListCell   *lc;

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

#if TSA_HAVE_SIMPLE_REL_HOOK
/* Hook of 19: relations of a query. */
static void
simple_rel(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	if (previous_simple_rel)
		previous_simple_rel(root, rel, rte);
	if (rte->rtekind == RTE_RELATION)
		prepare_relation(rte->relid, rte->inh, rel);
}
#else
/* Hook of versions before 19: relations of a query. */
static void
relation_info(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	if (previous_relation_info)
		previous_relation_info(root, relid, inhparent, rel);
	prepare_relation(relid, inhparent, rel);
}
#endif

/*
 * The paths of a relation are complete.  Ours come before the work of previous
 * hooks: pg_hint_plan throws away the paths of a relation that has hints, and
 * a path that is added after it would beat the hint.
 */
static void
rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
			 RangeTblEntry *rte)
{
	if (rte->rtekind == RTE_RELATION)
		tsa_add_bitmap_paths(root, rel);
	if (previous_rel_pathlist)
		previous_rel_pathlist(root, rel, rti, rte);
}

/* Plans made under the other setting are no longer right. */
static void
renew_plans(bool newval, void *extra)
{
	(void) extra;
	if (newval != tsa_correct_locality && IsUnderPostmaster)
		ResetPlanCache();
}

/* Assign hook: cached plans were costed by the old value. */
static void
renew_plans_real(double newval, void *extra)
{
	(void) extra;
	if (newval != assumed_cached_fraction && IsUnderPostmaster)
		ResetPlanCache();
}

/* Define the stage's configuration parameters and take the hooks. */
void
tsa_init_cost(void)
{
	DefineCustomBoolVariable("tablespace_advisor.correct_locality",
							 "Plans scans of measured B-trees by their locality.",
							 "What measure_index_locality() found, and the probe's times, take the place of the correlation of a column.",
							 &tsa_correct_locality,
							 false, PGC_USERSET, 0,
							 NULL, renew_plans, NULL);
	DefineCustomRealVariable("tablespace_advisor.cached_fraction",
							 "Share of a table's blocks that caches are taken to hold when locality is corrected.",
							 "-1 takes what was found when the locality was measured or by the last sample, 0 where that is not known.",
							 &assumed_cached_fraction,
							 -1, -1, 1, PGC_USERSET, 0,
							 NULL, renew_plans_real, NULL);
	tsa_init_locality_cache();
	tsa_init_renew_locality();
	tsa_init_keep_advice();
	tsa_init_assume();
#if TSA_HAVE_SIMPLE_REL_HOOK
	previous_simple_rel = build_simple_rel_hook;
	build_simple_rel_hook = simple_rel;
#else
	previous_relation_info = get_relation_info_hook;
	get_relation_info_hook = relation_info;
#endif
	previous_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_pathlist;
}
