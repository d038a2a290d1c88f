/*-------------------------------------------------------------------------
 *
 * members.c
 *	  members_of(): tables and their indexes, and why they cannot be moved
 *	  while they are in use.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "advise/fact_rows.h"
#include "sample/inventory.h"

PG_FUNCTION_INFO_V1(tsa_members_of);

/* Whether an access method is heap, under any name. */
static bool
is_heap(Oid am)
{
	HeapTuple	tuple = SearchSysCache1(AMOID, ObjectIdGetDatum(am));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_am) GETSTRUCT(tuple))->amhandler ==
		F_HEAP_TABLEAM_HANDLER;
	ReleaseSysCache(tuple);
	return result;
}

/* Why a table or an index of it cannot be moved while in use; NULL: it can. */
static const char *
obstacle_of(const TsaRelation *r, const TsaRelation *table,
			const TsaRelation *toast)
{
	bool		is_unlogged = r->persistence == RELPERSISTENCE_UNLOGGED;

	if (r->persistence == RELPERSISTENCE_TEMP)
		return "a temporary table cannot be moved";
	if (table->oid < FirstNormalObjectId)
		return "a system catalog cannot be moved";
	/* nothing but a rebuild, for want of WAL that a copy could follow */
	if (r->relkind == RELKIND_INDEX)
		return is_unlogged && r->is_deferrable ?
			"unlogged, backs a constraint: only ALTER INDEX moves it, "
			"which locks it" : NULL;
	if (is_unlogged)
		return "unlogged: only ALTER TABLE moves it, which locks it until it is copied";
	if (!is_heap(r->am) || (toast != NULL && !is_heap(toast->am)))
		return "its access method is not heap: only ALTER TABLE moves it, which locks it";
	return NULL;
}

/* members_of(tables) */
Datum
tsa_members_of(PG_FUNCTION_ARGS)
{
	HTAB	   *relations = tsa_read_relations();
	HASH_SEQ_STATUS scan;
	TsaRelation *r;

	InitMaterializedSRF(fcinfo, 0);
	tsa_ask_for_tables(relations, PG_GETARG_ARRAYTYPE_P(0));
	hash_seq_init(&scan, relations);
	while ((r = hash_seq_search(&scan)) != NULL)
	{
		bool		is_index = r->relkind == RELKIND_INDEX;
		TsaRelation *table = is_index ?
		tsa_find_relation(relations, r->indexed) : r;
		TsaRelation *toast = tsa_find_relation(relations, r->toast);
		TsaRow		row = {0};

		CHECK_FOR_INTERRUPTS();
		if (table == NULL || !table->is_asked_for ||
			table->relkind == RELKIND_TOASTVALUE)
			continue;
		tsa_add_oid(&row, r->oid);
		tsa_add_oid(&row, table->oid);
		tsa_add_text(&row, is_index ? "index" : "heap");
		tsa_add_oid(&row, r->tablespace);
		tsa_add_oid(&row, r->filenode);
		tsa_add_oid(&row, toast != NULL ? toast->filenode : InvalidOid);
		tsa_add_text(&row, obstacle_of(r, table, toast));
		tsa_add_truth(&row, r->is_unique ? TSA_TRUE : TSA_FALSE);
		tsa_add_truth(&row, r->on_expression ? TSA_TRUE : TSA_FALSE);
		tsa_put_row(fcinfo, &row);
	}
	hash_destroy(relations);
	return (Datum) 0;
}
