/*-------------------------------------------------------------------------
 *
 * members.c
 *	  members_of(): tables and their indexes, why they cannot be moved while
 *	  they are in use, and their rates.
 *
 * A heap moves with its TOAST table and the index of that; an index alone.
 * Rates are added up over relations that move together.
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
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "advise/fact_rows.h"
#include "sample/inventory.h"
#include "sample/residency.h"

PG_FUNCTION_INFO_V1(tsa_members_of);

/* Columns of relation_rate. */
enum
{
	RELATION, HEAP, KIND, TABLESPACE, SIZE, READS, HITS, WRITES, SCANS,
	TUPLES, HOT, SCANS_TOTAL, COUNTED_SINCE, WAS_RESET, CACHED, MAINTENANCE,
	MEASURED, WAITING, SCAN_READS, SCAN_SESSIONS, COLUMNS
};

/* The sum of the rates of all that moves together. */
typedef struct Rates
{
	Oid			oid;			/* of the heap or index; hash key */
	double		bytes;
	double		toast_bytes;
	double		reads;
	double		maintenance_reads;
	double		hits;
	double		writes;
	double		hot_fraction;
	double		tuples_per_scan;
	double		cached_reads;
	double		looked_at;		/* keyed reads, if their share is known */
	double		scans;
	double		waiting;
	double		scan_reads;
	double		scan_sessions;
	TimestampTz counted_since;
	bool		is_dated;
	TsaTruth	measured;
} Rates;

/* Relations that are read, with rates that say nothing of the cached share. */
typedef struct Unknown
{
	Datum	   *oids;
	double	   *keyed;			/* reads */
	Rates	  **rates;			/* that they are part of */
	int			n;
} Unknown;

/* The rates of a relation that has none. */
static const Rates no_rates = {
	.bytes = NAN,.reads = NAN,.maintenance_reads = NAN,.hits = NAN,
	.writes = NAN,.hot_fraction = NAN,.tuples_per_scan = NAN,
	.cached_reads = NAN,.looked_at = NAN,.scans = NAN,.waiting = NAN,
	.scan_reads = NAN,.scan_sessions = NAN,.measured = TSA_NOT_KNOWN
};

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

/*
 * Where waits were not measured, counters tell how many scans began and how
 * many rows they got.  A scan of a table larger than a quarter of shared
 * buffers leaves nothing there (initscan()): all of its blocks are read.  Of
 * others as many as of all blocks.  NAN: none.
 */
static double
counted_scan_reads(Oid relation, double scans, double tuples, double reads,
				   double hits, double bytes)
{
	Datum		live;
	double		rows;
	double		blocks;

	if (!(scans > 0 && reads > 0))
		return NAN;
	live = DirectFunctionCall1(pg_stat_get_live_tuples,
							   ObjectIdGetDatum(relation));
	rows = (double) DatumGetInt64(live);
	blocks = fmin(scans, tuples / tsa_not_zero(rows)) * bytes / BLCKSZ;
	if (bytes > (double) NBuffers * BLCKSZ / 4)
		return fmin(blocks, reads);
	return fmin(blocks / (reads + hits), 1) * reads;
}

/* Adds the rates of a heap or an index, not those of TOAST. */
static void
add_own(Rates *m, const TsaFactRow *row, bool is_index)
{
	if (!is_index)
	{
		m->hot_fraction = tsa_number_of(row, HOT);
		return;
	}
	m->tuples_per_scan = tsa_number_of(row, TUPLES) /
		tsa_not_zero(tsa_number_of(row, SCANS));
	m->scans = tsa_big_number_of(row, SCANS_TOTAL);
}

/* Adds reads by key, and the part that the system's cache serves. */
static void
add_cached(Rates *m, double keyed, double cached)
{
	if (isnan(cached))
		return;
	tsa_add(&m->cached_reads, keyed * cached);
	tsa_add(&m->looked_at, keyed);
}

/* Adds the rates of a relation. */
static void
add_rate(Rates *m, const TsaFactRow *row, const char *kind, Unknown *unknown)
{
	double		reads = tsa_number_of(row, READS);
	TsaTruth	measured = tsa_truth_of(row, MEASURED);
	double		keyed = reads;

	/* measured scans count only where nothing else reads */
	if (measured == TSA_TRUE)
		keyed = fmax(reads - tsa_or(tsa_number_of(row, SCAN_READS), 0),
					 reads / 1e6);
	tsa_add(&m->bytes, tsa_big_number_of(row, SIZE));
	tsa_add(&m->reads, reads);
	tsa_add(&m->maintenance_reads, tsa_number_of(row, MAINTENANCE));
	tsa_add(&m->hits, tsa_number_of(row, HITS));
	if (strcmp(kind, "toast index") != 0)
		tsa_add(&m->writes, tsa_number_of(row, WRITES));
	if (strncmp(kind, "toast", 5) == 0)
		m->toast_bytes += tsa_or(tsa_big_number_of(row, SIZE), 0);
	else
		add_own(m, row, strcmp(kind, "index") == 0);
	add_cached(m, keyed, tsa_number_of(row, CACHED));
	if (row->nulls[CACHED] && reads > 0)
	{
		unknown->oids[unknown->n] =
			ObjectIdGetDatum(tsa_oid_of(row, RELATION));
		unknown->keyed[unknown->n] = keyed;
		unknown->rates[unknown->n++] = m;
	}
	if (!row->nulls[COUNTED_SINCE])
	{
		TimestampTz since = DatumGetTimestampTz(row->values[COUNTED_SINCE]);

		m->counted_since = m->is_dated ? Min(m->counted_since, since) : since;
		m->is_dated = true;
	}
	if (measured != TSA_NOT_KNOWN && m->measured != TSA_FALSE)
		m->measured = measured;
	tsa_add(&m->waiting, tsa_number_of(row, WAITING));
	if (measured == TSA_TRUE)
		tsa_add(&m->scan_reads, tsa_number_of(row, SCAN_READS));
	else if (strcmp(kind, "heap") == 0)
		tsa_add(&m->scan_reads,
				counted_scan_reads(tsa_oid_of(row, RELATION),
								   tsa_number_of(row, SCANS),
								   tsa_number_of(row, TUPLES), reads,
								   tsa_number_of(row, HITS),
								   tsa_big_number_of(row, SIZE)));
	tsa_add(&m->scan_sessions, tsa_number_of(row, SCAN_SESSIONS));
}

/*
 * Adds up an array of relation_rate, of tables that are asked for.  The cache
 * of the system is looked at for relations that are read and have no samples
 * of it.
 */
static HTAB *
add_rates(HTAB *relations, ArrayType *array)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(Rates),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *members = hash_create("rates", 1024, &control,
									  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	TsaFactRow	row = {.ncolumns = COLUMNS};
	Unknown		unknown = {.n = 0};
	Datum	   *elements;
	double	   *shares;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_DOUBLE,
					  &elements, NULL, &n);
	unknown.oids = palloc((n + 1) * sizeof(Datum));
	unknown.keyed = palloc((n + 1) * sizeof(double));
	unknown.rates = palloc((n + 1) * sizeof(Rates *));
	for (int i = 0; i < n; i++)
	{
		char		kind[16];
		Oid			oid;
		TsaRelation *table;
		Rates	   *member;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		tsa_read_fact_row(&row, elements[i]);
		oid = tsa_oid_of(&row, HEAP);
		table = tsa_find_relation(relations, oid);
		if (row.nulls[KIND] || table == NULL || !table->is_asked_for)
			continue;
		text_to_cstring_buffer(DatumGetTextPP(row.values[KIND]), kind,
							   sizeof(kind));
		if (strcmp(kind, "index") == 0)
			oid = tsa_oid_of(&row, RELATION);
		member = hash_search(members, &oid, HASH_ENTER, &found);
		if (!found)
		{
			*member = no_rates;
			member->oid = oid;
		}
		add_rate(member, &row, kind, &unknown);
	}
	shares = tsa_cached_shares(relations, unknown.oids, unknown.n);
	for (int i = 0; i < unknown.n; i++)
		add_cached(unknown.rates[i], unknown.keyed[i], shares[i]);
	return members;
}

/* The rates of a heap or index. */
static const Rates *
rates_of(HTAB *members, Oid oid)
{
	const Rates *m = hash_search(members, &oid, HASH_FIND, NULL);

	return m != NULL ? m : &no_rates;
}

/* Adds the columns of rates; table: those of the table that an index is on. */
static void
add_columns(TsaRow *row, const Rates *m, const Rates *table)
{
	tsa_add_bytes(row, m->bytes);
	tsa_add_bytes(row, m->toast_bytes);
	tsa_add_bytes(row, table->bytes);
	tsa_add_number(row, m->reads);
	tsa_add_number(row, m->maintenance_reads);
	tsa_add_number(row, m->hits);
	tsa_add_number(row, m->writes);
	tsa_add_number(row, tsa_or(m->hot_fraction, table->hot_fraction));
	tsa_add_number(row, m->tuples_per_scan);
	tsa_add_number(row, m->cached_reads / tsa_not_zero(m->looked_at));
	tsa_add_bytes(row, m->scans);
	tsa_add_datum(row, TimestampTzGetDatum(m->counted_since), !m->is_dated);
	tsa_add_truth(row, m->measured);
	tsa_add_number(row, m->waiting);
	tsa_add_number(row, m->scan_reads);
	tsa_add_number(row, m->scan_sessions);
}

/* members_of(tables, rates) */
Datum
tsa_members_of(PG_FUNCTION_ARGS)
{
	HTAB	   *relations = tsa_read_relations();
	HTAB	   *members;
	HASH_SEQ_STATUS scan;
	TsaRelation *r;

	InitMaterializedSRF(fcinfo, 0);
	tsa_ask_for_tables(relations, PG_GETARG_ARRAYTYPE_P(0));
	members = add_rates(relations, PG_GETARG_ARRAYTYPE_P(1));
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
		add_columns(&row, rates_of(members, r->oid),
					is_index ? rates_of(members, table->oid) : &no_rates);
		tsa_put_row(fcinfo, &row);
	}
	hash_destroy(relations);
	return (Datum) 0;
}
