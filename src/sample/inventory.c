/*-------------------------------------------------------------------------
 *
 * inventory.c
 *	  The relations of this database and the tables they belong to.
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
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "sample/inventory.h"

PG_FUNCTION_INFO_V1(tsa_inventory_of);

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

/* Marks the tables that the relations of an array, oid[], belong to. */
void
tsa_ask_for_tables(HTAB *relations, ArrayType *members)
{
	Datum	   *oids;
	bool	   *nulls;
	int			n;

	deconstruct_array(members, OIDOID, sizeof(Oid), true, TYPALIGN_INT,
					  &oids, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		TsaRelation *r = nulls[i] ? NULL :
		tsa_find_relation(relations, DatumGetObjectId(oids[i]));

		if (r != NULL)
			r = tsa_table_of(relations, r);
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
	values[0] = ObjectIdGetDatum(r->oid);
	values[1] = ObjectIdGetDatum(table->oid);
	values[2] = kinds[(is_toast ? 2 : 0) + (indexed != NULL ? 1 : 0)];
	values[3] = ObjectIdGetDatum(r->tablespace);
	values[4] = ObjectIdGetDatum(r->filenode);
	values[5] = ObjectIdGetDatum(r->indexed);
	nulls[5] = !OidIsValid(r->indexed);
	return true;
}

/* inventory_of(members); members NULL: all relations */
Datum
tsa_inventory_of(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	HTAB	   *relations = tsa_read_relations();
	bool		of_some = !PG_ARGISNULL(0);
	Datum		kinds[4];
	HASH_SEQ_STATUS scan;
	TsaRelation *r;

	InitMaterializedSRF(fcinfo, 0);
	if (of_some)
		tsa_ask_for_tables(relations, PG_GETARG_ARRAYTYPE_P(0));
	kinds[0] = CStringGetTextDatum("heap");
	kinds[1] = CStringGetTextDatum("index");
	kinds[2] = CStringGetTextDatum("toast");
	kinds[3] = CStringGetTextDatum("toast index");
	hash_seq_init(&scan, relations);
	while ((r = hash_seq_search(&scan)) != NULL)
	{
		Datum		values[6];
		bool		nulls[6] = {0};

		CHECK_FOR_INTERRUPTS();
		if (make_row(relations, r, of_some, kinds, values, nulls))
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
								 nulls);
	}
	hash_destroy(relations);
	return (Datum) 0;
}
