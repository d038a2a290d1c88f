/*-------------------------------------------------------------------------
 *
 * assume.c
 *	  Planning as if relations lived elsewhere, or tablespaces cost something
 *	  else.
 *
 * The planner takes page costs from the tablespace in RelOptInfo and
 * IndexOptInfo, and nothing looks at it there once the plan is made.  So the
 * tablespace is exchanged while a relation is looked up: the plan is that of
 * another placement, and can be run.
 *
 * Assumptions belong to the session.  They are forgotten at its end and at
 * every error, because a rollback, also one to a savepoint, leaves nobody sure
 * of the assumptions.  Plans that the session has cached are made anew
 * whenever assumptions change.
 *
 * Costs of a tablespace come from a cache of the server that no hook reaches.
 * explain_with_costs() sets the options in a subtransaction, asks, and rolls
 * back; that one rollback does not count as an error.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_tablespace_d.h"
#include "catalog/pg_type_d.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/spccache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "cost/cost.h"
#include "state/printable.h"
#include "state/state.h"
#include "state/tablespace.h"

PG_FUNCTION_INFO_V1(assume_placement);
PG_FUNCTION_INFO_V1(forget_placements);
PG_FUNCTION_INFO_V1(assumed_placements);
PG_FUNCTION_INFO_V1(explain_with_costs);

typedef struct Assumption
{
	Oid			relation;
	Oid			tablespace;
} Assumption;

static Assumption *assumptions = NULL;
static int	nassumptions = 0;
static int	max_assumptions = 0;

/* our own rollback is under way */
static bool keep_assumptions = false;

/* Forget all assumptions; must not fail. */
static void
forget_all(void)
{
	tsa_forget_tablespaces();
	if (nassumptions == 0)
		return;
	nassumptions = 0;
	ResetPlanCache();
}

/* Assumptions end with a transaction that aborts. */
static void
xact_callback(XactEvent event, void *arg)
{
	(void) arg;
	if (event == XACT_EVENT_ABORT)
	{
		keep_assumptions = false;
		forget_all();
	}
}

/* The same for a subtransaction, unless assumptions are to outlive it. */
static void
subxact_callback(SubXactEvent event, SubTransactionId subid,
				 SubTransactionId parent, void *arg)
{
	(void) subid;
	(void) parent;
	(void) arg;
	if (event == SUBXACT_EVENT_ABORT_SUB && !keep_assumptions)
		forget_all();
}

/*
 * Has assumptions of this session forgotten when a transaction aborts.  Only
 * sessions that make some call the callbacks.
 */
static void
forget_at_abort(void)
{
	static bool is_registered = false;

	if (is_registered)
		return;
	keep_assumptions = false;	/* an error may have left it */
	RegisterXactCallback(xact_callback, NULL);
	RegisterSubXactCallback(subxact_callback, NULL);
	is_registered = true;
}

/* Has it called before the first assumption of either kind. */
void
tsa_init_assume(void)
{
	tsa_before_assumption = forget_at_abort;
}

/* The assumption about a relation, or NULL. */
static Assumption *
find_assumption(Oid relation)
{
	int			i;

	for (i = 0; i < nassumptions; i++)
		if (assumptions[i].relation == relation)
			return &assumptions[i];
	return NULL;
}

/* Exchange the tablespaces of a relation and its indexes. */
void
tsa_assume_placements(Oid relid, RelOptInfo *rel)
{
	Assumption *assumption;
	ListCell   *lc;

	if (nassumptions == 0)
		return;
	assumption = find_assumption(relid);
	if (assumption != NULL)
		rel->reltablespace = assumption->tablespace;
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		assumption = find_assumption(index->indexoid);
		if (assumption != NULL)
			index->reltablespace = assumption->tablespace;
	}
}

/* Add or change one assumption. */
static void
assume(Oid relation, Oid tablespace)
{
	Assumption *assumption = find_assumption(relation);

	(*tsa_before_assumption) ();
	if (assumption == NULL)
	{
		if (nassumptions == max_assumptions)
		{
			int			max = max_assumptions == 0 ? 16 :
			2 * max_assumptions;

			assumptions = assumptions == NULL ?
				MemoryContextAlloc(TopMemoryContext,
								   max * sizeof(Assumption)) :
				repalloc(assumptions, max * sizeof(Assumption));
			max_assumptions = max;
		}
		assumption = &assumptions[nassumptions];
		assumption->relation = relation;
		assumption->tablespace = tablespace;
		nassumptions++;
	}
	assumption->tablespace = tablespace;
}

/* Looks up a tablespace, which may be one that is only assumed. */
static Oid
find_placement(const char *name)
{
	Oid			assumed = tsa_assumed_tablespace_oid(name);

	if (!OidIsValid(assumed) || OidIsValid(get_tablespace_oid(name, true)))
		return tsa_parse_tablespace(name);
	ereport(NOTICE,
			(errmsg("tablespace \"%s\" is only assumed: plans use the server's own page costs for it",
					name)));
	return assumed;
}

/* The first arguments, of these names, must not be NULL. */
static void
refuse_nulls(FunctionCallInfo fcinfo, const char *const names[], int n)
{
	for (int i = 0; i < n; i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", names[i])));
}

/*
 * Says why nothing will change, if the first relation with storage is in a
 * tablespace of the same page costs.
 */
static void
explain_no_effect(Oid relation, Oid tablespace)
{
	Oid			present = get_rel_tablespace(relation);
	const char *correct = GetConfigOption("tablespace_advisor.correct_locality",
										  true, false);
	double		random[2];
	double		sequential[2];

	if (!OidIsValid(present))
		present = MyDatabaseTableSpace;
	if (!OidIsValid(tablespace))
		tablespace = MyDatabaseTableSpace;
	if (present == tablespace || get_tablespace_name(tablespace) == NULL ||
		(correct != NULL && strcmp(correct, "on") == 0))
		return;
	get_tablespace_page_costs(present, &random[0], &sequential[0]);
	get_tablespace_page_costs(tablespace, &random[1], &sequential[1]);
	if (random[0] == random[1] && sequential[0] == sequential[1])
		ereport(NOTICE,
				(errmsg("plans stay the same: tablespaces \"%s\" and \"%s\" have the same page costs",
						tsa_printable_text(get_tablespace_name(present)),
						tsa_printable_text(get_tablespace_name(tablespace))),
				 errhint("recommend_random_page_cost() has page costs for both.")));
}

/* SQL function assume_placement; see its comment in assume.sql. */
Datum
assume_placement(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"relation", "tablespace"};
	Oid			relation;
	Oid			tablespace;
	char		relkind;
	List	   *parts;
	ListCell   *lc;

	tsa_refuse_restricted_operation(fcinfo);
	refuse_nulls(fcinfo, names, lengthof(names));
	relation = PG_GETARG_OID(0);
	tablespace = find_placement(NameStr(*PG_GETARG_NAME(1)));
	relkind = get_rel_relkind(relation);
	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW &&
		relkind != RELKIND_INDEX && relkind != RELKIND_PARTITIONED_TABLE &&
		relkind != RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" cannot be placed in a tablespace",
						get_rel_name(relation)),
				 errdetail("It is neither a table nor a materialized view nor an index.")));
	if (tablespace == MyDatabaseTableSpace)
		tablespace = InvalidOid;

	if (relkind == RELKIND_PARTITIONED_TABLE ||
		relkind == RELKIND_PARTITIONED_INDEX)
		parts = find_all_inheritors(relation, NoLock, NULL);
	else
		parts = list_make1_oid(relation);
	foreach(lc, parts)
		assume(lfirst_oid(lc), tablespace);
	explain_no_effect(llast_oid(parts), tablespace);
	ResetPlanCache();
	PG_RETURN_VOID();
}

/* SQL function forget_placements. */
Datum
forget_placements(PG_FUNCTION_ARGS)
{
	tsa_refuse_restricted_operation(fcinfo);
	forget_all();
	PG_RETURN_VOID();
}

/* assumed_placements(): a row per assumption of this session. */
Datum
assumed_placements(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; i < nassumptions; i++)
	{
		Oid			tablespace = OidIsValid(assumptions[i].tablespace) ?
		assumptions[i].tablespace : MyDatabaseTableSpace;
		const char *assumed = tsa_assumed_tablespace_name(tablespace);
		const char *name = assumed != NULL ? assumed :
		get_tablespace_name(tablespace);
		NameData	spcname;
		Datum		values[2];
		bool		nulls[2] = {false, name == NULL};

		if (name != NULL)
			namestrcpy(&spcname, name);
		values[0] = ObjectIdGetDatum(assumptions[i].relation);
		values[1] = NameGetDatum(&spcname);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/* Refuse anything but one statement that EXPLAIN takes. */
static void
check_query(const char *query)
{
	List	   *parsed = pg_parse_query(query);

	if (list_length(parsed) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query must be a single statement")));
}

/* Set the options, explain and collect the lines; SPI is connected. */
static void
explain_lines(const char *alter, const char *explain, ReturnSetInfo *rsinfo)
{
	uint64		i;

	if (SPI_execute(alter, false, 0) != SPI_OK_UTILITY ||
		SPI_execute(explain, false, 0) != SPI_OK_UTILITY ||
		SPI_tuptable == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("could not explain the query")));
	for (i = 0; i < SPI_processed; i++)
	{
		char	   *line = SPI_getvalue(SPI_tuptable->vals[i],
										SPI_tuptable->tupdesc, 1);
		Datum		value = CStringGetTextDatum(line);
		bool		isnull = false;

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value,
							 &isnull);
	}
}

/* A cost as the grammar reads it. */
static char *
print_cost(Datum cost)
{
	return DatumGetCString(DirectFunctionCall1(float8out, cost));
}

/* SQL function explain_with_costs; see its comment in assume.sql. */
Datum
explain_with_costs(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"query", "tablespace",
	"random_page_cost"};
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	StringInfoData alter;
	char	   *query;
	char	   *name;

	tsa_refuse_restricted_operation(fcinfo);
	refuse_nulls(fcinfo, names, lengthof(names));
	query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	name = NameStr(*PG_GETARG_NAME(1));
	(void) tsa_parse_tablespace(name);
	check_query(query);
	PreventCommandIfReadOnly("explain_with_costs()");

	initStringInfo(&alter);
	appendStringInfo(&alter, "ALTER TABLESPACE %s SET (random_page_cost = %s",
					 quote_identifier(name), print_cost(PG_GETARG_DATUM(2)));
	if (!PG_ARGISNULL(3))
		appendStringInfo(&alter, ", seq_page_cost = %s",
						 print_cost(PG_GETARG_DATUM(3)));
	appendStringInfoChar(&alter, ')');

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		SPI_connect();
		explain_lines(alter.data, psprintf("EXPLAIN (COSTS) %s", query),
					  rsinfo);
		SPI_finish();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		ReThrowError(error);
	}
	PG_END_TRY();
	keep_assumptions = true;
	RollbackAndReleaseCurrentSubTransaction();
	keep_assumptions = false;
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return (Datum) 0;
}
