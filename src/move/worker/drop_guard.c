/*-------------------------------------------------------------------------
 *
 * drop_guard.c
 *	  Keeps the extension from being dropped while its journal names files, or
 *	  by others than its owner.
 *
 * The journal alone knows of a copy without a worker, or of an old file that
 * is still to be removed.  If it goes they stay for good.  The objects that
 * are really dropped decide: the server tells the hook below of each object
 * that a command drops, in any way (CASCADE from the schema, from another
 * extension that has the schema, from the language of the functions, or with
 * the roles that own any of these), before it is gone.  When that is the
 * extension or the table of jobs, the hook refuses while the journal names
 * files, and refuses roles that do not own the extension, as the server does
 * for DROP EXTENSION only: the owner of a database owns its schema public,
 * could drop the extension in the middle of somebody's call, and make tables
 * and functions of the names that the call goes on to use as any role that
 * runs it.
 *
 * The hook is told after the server has locked all that goes, and a worker
 * keeps a lock on the journal for as long as it lives.  So an event trigger
 * refuses the commands that are known to drop the extension before they wait
 * for that lock, and make everybody else wait for them.
 *
 * Moves that have not ended and have no files are lost with the journal.  That
 * is a warning by the hook, which runs when nothing can begin any more: a
 * worker that has not begun waits for the journal and then finds none.
 *
 * The trigger also sees to it that the library is loaded when such a command
 * begins, removes the files of dead workers in its transaction, so that these
 * are in nobody's way, and keeps the extension's schemas from being renamed.
 * It looks at nothing but the command unless that is about the extension: any
 * role's DROP SCHEMA comes through here.  A superuser that wants to do without
 * disables it (event_triggers, ALTER EVENT TRIGGER ... DISABLE): the hook
 * lets superusers pass unless the trigger has fired in their transaction.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "move/job/journal.h"
#include "move/worker/drop_guard.h"
#include "move/worker/recover.h"
#include "compat.h"
#include "sample/installs.h"
#include "state/printable.h"
#include "state/state.h"
#include "tsa.h"

PG_FUNCTION_INFO_V1(tsa_finish_moves_before_drop);

/*
 * Is one of the names the extension's, or that of a schema which it is in?
 */
static bool
names_one_of(List *objects, const char *name, const char *other)
{
	ListCell   *lc;

	foreach(lc, objects)
	{
		const char *object = strVal(lfirst(lc));

		if (strcmp(object, name) == 0 ||
			(other != NULL && strcmp(object, other) == 0))
			return true;
	}
	return false;
}

/*
 * May the command drop the extension?  Then the files of dead workers go
 * first.  It goes with its schema, its owner or that of its schema, and by
 * CASCADE with objects that it depends on.
 */
static bool
may_drop_extension(Node *command)
{
	if (IsA(command, DropStmt))
	{
		DropStmt   *drop = (DropStmt *) command;

		switch (drop->removeType)
		{
			case OBJECT_EXTENSION:
				return drop->behavior == DROP_CASCADE ||
					names_one_of(drop->objects, "tablespace_advisor", NULL);
			case OBJECT_SCHEMA:
				return drop->behavior == DROP_CASCADE ||
					names_one_of(drop->objects, TSA_STATE_SCHEMA,
								 get_namespace_name(tsa_state_public_schema()));
			case OBJECT_LANGUAGE:
				return drop->behavior == DROP_CASCADE;
			default:
				return false;
		}
	}
	return IsA(command, DropOwnedStmt);
}

/*
 * Owner of a schema; InvalidOid if there is no such.
 */
static Oid
schema_owner(Oid schema)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID,
										ObjectIdGetDatum(schema));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/*
 * Does DROP OWNED drop a schema of the extension?
 */
static bool
owns_schema(List *roles)
{
	Oid			state = schema_owner(get_namespace_oid(TSA_STATE_SCHEMA, true));
	Oid			others = schema_owner(tsa_state_public_schema());
	ListCell   *lc;

	foreach(lc, roles)
	{
		Oid			role = get_rolespec_oid(lfirst(lc), true);

		if (OidIsValid(role) && (role == state || role == others))
			return true;
	}
	return false;
}

/*
 * Is the command known to drop the extension?  Other ways to drop it are left
 * to the hook.
 */
static bool
drops_extension(Node *command)
{
	DropStmt   *drop = (DropStmt *) command;
	bool		cascade;

	if (IsA(command, DropOwnedStmt))
		return owns_schema(((DropOwnedStmt *) command)->roles);
	if (!IsA(command, DropStmt))
		return false;
	cascade = drop->behavior == DROP_CASCADE;
	switch (drop->removeType)
	{
		case OBJECT_EXTENSION:
			return names_one_of(drop->objects, "tablespace_advisor",
								cascade ? "plpgsql" : NULL);
		case OBJECT_SCHEMA:
			return cascade &&
				names_one_of(drop->objects, TSA_STATE_SCHEMA,
							 get_namespace_name(tsa_state_public_schema()));
		case OBJECT_LANGUAGE:
			return cascade && names_one_of(drop->objects, "plpgsql", NULL);
		default:
			return false;
	}
}

/*
 * Does the command rename a schema of the extension?
 */
static bool
renames_schema(Node *command)
{
	RenameStmt *rename = (RenameStmt *) command;
	const char *schema;

	if (!IsA(command, RenameStmt) || rename->renameType != OBJECT_SCHEMA)
		return false;
	schema = get_namespace_name(tsa_state_public_schema());
	return strcmp(rename->subname, TSA_STATE_SCHEMA) == 0 ||
		(schema != NULL && strcmp(rename->subname, schema) == 0);
}

/*
 * Refuses changes of the extension by others than its owner.
 */
static void
check_owner(void)
{
	Oid			extension = tsa_state_extension();

	if (OidIsValid(extension) &&
		!tsa_owns_extension(extension, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of extension %s", "tablespace_advisor"),
				 errdetail("The extension is in the schema, or depends on what is to be dropped."),
				 errhint("Its owner can drop it with DROP EXTENSION.")));
}

/*
 * The job with files that the journal names, or 0. OFFSET: by the index of the
 * few that have files.
 */
static int64
job_with_files(void)
{
	static TsaStatement query = {
		"SELECT j.job_id FROM (SELECT * FROM tablespace_advisor.job"
		"   WHERE new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL"
		"   OFFSET 0) j"
		" WHERE j.system_identifier = $1 AND j.database = $2"
		" ORDER BY j.job_id LIMIT 1",
		2, {INT8OID, OIDOID}, NULL
	};
	Datum		values[2];
	TsaState	journal;
	int64		job_id = 0;

	values[0] = Int64GetDatum((int64) GetSystemIdentifier());
	values[1] = ObjectIdGetDatum(MyDatabaseId);
	tsa_journal_open(&journal);
	tsa_state_use_indexes();
	if (tsa_run(&query, values, NULL, TSA_READS) == 1)
		job_id = DatumGetInt64(tsa_result_column(0, "job_id"));
	tsa_state_close(&journal);
	return job_id;
}

/*
 * The transaction in which the event trigger has fired last, by its start.
 */
static TimestampTz trigger_fired = 0;

/*
 * Does a superuser do without the event trigger?  Then the journal is not read:
 * it may be damaged.
 */
static bool
does_without_trigger(void)
{
	return superuser() &&
		trigger_fired != GetCurrentTransactionStartTimestamp();
}

/*
 * Refuses to drop the extension, and its journal while that names files.  A
 * library of another version than the tables cannot read them, and must not
 * keep anybody from dropping them.
 */
static void
check_drop(bool journal)
{
	int64		job_id;

	if (does_without_trigger())
		return;
	check_owner();
	if (!journal || !tsa_state_is_current())
		return;
	job_id = job_with_files();
	if (job_id != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot drop extension \"%s\" while a move has files to remove",
						"tablespace_advisor"),
				 errdetail("Job " INT64_FORMAT " has not ended, or its files could not be removed.",
						   job_id),
				 errhint("Wait for the move, or end it with cancel_move().")));
}

/*
 * Warns of moves that are lost with the journal: those that the event trigger
 * has ended in this transaction, since no worker lives, and those whose worker
 * has not begun.  It is no error, or the script of pg_dump --clean would fail.
 */
static void
warn_of_lost_moves(void)
{
	static TsaStatement query = {
		"SELECT pg_catalog.count(*) OVER () AS n,"
		" pg_catalog.format('Job %s: %I.%I to tablespace %I.', job_id,"
		"   schema_name, relation_name, to_tablespace_name) AS job"
		" FROM tablespace_advisor.job"
		" WHERE system_identifier = $1 AND database = $2"
		" AND (state IN " TSA_UNFINISHED " OR state = 'failed'"
		"   AND sqlstate = $3 AND finished_at >= pg_catalog.now())"
		" ORDER BY job_id LIMIT 3",
		3, {INT8OID, OIDOID, TEXTOID}, NULL
	};
	Datum		values[3];
	TsaState	journal;
	StringInfoData jobs;
	uint64		shown;
	int64		n = 0;

	values[0] = Int64GetDatum((int64) GetSystemIdentifier());
	values[1] = ObjectIdGetDatum(MyDatabaseId);
	values[2] = CStringGetTextDatum(unpack_sql_state(ERRCODE_SYSTEM_ERROR));
	initStringInfo(&jobs);
	tsa_journal_open(&journal);
	shown = tsa_run(&query, values, NULL, TSA_READS);
	for (uint64 i = 0; i < shown; i++)
		appendStringInfo(&jobs, "%s%s", i > 0 ? " " : "",
						 tsa_printable_text(tsa_result_text(i, "job")));
	if (shown > 0)
		n = DatumGetInt64(tsa_result_column(0, "n"));
	if (n > (int64) shown)
		appendStringInfo(&jobs, " And " INT64_FORMAT " more.",
						 n - (int64) shown);
	tsa_state_close(&journal);
	if (n > 0)
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg_plural("a move that has not ended is dropped with extension \"%s\"",
							   "moves that have not ended are dropped with extension \"%s\"",
							   (unsigned long) n, "tablespace_advisor"),
				 errdetail("%s", jobs.data),
				 errhint("The relations stay where they are. To move them, create the extension and call it again.")));
}

/*
 * Is it the table of jobs?
 */
static bool
is_journal(Oid class, Oid object)
{
	const char *name;

	name = class == RelationRelationId ? get_rel_name(object) : NULL;
	return name != NULL && strcmp(name, "job") == 0 &&
		object == tsa_state_table("job");
}

/*
 * An object is about to be dropped.  The table of jobs goes before the
 * extension that it belongs to, so the journal can still be read.
 */
static pg_noinline void
before_drop(Oid class, Oid object, int column,
			const ObjectAccessDrop *drop)
{
	if (column != 0 || (drop->dropflags & PERFORM_DELETION_INTERNAL) != 0)
		return;
	if (is_journal(class, object))
	{
		check_drop(true);
		if (!does_without_trigger() && tsa_state_is_current())
			warn_of_lost_moves();
	}
	else if (class == ExtensionRelationId && object == tsa_state_extension())
		check_drop(false);
}

static object_access_hook_type next_object_access = NULL;

/* An object is made or dropped. */
static pg_noinline void
note_object(ObjectAccessType access, Oid class, Oid object, int column,
			void *arg)
{
	if (access == OAT_DROP)
		before_drop(class, object, column, arg);
	else if (access == OAT_POST_CREATE && class == ExtensionRelationId)
		tsa_note_install();
	if (next_object_access != NULL)
		next_object_access(access, class, object, column, arg);
}

/*
 * Hook: is told of accesses of many kinds, most often of function calls, which
 * are only passed on.
 */
static void
object_access(ObjectAccessType access, Oid class, Oid object, int column,
			  void *arg)
{
	if (unlikely(access == OAT_DROP || access == OAT_POST_CREATE))
		note_object(access, class, object, column, arg);
	else if (next_object_access != NULL)
		next_object_access(access, class, object, column, arg);
}

/* Registers the hook of this file when the library is loaded. */
void
tsa_init_drop_guard(void)
{
	next_object_access = object_access_hook;
	object_access_hook = object_access;
}

/*
 * The event trigger's function.
 */
Datum
tsa_finish_moves_before_drop(PG_FUNCTION_ARGS)
{
	EventTriggerData *event;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by an event trigger",
						"finish_moves_before_drop")));
	event = (EventTriggerData *) fcinfo->context;
	trigger_fired = GetCurrentTransactionStartTimestamp();
	if (renames_schema(event->parsetree))
		check_owner();
	if (may_drop_extension(event->parsetree) && tsa_state_is_current() &&
		tsa_owns_extension(tsa_state_extension(), GetUserId()))
	{
		if (drops_extension(event->parsetree))
			tsa_end_jobs();
		else
			(void) tsa_recover_jobs(false);
		CommandCounterIncrement();
	}
	if (OidIsValid(tsa_state_extension()) && drops_extension(event->parsetree))
		check_drop(true);
	PG_RETURN_NULL();
}
