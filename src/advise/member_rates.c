/*-------------------------------------------------------------------------
 *
 * member_rates.c
 *	  Rates of relations added up over those that move together, as a SQL
 *	  function.
 *
 * A heap moves with its TOAST table and that one's index; an index alone.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "advise/fact_rows.h"

PG_FUNCTION_INFO_V1(tsa_member_rates);
PG_FUNCTION_INFO_V1(tsa_counted_scans);

/* Columns of relation_rate. */
enum
{
	RELATION, HEAP, KIND, TABLESPACE, SIZE, READS, HITS, WRITES, SCANS,
	TUPLES, HOT, SCANS_TOTAL, COUNTED_SINCE, WAS_RESET, CACHED, MAINTENANCE,
	MEASURED, WAITING, SCAN_READS, SCAN_SESSIONS, COLUMNS
};

/* A heap or an index, and the sum of all that moves with it. */
typedef struct Member
{
	Oid			oid;			/* hash key */
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
} Member;

/* The share of a relation's pages that the system's cache has. */
typedef struct CachedShare
{
	Oid			oid;			/* hash key */
	double		share;
} CachedShare;

/* A hash table by OID. */
static HTAB *
make_table(const char *name, Size entrysize)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),
		.entrysize = entrysize,
		.hcxt = CurrentMemoryContext
	};

	return hash_create(name, 1024, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
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

/* A member without anything. */
static void
init_member(Member *m)
{
	m->bytes = m->reads = m->maintenance_reads = m->hits = m->writes = NAN;
	m->toast_bytes = 0;
	m->hot_fraction = m->tuples_per_scan = m->cached_reads = NAN;
	m->looked_at = m->scans = m->waiting = m->scan_reads = NAN;
	m->scan_sessions = NAN;
	m->is_dated = false;
	m->measured = TSA_NOT_KNOWN;
}

/* Adds the rates of a heap or an index, not those of TOAST. */
static void
add_own(Member *m, const TsaFactRow *row, bool is_index)
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

/* Adds the rates of a relation; cached: share of its pages, NAN: not known. */
static void
add_rate(Member *m, const TsaFactRow *row, const char *kind, double cached)
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
	cached = tsa_or(tsa_number_of(row, CACHED), cached);
	if (!isnan(cached))
	{
		tsa_add(&m->cached_reads, keyed * cached);
		tsa_add(&m->looked_at, keyed);
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

/* Returns a member. */
static void
put_member(FunctionCallInfo fcinfo, const Member *m)
{
	TsaRow		row = {0};

	tsa_add_oid(&row, m->oid);
	tsa_add_bytes(&row, m->bytes);
	tsa_add_bytes(&row, m->toast_bytes);
	tsa_add_number(&row, m->reads);
	tsa_add_number(&row, m->maintenance_reads);
	tsa_add_number(&row, m->hits);
	tsa_add_number(&row, m->writes);
	tsa_add_number(&row, m->hot_fraction);
	tsa_add_number(&row, m->tuples_per_scan);
	tsa_add_number(&row, m->cached_reads / tsa_not_zero(m->looked_at));
	tsa_add_bytes(&row, m->scans);
	tsa_add_datum(&row, TimestampTzGetDatum(m->counted_since), !m->is_dated);
	tsa_add_truth(&row, m->measured);
	tsa_add_number(&row, m->waiting);
	tsa_add_number(&row, m->scan_reads);
	tsa_add_number(&row, m->scan_sessions);
	tsa_put_row(fcinfo, &row);
}

/* The shares that arrays of relations and of shares say. */
static HTAB *
read_shares(ArrayType *relations, ArrayType *shares)
{
	HTAB	   *table = make_table("cached shares", sizeof(CachedShare));
	Datum	   *oids;
	Datum	   *values;
	bool	   *nulls;
	int			n;
	int			nvalues;

	deconstruct_array(relations, OIDOID, sizeof(Oid), true, TYPALIGN_INT,
					  &oids, NULL, &n);
	deconstruct_array(shares, FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &values, &nulls, &nvalues);
	for (int i = 0; i < Min(n, nvalues); i++)
	{
		Oid			oid = DatumGetObjectId(oids[i]);
		CachedShare *entry = hash_search(table, &oid, HASH_ENTER, NULL);

		entry->share = nulls[i] ? NAN : DatumGetFloat8(values[i]);
	}
	return table;
}

/* member_rates(rates, tables, looked_at, cached_shares) */
Datum
tsa_member_rates(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	TsaFactRow	row = {.ncolumns = COLUMNS};
	HTAB	   *tables = make_table("tables", sizeof(Oid));
	HTAB	   *shares = read_shares(PG_GETARG_ARRAYTYPE_P(2),
									 PG_GETARG_ARRAYTYPE_P(3));
	HTAB	   *members = make_table("members", sizeof(Member));
	HASH_SEQ_STATUS scan;
	Member	   *member;
	Datum	   *elements;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), OIDOID, sizeof(Oid), true,
					  TYPALIGN_INT, &elements, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		Oid			oid = DatumGetObjectId(elements[i]);

		(void) hash_search(tables, &oid, HASH_ENTER, NULL);
	}
	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_DOUBLE,
					  &elements, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		char		kind[16];
		Oid			relation;
		Oid			heap;
		CachedShare *share;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		tsa_read_fact_row(&row, elements[i]);
		relation = tsa_oid_of(&row, RELATION);
		heap = tsa_oid_of(&row, HEAP);
		if (row.nulls[KIND] ||
			hash_search(tables, &heap, HASH_FIND, NULL) == NULL)
			continue;
		text_to_cstring_buffer(DatumGetTextPP(row.values[KIND]), kind,
							   sizeof(kind));
		if (strcmp(kind, "index") == 0)
			heap = relation;
		member = hash_search(members, &heap, HASH_ENTER, &found);
		if (!found)
			init_member(member);
		share = hash_search(shares, &relation, HASH_FIND, NULL);
		add_rate(member, &row, kind, share ? share->share : NAN);
	}
	hash_seq_init(&scan, members);
	while ((member = hash_seq_search(&scan)) != NULL)
		put_member(fcinfo, member);
	return (Datum) 0;
}

/* counted_scan_reads(relation, scans, tuples, reads, hits, size_bytes) */
Datum
tsa_counted_scans(PG_FUNCTION_ARGS)
{
	double		arguments[4];
	double		reads;

	for (int i = 0; i < 4; i++)
		arguments[i] = PG_ARGISNULL(i + 1) ? NAN : PG_GETARG_FLOAT8(i + 1);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	reads = counted_scan_reads(PG_GETARG_OID(0), arguments[0], arguments[1],
							   arguments[2], arguments[3], PG_ARGISNULL(5) ?
							   NAN : (double) PG_GETARG_INT64(5));
	if (isnan(reads))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(reads);
}
