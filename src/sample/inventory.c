/*-------------------------------------------------------------------------
 *
 * inventory.c
 *	  The relations of this database, the tables they belong to, and their
 *	  statistics.
 *
 * One pass over pg_class and one over pg_index, in the snapshot of the query,
 * take less time than joins or look-ups, of few relations, too.  No relation is
 * opened or locked but these catalogs.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "sample/file_bytes.h"
#include "sample/inventory.h"

PG_FUNCTION_INFO_V1(tsa_inventory_of);
PG_FUNCTION_INFO_V1(tsa_counters_of);

/* Columns of relation_counter; the first are those of relation_inventory. */
enum
{
	RELATION, HEAP, KIND, TABLESPACE, FILENODE, INDEXED, READS, HITS, SCANS,
	TUPLES_READ, INSERTED, UPDATED, HOT_UPDATED, DELETED, VACUUMS, ANALYZES,
	SIZE, COLUMNS
};

/* Calls a function for each row of a catalog. */
static void
scan_catalog(Oid catalog, void (*note) (HTAB *relations, HeapTuple tuple),
			 HTAB *relations)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false,
										  GetActiveSnapshot(), 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		note(relations, tuple);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* Notes a row of pg_class. */
static void
note_class(HTAB *relations, HeapTuple tuple)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
	TsaRelation *r;

	if (form->relkind != RELKIND_RELATION && form->relkind != RELKIND_INDEX &&
		form->relkind != RELKIND_MATVIEW && form->relkind != RELKIND_TOASTVALUE)
		return;
	r = hash_search(relations, &form->oid, HASH_ENTER, NULL);
	memset(r, 0, sizeof(*r));
	r->oid = form->oid;
	r->relkind = form->relkind;
	r->persistence = form->relpersistence;
	r->owner = form->relnamespace;	/* until all are read */
	r->tablespace = OidIsValid(form->reltablespace) ?
		form->reltablespace : MyDatabaseTableSpace;
	r->filenode = form->relfilenode;
	r->am = form->relam;
	r->toast = form->reltoastrelid;
}

/* Notes a row of pg_index. */
static void
note_index(HTAB *relations, HeapTuple tuple)
{
	Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
	TsaRelation *r = tsa_find_relation(relations, form->indexrelid);

	if (r == NULL)
		return;
	r->indexed = form->indrelid;
	r->is_unique = form->indisunique;
	r->is_deferrable = form->indisexclusion || !form->indimmediate;
	r->on_expression = form->indnatts == 1 && form->indkey.values[0] == 0;
}

/* All tables, TOAST tables and indexes, by OID, in the current context. */
HTAB *
tsa_read_relations(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(TsaRelation),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *relations = hash_create("relations", 4096, &control,
										HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	Oid			own = get_namespace_oid("tablespace_advisor", true);
	HASH_SEQ_STATUS scan;
	TsaRelation *r;

	scan_catalog(RelationRelationId, note_class, relations);
	scan_catalog(IndexRelationId, note_index, relations);
	hash_seq_init(&scan, relations);
	while ((r = hash_seq_search(&scan)) != NULL)
	{
		r->is_own = r->owner == own;
		r->owner = InvalidOid;
	}
	hash_seq_init(&scan, relations);
	while ((r = hash_seq_search(&scan)) != NULL)
	{
		TsaRelation *toast = OidIsValid(r->toast) ?
		tsa_find_relation(relations, r->toast) : NULL;

		if (toast != NULL)
			toast->owner = r->oid;
	}
	return relations;
}

/* A relation by its OID; NULL: none. */
TsaRelation *
tsa_find_relation(HTAB *relations, Oid relation)
{
	return hash_search(relations, &relation, HASH_FIND, NULL);
}

/* The table of a table, TOAST table or index; NULL: not known. */
TsaRelation *
tsa_table_of(HTAB *relations, const TsaRelation *relation)
{
	const TsaRelation *r = relation;

	if (r->relkind == RELKIND_INDEX)
		r = tsa_find_relation(relations, r->indexed);
	if (r != NULL && r->relkind == RELKIND_TOASTVALUE && OidIsValid(r->owner))
		r = tsa_find_relation(relations, r->owner);
	return unconstify(TsaRelation *, r);
}

/*
 * The relations of an array, oid[], that there are; of NULL none.  *n: how
 * many.
 */
static TsaRelation **
find_relations(HTAB *relations, ArrayType *members, int *n)
{
	TsaRelation **found;
	Datum	   *oids;
	bool	   *nulls;
	int			noids;

	*n = 0;
	if (members == NULL)
		return NULL;
	deconstruct_array(members, OIDOID, sizeof(Oid), true, TYPALIGN_INT,
					  &oids, &nulls, &noids);
	found = palloc((noids + 1) * sizeof(TsaRelation *));
	for (int i = 0; i < noids; i++)
	{
		TsaRelation *r = nulls[i] ? NULL :
		tsa_find_relation(relations, DatumGetObjectId(oids[i]));

		if (r != NULL)
			found[(*n)++] = r;
	}
	return found;
}

/* Marks the tables that the relations of an array, oid[], belong to. */
void
tsa_ask_for_tables(HTAB *relations, ArrayType *members)
{
	int			n;
	TsaRelation **found = find_relations(relations, members, &n);

	for (int i = 0; i < n; i++)
	{
		TsaRelation *r = tsa_table_of(relations, found[i]);

		if (r != NULL)
			r->is_asked_for = true;
	}
}

/* The columns of relation_inventory; false: it has no row there. */
static bool
make_row(HTAB *relations, const TsaRelation *r, bool of_some, Datum *kinds,
		 Datum *values, bool *nulls)
{
	const TsaRelation *table = tsa_table_of(relations, r);
	const TsaRelation *indexed = NULL;
	bool		is_toast = r->relkind == RELKIND_TOASTVALUE;

	if (r->relkind == RELKIND_INDEX)
	{
		indexed = tsa_find_relation(relations, r->indexed);
		is_toast = indexed != NULL && indexed->relkind == RELKIND_TOASTVALUE;
	}
	if (table == NULL || table->is_own || r->is_own ||
		(of_some && !table->is_asked_for))
		return false;
	if (r->persistence == RELPERSISTENCE_TEMP || !OidIsValid(r->filenode) ||
		r->oid < FirstNormalObjectId)
		return false;
	values[RELATION] = ObjectIdGetDatum(r->oid);
	values[HEAP] = ObjectIdGetDatum(table->oid);
	values[KIND] = kinds[(is_toast ? 2 : 0) + (indexed != NULL ? 1 : 0)];
	values[TABLESPACE] = ObjectIdGetDatum(r->tablespace);
	values[FILENODE] = ObjectIdGetDatum(r->filenode);
	values[INDEXED] = ObjectIdGetDatum(r->indexed);
	nulls[INDEXED] = !OidIsValid(r->indexed);
	return true;
}

/*
 * The counters of a relation, of maintenance those of the table or TOAST table,
 * and of changes, too, if "of_table"; zeros where the statistics have none.
 */
static void
add_counters(HTAB *relations, const TsaRelation *r, bool of_table,
			 Datum *values)
{
	static const PgStat_StatTabEntry none;
	const TsaRelation *table = OidIsValid(r->indexed) ?
	tsa_find_relation(relations, r->indexed) : r;
	const PgStat_StatTabEntry *s = pgstat_fetch_stat_tabentry(r->oid);
	const PgStat_StatTabEntry *t = table == r ? s :
	pgstat_fetch_stat_tabentry(table->oid);
	const PgStat_StatTabEntry *changes;

	s = s ? s : &none;
	t = t ? t : &none;
	changes = of_table ? t : s;
	values[READS] = Int64GetDatum(s->blocks_fetched - s->blocks_hit);
	values[HITS] = Int64GetDatum(s->blocks_hit);
	values[SCANS] = Int64GetDatum(s->numscans);
	values[TUPLES_READ] = Int64GetDatum(s->tuples_returned);
	values[INSERTED] = Int64GetDatum(changes->tuples_inserted);
	values[UPDATED] = Int64GetDatum(changes->tuples_updated);
	values[HOT_UPDATED] = Int64GetDatum(changes->tuples_hot_updated);
	values[DELETED] = Int64GetDatum(changes->tuples_deleted);
	values[VACUUMS] = Int64GetDatum(t->vacuum_count + tsa_autovacuums(t) -
									table->is_vacuumed);
	values[ANALYZES] = Int64GetDatum(t->analyze_count + tsa_autoanalyzes(t) -
									 table->is_analyzed);
}

/*
 * Returns the rows of relation_inventory, or of relation_counter with sizes or
 * without, on all relations or on those of some tables.
 */
static Datum
put_rows(FunctionCallInfo fcinfo, HTAB *relations, bool with_counters,
		 bool with_sizes)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum		kinds[4];
	HASH_SEQ_STATUS scan;
	TsaRelation *r;

	InitMaterializedSRF(fcinfo, 0);
	if (!PG_ARGISNULL(0))
		tsa_ask_for_tables(relations, PG_GETARG_ARRAYTYPE_P(0));
	kinds[0] = CStringGetTextDatum("heap");
	kinds[1] = CStringGetTextDatum("index");
	kinds[2] = CStringGetTextDatum("toast");
	kinds[3] = CStringGetTextDatum("toast index");
	hash_seq_init(&scan, relations);
	while ((r = hash_seq_search(&scan)) != NULL)
	{
		Datum		values[COLUMNS];
		bool		nulls[COLUMNS] = {0};
		int64		bytes = -1;

		CHECK_FOR_INTERRUPTS();
		if (!make_row(relations, r, !PG_ARGISNULL(0), kinds, values, nulls))
			continue;
		if (with_counters)
			add_counters(relations, r, with_sizes, values);
		if (with_sizes)
			bytes = tsa_file_bytes(r->tablespace, r->filenode,
								   r->relkind != RELKIND_INDEX,
								   r->persistence != RELPERSISTENCE_PERMANENT);
		values[SIZE] = Int64GetDatum(bytes);
		nulls[SIZE] = bytes < 0;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	hash_destroy(relations);
	return (Datum) 0;
}

/* inventory_of(members); members NULL: all relations */
Datum
tsa_inventory_of(PG_FUNCTION_ARGS)
{
	return put_rows(fcinfo, tsa_read_relations(), false, false);
}

/* An argument that is an array, or NULL. */
static ArrayType *
array_argument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : PG_GETARG_ARRAYTYPE_P(arg);
}

/* counters_of(members, with_sizes, vacuumed, analyzed); NULL lists: empty */
Datum
tsa_counters_of(PG_FUNCTION_ARGS)
{
	HTAB	   *relations = tsa_read_relations();
	TsaRelation **found;
	int			n;

	found = find_relations(relations, array_argument(fcinfo, 2), &n);
	for (int i = 0; i < n; i++)
		found[i]->is_vacuumed = true;
	found = find_relations(relations, array_argument(fcinfo, 3), &n);
	for (int i = 0; i < n; i++)
		found[i]->is_analyzed = true;
	return put_rows(fcinfo, relations, true,
					!PG_ARGISNULL(1) && PG_GETARG_BOOL(1));
}
