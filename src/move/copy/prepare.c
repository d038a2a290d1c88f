/*-------------------------------------------------------------------------
 *
 * prepare.c
 *	  What can be moved by live copy, which relations a move takes, and their
 *	  new storage.
 *
 * A table takes its TOAST table along, and that table's valid index; and of
 * the indexes that its job names those that are still there, can be copied and
 * are not in the target already.  An invalid index, left over from a REINDEX
 * CONCURRENTLY that failed, stays where it is.
 *
 * With the table's lock in hand nothing is waited for, not even to look whether
 * an index can move: see "Order" in locks.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "move/copy/copy.h"
#include "move/copy/live_copy.h"
#include "move/plan/plan.h"

#define SMALL_COPY		INT64CONST(1048576) /* left to the checkpointer */

/*
 * Access methods of extensions that change an index that has been built by
 * generic WAL only, by the sources of bloom (contrib), pgvector 0.8 and RUM
 * 1.3.  The library is compared too: a name alone could be anybody's.
 */
static const struct
{
	const char *name;
	const char *library;
}			generic_wal_methods[] = {
	{"bloom", "$libdir/bloom"},
	{"hnsw", "$libdir/vector"},
	{"ivfflat", "$libdir/vector"},
	{"rum", "$libdir/rum"}
};

/*
 * Is the index's access method one of those?
 */
static bool
uses_generic_wal(Relation rel)
{
	const char *name = get_am_name(rel->rd_rel->relam);
	HeapTuple	tuple = SearchSysCache1(PROCOID,
										ObjectIdGetDatum(rel->rd_amhandler));
	bool		found = false;

	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		probin = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_probin, &isnull);
		const char *library = isnull ? "" : TextDatumGetCString(probin);

		for (int i = 0; i < (int) lengthof(generic_wal_methods); i++)
			found |= name != NULL &&
				strcmp(name, generic_wal_methods[i].name) == 0 &&
				strcmp(library, generic_wal_methods[i].library) == 0;
		ReleaseSysCache(tuple);
	}
	return found;
}

/*
 * May the hole in a page of this index be left out of its image?
 */
static bool
has_standard_pages(Relation rel)
{
	Oid			am = rel->rd_rel->relam;

	return am == BTREE_AM_OID || am == GIST_AM_OID || am == SPGIST_AM_OID;
}

/*
 * Does the log name every block that the index's access method changes?
 */
static bool
is_logged_by_block(Relation rel)
{
	Oid			am = rel->rd_rel->relam;

	return has_standard_pages(rel) || am == HASH_AM_OID ||
		am == GIN_AM_OID || am == BRIN_AM_OID || uses_generic_wal(rel);
}

/*
 * Why an index cannot be moved by live copy, or NULL.
 */
static const char *
obstacle_of_index(Relation rel)
{
	if (!rel->rd_index->indisvalid || !rel->rd_index->indisready ||
		!rel->rd_index->indislive)
		return "it is invalid or still being built";
	if (!is_logged_by_block(rel))
		return "it is not known how its access method writes the log";
	return NULL;
}

/*
 * The same for a table.  Its TOAST table, which moves along, need not have the
 * same access method.
 */
static const char *
obstacle_of_table(Relation rel)
{
	Oid			toastid = rel->rd_rel->reltoastrelid;
	bool		is_heap = rel->rd_tableam == GetHeapamTableAmRoutine();

	if (is_heap && OidIsValid(toastid))
	{
		Relation	toast = table_open(toastid, AccessShareLock);

		is_heap = toast->rd_tableam == GetHeapamTableAmRoutine();
		table_close(toast, AccessShareLock);
	}
	return is_heap ? NULL :
		"it is not known how its table access method writes the log";
}

/*
 * See live_copy.h.
 */
bool
tsa_live_copy_applies(Oid relid, const char **reason)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist any more",
						relid)));
	if (rel->rd_rel->relkind != RELKIND_INDEX &&
		rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_MATVIEW)
		*reason = "it is neither a table nor an index";
	else if (IsCatalogRelation(rel) || RelationIsMapped(rel))
		*reason = "it belongs to a system catalog";
	else if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		*reason = "it is unlogged, so that there is no write-ahead log to follow";
	else if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		*reason = "it is temporary";
	else if (rel->rd_rel->relkind == RELKIND_INDEX)
		*reason = obstacle_of_index(rel);
	else
		*reason = obstacle_of_table(rel);
	relation_close(rel, AccessShareLock);
	return *reason == NULL;
}

/*
 * Can a relation that would move along with the job's be copied, and has it to
 * be?  An index has to belong to this table.
 */
static bool
takes_part(const TsaCopy *copy, Oid relid, Oid heapid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	bool		is_index;
	bool		result;

	if (rel == NULL)
		return false;
	is_index = rel->rd_rel->relkind == RELKIND_INDEX;
	result = is_index == OidIsValid(heapid) &&
		(!is_index || (rel->rd_index->indrelid == heapid &&
					   obstacle_of_index(rel) == NULL)) &&
		tsa_locator_tablespace(tsa_rel_locator(rel)) !=
		copy->job->target_tablespace;
	relation_close(rel, AccessShareLock);
	return result;
}

/*
 * Adds a relation to the move; heapid is the table of an index, or 0.
 */
static void
add_relation(TsaCopy *copy, Oid relid, Oid heapid)
{
	TsaCopyRel *rel;

	if (copy->nrels == copy->max_rels)
	{
		Size		size;

		copy->max_rels = Max(8, copy->max_rels * 2);
		size = copy->max_rels * sizeof(TsaCopyRel);
		copy->rels = copy->rels ? repalloc(copy->rels, size) :
			MemoryContextAlloc(copy->cxt, size);
	}
	rel = &copy->rels[copy->nrels++];
	memset(rel, 0, sizeof(*rel));
	rel->relid = relid;
	rel->heapid = heapid;
	rel->lockmode = OidIsValid(heapid) ?
		ShareUpdateExclusiveLock : AccessShareLock;
}

/*
 * Adds a relation that may move along with the table, if it does.  Locks it
 * until the transaction ends, but does not wait for that: false if it cannot
 * be had.
 */
static bool
add_companion(TsaCopy *copy, Oid relid, Oid heapid)
{
	copy->blocked_on = relid;
	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	if (takes_part(copy, relid, heapid))
		add_relation(copy, relid, heapid);
	return true;
}

/*
 * Adds what moves along with a table, which is locked, as is its TOAST table.
 * False if a lock cannot be had.
 */
static bool
add_companions(TsaCopy *copy)
{
	if (OidIsValid(copy->toastid))
	{
		Relation	toast = table_open(copy->toastid, NoLock);
		List	   *indexes = RelationGetIndexList(toast);
		ListCell   *lc;

		table_close(toast, NoLock);
		if (!add_companion(copy, copy->toastid, InvalidOid))
			return false;
		foreach(lc, indexes)
			if (!add_companion(copy, lfirst_oid(lc), copy->toastid))
				return false;
	}
	for (int i = 0; i < copy->job->nindexes; i++)
		if (!add_companion(copy, copy->job->indexes[i], copy->heapid))
			return false;
	return true;
}

/*
 * Locks the TOAST table of a table, which is locked; false if that would have
 * to wait.  A table that is gone has none.
 */
static bool
lock_toast(TsaCopy *copy)
{
	Relation	heap = try_relation_open(copy->heapid, NoLock);

	if (heap == NULL)
		return true;
	copy->toastid = heap->rd_rel->reltoastrelid;
	relation_close(heap, NoLock);
	copy->blocked_on = copy->toastid;
	return !OidIsValid(copy->toastid) ||
		ConditionalLockRelationOid(copy->toastid, AccessShareLock);
}

/*
 * Throws unless the job's relation, which is locked, can be moved.
 */
static void
check_relation(const TsaCopy *copy)
{
	Oid			relid = copy->job->relid;
	Oid			target = copy->job->target_tablespace;
	const char *kind = copy->job->kind == RELKIND_INDEX ? "index" : "table";
	const char *reason;
	Relation	rel;

	if (!OidIsValid(copy->heapid) ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("%s with OID %u does not exist any more", kind,
						relid)));
	tsa_check_move_rights(copy->heapid, target);
	if (!tsa_live_copy_applies(relid, &reason))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move %s \"%s\" by live copy", kind,
						get_rel_name(relid)),
				 errdetail("This is because %s.", reason)));

	rel = relation_open(relid, NoLock);
	if (!CheckRelationTableSpaceMove(rel, target))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s \"%s\" is already in tablespace \"%s\"", kind,
						RelationGetRelationName(rel),
						get_tablespace_name(target))));
	relation_close(rel, NoLock);
}

/*
 * Lists the relations and locks them for the transaction.  False if a lock
 * cannot be had, or if a relation that would have moved along is not what it
 * was when it was listed.
 */
static bool
list_and_lock(TsaCopy *copy)
{
	bool		is_index = copy->job->kind == RELKIND_INDEX;

	copy->nrels = 0;
	copy->toastid = InvalidOid;
	copy->heapid = is_index ? IndexGetRelation(copy->job->relid, true) :
		copy->job->relid;
	if (OidIsValid(copy->heapid))
		LockRelationOid(copy->heapid, AccessShareLock);
	add_relation(copy, copy->job->relid, is_index ? copy->heapid : InvalidOid);
	if (is_index)
	{
		if (OidIsValid(copy->heapid) && !tsa_copy_try_lock(copy))
			return false;
		check_relation(copy);
		return true;
	}

	if (!lock_toast(copy))
		return false;
	check_relation(copy);
	if (!add_companions(copy) || !tsa_copy_try_lock(copy))
		return false;
	for (int i = 1; i < copy->nrels; i++)
		if (!takes_part(copy, copy->rels[i].relid, copy->rels[i].heapid))
		{
			copy->blocked_on = copy->rels[i].relid;
			return false;
		}
	return true;
}

/*
 * Adds a fork to be followed.
 */
static TsaCopyFork *
add_fork(TsaCopy *copy, TsaCopyRel *rel, ForkNumber number)
{
	TsaCopyFork *fork = &copy->forks[copy->nforks++];

	fork->rel = rel;
	fork->number = number;
	return fork;
}

/*
 * Notes the relations' storage and prepares the accounts of their forks.
 */
static void
note_storage(TsaCopy *copy)
{
	copy->forks = MemoryContextAllocZero(copy->cxt, sizeof(TsaCopyFork) * 2 *
										 (Size) copy->nrels);
	for (int i = 0; i < copy->nrels; i++)
	{
		TsaCopyRel *rel = &copy->rels[i];

		rel->rel = relation_open(rel->relid, NoLock);
		rel->source = tsa_rel_locator(rel->rel);
		rel->page_std = !OidIsValid(rel->heapid) ||
			has_standard_pages(rel->rel);
		rel->main = add_fork(copy, rel, MAIN_FORKNUM);
		if (!OidIsValid(rel->heapid))
			rel->vm = add_fork(copy, rel, VISIBILITYMAP_FORKNUM);
	}
	copy->progress.bytes_total = tsa_copy_source_bytes(copy);
	copy->checkpointer_syncs = copy->progress.bytes_total <= SMALL_COPY;
	for (int i = 0; i < copy->nrels; i++)
		relation_close(copy->rels[i].rel, NoLock);
}

/*
 * Checks and locks the relations, makes their new storage.  True if what is to
 * be moved was so small that it has been moved already.  Outside any
 * transaction.
 */
bool
tsa_copy_prepare(TsaCopy *copy)
{
	for (;;)
	{
		StartTransactionCommand();
		if (list_and_lock(copy))
			break;
		CommitTransactionCommand();
		tsa_copy_wait_for_lock(copy);
	}
	note_storage(copy);
	if (tsa_copy_small(copy))
		return true;
	tsa_copy_lock(copy);
	tsa_copy_create_storage(copy);
	CommitTransactionCommand();
	return false;
}
