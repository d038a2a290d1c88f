/*-------------------------------------------------------------------------
 *
 * tablespace_relations.c
 *	  The relations of this database in a tablespace, and the settings of its
 *	  routines and hypertables that may name one.
 *
 * This runs in the session that asks, or, for other databases, in a worker
 * that has connected there as the bootstrap superuser (look.c).  So nothing of
 * the database's owner may run: statements on system catalogs alone, with
 * search_path "pg_catalog, pg_temp" in a restricted context, and then the
 * relation cache.  No relation of a user's is read but by member_rows.c.
 *
 * Nothing waits for a lock on a relation: whether it can be copied is looked
 * at only if its lock is to be had at once, and only one is held at a time.
 *
 * pg_class is read a second time, without the planner: for the rows of
 * transactions that have not ended, since nobody else sees to which relations
 * their files belong, and for rows that a planner hook hides from queries, as
 * Citus does with shards.  The decision that a file belongs to no relation
 * must not rest on the rows that a hook lets through.
 *
 * Nor on zeros in place of a damaged page of pg_class, under any settings of
 * the caller, or of a session that has read that page before: its relations'
 * files would be called nobody's.  Damage is an error.
 *
 * Files of moves are in the journal, which is read before pg_class and after
 * it: a move that ends meanwhile goes from the one to the other.  Where it
 * cannot be read a row without a relation says so.  Files that go, or stay,
 * with the end of the caller's own transaction are of that transaction.
 *
 * A row of a transaction that has ended is hidden only if a snapshot from
 * before the query sees it.  Others were committed between the two looks, as
 * by a rewrite or a move of a relation; these count as of a transaction under
 * way, which they were when the look began.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "catalog/storage.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "move/move.h"
#include "state/bounded.h"
#include "state/damage.h"
#include "state/settings.h"
#include "state/state.h"
#include "state/statement.h"
#include "tier/rows.h"

/* Columns that are more than the statement's, or used here. */
enum
{
	COL_RELATION = 0,
	COL_HEAP = 1,
	COL_SCHEMA = 3,
	COL_NAME = 4,
	COL_KIND = 5,
	COL_PERSISTENCE = 6,
	COL_OWNER = 7,
	COL_FILENUMBER = 8,
	COL_IS_VALID = 10,
	COL_IS_EXCLUSION = 11,
	COL_IS_DEFERRABLE = 12,
	COL_TRANSACTION = 14,
	COL_OBSTACLE = 15,
	COL_IS_LOCKED = 16,
	COL_IS_COLUMNAR = 17,
	COL_JOB = 18
};

/*
 * goes_with: the table of a TOAST table and of its index, which move with it.
 * backend: the number in the name of a temporary schema, and of the files.
 */
static TsaStatement find_statement = {
	"SELECT c.oid, coalesce(i.indrelid, c.oid), o.oid, n.nspname, c.relname,"
	" c.relkind, c.relpersistence, c.relowner,"
	" CASE WHEN c.relkind IN ('r', 'm', 'i', 't', 'S')"
	"   THEN pg_relation_filenode(c.oid) END,"
	" CASE WHEN c.relpersistence = 't'"
	"   THEN substring(n.nspname::text, '[0-9]+$')::int END,"
	" i.indisvalid AND i.indisready AND i.indislive, i.indisexclusion,"
	" NOT i.indimmediate, e.nspname,"
	" NULL, NULL, NULL,"
	" EXISTS (SELECT FROM pg_am a JOIN pg_proc f ON f.oid = a.amhandler"
	"   WHERE a.oid = c.relam AND c.relkind IN ('r', 'm')"
	"     AND a.amname = 'columnar' AND f.probin = '$libdir/citus_columnar'),"
	" NULL"
	" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
	"   LEFT JOIN pg_index i ON i.indexrelid = c.oid"
	"   LEFT JOIN pg_class o ON o.reltoastrelid = coalesce(i.indrelid, c.oid)"
	"     AND o.reltoastrelid <> 0"
	"   LEFT JOIN (SELECT en.nspname FROM pg_extension x"
	"     JOIN pg_namespace en ON en.oid = x.extnamespace"
	"     WHERE x.extname = 'tablespace_advisor') e ON true"
	" WHERE c.reltablespace = $1 OR $2 AND c.reltablespace = 0"
	"   AND c.relkind IN ('r', 'm', 'i', 't', 'S')",
	2, {OIDOID, BOOLOID}, NULL
};

/*
 * Settings are read by tsa_read_settings(): the extension's functions may not
 * be there.  Names are put together of columns, since a function that looks a
 * routine or type up by its OID (pg_identify_object()) keeps its whole row in
 * memory, which may have a gigabyte.  Types of the server's own are short.
 */
static TsaStatement settings_statement = {
	"SELECT format('%I.%I(%s)', n.nspname, p.proname,"
	"   (SELECT string_agg(CASE WHEN t.oid < 16384"
	"       THEN (pg_identify_object('pg_type'::regclass, t.oid, 0)).identity"
	"       ELSE format('%I.%I', tn.nspname, t.typname) END, ',' ORDER BY a.n)"
	"     FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n)"
	"       JOIN pg_type t ON t.oid = a.type"
	"       JOIN pg_namespace tn ON tn.oid = t.typnamespace)),"
	" p.proconfig /* bounded */"
	" FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace"
	" WHERE p.proconfig IS NOT NULL",
	0, {0}, NULL
};

/* Of this database; a copied journal has those of its template. */
static TsaStatement files_statement = {
	"SELECT f.filenumber, f.job_id FROM tablespace_advisor.files_of_moves($1) f",
	1, {OIDOID}, NULL
};

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

/* Numbers of files, in no order until they are looked for. */
typedef struct FileNumbers
{
	Oid		   *numbers;
	int			n;
} FileNumbers;

/* For qsort(): by number. */
static int
compare_numbers(const void *a, const void *b)
{
	Oid			x = *(const Oid *) a;
	Oid			y = *(const Oid *) b;

	return (x > y) - (x < y);
}

/*
 * The relations that are there for everybody, as far as queries see them;
 * notes the numbers of their files.
 */
static void
find_committed(Oid tablespace, FileNumbers *files, TsaRowReceiver receive,
			   void *arg)
{
	Datum		params[2];
	MemoryContext row_context;
	SPITupleTable *found;
	uint64		nfound;

	params[0] = ObjectIdGetDatum(tablespace);
	params[1] = BoolGetDatum(tablespace == MyDatabaseTableSpace);
	nfound = tsa_run(&find_statement, params, NULL, TSA_READS);
	found = SPI_tuptable;

	files->numbers = palloc(sizeof(Oid) * (nfound + 1));
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
		if (values[COL_FILENUMBER] != NULL)
			files->numbers[files->n++] = atooid(values[COL_FILENUMBER]);
		if (is_candidate(relid, *values[COL_KIND], *values[COL_PERSISTENCE]))
			values[COL_OBSTACLE] =
				unconstify(char *, live_copy_obstacle(relid, &is_locked));
		values[COL_IS_LOCKED] = is_locked ? "t" : "f";
		receive(values, arg);
		MemoryContextSwitchTo(old);
		MemoryContextReset(row_context);
	}
	MemoryContextDelete(row_context);
	qsort(files->numbers, files->n, sizeof(Oid), compare_numbers);
}

/* The columns of a relation that is there, but that queries do not see. */
static void
describe_hidden(Form_pg_class form, char **values)
{
	values[COL_HEAP] = values[COL_RELATION];
	values[COL_SCHEMA] = get_namespace_name(form->relnamespace);
	values[COL_NAME] = pstrdup(NameStr(form->relname));
	values[COL_OWNER] = psprintf("%u", form->relowner);
	if (form->relkind == RELKIND_INDEX)
	{
		Oid			heap = IndexGetRelation(form->oid, true);

		values[COL_HEAP] = psprintf("%u", heap);
		values[COL_IS_VALID] = "t";
		values[COL_IS_EXCLUSION] = values[COL_IS_DEFERRABLE] = "f";
	}
	values[COL_OBSTACLE] = "it is hidden from queries, perhaps by an extension";
}

/*
 * The transaction that makes a row which a dirty snapshot has returned, if it
 * had not ended before the other snapshot was taken; else InvalidTransactionId.
 */
static TransactionId
find_maker(HeapTuple tuple, const SnapshotData *dirty, Snapshot before)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

	if (TransactionIdIsValid(dirty->xmin))
		return dirty->xmin;
	return XidInMVCCSnapshot(xmin, before) ? xmin : InvalidTransactionId;
}

/*
 * Finds storage for which queries see no row of pg_class: storage of open or
 * prepared transactions, of transactions that ended during this look, and of
 * hidden relations.
 */
static void
find_unseen(Oid tablespace, const FileNumbers *files, Snapshot before,
			TsaRowReceiver receive, void *arg)
{
	Relation	rel = table_open(RelationRelationId, AccessShareLock);
	SnapshotData dirty;
	TableScanDesc scan;
	HeapTuple	tuple;

	tsa_check_pages(rel);
	InitDirtySnapshot(dirty);
	scan = tsa_beginscan(rel, &dirty);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		char	   *values[TSA_RELATION_COLUMNS] = {0};
		char		kind[2] = {form->relkind, '\0'};
		char		persistence[2] = {form->relpersistence, '\0'};
		TransactionId maker;

		CHECK_FOR_INTERRUPTS();
		if (form->relfilenode == 0 ||
			(form->reltablespace != tablespace &&
			 (form->reltablespace != 0 ||
			  tablespace != MyDatabaseTableSpace)) ||
			(!TransactionIdIsValid(dirty.xmin) &&
			 bsearch(&form->relfilenode, files->numbers, files->n,
					 sizeof(Oid), compare_numbers) != NULL))
			continue;
		values[COL_RELATION] = psprintf("%u", form->oid);
		values[COL_KIND] = kind;
		values[COL_PERSISTENCE] = persistence;
		values[COL_FILENUMBER] = psprintf("%u", form->relfilenode);
		maker = find_maker(tuple, &dirty, before);
		if (TransactionIdIsValid(maker))
			values[COL_TRANSACTION] = psprintf("%u", maker);
		else
			describe_hidden(form, values);
		values[COL_IS_LOCKED] = values[COL_IS_COLUMNAR] = "f";
		receive(values, arg);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* A file that is no relation's, but of a transaction or a move. */
static void
receive_file(int column, const char *owner, const char *number,
			 TsaRowReceiver receive, void *arg)
{
	char	   *values[TSA_RELATION_COLUMNS] = {0};

	values[column] = unconstify(char *, owner);
	values[COL_FILENUMBER] = unconstify(char *, number);
	receive(values, arg);
}

/* Storage that goes if the caller's transaction commits, or if it aborts. */
static void
find_own(Oid tablespace, bool for_commit, TsaRowReceiver receive, void *arg)
{
	RelFileLocator *pending;
	int			npending = smgrGetPendingDeletes(for_commit, &pending);

	for (int i = 0; i < npending; i++)
		if (tsa_locator_tablespace(pending[i]) == tablespace)
			receive_file(COL_TRANSACTION,
						 psprintf("%u", GetTopTransactionIdIfAny()),
						 psprintf("%u", tsa_locator_number(pending[i])),
						 receive, arg);
}

/* Storage of moves that have not ended. */
static void
find_of_moves(TsaRowReceiver receive, void *arg)
{
	Datum		params[1] = {ObjectIdGetDatum(MyDatabaseId)};
	uint64		nfound;

	if (!OidIsValid(tsa_state_extension()))
		return;
	if (!tsa_state_is_current() ||
		!OidIsValid(tsa_state_try_lock("job", AccessShareLock)))
	{
		receive_file(COL_IS_LOCKED, "t", NULL, receive, arg);
		return;
	}
	nfound = tsa_run(&files_statement, params, NULL, TSA_READS);
	for (uint64 i = 0; i < nfound; i++)
		receive_file(COL_JOB,
					 SPI_getvalue(SPI_tuptable->vals[i],
								  SPI_tuptable->tupdesc, 2),
					 SPI_getvalue(SPI_tuptable->vals[i],
								  SPI_tuptable->tupdesc, 1),
					 receive, arg);
}

/*
 * Finds the relations in a tablespace: those of moves, committed ones, those
 * that no snapshot sees yet, and those of the own transaction.
 */
static void
find_relations(Oid tablespace, TsaRowReceiver receive, void *arg)
{
	Snapshot	before = RegisterSnapshot(GetLatestSnapshot());
	FileNumbers files = {0};

	find_of_moves(receive, arg);
	find_committed(tablespace, &files, receive, arg);
	find_unseen(tablespace, &files, before, receive, arg);
	find_of_moves(receive, arg);
	find_own(tablespace, true, receive, arg);
	find_own(tablespace, false, receive, arg);
	UnregisterSnapshot(before);
}

/* May a setting name a tablespace, as far as it was read? */
static bool
may_name_tablespace(const TsaSetting *setting)
{
	return setting->name == NULL ||
		strcmp(setting->name, "default_tablespace") == 0 ||
		strcmp(setting->name, "temp_tablespaces") == 0;
}

/* Sends those settings of a routine. */
static void
send_settings(char *routine, Datum array, TsaRowReceiver receive, void *arg)
{
	TsaSetting *settings;
	int			n = tsa_read_settings(array, &settings);

	for (int i = 0; i < n; i++)
	{
		char	   *values[TSA_SETTING_COLUMNS] = {0};

		if (!may_name_tablespace(&settings[i]))
			continue;
		values[0] = routine;
		values[1] = settings[i].name;
		values[2] = settings[i].value;
		values[4] = settings[i].is_cut ? "t" : "f";
		receive(values, arg);
	}
}

/*
 * Settings that ALTER ROUTINE ... SET has given, and tablespaces that are
 * attached to hypertables.
 */
static void
find_settings(Oid tablespace pg_attribute_unused(), TsaRowReceiver receive,
			  void *arg)
{
	/* values out of line are read later */
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	uint64		nfound = tsa_run(&settings_statement, NULL, NULL, TSA_READS);

	for (uint64 i = 0; i < nfound; i++)
	{
		bool		isnull;
		HeapTuple	row = SPI_tuptable->vals[i];

		CHECK_FOR_INTERRUPTS();
		send_settings(SPI_getvalue(row, SPI_tuptable->tupdesc, 1),
					  SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &isnull),
					  receive, arg);
	}
	UnregisterSnapshot(snapshot);
	tsa_find_attachments(receive, arg);
}

/* Has rows found as the bootstrap superuser.  In a transaction. */
static void
find_as_superuser(void (*find) (Oid, TsaRowReceiver, void *), Oid tablespace,
				  TsaRowReceiver receive, void *arg)
{
	int			level = tsa_fail_on_damage();
	TsaState	state;

	tsa_state_open(&state);
	find(tablespace, receive, arg);
	tsa_state_close(&state);
	AtEOXact_GUC(false, level);
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

/* Hands the rows of tablespace_advisor.object_settings() to the receiver. */
void
tsa_find_settings(TsaRowReceiver receive, void *arg)
{
	find_as_superuser(find_settings, InvalidOid, receive, arg);
}
