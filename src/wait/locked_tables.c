/*-------------------------------------------------------------------------
 *
 * locked_tables.c
 *	  The reads of a transaction by table, looked at when it ends.
 *
 * Nobody tells which tables VACUUM of a whole database, REINDEX of a schema or
 * an autovacuum worker works on.  Each table has a transaction of its own, and
 * until that has committed the process holds a lock on the table that is at
 * least ShareUpdateExclusive.  So a look before the commit finds the tables
 * among its own locks, and in their counters (those of the process, as in
 * relations.c) the misses of them, of their indexes and (ANALYZE) of their
 * partitions.
 *
 * Only tables that this process has locked are opened, for the list of their
 * indexes; counters are found by OID.  The list of locks is read as
 * LockReleaseAll() does: other processes may add to it (when they transfer a
 * fast-path lock), under the partition's lock.
 *
 * Last-seen counters are kept for the relations looked at most recently.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "utils/pgstat_internal.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "compat.h"
#include "wait/local.h"
#include "wait/relations.h"
#include "wait/span.h"
#include "wait/locked_tables.h"

#define MAX_SEEN	256
#define MAX_LOCKED	64			/* relations of one transaction */

/* A link of a list of locks, as all versions have it; its ends are a head. */
typedef struct Link
{
	struct Link *previous;
	struct Link *next;			/* NULL in a head: the list was never used */
} Link;

/* The misses of a relation at the last look. */
typedef struct Seen
{
	Oid			relid;
	uint64		misses;
} Seen;

static Seen seen_relations[MAX_SEEN];
static int	nseen = 0;
static int	oldest = 0;

/*
 * Reads since the last look that are not accounted for.
 */
TsaWaitCounters
tsa_look(TsaWaitLook *look)
{
	TsaWaitCounters now = tsa_wait_counters();
	TsaWaitCounters own = {
		.reads = now.reads - look->seen.reads -
		(tsa_accounted.reads - look->accounted.reads),
		.ns = now.ns - look->seen.ns -
		(tsa_accounted.ns - look->accounted.ns)
	};

	look->seen = now;
	look->accounted = tsa_accounted;
	return own;
}

/*
 * The counters have begun anew.
 */
void
tsa_forget_tables(void)
{
	nseen = oldest = 0;
}

/* The last-seen counter of a relation: 0 if it is new. */
static Seen *
seen_of(Oid relid)
{
	Seen	   *seen;

	for (int i = 0; i < nseen; i++)
		if (seen_relations[i].relid == relid)
			return &seen_relations[i];
	if (nseen < MAX_SEEN)
		seen = &seen_relations[nseen++];
	else
	{
		seen = &seen_relations[oldest];
		oldest = (oldest + 1) % MAX_SEEN;
	}
	seen->relid = relid;
	seen->misses = 0;
	return seen;
}

/* The misses of a relation since the last look. */
static uint64
new_misses(Oid relid, bool is_shared)
{
	PgStat_EntryRef *entry =
	pgstat_fetch_pending_entry(PGSTAT_KIND_RELATION,
							   is_shared ? InvalidOid : MyDatabaseId,
							   relid);
	Seen	   *seen = seen_of(relid);
	uint64		before = seen->misses;
	uint64		fetched = 0;
	uint64		hits = 0;

	if (entry != NULL)
		(void) tsa_relation_counts(entry->pending, &fetched, &hits);
	seen->misses = fetched - hits;
	/* less than before: these were sent, and not noticed */
	return seen->misses < before ? seen->misses : seen->misses - before;
}

/* Adds so many reads to a relation. */
static void
add_reads(Oid relid, uint64 reads, const TsaReader *reader,
		  const TsaWaitCounters *own, uint64 *left)
{
	TsaWaitFigures figures = {.calls = 1,.reads = reads};

	if (reads == 0)
		return;
	figures.waited_ns = (uint64) ((double) own->ns * (double) reads /
								  (double) own->reads);
	*left -= reads;
	tsa_local_add_relation(relid, reader->class, reader->access, &figures,
						   NULL);
	if (reader->statement != NULL && reader->statement->queryid != 0)
		tsa_local_add_share(reader->statement, relid, reader->access,
							&figures);
}

/* Adds the reads of a relation, up to *left. */
static void
add_relation(Oid relid, bool is_shared, const TsaReader *reader,
			 const TsaWaitCounters *own, uint64 *left)
{
	uint64		misses = new_misses(relid, is_shared);

	add_reads(relid, Min(misses, *left), reader, own, left);
}

/*
 * Adds the reads of a locked table, of its indexes, and of the tables that
 * inherit from it.  *left: the part of the reader's own reads for which no
 * relation was found so far.
 */
void
tsa_add_table(Oid relid, const TsaReader *reader, const TsaWaitCounters *own,
			  uint64 *left)
{
	Relation	table = RelationIdGetRelation(relid);
	bool		is_shared;
	List	   *indexes = NIL;
	List	   *children = NIL;
	ListCell   *cell;

	if (table == NULL)
		return;
	is_shared = table->rd_rel->relisshared;
	if (table->rd_rel->relhasindex)
		indexes = RelationGetIndexList(table);
	if (table->rd_rel->relhassubclass)
		children = find_all_inheritors(relid, NoLock, NULL);
	RelationClose(table);
	add_relation(relid, is_shared, reader, own, left);
	foreach(cell, indexes)
		add_relation(lfirst_oid(cell), is_shared, reader, own, left);
	foreach(cell, children)
		add_relation(lfirst_oid(cell), is_shared, reader, own, left);
	list_free(indexes);
	list_free(children);
}

/* The relations of this database that are locked at least like by VACUUM. */
static int
find_locked(Oid *relids)
{
	const LOCKMASK modes = ~(LOCKBIT_ON(ShareUpdateExclusiveLock) - 1);
	int			n = 0;

	for (int i = 0; i < NUM_LOCK_PARTITIONS; i++)
	{
		const Link *head = (const Link *) &MyProc->myProcLocks[i];

		StaticAssertStmt(sizeof(MyProc->myProcLocks[0]) == sizeof(Link) &&
						 sizeof(((PROCLOCK *) 0)->procLink) == sizeof(Link),
						 "a list of locks is not what was expected");
		if (head->next == NULL || head->next == head)
			continue;
		LWLockAcquire(LockHashPartitionLockByIndex(i), LW_SHARED);
		for (const Link *link = head->next; link != head && n < MAX_LOCKED;
			 link = link->next)
		{
			const PROCLOCK *own = (const PROCLOCK *)
			((const char *) link - offsetof(PROCLOCK, procLink));
			const LOCKTAG *tag = &own->tag.myLock->tag;

			if (tag->locktag_type == LOCKTAG_RELATION &&
				(tag->locktag_field1 == MyDatabaseId ||
				 tag->locktag_field1 == InvalidOid) &&	/* shared */
				tag->locktag_lockmethodid == DEFAULT_LOCKMETHOD &&
				(own->holdMask & modes) != 0)
				relids[n++] = tag->locktag_field2;
		}
		LWLockRelease(LockHashPartitionLockByIndex(i));
	}
	return n;
}

/*
 * Adds the reads of the tables that this process has locked for maintenance.
 * Unexplained reads go to the one that was read most: its parallel workers,
 * which have counters of their own, and catalogs.
 */
void
tsa_add_locked_tables(const TsaReader *reader, const TsaWaitCounters *own,
					  uint64 *left)
{
	Oid			relids[MAX_LOCKED];
	Oid			largest = InvalidOid;
	uint64		most = 0;
	int			n;

	if (*left == 0)
		return;
	n = find_locked(relids);
	for (int i = 0; i < n && *left > 0; i++)
	{
		uint64		before = *left;

		tsa_add_table(relids[i], reader, own, left);
		if (before - *left > most)
		{
			most = before - *left;
			largest = relids[i];
		}
	}
	if (OidIsValid(largest))
		add_reads(largest, *left, reader, own, left);
}
