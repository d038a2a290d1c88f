/*-------------------------------------------------------------------------
 *
 * loops.c
 *	  In which order a nested loop repeats the scan on its inner side.
 *
 * The path of an inner scan is made before anybody knows how the outer side
 * will be read.  Most plans give its rows in the order in which they lie: a
 * sequential or bitmap scan, and the joins and filters above it.  So it
 * matters whether the column that is looked up rises with the place of the
 * row, and that is its correlation in pg_statistic.  Rows that conditions
 * leave out make gaps, unless these conditions are on such columns, too: then
 * the rows that are left lie together.  Joins with third relations that have
 * conditions leave fewer rows than the planner counts.
 *
 * A subquery that depends on the query around it is repeated, too.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_statistic.h"
#include "optimizer/joininfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "cost/loops.h"

/* The correlation of a column of a relation, 0 where it is not known. */
static double
find_correlation(PlannerInfo *root, Node *column)
{
	VariableStatData vardata;
	AttStatsSlot slot;
	double		correlation = 0;

	examine_variable(root, column, 0, &vardata);
	if (HeapTupleIsValid(vardata.statsTuple) &&
		get_attstatsslot(&slot, vardata.statsTuple,
						 STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		if (slot.nnumbers == 1)
			correlation = slot.numbers[0];
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(vardata);
	return correlation;
}

/* Without nodes that keep the order; NULL if it is no column. */
static Node *
strip_column(Node *node)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node != NULL && IsA(node, Var) &&
		((Var *) node)->varlevelsup == 0 ? node : NULL;
}

/* The column of another relation that the first column is compared with. */
static Var *
find_outer_column(const IndexPath *path)
{
	const IndexClause *clause;
	const Expr *qual;

	if (path->indexclauses == NIL)
		return NULL;
	clause = linitial_node(IndexClause, path->indexclauses);
	qual = linitial_node(RestrictInfo, clause->indexquals)->clause;
	if (clause->indexcol != 0 || !IsA(qual, OpExpr))
		return NULL;
	return (Var *) strip_column(lsecond(((const OpExpr *) qual)->args));
}

/*
 * The share of the rows left within the stretches that a relation's conditions
 * leave.  The rows that they leave together are known, ranges taken for one
 * condition; each decides by its weight in that whether they lie together.
 */
static double
find_share(PlannerInfo *root, const RelOptInfo *rel)
{
	double		gaps = 0;
	double		all = 0;
	ListCell   *lc;

	if (rel->tuples <= 0 || rel->rows >= rel->tuples)
		return 1;
	foreach(lc, rel->baserestrictinfo)
	{
		const RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		double		correlation = 0;
		Node	   *column = NULL;
		double		weight;

		if (rinfo->norm_selec <= 0 || rinfo->norm_selec >= 1)
			continue;
		if (IsA(rinfo->clause, OpExpr) &&
			list_length(((const OpExpr *) rinfo->clause)->args) == 2)
		{
			List	   *args = ((const OpExpr *) rinfo->clause)->args;

			column = strip_column(linitial(args));
			if (column == NULL)
				column = strip_column(lsecond(args));
		}
		if (column != NULL)
			correlation = find_correlation(root, column);
		weight = -log(rinfo->norm_selec);
		all += weight;
		gaps += weight * Max(1 - correlation * correlation, 0);
	}
	return all > 0 ? pow(rel->rows / rel->tuples, gaps / all) : 1;
}

/*
 * The share of a relation's rows left when it has been joined with others that
 * have conditions.  The planner repeats an inner scan for all of its rows, and
 * takes the table for cached when these are many.
 */
static double
find_joined_share(PlannerInfo *root, RelOptInfo *outer,
				  const RelOptInfo *inner)
{
	double		share = 1;
	int			i = -1;

	while ((i = bms_next_member(root->all_baserels, i)) >= 0)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		if (other != NULL && other != outer && other != inner &&
			!bms_is_member(i, inner->top_parent_relids) &&
			other->tuples > 0 && other->rows < other->tuples &&
			have_relevant_joinclause(root, outer, other))
			share *= other->rows / other->tuples;
	}
	return share;
}

/*
 * Does a subquery look rows up by a column of the query around it, which reads
 * the same table?  How often it is called is not known yet, and the planner
 * prices every call as if it were the only one.
 */
bool
tsa_reads_again(const PlannerInfo *root, const IndexPath *path)
{
	const PlannerInfo *around = root->parent_root;
	const IndexClause *clause;
	const Expr *qual;
	const Param *param;
	ListCell   *lc;
	bool		is_of_column = false;
	Oid			relation;

	if (around == NULL || path->indexclauses == NIL)
		return false;
	clause = linitial_node(IndexClause, path->indexclauses);
	qual = linitial_node(RestrictInfo, clause->indexquals)->clause;
	if (!IsA(qual, OpExpr))
		return false;
	param = lsecond(((const OpExpr *) qual)->args);
	if (!IsA(param, Param) || param->paramkind != PARAM_EXEC)
		return false;
	foreach(lc, around->plan_params)
	{
		const PlannerParamItem *item = lfirst_node(PlannerParamItem, lc);

		if (item->paramId == param->paramid && IsA(item->item, Var))
			is_of_column = true;
	}
	if (!is_of_column)
		return false;
	relation = planner_rt_fetch(path->path.parent->relid, root)->relid;
	foreach(lc, around->parse->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION && rte->relid == relation)
			return true;
	}
	return false;
}

/* Find the figures of a repeated scan for the formulas. */
void
tsa_describe_loops(PlannerInfo *root, const IndexPath *path,
				   TsaLocalScan *local)
{
	Var		   *column = find_outer_column(path);
	RelOptInfo *outer;
	double		correlation;
	double		share;

	if (column == NULL || column->varno <= 0 ||
		column->varno >= root->simple_rel_array_size)
		return;
	outer = root->simple_rel_array[column->varno];
	if (outer == NULL || outer->rtekind != RTE_RELATION)
		return;
	share = find_joined_share(root, outer, path->path.parent);
	local->loops = Max(local->scan.loop_count * share, 1);
	correlation = find_correlation(root, (Node *) column);
	local->in_order = correlation * fabs(correlation);
	if (local->in_order != 0)
		local->loop_share = find_share(root, outer);
}
