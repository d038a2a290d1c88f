/*-------------------------------------------------------------------------
 *
 * rebuild.c
 *	  Method rebuild: REINDEX (CONCURRENTLY, TABLESPACE ...), and the catalog
 *	  entry of a partitioned index or table.
 *
 * Locks.  REINDEX takes a name, the job has an OID.  ShareUpdateExclusive on
 * the table and then on the index, the order and the mode of REINDEX itself,
 * is held for the session from the moment the name is looked up, so that
 * nobody renames, drops or swaps the index before REINDEX has it.
 *
 * lock_timeout is not applied to a rebuild.  It would end most of them, since
 * REINDEX CONCURRENTLY waits for the transactions that are under way; but it
 * never waits for a lock that others queue up behind: the modes that it
 * requests conflict with no statement that reads or writes the table.
 *
 * Leftovers.  The table's indexes are noted before the rebuild begins.  When
 * it ends by an error, is cancelled or crashes, an invalid index that was not
 * among them and has the name of a concurrent rebuild of this one, or the old
 * index under its _ccold name, is what it left (the view "leftover").  In the
 * second case the new index is in place already, and the job is done.
 * They are dropped by DROP INDEX CONCURRENTLY, which blocks nobody, at the
 * end of the same worker or, when it did not get that far, of the next one.
 * Somebody else's index of such a name looks the same while CREATE INDEX
 * CONCURRENTLY builds it, under a ShareUpdateExclusive lock on the table.  So
 * the same locks as for the rebuild are held for the session, and the index
 * is looked at again under them, before and while it is dropped.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "move/journal.h"
#include "move/rebuild.h"
#include "move/worker.h"

/* Waits for locks that end in giving up: leftovers wait for another day. */
#define LEFTOVER_LOCK_TIMEOUT_MS "5000"
/* Tries to get a partitioned relation's lock, and the pause between them. */
#define CATALOG_ATTEMPTS 20
#define CATALOG_PAUSE_MS 500L

/*
 * Notes the index as it is and the table's other indexes: what comes on top
 * of them is the rebuild's.
 */
static void
note_known_indexes(const TsaJob *job)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job j SET phase = 'rebuilding',"
		" attempts = 1, old_index = j.relation,"
		" heap_bytes = pg_catalog.pg_relation_size(j.heap),"
		" schema_name = n.nspname, relation_name = c.relname,"
		" known_indexes = ARRAY(SELECT i.indexrelid"
		"   FROM pg_catalog.pg_index i WHERE i.indrelid = j.heap)"
		" FROM pg_catalog.pg_class c"
		"   JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
		" WHERE j.job_id = $1 AND c.oid = j.relation",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job->job_id);
	tsa_journal_update(&query, values, NULL);
}

/* The index that a job's rebuild has put in the place of its own. */
#define REBUILT \
	"SELECT j.relation, c.oid" \
	" FROM tablespace_advisor.job j" \
	"  JOIN pg_catalog.pg_index i ON i.indrelid = j.heap" \
	"  JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid" \
	"  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
	"  JOIN pg_catalog.pg_database d ON d.oid = j.database" \
	" WHERE j.job_id = $1 AND j.method = 'rebuild' AND i.indisvalid" \
	"  AND c.oid <> ALL (j.known_indexes)" \
	"  AND c.relname = j.relation_name AND n.nspname = j.schema_name" \
	"  AND j.to_tablespace = CASE c.reltablespace" \
	"    WHEN 0 THEN d.dattablespace ELSE c.reltablespace END"

/*
 * Has the job's index been rebuilt where it should be?  It may have been
 * although the rebuild ended by an error, or a crash, later on.  If so the job
 * is settled as done, and follows the new index, which has an OID of its own,
 * as do those that moved the index before.  In this order: somebody may have
 * queued a move of the new index already, and of one index only one
 * unfinished job can be.  [T]
 */
bool
tsa_rebuild_follow(int64 job_id)
{
	static TsaJournalQuery find = {REBUILT, 1, {INT8OID}, NULL};
	static TsaJournalQuery follow = {
		"WITH rebuilt AS (" REBUILT ")"
		" UPDATE tablespace_advisor.job j SET relation = r.oid"
		" FROM rebuilt r WHERE j.relation = r.relation"
		" AND j.state IN ('done', 'failed', 'cancelled')",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	if (tsa_journal_update(&find, values, NULL) == 0)
		return false;
	tsa_job_settle(job_id, TSA_JOB_DONE, NULL, NULL);
	tsa_journal_update(&follow, values, NULL);
	return true;
}

/* Counts the tries of a job without other progress. */
static void
note_attempt(const TsaJob *job, int attempt)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET attempts = $2 WHERE job_id = $1",
		2, {INT8OID, INT4OID}, NULL
	};
	Datum		values[2];

	values[0] = Int64GetDatum(job->job_id);
	values[1] = Int32GetDatum(attempt);
	tsa_journal_update(&query, values, NULL);
}

/* Session-level locks of a rebuild; after an error, tsa_abort() frees them. */
typedef struct IndexLock
{
	LockRelId	heap;
	LockRelId	index;
} IndexLock;

/*
 * Locks table and index against everything that builds, renames or replaces
 * the index.
 */
static void
lock_index(Oid heapid, Oid relid, IndexLock *lock)
{
	lock->heap.relId = heapid;
	lock->heap.dbId = MyDatabaseId;
	lock->index.relId = relid;
	lock->index.dbId = MyDatabaseId;

	LockRelationIdForSession(&lock->heap, ShareUpdateExclusiveLock);
	LockRelationIdForSession(&lock->index, ShareUpdateExclusiveLock);
	AcceptInvalidationMessages();
}

/* Locks a job's index, which must still be there. */
static void
lock_job_index(const TsaJob *job, IndexLock *lock)
{
	lock_index(job->heapid, job->relid, lock);
	if (get_rel_name(job->relid) == NULL ||
		IndexGetRelation(job->relid, true) != job->heapid)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", job->relid),
				 errdetail("It was dropped after the move was queued.")));
}

static void
unlock_index(IndexLock *lock)
{
	UnlockRelationIdForSession(&lock->index, ShareUpdateExclusiveLock);
	UnlockRelationIdForSession(&lock->heap, ShareUpdateExclusiveLock);
}

/*
 * Names in this transaction.  Somebody may have dropped the object since its
 * OID was noted, and nothing holds a tablespace that is empty.
 */
const char *
tsa_tablespace_name(Oid tablespace)
{
	const char *name = get_tablespace_name(tablespace);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tablespace with OID %u does not exist",
						tablespace)));
	return name;
}

const char *
tsa_relation_name(Oid relid)
{
	const char *name = get_rel_name(relid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return name;
}

/* Quoted names of a job's relation and target, for a command. */
static char *
relation_name(const TsaJob *job)
{
	const char *name = tsa_relation_name(job->relid);
	const char *schema = get_namespace_name(get_rel_namespace(job->relid));

	if (schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("schema of relation \"%s\" does not exist", name)));
	return quote_qualified_identifier(schema, name);
}

static const char *
target_name(const TsaJob *job)
{
	return quote_identifier(tsa_tablespace_name(job->target_tablespace));
}

/*
 * Looks the index up, notes what is there and builds the command, all in one
 * transaction; the command outlives it.
 */
static char *
prepare_rebuild(const TsaJob *job, IndexLock *lock)
{
	MemoryContext context = CurrentMemoryContext;
	Datum		size;
	char	   *sql;

	tsa_begin();
	lock_job_index(job, lock);
	size = DirectFunctionCall1(pg_table_size, ObjectIdGetDatum(job->relid));
	tsa_check_free_space(job->target_tablespace, DatumGetInt64(size));
	note_known_indexes(job);
	sql = MemoryContextStrdup(context,
							  psprintf("REINDEX (CONCURRENTLY, TABLESPACE %s) INDEX %s",
									   target_name(job), relation_name(job)));
	tsa_commit();
	return sql;
}

/*
 * Moves an index by rebuilding it.  Called outside any transaction as the
 * job's owner.
 */
void
tsa_rebuild(const TsaJob *job)
{
	IndexLock	lock;

	tsa_run_command(prepare_rebuild(job, &lock));
	unlock_index(&lock);
}

/* Runs a command; false when it did not get its lock in time. */
static bool
run_with_lock_timeout(const char *sql, int lock_timeout_ms)
{
	char		timeout[32];
	volatile bool done = true;

	snprintf(timeout, sizeof(timeout), "%d", lock_timeout_ms);
	SetConfigOption("lock_timeout", timeout, PGC_SUSET, PGC_S_OVERRIDE);
	PG_TRY();
	{
		tsa_run_command(sql);
	}
	PG_CATCH();
	{
		SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
		if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		(void) tsa_abort();
		done = false;
	}
	PG_END_TRY();
	SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	return done;
}

/*
 * Sets the tablespace of a partitioned index or table, which has no storage:
 * it is where new partitions, or their indexes, will be.  ALTER locks it
 * exclusively, so every try waits for lock_timeout at most.
 */
void
tsa_set_tablespace(const TsaJob *job)
{
	MemoryContext context = CurrentMemoryContext;
	bool		is_index = job->kind == RELKIND_PARTITIONED_INDEX;

	for (int attempt = 1; attempt <= CATALOG_ATTEMPTS; attempt++)
	{
		char	   *sql;

		tsa_begin();
		note_attempt(job, attempt);
		sql = MemoryContextStrdup(context,
								  psprintf("ALTER %s %s SET TABLESPACE %s",
										   is_index ? "INDEX" : "TABLE",
										   relation_name(job),
										   target_name(job)));
		tsa_commit();

		if (run_with_lock_timeout(sql, job->lock_timeout_ms))
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT |
						 WL_EXIT_ON_PM_DEATH, CATALOG_PAUSE_MS,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not lock the partitioned %s within %d attempts",
					is_index ? "index" : "table", CATALOG_ATTEMPTS)));
}

/* One index to be dropped, and the role that it belongs to. */
typedef struct Leftover
{
	Oid			owner;
	Oid			heapid;
	Oid			relid;
} Leftover;

/* Reads what past rebuilds left, in the caller's memory context. */
static List *
load_leftovers(void)
{
	static TsaJournalQuery query = {
		"SELECT DISTINCT ON (index) owner, heap, index"
		" FROM tablespace_advisor.leftover ORDER BY index, job_id",
		0, {0}, NULL
	};
	MemoryContext context = CurrentMemoryContext;
	TsaJournal	journal;
	List	   *leftovers = NIL;

	tsa_begin();
	tsa_journal_open(&journal);
	tsa_journal_run(&query, NULL, NULL, true);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext spi_context = MemoryContextSwitchTo(context);
		Leftover   *leftover = palloc(sizeof(Leftover));

		leftover->owner = DatumGetObjectId(tsa_journal_value(i, 1));
		leftover->heapid = DatumGetObjectId(tsa_journal_value(i, 2));
		leftover->relid = DatumGetObjectId(tsa_journal_value(i, 3));
		leftovers = lappend(leftovers, leftover);
		MemoryContextSwitchTo(spi_context);
	}
	tsa_journal_close(&journal);
	tsa_commit();
	return leftovers;
}

/*
 * The command that drops a leftover, or NULL if it is none (any more).  An
 * index that somebody is just building looks like one: under the lock it is
 * valid, or given up.
 */
static char *
leftover_command(const Leftover *leftover)
{
	static TsaJournalQuery query = {
		"SELECT pg_catalog.format('DROP INDEX CONCURRENTLY %I.%I',"
		"   schema_name, index_name)"
		" FROM tablespace_advisor.leftover WHERE index = $1 AND owner = $2",
		2, {OIDOID, OIDOID}, NULL
	};
	MemoryContext context = CurrentMemoryContext;
	TsaJournal	journal;
	Datum		values[2];
	char	   *command = NULL;

	values[0] = ObjectIdGetDatum(leftover->relid);
	values[1] = ObjectIdGetDatum(leftover->owner);
	tsa_journal_open(&journal);
	if (tsa_journal_run(&query, values, NULL, true) > 0)
	{
		MemoryContext spi_context = MemoryContextSwitchTo(context);

		command = TextDatumGetCString(tsa_journal_value(0, 1));
		MemoryContextSwitchTo(spi_context);
	}
	tsa_journal_close(&journal);
	return command;
}

/*
 * Locks a leftover, so that its name remains that of this very index, looks
 * again and builds the command, which outlives the transaction.
 */
static char *
prepare_drop(const Leftover *leftover, IndexLock *lock)
{
	MemoryContext context = CurrentMemoryContext;
	char	   *command;

	tsa_begin();
	lock_index(leftover->heapid, leftover->relid, lock);
	command = leftover_command(leftover);
	if (command != NULL)
		command = MemoryContextStrdup(context, command);
	tsa_commit();
	return command;
}

/* Forgets the rebuilds that have left nothing (any more). */
static void
forget_known_indexes(void)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job j SET known_indexes = NULL"
		" WHERE known_indexes IS NOT NULL"
		" AND state IN ('done', 'failed', 'cancelled')"
		" AND NOT EXISTS (SELECT FROM tablespace_advisor.leftover l"
		"   WHERE l.job_id = j.job_id)",
		0, {0}, NULL
	};

	tsa_begin();
	tsa_journal_update(&query, NULL, NULL);
	tsa_commit();
}

/* Drops one leftover; logs the error if that fails. */
static void
drop_leftover(const Leftover *leftover)
{
	PG_TRY();
	{
		IndexLock	lock;
		char	   *command;

		tsa_become_role(leftover->owner);
		command = prepare_drop(leftover, &lock);
		if (command != NULL)
			tsa_run_command(command);
		unlock_index(&lock);
	}
	PG_CATCH();
	{
		(void) tsa_abort();
	}
	PG_END_TRY();
	tsa_become_role(BOOTSTRAP_SUPERUSERID);
}

/*
 * Drops what rebuilds have left, each index as the role that rebuilt it.
 * What cannot be dropped now is left to the next worker.
 */
void
tsa_drop_leftovers(void)
{
	ListCell   *lc;

	SetConfigOption("lock_timeout", LEFTOVER_LOCK_TIMEOUT_MS, PGC_SUSET,
					PGC_S_OVERRIDE);
	foreach(lc, load_leftovers())
		drop_leftover(lfirst(lc));
	forget_known_indexes();
}
