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
 * Damage.  REINDEX reads the table through shared buffers.  A damaged page is
 * an error to this process.  Pages that other sessions have had zeroed in
 * shared buffers are looked for before; those zeroed during the rebuild are
 * missing from the new index, as with any REINDEX.
 *
 * Indexes that a rebuild may leave, and how they are removed:
 * transient_index.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
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
#include "storage/smgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "move/common/dumps.h"
#include "move/common/relation.h"
#include "move/common/session.h"
#include "move/common/sleep.h"
#include "move/job/job.h"
#include "move/job/journal.h"
#include "move/rebuild/ddl.h"
#include "move/rebuild/rebuild.h"
#include "state/damage.h"

/* Tries to get a partitioned relation's lock, and the pause between them. */
#define CATALOG_ATTEMPTS 20
#define CATALOG_PAUSE_MS 500

/*
 * Notes the index as it is and the table's other indexes: any that come on top
 * of them are the rebuild's.
 */
static void
note_known_indexes(const TsaJob *job)
{
	static TsaStatement query = {
		"UPDATE tablespace_advisor.job j SET phase = 'rebuilding',"
		" attempts = 1, old_index = j.relation,"
		" heap_bytes = pg_catalog.pg_relation_size(j.heap),"
		" schema_name = n.nspname, relation_name = c.relname,"
		" known_indexes = CASE WHEN j.interruptions > 0"
		"     AND j.known_indexes IS NOT NULL THEN j.known_indexes"
		"   ELSE ARRAY(SELECT i.indexrelid"
		"     FROM pg_catalog.pg_index i WHERE i.indrelid = j.heap) END"
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
 * ends as done, and follows the new index, which has an OID of its own,
 * as do those that moved the index before.  In this order: somebody may have
 * queued a move of the new index already, and of one index only one
 * unfinished job can be.  [T]
 */
bool
tsa_follow_rebuild(int64 job_id)
{
	static TsaStatement find = {REBUILT, 1, {INT8OID}, NULL};
	static TsaStatement follow = {
		"WITH rebuilt AS (" REBUILT ")"
		" UPDATE tablespace_advisor.job j SET relation = r.oid"
		" FROM rebuilt r WHERE j.relation = r.relation"
		" AND j.state IN ('done', 'failed', 'cancelled')",
		1, {INT8OID}, NULL
	};
	TsaJobEnd	done = {.state = TSA_JOB_DONE};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	if (tsa_journal_update(&find, values, NULL) == 0)
		return false;
	tsa_finish_job(job_id, &done);
	tsa_journal_update(&follow, values, NULL);
	return true;
}

/* Counts the tries of a job without other progress. */
static void
note_attempt(const TsaJob *job, int attempt)
{
	static TsaStatement query = {
		"UPDATE tablespace_advisor.job SET attempts = $2 WHERE job_id = $1",
		2, {INT8OID, INT4OID}, NULL
	};
	Datum		values[2];

	values[0] = Int64GetDatum(job->job_id);
	values[1] = Int32GetDatum(attempt);
	tsa_journal_update(&query, values, NULL);
}

/*
 * Locks table and index against everything that builds, renames or replaces
 * the index.
 */
void
tsa_lock_index(Oid heapid, Oid relid, TsaIndexLock *lock)
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
lock_job_index(const TsaJob *job, TsaIndexLock *lock)
{
	tsa_lock_index(job->heapid, job->relid, lock);
	if (get_rel_name(job->relid) == NULL ||
		IndexGetRelation(job->relid, true) != job->heapid)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", job->relid),
				 errdetail("It was dropped after the move was queued.")));
}

/* Releases the session-level locks on an index and its table. */
void
tsa_unlock_index(TsaIndexLock *lock)
{
	UnlockRelationIdForSession(&lock->index, ShareUpdateExclusiveLock);
	UnlockRelationIdForSession(&lock->heap, ShareUpdateExclusiveLock);
}

/* Quoted names of a job's relation and target, for a command. */
static char *
relation_name(const TsaJob *job)
{
	const char *name = get_rel_name(job->relid);
	const char *schema = get_namespace_name(get_rel_namespace(job->relid));

	if (name == NULL || schema == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", job->relid)));
	return quote_qualified_identifier(schema, name);
}

/* The quoted name of the target. */
static const char *
target_name(const TsaJob *job)
{
	return quote_identifier(tsa_tablespace_name(job->target_tablespace));
}

/*
 * Throws if shared buffers have a page of the table in place of a damaged one,
 * or the table has data behind its end: the new index would lack rows that are
 * there again once the table has been repaired.
 */
static void
check_heap(const TsaJob *job)
{
	MemoryContext context = CurrentMemoryContext;
	Relation	heap = table_open(job->heapid, NoLock);

	PG_TRY();
	{
		tsa_check_file_end(heap);
		tsa_check_cached_pages(heap);
	}
	PG_CATCH();
	{
		tsa_rethrow_damage(heap, MAIN_FORKNUM, context);
	}
	PG_END_TRY();
	table_close(heap, NoLock);
}

/*
 * Throws if the file of the index cannot be opened, but for one that is not
 * there: the server drops it after a commit, where an error is a PANIC, again
 * and again in recovery.
 */
static void
check_index(const TsaJob *job)
{
	Relation	index = relation_open(job->relid, NoLock);

	(void) smgrexists(RelationGetSmgr(index), MAIN_FORKNUM);
	relation_close(index, NoLock);
}

/*
 * Looks the index up, notes the present indexes and builds the command, all in
 * one transaction; the command outlives it.
 */
static char *
prepare_rebuild(const TsaSession *session, const TsaJob *job,
				TsaIndexLock *lock)
{
	MemoryContext context = CurrentMemoryContext;
	Datum		size;
	char	   *sql;

	tsa_begin();
	lock_job_index(job, lock);
	check_heap(job);
	check_index(job);
	size = DirectFunctionCall1(pg_table_size, ObjectIdGetDatum(job->relid));
	tsa_check_free_space(job->target_tablespace, DatumGetInt64(size));
	note_known_indexes(job);
	sql = MemoryContextStrdup(context,
							  psprintf("REINDEX (CONCURRENTLY, TABLESPACE %s) INDEX %s",
									   target_name(job), relation_name(job)));
	tsa_commit(session);
	return sql;
}

/*
 * Moves an index by rebuilding it.  Called outside any transaction as the
 * job's owner.
 */
void
tsa_rebuild(const TsaSession *session, const TsaJob *job)
{
	TsaIndexLock lock;

	tsa_reindex(session, prepare_rebuild(session, job, &lock));
	tsa_unlock_index(&lock);
}

/* Changes the tablespace; false when it did not get its lock in time. */
static bool
alter_with_lock_timeout(TsaSession *session, const TsaJob *job)
{
	char		timeout[32];
	volatile bool done = true;

	snprintf(timeout, sizeof(timeout), "%d", job->lock_timeout_ms);
	SetConfigOption("lock_timeout", timeout, PGC_SUSET, PGC_S_SESSION);
	PG_TRY();
	{
		tsa_alter_tablespace(session, job->relid, job->target_tablespace);
	}
	PG_CATCH();
	{
		SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_SESSION);
		if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		(void) tsa_abort(session);
		done = false;
	}
	PG_END_TRY();
	SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_SESSION);
	return done;
}

/* Pauses between two tries. */
static void
pause_between_tries(TsaSession *session)
{
	if (session->waits != NULL)
		session->waits(session);
	tsa_sleep(CATALOG_PAUSE_MS);
}

/*
 * Sets the tablespace of a relation by ALTER: of a partitioned index or table,
 * which has no storage (it is where new partitions, or their indexes, will be),
 * or, by method "lock", of one that is copied under that lock.  Every try waits
 * for the lock for lock_timeout at most.  None is made while a dump holds the
 * relation.
 */
void
tsa_set_tablespace(TsaSession *session, const TsaJob *job)
{
	bool		is_index = job->kind == RELKIND_PARTITIONED_INDEX ||
	job->kind == RELKIND_INDEX;

	for (int attempt = 1; attempt <= CATALOG_ATTEMPTS; attempt++)
	{
		tsa_begin();
		note_attempt(job, attempt);
		tsa_commit(session);

		while (tsa_find_dump(job->relid) != 0)
			pause_between_tries(session);
		if (alter_with_lock_timeout(session, job))
			return;
		pause_between_tries(session);
	}
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not lock the %s%s within %d attempts",
					job->method == TSA_METHOD_CATALOG ? "partitioned " : "",
					is_index ? "index" : "table", CATALOG_ATTEMPTS)));
}
