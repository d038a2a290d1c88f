/*-------------------------------------------------------------------------
 *
 * advise.c
 *	  Functions for advice: rights of callers, and the rights to collect facts.
 *
 * Advice rests on data that only a superuser may see together: statistics of
 * the planner, files, the journal of moves.  So these functions check that the
 * caller owns the table or is a member of pg_monitor, and then run as the
 * bootstrap superuser one statement, a constant: its functions have a fixed
 * search_path and evaluate nothing that owners of tables could have written.
 * One of the extension's tables is locked before: with the extension dropped
 * in the middle, anybody could make functions of these names.  An error leaves
 * user and settings to the abort of the transaction.
 *
 * Rejected: SECURITY DEFINER functions, which cannot tell their caller: with
 * SET ROLE, current_user is theirs and session_user is not the caller.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/index.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "advise/advise.h"
#include "state/bounded.h"
#include "state/printable.h"
#include "state/settings.h"
#include "state/state.h"
#include "state/statement.h"

/* The arguments of each statement here, $1 to $5. */
enum
{
	CALLER,
	TARGET,
	TABLESPACE,
	SPACE_BUDGET,
	OBSERVE,
	ADVICE_ARGS
};

/*
 * Waits of other sessions are shown to roles that may see them in
 * pg_stat_activity.
 */
#define EVIDENCE \
	"CASE WHEN pg_has_role($1, 'pg_read_all_stats', 'USAGE')" \
	"   THEN g.evidence ELSE g.evidence #- '{window,waits}' END"

/*
 * Advice as lines of text; in_short is a Boolean constant, more an array,
 * options are further arguments of gather_advice().
 */
#define EXPLAIN_ADVICE(in_short, more, options) \
	"SELECT tablespace_advisor.printable(f)" \
	" FROM tablespace_advisor.explain_advice($2, ARRAY(" \
	"SELECT ROW(g.advice, " EVIDENCE ")::tablespace_advisor.advice_row" \
	" FROM tablespace_advisor.gather_advice(" \
	"   $1, $2, $3, $4, $5, true, true" options ") g), " \
	in_short ", " more ") e" \
	" CROSS JOIN LATERAL tablespace_advisor.folded_line(e) f"

#define COUNT_EXPORTS ", count_exports => true"

#define ADVICE_ROWS(options) \
	"SELECT (g.advice).* FROM tablespace_advisor.gather_advice(" \
	"   $1, $2, $3, $4, $5, false, true" options ") g" \
	" UNION ALL SELECT t.* FROM" \
	" tablespace_advisor.temporary_files_advice($1, $3) t" \
	" WHERE $2 IS NULL"

/* The gain of statements, in advice on the whole database. */
#define STATEMENT_LINES \
	"ARRAY(SELECT s FROM" \
	" tablespace_advisor.statement_gain_lines($1, $2, $3, $4, $5) s)"

#define SAVINGS \
	"SELECT * FROM tablespace_advisor.expected_savings($1, $2, $3)"

#define ADVICE_STATEMENT(text) { \
	text, ADVICE_ARGS, {OIDOID, REGCLASSOID, NAMEOID, TEXTOID, INTERVALOID}, \
	NULL \
}

typedef struct AdviceRequest
{
	Oid			target;			/* InvalidOid: the whole database */
	Datum		args[ADVICE_ARGS];	/* by the names above */
	char		nulls[ADVICE_ARGS + 1];
} AdviceRequest;

PG_FUNCTION_INFO_V1(tsa_advise_index_placement);
PG_FUNCTION_INFO_V1(tsa_advise_placement);
PG_FUNCTION_INFO_V1(tsa_advise_statements);
PG_FUNCTION_INFO_V1(tsa_explain_placement);
PG_FUNCTION_INFO_V1(tsa_placement_evidence);
PG_FUNCTION_INFO_V1(tsa_advice_rows);
PG_FUNCTION_INFO_V1(tsa_statement_rows);
PG_FUNCTION_INFO_V1(tsa_placement_curve);
PG_FUNCTION_INFO_V1(tsa_index_expression);
PG_FUNCTION_INFO_V1(tsa_lock_if_free);

/*
 * The table of a relation, for the check of its owner: of an index its table.
 * InvalidOid if there is no such relation (any more).
 */
static Oid
table_of(Oid relation)
{
	char		relkind = get_rel_relkind(relation);

	if (relkind != RELKIND_INDEX && relkind != RELKIND_PARTITIONED_INDEX)
		return relkind == '\0' ? InvalidOid : relation;
	return IndexGetRelation(relation, true);
}

/* Refuses roles that neither own the table nor may see all statistics. */
static void
check_rights(Oid target)
{
	Oid			table = OidIsValid(target) ? table_of(target) : InvalidOid;

	if (has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
		return;
	if (!OidIsValid(target))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to ask for advice on the whole database"),
				 errdetail("Only members of the role \"pg_monitor\" may."),
				 errhint("Owners may ask about their own tables.")));
	if (OidIsValid(table) && !tsa_owns_relation(table, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s, or a member of pg_monitor",
						get_rel_name(table))));
}

/*
 * Sets an argument of the request from one of the call, if there is one (from
 * >= 0) and it is not null.
 */
static void
set_argument(FunctionCallInfo fcinfo, AdviceRequest *request, int arg, int from)
{
	if (from < 0 || PG_ARGISNULL(from))
		return;
	request->args[arg] = PG_GETARG_DATUM(from);
	request->nulls[arg] = ' ';
}

/*
 * The request of a function whose arguments target, tablespace, space_budget
 * and observe are at these positions; -1: it has no such argument.
 */
static void
make_request(FunctionCallInfo fcinfo, AdviceRequest *request,
			 int target, int tablespace, int space_budget, int observe)
{
	memset(request, 0, sizeof(*request));
	memset(request->nulls, 'n', ADVICE_ARGS);
	request->args[CALLER] = ObjectIdGetDatum(GetUserId());
	request->nulls[CALLER] = ' ';
	set_argument(fcinfo, request, TARGET, target);
	set_argument(fcinfo, request, TABLESPACE, tablespace);
	set_argument(fcinfo, request, SPACE_BUDGET, space_budget);
	set_argument(fcinfo, request, OBSERVE, observe);
	if (request->nulls[TARGET] == ' ')
		request->target = DatumGetObjectId(request->args[TARGET]);
}

/*
 * Runs the statement of a request.  An error is passed to the caller: how its
 * functions were reached is left out, not from where the caller called.
 */
static void
run_statement(AdviceRequest *request, TsaStatement *statement)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		/* not read-only: it has to see changes while it watches */
		(void) tsa_run(statement, request->args, request->nulls, TSA_CALLS);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (error->funcname == NULL ||
			strcmp(error->funcname, "exec_stmt_raise") != 0)
			ReThrowError(error);
		error->context = NULL;
		ThrowErrorData(error);
	}
	PG_END_TRY();
}

/*
 * Runs a statement on gather_advice() as the superuser, for a caller with the
 * right to ask.  Its rows are in SPI_tuptable until tsa_state_close().
 */
static void
open_request(TsaState *state, AdviceRequest *request, TsaStatement *statement)
{
	check_rights(request->target);
	tsa_state_check("sample", AccessShareLock);
	tsa_state_open(state);
	tsa_plan_as_usual();
	run_statement(request, statement);
}

/*
 * The rows of a statement on gather_advice(), which are of the type the calling
 * function returns.
 */
static Datum
run_request(FunctionCallInfo fcinfo, AdviceRequest *request,
			TsaStatement *statement)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TsaState	state;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	open_request(&state, request, statement);
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(rsinfo->setResult, SPI_tuptable->vals[i]);
	tsa_state_close(&state);
	return (Datum) 0;
}

/*
 * Asks for advice on a relation, for a caller with the right to ask: rows
 * relation, tablespace, saved_ms_per_s in SPI_tuptable until
 * tsa_state_close().  tablespace: where to, or NULL for wherever it saves
 * most; moves_only: no rows but of recommended moves.
 */
void
tsa_advice_open(TsaState *state, Oid target, const char *tablespace,
				bool moves_only)
{
	static TsaStatement savings = ADVICE_STATEMENT(SAVINGS);
	static TsaStatement moves =
	ADVICE_STATEMENT(SAVINGS " WHERE action = 'move'");
	AdviceRequest request = {.target = target};
	NameData	name;

	memset(request.nulls, 'n', ADVICE_ARGS);
	request.args[CALLER] = ObjectIdGetDatum(GetUserId());
	request.args[TARGET] = ObjectIdGetDatum(target);
	request.nulls[CALLER] = request.nulls[TARGET] = ' ';
	if (tablespace != NULL)
	{
		namestrcpy(&name, tablespace);
		request.args[TABLESPACE] = NameGetDatum(&name);
		request.nulls[TABLESPACE] = ' ';
	}
	open_request(state, &request, moves_only ? &moves : &savings);
}

/*
 * Whether count_exports, the fifth argument, is true.  SQL of version 1.0 has
 * no such argument.
 */
static bool
counts_exports(FunctionCallInfo fcinfo)
{
	tsa_check_signature(fcinfo, "job", PG_NARGS() > 4 ? 5 : 4);
	return PG_NARGS() > 4 && !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
}

/*
 * advise_index_placement(target, tablespace, space_budget, observe,
 *	count_exports)
 */
Datum
tsa_advise_index_placement(PG_FUNCTION_ARGS)
{
	static TsaStatement statement =
	ADVICE_STATEMENT(EXPLAIN_ADVICE("true", STATEMENT_LINES, ""));
	static TsaStatement with_exports =
	ADVICE_STATEMENT(EXPLAIN_ADVICE("true", STATEMENT_LINES, COUNT_EXPORTS));
	AdviceRequest request;
	bool		count_exports = counts_exports(fcinfo);

	make_request(fcinfo, &request, 0, 1, 2, 3);
	return run_request(fcinfo, &request,
					   count_exports ? &with_exports : &statement);
}

/* advise_placement(space_budget, observe, target, tablespace, count_exports) */
Datum
tsa_advise_placement(PG_FUNCTION_ARGS)
{
	static TsaStatement statement = ADVICE_STATEMENT(ADVICE_ROWS(""));
	static TsaStatement with_exports =
	ADVICE_STATEMENT(ADVICE_ROWS(COUNT_EXPORTS));
	bool		count_exports = counts_exports(fcinfo);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	AdviceRequest request;

	make_request(fcinfo, &request, 2, 3, 0, 1);
	(void) run_request(fcinfo, &request,
					   count_exports ? &with_exports : &statement);
	if (!OidIsValid(request.target) &&
		tuplestore_tuple_count(rsinfo->setResult) == 0)
		ereport(NOTICE,
				(errmsg("nothing was read or written in the window"),
				 errhint("Samples count from the last move on: call sample_activity() again, or pass \"observe\".")));
	return (Datum) 0;
}

/* explain_placement(target) */
Datum
tsa_explain_placement(PG_FUNCTION_ARGS)
{
	static TsaStatement statement =
	ADVICE_STATEMENT(EXPLAIN_ADVICE("false", STATEMENT_LINES " || "
									"ARRAY(SELECT s FROM"
									" tablespace_advisor.storage_lines($1, $2) s)",
									""));
	AdviceRequest request;

	make_request(fcinfo, &request, 0, -1, -1, -1);
	return run_request(fcinfo, &request, &statement);
}

/* placement_evidence(target) */
Datum
tsa_placement_evidence(PG_FUNCTION_ARGS)
{
	static TsaStatement statement =
	ADVICE_STATEMENT("SELECT (g.advice).relation, " EVIDENCE " FROM"
					 " tablespace_advisor.gather_advice($1, $2, $3, $4, $5, true, true) g");
	AdviceRequest request;

	make_request(fcinfo, &request, 0, -1, -1, -1);
	return run_request(fcinfo, &request, &statement);
}

/* advice_rows() */
Datum
tsa_advice_rows(PG_FUNCTION_ARGS)
{
	static TsaStatement statement =
	ADVICE_STATEMENT("SELECT g.advice, " EVIDENCE " FROM"
					 " tablespace_advisor.gather_advice($1, $2, $3, $4, $5, true, true) g"
					 " UNION ALL SELECT t, '{}' FROM"
					 " tablespace_advisor.temporary_files_advice($1, NULL) t");
	AdviceRequest request;

	make_request(fcinfo, &request, -1, -1, -1, -1);
	return run_request(fcinfo, &request, &statement);
}

/* statement_rows() */
Datum
tsa_statement_rows(PG_FUNCTION_ARGS)
{
	static TsaStatement statement =
	ADVICE_STATEMENT("SELECT * FROM"
					 " tablespace_advisor.statements_if_measured($1, NULL, NULL, 10)");
	AdviceRequest request;

	make_request(fcinfo, &request, -1, -1, -1, -1);
	return run_request(fcinfo, &request, &statement);
}

/* advise_statements(tablespace, space_budget, observe, max_statements) */
Datum
tsa_advise_statements(PG_FUNCTION_ARGS)
{
	static TsaStatement statement =
	ADVICE_STATEMENT("SELECT * FROM"
					 " tablespace_advisor.gather_statement_advice($1, $3, $4, $5,"
					 " $2::pg_catalog.oid::pg_catalog.int4)");
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	AdviceRequest request;

	tsa_check_signature(fcinfo, "job", 4);
	make_request(fcinfo, &request, -1, 0, 1, 2);
	/* $2 is a number of statements here, of a relation that is none */
	set_argument(fcinfo, &request, TARGET, 3);
	(void) run_request(fcinfo, &request, &statement);
	if (tuplestore_tuple_count(rsinfo->setResult) == 0)
		ereport(NOTICE,
				(errmsg("no statement is known to have waited for reads in the window"),
				 errhint("tablespace_advisor_health() tells whether statements are known.")));
	return (Datum) 0;
}

/* placement_curve(tablespace, steps) */
Datum
tsa_placement_curve(PG_FUNCTION_ARGS)
{
	static TsaStatement statement =
	ADVICE_STATEMENT("SELECT * FROM"
					 " tablespace_advisor.gather_curve($1, $3, $4::pg_catalog.int4)");
	AdviceRequest request;

	make_request(fcinfo, &request, -1, 0, -1, -1);
	if (!PG_ARGISNULL(1))
	{
		char	   *steps = psprintf("%d", PG_GETARG_INT32(1));

		/* $4 is a text, which is the steps here */
		request.args[SPACE_BUDGET] = CStringGetTextDatum(steps);
		request.nulls[SPACE_BUDGET] = ' ';
	}
	return run_request(fcinfo, &request, &statement);
}

/* lock_if_free(relation) */
Datum
tsa_lock_if_free(PG_FUNCTION_ARGS)
{
	Oid			relation = PG_GETARG_OID(0);

	PG_RETURN_BOOL(ConditionalLockRelationOid(relation, AccessShareLock) &&
				   SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)));
}

/*
 * The expression of an index; an empty text instead of one that is long or has
 * control characters, which nobody would want in a statement.
 */
static Datum
expression_of(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	char	   *expression = "";
	bool		isnull = true;
	Datum		tree;

	if (!HeapTupleIsValid(tuple))
		return CStringGetTextDatum(expression);
	tree = SysCacheGetAttr(INDEXRELID, tuple,
						   Anum_pg_index_indexprs,	/* bounded */
						   &isnull);
	if (!isnull && tsa_is_short(tree))
	{
		Datum		definition =
		DirectFunctionCall3(pg_get_indexdef_ext,	/* bounded */
							ObjectIdGetDatum(index),
							Int32GetDatum(1),
							BoolGetDatum(false));

		expression = TextDatumGetCString(definition);
	}
	ReleaseSysCache(tuple);
	if (strcmp(tsa_printable_text(expression), expression) != 0)
		expression = "";
	return CStringGetTextDatum(expression);
}

/*
 * index_expression(index).  To name columns the server opens the table, so
 * that is locked here first, if it can be without waiting.
 */
Datum
tsa_index_expression(PG_FUNCTION_ARGS)
{
	Oid			index = PG_GETARG_OID(0);
	Oid			table = IndexGetRelation(index, true);
	Datum		expression = (Datum) 0;
	bool		found;

	if (!OidIsValid(table) ||
		!ConditionalLockRelationOid(table, AccessShareLock))
		PG_RETURN_NULL();
	found = SearchSysCacheExists1(INDEXRELID, ObjectIdGetDatum(index));
	if (found)
		expression = expression_of(index);
	UnlockRelationOid(table, AccessShareLock);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(expression);
}
