/*-------------------------------------------------------------------------
 *
 * journal.c
 *	  Access to the journal of moves, tablespace_advisor.job.
 *
 * Everything that goes through here runs as the bootstrap superuser, since
 * nobody has grants on the journal: statements are constants, their plans are
 * saved, every name is resolved with search_path "pg_catalog, pg_temp", and
 * the table has no triggers, so no code but the server's runs with these
 * rights.  What is called tablespace_advisor.job but does not belong to the
 * extension is never touched: where the extension is not, or not any more,
 * anybody may have made it, with triggers or as a view.
 *
 * A new library is in use as soon as it is installed, the extension's tables
 * are as they were until ALTER EXTENSION ... UPDATE.  Nothing is read or
 * written before: whoever opens the journal finds that out, under the lock
 * that keeps such an update away until his transaction ends.  A worker keeps
 * that lock for its life, and so looks but once (journal_kept).
 *
 * An error leaves user, settings and snapshot to the abort of the caller's
 * transaction, which restores all three.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "move/job/journal.h"

/*
 * The extension in this database, InvalidOid if there is none, and whether its
 * objects are of this library's version.
 */
static Oid
find_extension(bool *is_current)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	Oid			oid = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum("tablespace_advisor"));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		version = heap_getattr(tuple, Anum_pg_extension_extversion,
										   RelationGetDescr(rel), &isnull);

		oid = ((Form_pg_extension) GETSTRUCT(tuple))->oid;
		*is_current = strcmp(TextDatumGetCString(version), TSA_VERSION) == 0;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return oid;
}

/*
 * Locks the journal until the transaction ends, and returns its OID; InvalidOid
 * if there is none.  No right on it is needed.
 */
static Oid
lock_journal(bool *is_current)
{
	Oid			extension;
	Oid			schema = get_namespace_oid("tablespace_advisor", true);
	Oid			journal;

	if (!OidIsValid(schema))
		return InvalidOid;
	journal = get_relname_relid("job", schema);
	if (!OidIsValid(journal))
		return InvalidOid;
	LockRelationOid(journal, AccessShareLock);
	extension = find_extension(is_current);
	if (!OidIsValid(extension) ||
		getExtensionOfObject(RelationRelationId, journal) != extension)
		return InvalidOid;
	return journal;
}

/*
 * Does this process hold the lock on the journal, at session level, and has it
 * found all as it should be since?
 */
static bool journal_kept = false;
static bool journal_checked = false;

/*
 * Locks the journal against DROP EXTENSION, at session level; false if there
 * is none.  In a transaction.  To be done again after each abort, which
 * releases session-level locks as well.
 */
bool
tsa_keep_journal(void)
{
	LockRelId	relid = {.dbId = MyDatabaseId};
	bool		is_current;

	relid.relId = lock_journal(&is_current);
	if (!OidIsValid(relid.relId))
		return false;
	LockRelationIdForSession(&relid, AccessShareLock);
	journal_kept = true;
	journal_checked = false;
	return true;
}

/*
 * That lock is lost.
 */
void
tsa_lose_journal(void)
{
	journal_kept = false;
	journal_checked = false;
}

/*
 * Throws unless the journal is there and of this library's version.
 */
static void
check_journal(void)
{
	bool		is_current;

	if (journal_checked)
		return;
	if (!OidIsValid(lock_journal(&is_current)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is not installed in this database any more",
						"tablespace_advisor")));
	if (!is_current)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is not of the version of its library",
						"tablespace_advisor"),
				 errdetail("The library's version is %s.", TSA_VERSION),
				 errhint("Run ALTER EXTENSION tablespace_advisor UPDATE; if the extension is newer than the library, restart the server or begin a new session.")));
	journal_checked = journal_kept;
}

/*
 * Takes on the journal's rights, with a fixed search_path, a snapshot of now
 * and an SPI connection.  Restricted, so that nothing can make the change of
 * user last.
 */
void
tsa_journal_open(TsaJournal *journal)
{
	check_journal();
	GetUserIdAndSecContext(&journal->userid, &journal->sec_context);
	SetUserIdAndSecContext(BOOTSTRAP_SUPERUSERID,
						   journal->sec_context |
						   SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	journal->guc_level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	PushActiveSnapshot(GetLatestSnapshot());
	SPI_connect();
}

/* Undoes tsa_journal_open(). */
void
tsa_journal_close(TsaJournal *journal)
{
	SPI_finish();
	PopActiveSnapshot();
	AtEOXact_GUC(false, journal->guc_level);
	SetUserIdAndSecContext(journal->userid, journal->sec_context);
}

/* Runs a statement in an open journal; returns the number of rows. */
uint64
tsa_journal_run(TsaJournalQuery *query, Datum *values, const char *nulls,
				bool read_only)
{
	int			rc;

	if (query->plan == NULL)
	{
		SPIPlanPtr	plan = SPI_prepare(query->sql, query->nargs,
									   query->types);

		if (plan == NULL)
			elog(ERROR, "SPI_prepare failed: %s",
				 SPI_result_code_string(SPI_result));
		SPI_keepplan(plan);
		query->plan = plan;
	}
	rc = SPI_execute_plan(query->plan, values, nulls, read_only, 0);
	if (rc < 0)
		elog(ERROR, "SPI_execute_plan failed: %s",
			 SPI_result_code_string(rc));
	return SPI_processed;
}

/* Opens the journal for one statement that changes it; returns its rows. */
uint64
tsa_journal_update(TsaJournalQuery *query, Datum *values, const char *nulls)
{
	TsaJournal	journal;
	uint64		rows;

	tsa_journal_open(&journal);
	rows = tsa_journal_run(query, values, nulls, false);
	tsa_journal_close(&journal);
	return rows;
}

/* Column col (from 1) of a row of the last result; 0 when it is NULL. */
Datum
tsa_journal_value(uint64 row, int col)
{
	bool		isnull;
	Datum		datum = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc, col, &isnull);

	return isnull ? (Datum) 0 : datum;
}
