/*-------------------------------------------------------------------------
 *
 * explain.c
 *	  EXPLAIN says which measured localities a plan was priced by.
 *
 * From 18 on extensions may add lines to the nodes of a plan; before, nothing
 * is said, nor with COSTS off.  The line is of the index's locality, and of the
 * share of its table that caches are taken to hold, as this session knows them
 * now.  Cached plans are made anew when a locality or, by much, a share
 * changes; one made with a share that has grown too old since goes on.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "cost/cost.h"
#include "cost/locality_store.h"

#if TSA_HAVE_EXPLAIN_HOOKS

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"
#include "utils/timestamp.h"

static explain_per_node_hook_type previous_per_node = NULL;

/* The index that a node scans, or InvalidOid. */
static Oid
find_index(const Plan *plan)
{
	if (IsA(plan, IndexScan))
		return ((const IndexScan *) plan)->indexid;
	if (IsA(plan, IndexOnlyScan))
		return ((const IndexOnlyScan *) plan)->indexid;
	if (IsA(plan, BitmapIndexScan))
		return ((const BitmapIndexScan *) plan)->indexid;
	return InvalidOid;
}

/* A node is being explained. */
static void
explain_node(PlanState *planstate, List *ancestors, const char *relationship,
			 const char *plan_name, struct ExplainState *es)
{
	Oid			index = find_index(planstate->plan);
	const TsaLocalityRow *row;

	if (previous_per_node)
		previous_per_node(planstate, ancestors, relationship, plan_name, es);
	if (!tsa_correct_locality || !es->costs || !OidIsValid(index))
		return;
	row = tsa_locality_find(index);
	if (row != NULL)
		ExplainPropertyText("Locality",
							psprintf("measured %s, %.0f %% of the table in caches",
									 timestamptz_to_str(row->measured_at),
									 100 * tsa_cached_share(row)),
							es);
}

/* Take the hook. */
void
tsa_init_explain(void)
{
	previous_per_node = explain_per_node_hook;
	explain_per_node_hook = explain_node;
}

#else

/* There is no hook to take. */
void
tsa_init_explain(void)
{
}

#endif
