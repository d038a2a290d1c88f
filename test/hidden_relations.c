/*-------------------------------------------------------------------------
 *
 * hidden_relations.c
 *	  Hides relations from queries, as Citus does with shards, for tests: a
 *	  library to preload into a server.
 *
 * A planner hook lets no scan of pg_class return relations whose names begin
 * with "shard", unless citus.override_table_visibility is off.  With
 * hidden_relations.always it does so whatever that says: a hook that nobody
 * knows how to turn off.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static planner_hook_type next_planner = NULL;
static bool hides = true;
static bool hides_always = false;

/* relname !~~ 'shard%' of one scan. */
static Node *
make_filter(Index relid)
{
	Oid			operator = OpernameGetOprid(list_make1(makeString("!~~")),
											NAMEOID, TEXTOID);
	Var		   *name = makeVar(relid, Anum_pg_class_relname, NAMEOID, -1,
							   C_COLLATION_OID, 0);
	Const	   *pattern = makeConst(TEXTOID, -1, C_COLLATION_OID, -1,
									CStringGetTextDatum("shard%"), false,
									false);

	return (Node *) make_opclause(operator, BOOLOID, false, (Expr *) name,
								  (Expr *) pattern, InvalidOid,
								  C_COLLATION_OID);
}

static bool
filter_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		Index		relid = 0;
		ListCell   *lc;

		foreach(lc, query->rtable)
		{
			RangeTblEntry *rte = lfirst(lc);

			relid++;
			if (rte->rtekind == RTE_RELATION && rte->relid == RelationRelationId)
				rte->securityQuals = lappend(rte->securityQuals,
											 make_filter(relid));
		}
		return query_tree_walker(query, filter_walker, context, 0);
	}
	return expression_tree_walker(node, filter_walker, context);
}

static PlannedStmt *
hide(TSA_PLANNER_PARAMETERS)
{
	if (hides || hides_always)
		(void) filter_walker((Node *) parse, NULL);
	return next_planner ? next_planner(TSA_PLANNER_ARGUMENTS) :
		standard_planner(TSA_PLANNER_ARGUMENTS);
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("citus.override_table_visibility",
							 "Hides relations.", NULL, &hides, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("hidden_relations.always",
							 "Hides relations whatever else is set.", NULL,
							 &hides_always, false, PGC_SIGHUP, 0, NULL, NULL,
							 NULL);
	next_planner = planner_hook;
	planner_hook = hide;
}
