/*-------------------------------------------------------------------------
 *
 * ddl.c
 *	  Commands of a worker on relations: REINDEX, ALTER ... SET TABLESPACE
 *	  and DROP INDEX.
 *
 * Event triggers.  A worker takes on a job's role, but the role that its
 * process was authenticated as remains the bootstrap superuser.  A command
 * that is run as a command fires event triggers; the owner of a table that
 * such a trigger's function writes to has code of its own run there, in no
 * restricted context, and SET SESSION AUTHORIZATION leads to the superuser.
 * So none is run as a command.  The functions that carry commands out are
 * called instead: they check the rights of the present role as ever, and fire
 * no event triggers.  The remaining user code is run by the server as the
 * table's owner in a security-restricted operation, where SET ROLE and SET
 * SESSION AUTHORIZATION are refused: functions of indexes that are built.
 *
 * Rejected: to connect as the owner, which is possible from 17 on only, and not
 * without the privilege CONNECT; a restricted context around the command, which
 * REINDEX CONCURRENTLY and its transactions do not allow.
 *
 * Deadlocks.  The commands that run concurrently keep ShareUpdateExclusive
 * while they wait for other transactions.  One of those that asks for a lock
 * in the way of that one has made a deadlock, and the next session that looks
 * for deadlocks fails: it, if the worker had looked only once, when it began
 * to wait.  So the worker looks again and again, and it is the move that
 * fails.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "move/common/relation.h"
#include "move/rebuild/ddl.h"
#include "state/damage.h"

/*
 * Begins a command that may end its transaction and begin others: all that it
 * allocates in the present memory context, and in PortalContext, outlives
 * them.
 */
static void
begin_command(const TsaSession *session, const char *what)
{
	debug_query_string = what;
	pgstat_report_activity(STATE_RUNNING, what);
	tsa_begin();
	MemoryContextSwitchTo(session->context);
	PushActiveSnapshot(GetTransactionSnapshot());
}

/* Commits a command, and reports its statistics, as a session does. */
static void
end_command(const TsaSession *session)
{
	if (ActiveSnapshotSet())
		PopActiveSnapshot();
	tsa_commit(session);
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
	debug_query_string = NULL;
}

/* How often a command that waits looks whether it is part of a deadlock. */
#define LOOK_MS 200

/*
 * Has the server's check for deadlocks done again and again, or ends that.  It
 * would log each time that we still wait.
 */
static void
look_for_deadlocks(bool begin)
{
	static TimeoutId timer = MAX_TIMEOUTS;
	static bool logs_waits;

	if (timer == MAX_TIMEOUTS)
		timer = RegisterTimeout(USER_TIMEOUT, CheckDeadLockAlert);
	if (begin)
	{
		TimestampTz first =
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LOOK_MS);

		logs_waits = log_lock_waits;
		log_lock_waits = false;
		enable_timeout_every(timer, first, LOOK_MS);
	}
	else
	{
		disable_timeout(timer, false);
		log_lock_waits = logs_waits;
	}
}

/*
 * Runs a REINDEX, outside any transaction.
 */
void
tsa_reindex(const TsaSession *session, const char *sql)
{
	ParseState *pstate;
	RawStmt    *parsetree;

	begin_command(session, sql);
	parsetree = linitial_node(RawStmt, pg_parse_query(sql));
	pstate = make_parsestate(NULL);
	pstate->p_sourcetext = sql;
	PortalContext = session->context;
	look_for_deadlocks(true);
	PG_TRY();
	{
		ExecReindex(pstate, castNode(ReindexStmt, parsetree->stmt), true);
	}
	PG_FINALLY();
	{
		look_for_deadlocks(false);
		PortalContext = NULL;
	}
	PG_END_TRY();
	end_command(session);
}

/*
 * Drops an index concurrently, outside any transaction, unless somebody else
 * owns it.
 */
void
tsa_drop_index(const TsaSession *session, Oid relid)
{
	ObjectAddresses *objects;
	ObjectAddress object;

	begin_command(session, "DROP INDEX CONCURRENTLY");
	if (!tsa_owns_relation(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX,
					   tsa_relation_name(relid));
	ObjectAddressSet(object, RelationRelationId, relid);
	objects = new_object_addresses();
	add_exact_object_address(&object, objects);
	look_for_deadlocks(true);
	PG_TRY();
	{
		performMultipleDeletions(objects, DROP_RESTRICT,
								 PERFORM_DELETION_CONCURRENTLY);
	}
	PG_FINALLY();
	{
		look_for_deadlocks(false);
	}
	PG_END_TRY();
	free_object_addresses(objects);
	end_command(session);
}

/*
 * Throws if a relation, or its TOAST table, has data behind its end: it would
 * go with the original.  Damaged pages before that are an error of the
 * server's, which reads the file.
 */
static void
check_end(Oid relid)
{
	MemoryContext context = CurrentMemoryContext;
	Relation	rel = relation_open(relid, AccessShareLock);

	PG_TRY();
	{
		if (RELKIND_HAS_STORAGE(rel->rd_rel->relkind))
			tsa_check_file_end(rel);
	}
	PG_CATCH();
	{
		tsa_rethrow_damage(rel, MAIN_FORKNUM, context);
	}
	PG_END_TRY();
	if (OidIsValid(rel->rd_rel->reltoastrelid))
		check_end(rel->rd_rel->reltoastrelid);
	relation_close(rel, NoLock);
}

/*
 * Changes a relation's tablespace under an AccessExclusive lock, in a
 * transaction of its own.
 */
void
tsa_alter_tablespace(const TsaSession *session, Oid relid, Oid tablespace)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);

	begin_command(session, "ALTER ... SET TABLESPACE");
	cmd->subtype = AT_SetTableSpace;
	cmd->name = pstrdup(tsa_tablespace_name(tablespace));
	LockRelationOid(relid, AccessExclusiveLock);
	(void) tsa_relation_name(relid);	/* it is still there */
	check_end(relid);
	AlterTableInternal(relid, list_make1(cmd), false);
	end_command(session);
}
