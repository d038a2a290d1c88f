/*-------------------------------------------------------------------------
 *
 * prepare.c
 *	  Which relations a live copy takes, and their new storage.
 *
 * A table takes its TOAST table along, and that table's valid index; and of
 * the indexes that its job names those that are still there, can be copied and
 * are not in the target already.  An invalid index, left over from a REINDEX
 * CONCURRENTLY that failed, stays where it is.
 *
 * No lock is waited for in the queue, not even to look whether an index can
 * move: see "Order" in locks.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "move/common/eligible.h"
#include "move/common/relation.h"
#include "move/common/session.h"
#include "move/common/stop_point.h"
#include "move/copy/copy.h"
#include "move/copy/storage.h"
#include "state/damage.h"


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
					   tsa_find_index_obstacle(rel) == NULL)) &&
		tsa_locator_tablespace(tsa_rel_locator(rel)) !=
		copy->order->target_tablespace;
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
add_dependent(TsaCopy *copy, Oid relid, Oid heapid)
{
	copy->blocked_on = relid;
	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	if (takes_part(copy, relid, heapid))
		add_relation(copy, relid, heapid);
	return true;
}

/*
 * Has an index that moves along been rebuilt meanwhile (REINDEX CONCURRENTLY,
 * ALTER TYPE of its column, dropped and made again)?  It is another relation of
 * the same name then, and takes its predecessor's place in the order, also for
 * undo_move().
 */
static bool
follow_rebuilt_index(TsaCopy *copy, int i)
{
	TsaCopyOrder *order = copy->order;
	Oid			relid =
	get_relname_relid(NameStr(order->index_names[i]),
					  get_rel_namespace(copy->heapid));

	for (int j = 0; j < order->nindexes; j++)
		if (order->indexes[j] == relid)
			return false;
	if (get_rel_relkind(relid) != RELKIND_INDEX ||
		IndexGetRelation(relid, true) != copy->heapid)
		return false;
	order->indexes[i] = relid;
	copy->callbacks->indexes_changed(copy->callbacks->arg, order->indexes,
									 order->nindexes);
	return true;
}

/*
 * Adds an index of the order, or the one that has taken its place.  False if a
 * lock cannot be had.
 */
static bool
add_index(TsaCopy *copy, int i)
{
	int			n = copy->nrels;

	do
	{
		if (!add_dependent(copy, copy->order->indexes[i], copy->heapid))
			return false;
	} while (copy->nrels == n && follow_rebuilt_index(copy, i));
	return true;
}

/*
 * Notes the names of the order's indexes.  All of them are locked that take
 * part, so none has that of an index which is being rebuilt.
 */
static void
note_index_names(TsaCopyOrder *order)
{
	for (int i = 0; i < order->nindexes; i++)
	{
		char	   *name = get_rel_name(order->indexes[i]);

		if (name != NULL)
			namestrcpy(&order->index_names[i], name);
	}
}

/*
 * Adds the relations that move along with a table, which is locked, as is its
 * TOAST table.  False if a lock cannot be had.
 */
static bool
add_dependents(TsaCopy *copy)
{
	if (OidIsValid(copy->toastid))
	{
		Relation	toast = table_open(copy->toastid, NoLock);
		List	   *indexes = RelationGetIndexList(toast);
		ListCell   *lc;

		table_close(toast, NoLock);
		if (!add_dependent(copy, copy->toastid, InvalidOid))
			return false;
		foreach(lc, indexes)
			if (!add_dependent(copy, lfirst_oid(lc), copy->toastid))
			return false;
	}
	for (int i = 0; i < copy->order->nindexes; i++)
		if (!add_index(copy, i))
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
	Oid			relid = copy->order->relid;
	Oid			target = copy->order->target_tablespace;
	const char *kind = copy->order->kind == RELKIND_INDEX ? "index" : "table";
	const char *reason;
	Relation	rel;

	if (!OidIsValid(copy->heapid) ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("%s with OID %u does not exist any more", kind,
						relid)));
	tsa_check_move_rights(copy->heapid, target);
	if (!tsa_copy_applies(relid, &reason))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move %s \"%s\" by live copy", kind,
						get_rel_name(relid)),
				 errdetail("%s", reason)));

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
 * cannot be had, or if a relation that would have moved along has changed
 * since it was listed.
 */
static bool
list_and_lock(TsaCopy *copy)
{
	bool		is_index = copy->order->kind == RELKIND_INDEX;

	copy->nrels = 0;
	copy->toastid = InvalidOid;
	copy->heapid = is_index ? IndexGetRelation(copy->order->relid, true) :
		copy->order->relid;
	copy->blocked_on = copy->heapid;
	add_relation(copy, copy->order->relid,
				 is_index ? copy->heapid : InvalidOid);
	if (OidIsValid(copy->heapid) &&
		!ConditionalLockRelationOid(copy->heapid, AccessShareLock))
		return false;
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
	if (!add_dependents(copy) || !tsa_copy_try_lock(copy))
		return false;
	for (int i = 1; i < copy->nrels; i++)
		if (!takes_part(copy, copy->rels[i].relid, copy->rels[i].heapid))
		{
			copy->blocked_on = copy->rels[i].relid;
			return false;
		}
	note_index_names(copy->order);
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
 * Throws if there is data behind a relation's end, which would not be copied.
 */
static void
check_end(Relation rel)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		tsa_check_file_end(rel);
	}
	PG_CATCH();
	{
		tsa_rethrow_damage(rel, MAIN_FORKNUM, context);
	}
	PG_END_TRY();
}

/*
 * Notes the relations' storage and lists their forks.
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
		check_end(rel->rel);
		rel->page_std = !OidIsValid(rel->heapid) ||
			tsa_has_standard_pages(rel->rel);
		rel->main = add_fork(copy, rel, MAIN_FORKNUM);
		if (!OidIsValid(rel->heapid))
			rel->vm = add_fork(copy, rel, VISIBILITYMAP_FORKNUM);
	}
	copy->progress.bytes_total = tsa_copy_source_bytes(copy);
	if (copy->order->nkept == 0)
		tsa_copy_go_on_counting(copy, 0);
	tsa_set_copy_state(&copy->state, TSA_COPY_COPYING);
	for (int i = 0; i < copy->nrels; i++)
		relation_close(copy->rels[i].rel, NoLock);
}

/*
 * Creates the storage of the copies, or takes that of an interrupted copy, and
 * has it named where it is found after a crash.  In the caller's transaction.
 */
static void
create_storage(TsaCopy *copy)
{
	TsaKeptCopy *made = palloc0(copy->nrels * sizeof(TsaKeptCopy));

	for (int i = 0; i < copy->nrels; i++)
	{
		TsaCopyRel *rel = &copy->rels[i];
		const TsaKeptCopy *kept = tsa_copy_find_kept(copy, rel);

		rel->is_kept = kept != NULL;
		rel->copy = rel->is_kept ? kept->copy :
			tsa_create_storage(copy->order->target_tablespace);
		rel->main->trusted_end = rel->is_kept ? kept->blocks : 0;
		made[i].relid = rel->relid;
		made[i].source = rel->source;
		made[i].copy = rel->copy;
		made[i].blocks = rel->main->trusted_end;
	}
	tsa_copy_drop_unkept(copy);
	tsa_stop_point("storage made");
	copy->callbacks->storage_made(copy->callbacks->arg, made, copy->nrels,
								  &copy->order->kept_lsns,
								  copy->order->kept_compared);
	pfree(made);
}

/*
 * Checks and locks the relations, makes their new storage.  True if the
 * relation was so small that it has been moved already.  False also if the
 * copy is suspended.  Outside any transaction.
 */
bool
tsa_copy_prepare_or_move(TsaCopy *copy)
{
	for (;;)
	{
		tsa_begin();
		if (list_and_lock(copy))
			break;
		CommitTransactionCommand();
		if (tsa_copy_suspends(copy))
			return false;
		copy->callbacks->takes_longer(copy->callbacks->arg);
		tsa_copy_wait_for_lock(copy);
	}
	note_storage(copy);
	if (tsa_copy_in_one_transaction(copy))
		return true;
	tsa_copy_lock(copy);
	create_storage(copy);
	CommitTransactionCommand();
	return false;
}
