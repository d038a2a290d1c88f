/*-------------------------------------------------------------------------
 *
 * state.c
 *	  Access to the extension's own tables.
 *
 * Nobody has the right to change them, so they are read and written as the
 * bootstrap superuser.  That no code but the server's runs with these rights
 * rests on the following, and every statement on these tables goes through
 * here:
 *
 * - A table tablespace_advisor.job that does not belong to the extension
 *   is never touched, nor locked.  Where the extension is not, or not any
 *   more, anybody may have made it, with triggers or as a view.  So the table's
 *   membership in the extension is looked up before it is locked, because the
 *   lock on somebody's own table can be withheld for ever, and again under the
 *   lock, which keeps DROP EXTENSION away until the transaction ends.
 * - Statements are constants, names are resolved with search_path
 *   "pg_catalog, pg_temp".
 * - The security context is restricted, so that nothing can make the change of
 *   user last.
 * - The tables' triggers, which keep rows of a publisher out (finish.sql), are
 *   for session_replication_role "replica" only, and it is "origin" here.
 *
 * A new library is in use as soon as it is installed, the tables are as they
 * were until ALTER EXTENSION ... UPDATE, which needs them exclusively.  A
 * caller that is about to use one finds that out under the same lock.
 *
 * An error leaves user, settings and snapshot to the abort of the caller's
 * transaction, which restores all three.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "state/state.h"
#include "tsa.h"

int			tsa_keep_history = 365;

/*
 * Defines the configuration parameter.
 */
void
tsa_init_state(void)
{
	DefineCustomIntVariable("tablespace_advisor.keep_history",
							"Sets for how many days ended moves, probes and samples are kept.",
							"0 keeps them for ever. The latest trustworthy probe of a tablespace is always kept.",
							&tsa_keep_history, 365, 0, INT_MAX / 2,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
}

/* An extension as it is in this database. */
typedef struct Extension
{
	Oid			oid;			/* InvalidOid if it is not there */
	Oid			schema;
	bool		is_current;		/* are its objects of this library's version? */
	bool		is_new;			/* made or updated by this transaction */
} Extension;

/* Looks up an extension; its OID is invalid if it is not there. */
static Extension
find_extension_by_name(const char *name)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	Extension	extension = {0};
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum(name));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_extension form = (Form_pg_extension) GETSTRUCT(tuple);
		bool		isnull;
		Datum		version = heap_getattr(tuple, Anum_pg_extension_extversion,
										   RelationGetDescr(rel), &isnull);
		TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

		extension.oid = form->oid;
		extension.schema = form->extnamespace;
		extension.is_current =
			strcmp(TextDatumGetCString(version), TSA_VERSION) == 0;
		extension.is_new = TransactionIdIsCurrentTransactionId(xmin);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return extension;
}

/* The same for this one. */
static Extension
find_extension(void)
{
	return find_extension_by_name("tablespace_advisor");
}

/*
 * Has this transaction made or updated the extension?
 */
bool
tsa_state_is_new(void)
{
	return find_extension().is_new;
}

/*
 * The schema that another extension was installed into; InvalidOid if it is not
 * here.
 */
Oid
tsa_state_schema_of(const char *extension)
{
	return find_extension_by_name(extension).schema;
}

/*
 * Is the extension in this database, and of this library's version?
 */
bool
tsa_state_is_current(void)
{
	return find_extension().is_current;
}

/*
 * Its OID; InvalidOid if it is not here.
 */
Oid
tsa_state_extension(void)
{
	return find_extension().oid;
}

/*
 * The schema that it was installed into.
 */
Oid
tsa_state_public_schema(void)
{
	return find_extension().schema;
}

/*
 * A table of the extension by its name; InvalidOid if there is none.
 */
Oid
tsa_state_table(const char *table)
{
	Oid			schema = get_namespace_oid(TSA_STATE_SCHEMA, true);
	Oid			relid = InvalidOid;
	Oid			extension;

	if (OidIsValid(schema))
		relid = get_relname_relid(table, schema);
	if (!OidIsValid(relid))
		return InvalidOid;
	extension = getExtensionOfObject(RelationRelationId, relid);
	return OidIsValid(extension) && extension == find_extension().oid ?
		relid : InvalidOid;
}

/*
 * A table of the extension by its name, locked until the transaction ends.  No
 * right on it is needed.
 */
Oid
tsa_state_lock(const char *table, LOCKMODE mode)
{
	for (;;)
	{
		Oid			relid = tsa_state_table(table);

		if (!OidIsValid(relid))
			return InvalidOid;
		LockRelationOid(relid, mode);
		if (tsa_state_table(table) == relid)
			return relid;
		/* dropped, or made anew, while we waited */
		UnlockRelationOid(relid, mode);
	}
}

/*
 * As tsa_state_lock(), but InvalidOid if that would have to wait.
 */
Oid
tsa_state_try_lock(const char *table, LOCKMODE mode)
{
	Oid			relid = tsa_state_table(table);

	if (!OidIsValid(relid) || !ConditionalLockRelationOid(relid, mode))
		return InvalidOid;
	if (tsa_state_table(table) == relid)
		return relid;
	UnlockRelationOid(relid, mode);
	return InvalidOid;
}

/*
 * Locks a table until the transaction ends.  Throws unless it is there and of
 * this library's version.
 */
void
tsa_state_check(const char *table, LOCKMODE mode)
{
	if (!OidIsValid(tsa_state_lock(table, mode)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is not installed in this database any more",
						"tablespace_advisor")));
	if (!find_extension().is_current)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is not of the version of its library",
						"tablespace_advisor"),
				 errdetail("The library's version is %s.", TSA_VERSION),
				 errhint("Run ALTER EXTENSION tablespace_advisor UPDATE; if the extension is newer than the library, restart the server or begin a new session.")));
}

/*
 * Throws unless the called function is of this library's version, with so many
 * arguments: while those were evaluated ALTER EXTENSION UPDATE can have
 * replaced it by one that takes others or returns something else.  Locks one
 * of the extension's tables until the transaction ends, so that it stays.
 */
void
tsa_check_signature(FunctionCallInfo fcinfo, const char *table, int nargs)
{
	Oid			function = fcinfo->flinfo->fn_oid;

	tsa_state_check(table, AccessShareLock);
	if (PG_NARGS() != nargs ||
		!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(function)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the function was replaced while its arguments were evaluated"),
				 errhint("Call it again.")));
}

/*
 * Refuses a function with an effect beyond its result where the server runs
 * the code of a table's owner for somebody else: functions of indexes under
 * ANALYZE or REINDEX, in a worker of ours, too.  Leftovers of such code would
 * be in the session of the role that maintains the table.
 */
void
tsa_refuse_restricted_operation(FunctionCallInfo fcinfo)
{
	if (InSecurityRestrictedOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot execute %s() within security-restricted operation",
						get_func_name(fcinfo->flinfo->fn_oid))));
}

/*
 * May a procedure commit, called as it is?
 */
bool
tsa_may_commit(FunctionCallInfo fcinfo)
{
	CallContext *call = (CallContext *) fcinfo->context;

	return call != NULL && IsA(call, CallContext) && !call->atomic &&
		!IsSubTransaction();
}

/*
 * Sets a parameter until tsa_state_close().
 */
static void
override(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Citus has a planner hook that leaves shards out of reads of pg_class unless
 * told not to.  For the caller's nest level of settings.
 */
void
tsa_state_show_all_relations(void)
{
	if (GetConfigOption("citus.override_table_visibility", true, false) != NULL)
		override("citus.override_table_visibility", "off");
}

/*
 * Until tsa_state_close() no table is read in full that an index leads into:
 * how large the journal is, others decide, and before it has been analyzed the
 * planner takes its few open jobs for most of it.
 */
void
tsa_state_use_indexes(void)
{
	override("enable_seqscan", "off");
}

/*
 * Takes on the rights to read and write the tables, which the caller has
 * locked, with settings that no caller can have chosen, a snapshot of now and
 * an SPI connection.
 */
void
tsa_state_open(TsaState *state)
{
	const char *restricted;

	GetUserIdAndSecContext(&state->userid, &state->sec_context);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID,
						   state->sec_context |
						   SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	state->guc_level = NewGUCNestLevel();
	override("search_path", "pg_catalog, pg_temp");
	if (SessionReplicationRole != SESSION_REPLICATION_ROLE_ORIGIN)
		override("session_replication_role", "origin");

	tsa_state_show_all_relations();

	/* recent minor releases can forbid views, of which we read our own */
	restricted = GetConfigOption("restrict_nonsystem_relation_kind", true,
								 false);
	if (restricted != NULL && restricted[0] != '\0')
		override("restrict_nonsystem_relation_kind", "");
	PushActiveSnapshot(GetLatestSnapshot());
	SPI_connect();
}

/*
 * Undoes tsa_state_open().
 */
void
tsa_state_close(TsaState *state)
{
	SPI_finish();
	PopActiveSnapshot();
	AtEOXact_GUC(false, state->guc_level);
	SetUserIdAndSecContext(state->userid, state->sec_context);
}
