/*-------------------------------------------------------------------------
 *
 * drop_guard.c
 *	  Keeps the extension from being dropped while its journal names files, or
 *	  by others than its owner.
 *
 * The journal is all that knows of a copy whose worker died, or of an old file
 * that is still to be removed.  If it goes they stay for good.  An extension's
 * own sql_drop trigger is gone when DROP EXTENSION would fire it, so this one
 * fires at the start of the commands that can drop the extension, with its
 * tables still there.  It removes the files of dead workers in the transaction
 * of the command, and refuses the command while there are others: those of a
 * live worker, or on a device that cannot be reached.
 *
 * The owner of a database owns its schema public.  With that he could drop the
 * extension in the middle of somebody's call, or rename the schema, and make
 * tables and functions of the names that the call, or a statement that was
 * handed out, goes on to use as whoever runs it.  The server asks for the
 * ownership of the extension for DROP EXTENSION only; here it is asked for
 * whatever comes to that.
 *
 * Any role's DROP SCHEMA comes through here, so it looks at nothing but the
 * command unless that is about the extension.  It is not for a superuser who
 * wants to do without (event_triggers, ALTER EVENT TRIGGER ... DISABLE).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "move/job/journal.h"
#include "move/worker/recover.h"
#include "compat.h"
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
 * May the extension go with one of these by CASCADE?  Its functions are in
 * PL/pgSQL, and its schema may belong to another extension, which in turn may
 * need any other.
 */
static bool
goes_with_extension(List *extensions)
{
	return names_one_of(extensions, "plpgsql", NULL) ||
		OidIsValid(getExtensionOfObject(NamespaceRelationId,
										tsa_state_public_schema()));
}

/*
 * May the command drop the extension?  It goes with its schema, with its owner
 * (who owns the schema of its state, too) or that of its schema, and by CASCADE
 * with another extension that it needs.
 */
static bool
may_drop_extension(Node *command)
{
	if (IsA(command, DropStmt))
	{
		DropStmt   *drop = (DropStmt *) command;

		if (drop->removeType == OBJECT_EXTENSION)
			return names_one_of(drop->objects, "tablespace_advisor", NULL) ||
				(drop->behavior == DROP_CASCADE &&
				 goes_with_extension(drop->objects));
		return drop->removeType == OBJECT_SCHEMA &&
			names_one_of(drop->objects, TSA_STATE_SCHEMA,
						 get_namespace_name(tsa_state_public_schema()));
	}
	if (IsA(command, DropOwnedStmt))
	{
		Oid			state = get_namespace_oid(TSA_STATE_SCHEMA, true);
		ListCell   *lc;

		foreach(lc, ((DropOwnedStmt *) command)->roles)
		{
			Oid			role = get_rolespec_oid(lfirst(lc), true);

			if (role == schema_owner(state) ||
				role == schema_owner(tsa_state_public_schema()))
				return true;
		}
	}
	return false;
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
 * Refuses a command on the extension to others than its owner, as the server
 * does itself for DROP EXTENSION, but for what CASCADE comes to.
 */
static void
check_owner(Node *command)
{
	Oid			extension = tsa_state_extension();

	if (IsA(command, DropStmt) &&
		((DropStmt *) command)->removeType == OBJECT_EXTENSION &&
		names_one_of(((DropStmt *) command)->objects, "tablespace_advisor",
					 NULL))
		return;
	if (OidIsValid(extension) &&
		!tsa_owns_extension(extension, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of extension %s", "tablespace_advisor"),
				 errdetail("The extension is in the schema, or depends on what is to be dropped."),
				 errhint("Its owner can drop it with DROP EXTENSION.")));
}

/*
 * The job whose files the journal names, or 0.
 */
static int64
job_with_files(void)
{
	static TsaJournalQuery query = {
		"SELECT job_id FROM tablespace_advisor.job"
		" WHERE (new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL)"
		" AND system_identifier = $1 AND database = $2"
		" ORDER BY job_id LIMIT 1",
		2, {INT8OID, OIDOID}, NULL
	};
	Datum		values[2];
	TsaJournal	journal;
	int64		job_id = 0;

	values[0] = Int64GetDatum((int64) GetSystemIdentifier());
	values[1] = ObjectIdGetDatum(MyDatabaseId);
	tsa_journal_open(&journal);
	if (tsa_journal_run(&query, values, NULL, true) == 1)
		job_id = DatumGetInt64(tsa_journal_column(0, "job_id"));
	tsa_journal_close(&journal);
	return job_id;
}

/*
 * The event trigger's function.  A library of another version than the tables
 * cannot read them, and must not keep anybody from dropping them.
 */
Datum
tsa_finish_moves_before_drop(PG_FUNCTION_ARGS)
{
	EventTriggerData *event;
	int64		job_id;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by an event trigger",
						"finish_moves_before_drop")));
	event = (EventTriggerData *) fcinfo->context;
	if (renames_schema(event->parsetree))
		check_owner(event->parsetree);
	if (!may_drop_extension(event->parsetree))
		PG_RETURN_NULL();
	check_owner(event->parsetree);
	if (!tsa_state_is_current())
		PG_RETURN_NULL();

	tsa_recover_jobs();
	CommandCounterIncrement();
	job_id = job_with_files();
	if (job_id != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot drop extension \"%s\" while a move has files to remove",
						"tablespace_advisor"),
				 errdetail("Job " INT64_FORMAT " has not ended, or its files could not be removed.",
						   job_id),
				 errhint("Wait for the move, or end it with cancel_move().")));
	PG_RETURN_NULL();
}
