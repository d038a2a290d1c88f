/*-------------------------------------------------------------------------
 *
 * storage.c
 *	  Makes the new storage of a live copy, and removes leftovers.
 *
 * New storage is created, as every relation's is, by a transaction that logs
 * the creation and deletes the file if it aborts; the same transaction names
 * the file in the journal.  From its commit on the journal alone knows of the
 * file.  A crash before that commit can leave an empty file that nobody knows,
 * as it can after any CREATE TABLE.  (A small index needs no such transaction
 * of its own: one_transaction.c.)
 *
 * Left over is either the copy (the move failed) or the old file (it worked).
 * The journal's row says which; it is changed by the transaction that changes
 * pg_class, so it cannot be wrong.  Even so nothing is removed before pg_class
 * was asked whether a relation has that storage.  The number cannot have been
 * given to another relation meanwhile: GetNewRelFileNumber() passes over
 * numbers of existing files.
 *
 * The drop is a transaction with an ID (it updates the journal), because an
 * abort without one is not logged and a standby would keep the file.  Its
 * commit is flushed before the files go, under any synchronous_commit, as that
 * of any transaction which drops files is, and with it the cutover's commit,
 * which comes earlier in the WAL and was not.  Where an old file is truncated
 * before that, the cutover's commit is flushed first.
 *
 * Before that the file is shortened, so that its end stalls nobody (shorten.c),
 * and its device has to answer (reach.c).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlogutils.h"
#include "catalog/catalog.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "storage/smgr.h"

#include "compat.h"
#include "move/copy/reach.h"
#include "move/copy/storage.h"

/*
 * Creates storage for a copy, in the caller's transaction: an abort deletes
 * it.  The transaction gets an ID first: the abort of one without is not
 * logged, and recovery or a standby that has made the file would keep it.
 */
RelFileLocator
tsa_create_storage(Oid tablespace)
{
	RelFileNumber number = GetNewRelFileNumber(tablespace, NULL,
											   RELPERSISTENCE_PERMANENT);
	RelFileLocator storage = tsa_make_locator(tablespace, MyDatabaseId,
											  number);

	(void) GetCurrentTransactionId();
	RelationCreateStorage(storage, RELPERSISTENCE_PERMANENT, true);
	return storage;
}

/*
 * Does a relation of this database have this storage?
 */
bool
tsa_storage_in_use(RelFileLocator storage)
{
	Oid			tablespace = tsa_locator_tablespace(storage);

	if (tablespace == MyDatabaseTableSpace)
		tablespace = InvalidOid;
	return OidIsValid(RelidByRelfilenumber(tablespace,
										   tsa_locator_number(storage)));
}

/*
 * Schedules storage for removal when the present transaction, which has an ID,
 * commits.
 */
static void
drop_storage(RelFileLocator locator)
{
	Relation	rel = CreateFakeRelcacheEntry(locator);

	Assert(TransactionIdIsValid(GetTopTransactionIdIfAny()));

	/*
	 * from 17 on the entry has a reference that RelationDropStorage() would
	 * give back without its ever having been counted
	 */
	rel->rd_smgr = NULL;
	RelationDropStorage(rel);
	FreeFakeRelcacheEntry(rel);
}

/*
 * Can all of this storage, which the journal names, be dropped?  Warns if its
 * device does not answer.
 */
bool
tsa_can_drop_storage(const RelFileLocator *storage, int n)
{
	for (int i = 0; i < n; i++)
		if (!tsa_storage_in_use(storage[i]) && !tsa_file_answers(storage[i]))
			return false;
	return true;
}

/*
 * Schedules for removal, at the commit of the present transaction, storage
 * that the journal names and that can be dropped, unless a relation has it.
 */
void
tsa_drop_unused_storage(RelFileLocator storage)
{
	if (tsa_storage_in_use(storage))
		return;
	(void) GetCurrentTransactionId();
	drop_storage(storage);
}

/*
 * Warns of storage that is here and that no relation has.
 */
void
tsa_warn_of_unused_storage(RelFileLocator storage)
{
	char		path[MAXPGPATH];

	if (tsa_storage_in_use(storage) ||
		!smgrexists(smgropen(storage, INVALID_PROC_NUMBER), MAIN_FORKNUM))
		return;
	tsa_relation_path(path, sizeof(path), storage, MAIN_FORKNUM);
	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no relation owns file \"%s\", which a move on another server has left",
					path),
			 errhint("If this server was made from that one, as by pg_createsubscriber, the file, its segments and its forks can be removed, after a CHECKPOINT, while the server is stopped.")));
}
