/*-------------------------------------------------------------------------
 *
 * relations.c
 *	  The relations of this database in a tablespace, and the settings of its
 *	  routines that may name one.
 *
 * This runs in the session that asks, or, for other databases, in a worker
 * that has connected there as the bootstrap superuser (look.c).  So nothing of
 * the database's owner may run: statements on system catalogs alone, with
 * search_path "pg_catalog, pg_temp" in a restricted context, and then the
 * relation cache.  No relation of a user's is read.
 *
 * Nothing waits for a lock on a relation: whether it can be copied is looked
 * at only if its lock is to be had at once, and only one is held at a time.
 *
 * pg_class is read a second time for the rows of transactions that have not
 * ended: their relations have files, and nobody else sees to whom they belong.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "move/copy/eligible.h"
#include "state/state.h"
#include "tier/relations.h"

/* Columns that are more than the statement's, or used here. */
#define COL_RELATION	0
#define COL_KIND		5
#define COL_PERSISTENCE 6
#define COL_FILENUMBER	8
#define COL_TRANSACTION 14
#define COL_OBSTACLE	15
#define COL_IS_LOCKED	16

/*
 * goes_with: the table of a TOAST table and of its index, which move with it.
 * backend: the number in the name of a temporary schema, and of the files.
 */
static const char find_sql[] =
"SELECT c.oid, coalesce(i.indrelid, c.oid), o.oid, n.nspname, c.relname,"
" c.relkind, c.relpersistence, c.relowner,"
" CASE WHEN c.relkind IN ('r', 'm', 'i', 't', 'S')"
"   THEN pg_relation_filenode(c.oid) END,"
" CASE WHEN c.relpersistence = 't'"
"   THEN substring(n.nspname::text, '[0-9]+$')::int END,"
" i.indisvalid AND i.indisready AND i.indislive, i.indisexclusion,"
" NOT i.indimmediate, e.nspname,"
" NULL, NULL, NULL"
" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
"   LEFT JOIN pg_index i ON i.indexrelid = c.oid"
"   LEFT JOIN pg_class o ON o.reltoastrelid = coalesce(i.indrelid, c.oid)"
"     AND o.reltoastrelid <> 0"
"   LEFT JOIN (SELECT en.nspname FROM pg_extension x"
"     JOIN pg_namespace en ON en.oid = x.extnamespace"
"     WHERE x.extname = 'tablespace_advisor') e ON true"
" WHERE c.reltablespace = $1 OR $2 AND c.reltablespace = 0"
"   AND c.relkind IN ('r', 'm', 'i', 't', 'S')";

static const char settings_sql[] =
"SELECT o.identity, split_part(c, '=', 1), substring(c, strpos(c, '=') + 1)"
" FROM pg_proc p CROSS JOIN LATERAL unnest(p.proconfig) c"
"   CROSS JOIN LATERAL pg_identify_object('pg_proc'::regclass, p.oid, 0) o"
" WHERE c LIKE 'default_tablespace=%' OR c LIKE 'temp_tablespaces=%'";

/*
 * Why a relation cannot be moved by live copy, or NULL; also when another
 * session's exclusive lock keeps us from looking.
 */
static const char *
live_copy_obstacle(Oid relid, bool *is_locked)
{
	const char *reason = NULL;

	*is_locked = !ConditionalLockRelationOid(relid, AccessShareLock);
	if (*is_locked)
		return NULL;
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		(void) tsa_copy_applies(relid, &reason);
	UnlockRelationOid(relid, AccessShareLock);
	return reason;
}

/* Is this a relation that live copy might move? */
static bool
is_candidate(Oid relid, char kind, char persistence)
{
	return relid >= FirstNormalObjectId &&
		persistence != RELPERSISTENCE_TEMP &&
		(kind == RELKIND_RELATION || kind == RELKIND_MATVIEW ||
		 kind == RELKIND_INDEX);
}

/* The relations that are there for everybody. */
static void
find_committed(Oid tablespace, TsaRowReceiver receive, void *arg)
{
	Oid			types[2] = {OIDOID, BOOLOID};
	Datum		params[2];
	MemoryContext row_context;
	SPITupleTable *found;
	uint64		nfound;

	params[0] = ObjectIdGetDatum(tablespace);
	params[1] = BoolGetDatum(tablespace == MyDatabaseTableSpace);
	if (SPI_execute_with_args(find_sql, 2, types, params, NULL, true, 0) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("could not read pg_class")));
	found = SPI_tuptable;
	nfound = SPI_processed;

	row_context = AllocSetContextCreate(CurrentMemoryContext, "relation",
										ALLOCSET_DEFAULT_SIZES);
	for (uint64 i = 0; i < nfound; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(row_context);
		char	   *values[TSA_RELATION_COLUMNS];
		Oid			relid;
		bool		is_locked = false;

		CHECK_FOR_INTERRUPTS();
		for (int col = 0; col < TSA_RELATION_COLUMNS; col++)
			values[col] = SPI_getvalue(found->vals[i], found->tupdesc,
									   col + 1);
		relid = atooid(values[COL_RELATION]);
		if (is_candidate(relid, *values[COL_KIND], *values[COL_PERSISTENCE]))
			values[COL_OBSTACLE] =
				unconstify(char *, live_copy_obstacle(relid, &is_locked));
		values[COL_IS_LOCKED] = is_locked ? "t" : "f";
		receive(values, arg);
		MemoryContextSwitchTo(old);
		MemoryContextReset(row_context);
	}
	MemoryContextDelete(row_context);
}

/*
 * Storage of transactions that have not ended, prepared ones among them: it is
 * in no row of pg_class that others see.
 */
static void
find_uncommitted(Oid tablespace, TsaRowReceiver receive, void *arg)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	SnapshotData dirty;
	TableScanDesc scan;
	HeapTuple	tuple;

	InitDirtySnapshot(dirty);
	scan = tsa_beginscan(rel, &dirty);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		char	   *values[TSA_RELATION_COLUMNS] = {0};
		char		kind[2] = {form->relkind, '\0'};
		char		persistence[2] = {form->relpersistence, '\0'};

		CHECK_FOR_INTERRUPTS();
		if (!TransactionIdIsValid(dirty.xmin) ||
			form->relfilenode == 0 ||
			(form->reltablespace != tablespace &&
			 (form->reltablespace != 0 ||
			  tablespace != MyDatabaseTableSpace)))
			continue;
		values[COL_RELATION] = psprintf("%u", form->oid);
		values[COL_KIND] = kind;
		values[COL_PERSISTENCE] = persistence;
		values[COL_FILENUMBER] = psprintf("%u", form->relfilenode);
		values[COL_TRANSACTION] = psprintf("%u", dirty.xmin);
		values[COL_IS_LOCKED] = "f";
		receive(values, arg);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
}

static void
find_relations(Oid tablespace, TsaRowReceiver receive, void *arg)
{
	find_committed(tablespace, receive, arg);
	find_uncommitted(tablespace, receive, arg);
}

/* Settings that ALTER ROUTINE ... SET has given. */
static void
find_settings(Oid tablespace pg_attribute_unused(), TsaRowReceiver receive,
			  void *arg)
{
	if (SPI_execute(settings_sql, true, 0) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("could not read pg_proc")));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char	   *values[TSA_SETTING_COLUMNS];

		CHECK_FOR_INTERRUPTS();
		for (int col = 0; col < TSA_SETTING_COLUMNS; col++)
			values[col] = SPI_getvalue(SPI_tuptable->vals[i],
									   SPI_tuptable->tupdesc, col + 1);
		receive(values, arg);
	}
}

/* Has rows found as the bootstrap superuser.  In a transaction. */
static void
find_as_superuser(void (*find) (Oid, TsaRowReceiver, void *), Oid tablespace,
				  TsaRowReceiver receive, void *arg)
{
	TsaState	state;

	tsa_state_open(&state);
	PushActiveSnapshot(GetLatestSnapshot());
	SPI_connect();
	find(tablespace, receive, arg);
	SPI_finish();
	PopActiveSnapshot();
	tsa_state_close(&state);
}

/*
 * Hands the rows of tablespace_advisor.relations_in() for this database to
 * the receiver.
 */
void
tsa_find_relations(Oid tablespace, TsaRowReceiver receive, void *arg)
{
	find_as_superuser(find_relations, tablespace, receive, arg);
}

/* The same for tablespace_advisor.routine_settings(). */
void
tsa_find_settings(TsaRowReceiver receive, void *arg)
{
	find_as_superuser(find_settings, InvalidOid, receive, arg);
}
