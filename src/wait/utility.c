/*-------------------------------------------------------------------------
 *
 * utility.c
 *	  Reads outside of the executor: utility commands and the planner.
 *
 * They are all measured, none is drawn: their reads, less those of executions
 * inside of them read, is added to the one relation that the command names, or
 * to none.  Reads are timed meanwhile; it costs something only if blocks are
 * read.
 *
 * VACUUM, ANALYZE, REINDEX and commands of maintenance that name no relation
 * have theirs found before each of their transactions commits, and at their
 * end (locked_tables.c).  The relation that is named gets the reads that these
 * do not explain.
 *
 * The relation of a command is looked up after it has succeeded, by the name it
 * gives, so that nothing fails here that would not have failed there.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "optimizer/planner.h"
#include "tcop/utility.h"
#include "utils/backend_status.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "wait/caller.h"
#include "wait/local.h"
#include "wait/relations.h"
#include "wait/span.h"
#include "wait/locked_tables.h"
#include "wait/utility.h"

/* A command that reads by itself. */
typedef struct Command
{
	TsaWaitClass class;
	TsaWaitAccess access;
	bool		has_name;
	bool		by_locks;		/* its relations are found among locks */
	char		schema[NAMEDATALEN];	/* empty: by the search path */
	char		name[NAMEDATALEN];
	TsaStatementKey key;
	TsaWaitLook look;			/* by_locks */
} Command;

/* that is running, if by_locks */
static Command *found_by_locks = NULL;

static ProcessUtility_hook_type previous_utility = NULL;
static planner_hook_type previous_planner = NULL;

/* Keeps the name of the relation that a command is about. */
static void
keep_name(Command *command, const RangeVar *relation)
{
	if (relation == NULL || relation->catalogname != NULL)
		return;
	command->has_name = true;
	strlcpy(command->name, relation->relname, NAMEDATALEN);
	if (relation->schemaname != NULL)
		strlcpy(command->schema, relation->schemaname, NAMEDATALEN);
}

/* Of the one relation in a list of VACUUM or ANALYZE. */
static void
keep_only_name(Command *command, const List *relations)
{
	if (list_length(relations) == 1)
		keep_name(command, linitial_node(VacuumRelation, relations)->relation);
}

/* Commands that read by themselves, and their class. */
static bool
describe_kind(const Node *statement, Command *command)
{
	command->class = TSA_WAIT_MAINTENANCE;
	command->access = TSA_ACCESS_UTILITY;
	command->has_name = false;
	command->schema[0] = '\0';
	switch (nodeTag(statement))
	{
		case T_CopyStmt:
			keep_name(command, ((const CopyStmt *) statement)->relation);
			command->class = TSA_WAIT_EXPORT;
			if (!((const CopyStmt *) statement)->is_from)
				return true;
			command->class = TSA_WAIT_APPLICATION;
			command->access = TSA_ACCESS_MODIFIED;
			return true;
		case T_VacuumStmt:
			keep_only_name(command, ((const VacuumStmt *) statement)->rels);
			return true;
		case T_IndexStmt:
			keep_name(command, ((const IndexStmt *) statement)->relation);
			return true;
		case T_ReindexStmt:
			keep_name(command, ((const ReindexStmt *) statement)->relation);
			return true;
		case T_RefreshMatViewStmt:
			keep_name(command,
					  ((const RefreshMatViewStmt *) statement)->relation);
			return true;
		case T_AlterTableStmt:
			keep_name(command, ((const AlterTableStmt *) statement)->relation);
			return true;
		case TSA_REPACK_STATEMENT:
			return true;
		default:
			return false;
	}
}

/* Fills in the command, if it is of a kind that is measured: true then. */
static bool
describe(const PlannedStmt *pstmt, Command *command)
{
	const Node *statement = pstmt->utilityStmt;

	if (!describe_kind(statement, command))
		return false;
	command->key.queryid = (uint64) pstmt->queryId;
	command->key.dbid = MyDatabaseId;
	command->key.userid = GetUserId();
	command->key.toplevel = tsa_now.nesting == 0;
	command->key.class = command->class;
	/* pg_stat_statements takes the number away if it is called first */
	if (command->key.queryid == 0 && command->key.toplevel)
		command->key.queryid = (uint64) pgstat_get_my_query_id();
	command->by_locks = command->class == TSA_WAIT_MAINTENANCE &&
		(!command->has_name || IsA(statement, VacuumStmt) ||
		 IsA(statement, ReindexStmt));
	return true;
}

/*
 * The relation of a command that has succeeded.  Rights are not asked for: they
 * may have been revoked meanwhile.
 */
static Oid
find_relation(const Command *command)
{
	Oid			schema;

	if (!command->has_name || !IsTransactionState())
		return InvalidOid;
	if (command->schema[0] == '\0')
		return RelnameGetRelid(command->name);
	schema = LookupNamespaceNoError(command->schema);
	return OidIsValid(schema) ? get_relname_relid(command->name, schema) :
		InvalidOid;
}

/* Adds the reads of the tables that a command has locked. */
static void
add_locked_tables(const Command *command, TsaWaitCounters *own)
{
	TsaReader	reader = {command->class, command->access, &command->key};
	uint64		left = own->reads;

	tsa_add_locked_tables(&reader, own, &left);
	if (own->reads > 0)
		own->ns = (uint64) ((double) own->ns * (double) left /
							(double) own->reads);
	own->reads = left;
}

/*
 * A transaction inside of a command is about to commit.
 */
void
tsa_command_before_commit(void)
{
	TsaWaitCounters own;
	TsaWaitCounters left;

	if (found_by_locks == NULL)
		return;
	own = left = tsa_look(&found_by_locks->look);
	add_locked_tables(found_by_locks, &left);
	tsa_accounted.reads += own.reads - left.reads;
	tsa_accounted.ns += own.ns - left.ns;
	found_by_locks->look.accounted = tsa_accounted;
}

/* Adds the reads of a command. */
static void
add_command(const Command *command, const TsaWaitSpan *span,
			TsaWaitCounters own, uint64 elapsed_ns)
{
	TsaWaitCounters now = tsa_wait_counters();
	TsaWaitFigures figures = {.calls = 1};
	TsaWaitFigures total = {
		.calls = 1,
		.hits = now.hits - span->start.hits,
		.reads = now.reads - span->start.reads,
		.waited_ns = now.ns - span->start.ns
	};
	Oid			relid = InvalidOid;

	if (total.reads == 0)
		return;
	if (command->by_locks && IsTransactionState())
		add_locked_tables(command, &own);
	figures.reads = own.reads;
	figures.waited_ns = own.ns;
	if (own.reads > 0)
	{
		relid = find_relation(command);
		tsa_local_add_relation(relid, command->class, command->access,
							   &figures, NULL);
	}
	if (command->key.queryid == 0)
		return;
	tsa_local_add_statement(&command->key, &total, elapsed_ns);
	if (own.reads > 0)
		tsa_local_add_share(&command->key, relid, command->access, &figures);
}

/* Executes a command that reads by itself. */
static void
run_command(Command *command, PlannedStmt *pstmt, const char *text,
			bool read_only, ProcessUtilityContext context, ParamListInfo params,
			QueryEnvironment *environment, DestReceiver *dest,
			QueryCompletion *completion)
{
	TsaWaitClass outer_class = tsa_command_class;
	Command    *outer = found_by_locks;
	TsaWaitSpan span;
	TsaWaitCounters own;
	instr_time	began;
	instr_time	ended;

	INSTR_TIME_SET_CURRENT(began);
	tsa_span_enter(&span, NULL, true);
	command->look.seen = span.start;
	command->look.accounted = span.accounted;
	found_by_locks = command->by_locks ? command : NULL;
	if (command->class != TSA_WAIT_APPLICATION)
		tsa_command_class = command->class;
	tsa_now.nesting++;
	PG_TRY();
	{
		(previous_utility ? previous_utility : standard_ProcessUtility)
			(pstmt, text, read_only, context, params, environment, dest,
			 completion);
	}
	PG_CATCH();
	{
		tsa_now.nesting--;
		tsa_command_class = outer_class;
		found_by_locks = outer;
		own = tsa_span_leave(&span, true);
		if (own.reads > 0)
		{
			TsaWaitFigures figures = {0, 0, own.reads, own.ns};

			tsa_local_add_relation(InvalidOid, command->class, command->access,
								   &figures, NULL);
		}
		PG_RE_THROW();
	}
	PG_END_TRY();
	tsa_now.nesting--;
	tsa_command_class = outer_class;
	found_by_locks = outer;
	own = tsa_span_leave(&span, false);
	INSTR_TIME_SET_CURRENT(ended);
	INSTR_TIME_SUBTRACT(ended, began);
	add_command(command, &span, own, tsa_instr_ns(ended));
}

/* Executes another command; statements in it are nested, but for EXECUTE. */
static void
pass_command(PlannedStmt *pstmt, const char *text, bool read_only,
			 ProcessUtilityContext context, ParamListInfo params,
			 QueryEnvironment *environment, DestReceiver *dest,
			 QueryCompletion *completion)
{
	int			nested = !IsA(pstmt->utilityStmt, ExecuteStmt) &&
	!IsA(pstmt->utilityStmt, PrepareStmt);

	tsa_now.nesting += nested;
	PG_TRY();
	{
		(previous_utility ? previous_utility : standard_ProcessUtility)
			(pstmt, text, read_only, context, params, environment, dest,
			 completion);
	}
	PG_FINALLY();
	{
		tsa_now.nesting -= nested;
	}
	PG_END_TRY();
}

/*
 * Runs a command, measured if describe() knows it, and hands in the backend's
 * ledger after a top-level one.
 */
static pg_noinline void
process_command(PlannedStmt *pstmt, const char *text, bool read_only,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *environment, DestReceiver *dest,
				QueryCompletion *completion)
{
	Command		command;

	if (tsa_wait_ready() && describe(pstmt, &command))
		run_command(&command, pstmt, text, read_only, context, params,
					environment, dest, completion);
	else
		pass_command(pstmt, text, read_only, context, params, environment,
					 dest, completion);
	if (tsa_now.nesting == 0)
		tsa_local_statement_ended();
}

/*
 * Hook: runs a utility command.  BEGIN and the like execute nothing, and the
 * end of a transaction has its own callback.
 */
static void
process_utility(PlannedStmt *pstmt, const char *text, bool read_only,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *environment, DestReceiver *dest,
				QueryCompletion *completion)
{
	ProcessUtility_hook_type process = process_command;

	if (IsA(pstmt->utilityStmt, TransactionStmt))
		process = previous_utility ? previous_utility :
			standard_ProcessUtility;
	process(pstmt, text, read_only, context, params, environment, dest,
			completion);
}

/* Adds the reads of the planner. */
static void
add_planning(const TsaWaitCounters *own)
{
	TsaWaitFigures figures = {1, 0, own->reads, own->ns};

	if (own->reads > 0)
		tsa_local_add_relation(InvalidOid, tsa_is_own_worker() ?
							   tsa_own_worker_class() : TSA_WAIT_PLANNING,
							   TSA_ACCESS_UNATTRIBUTED, &figures, NULL);
}

/* Hook: plans a query, and charges the planner's reads to relation 0. */
static PlannedStmt *
plan(TSA_PLANNER_PARAMETERS)
{
	PlannedStmt *volatile result = NULL;
	bool		is_measured = tsa_wait_ready();
	TsaWaitSpan span;

	if (is_measured)
		tsa_span_enter(&span, NULL, true);
	tsa_now.nesting++;
	PG_TRY();
	{
		result = (previous_planner ? previous_planner : standard_planner)
			(TSA_PLANNER_ARGUMENTS);
	}
	PG_CATCH();
	{
		tsa_now.nesting--;
		if (is_measured)
			(void) tsa_span_leave(&span, true);
		PG_RE_THROW();
	}
	PG_END_TRY();
	tsa_now.nesting--;
	if (is_measured)
	{
		TsaWaitCounters own = tsa_span_leave(&span, false);

		add_planning(&own);
	}
	return result;
}

/*
 * Takes the hooks of utility commands and of the planner.
 */
void
tsa_init_wait_utility(void)
{
	previous_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
	previous_planner = planner_hook;
	planner_hook = plan;
}
