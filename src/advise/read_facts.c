/*-------------------------------------------------------------------------
 *
 * read_facts.c
 *	  Facts from SQL as structs: arrays of relation_fact and tablespace_fact,
 *	  and a load_fact (advice_types.sql).
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
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "advise/read_facts.h"

/* Columns of tablespace_fact. */
enum
{
	P_TABLESPACE, P_RUN_ID, P_RANDOM_US, P_RANDOM_LOW_US, P_RANDOM_HIGH_US,
	P_DEPTHS, P_DEPTH_US, P_CACHED_US, P_PAGE_US, P_WRITE_PAGE_US,
	P_MAX_WRITES, P_COPY_RATES, P_MAY_CREATE, P_VOLATILE, P_SHARES,
	P_AVAILABLE, P_CAVEAT, P_LATENCY_FROM, P_PRESENT_US, P_PRESENT_LOW_US,
	P_PRESENT_HIGH_US, P_INTERVALS, P_IN_FLIGHT, P_IS_SERIAL, P_COLUMNS
};

/* Columns of relation_fact. */
enum
{
	R_RELATION, R_TABLE, R_KIND, R_TABLESPACE, R_SIZE, R_TOAST, R_REBUILT,
	R_BRIN, R_READS, R_HITS, R_WRITES_PER_S, R_HOT, R_TUPLES, R_CORRELATION,
	R_CACHED, R_SCANS, R_WRITES, R_DAYS, R_COLUMN, R_EXPRESSION, R_UNUSABLE,
	R_NEEDED, R_DUPLICATE, R_OBSTACLE, R_LEFT, R_MAINTENANCE, R_JOB,
	R_MEASURED, R_WAITING, R_SCAN_READS, R_SCAN_SESSIONS, R_POLICY, R_COLUMNS
};

/* Columns of load_fact. */
enum
{
	L_READS = 6, L_READ_MS, L_TIMED_US, L_SNAPSHOTS, L_READING_SNAPSHOTS,
	L_ACTIVE, L_READING, L_WAITS, L_CHECKPOINT, L_WAL, L_STANDBYS, L_MOVED,
	L_ALL_MS, L_ALL_BYTES, L_OTHERS, L_COLUMNS
};

/* For tables: their OID and number. */
typedef struct TableEntry
{
	Oid			table;
	int			number;
} TableEntry;

/* Memory that is zero. */
static void *
allocate(size_t size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* A row as a tuple. */
static HeapTupleData
tuple_of(Datum datum)
{
	HeapTupleData tuple;

	tuple.t_data = DatumGetHeapTupleHeader(datum);
	tuple.t_len = HeapTupleHeaderGetDatumLength(tuple.t_data);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	return tuple;
}

/* Takes a row apart, which has to have so many columns. */
void
tsa_read_fact_row(TsaFactRow *row, Datum datum)
{
	HeapTupleData tuple = tuple_of(datum);
	HeapTupleHeader header = tuple.t_data;

	if (row->desc == NULL)
		row->desc =
			lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(header),
										HeapTupleHeaderGetTypMod(header));
	if (row->desc->natts != row->ncolumns)
		elog(ERROR, "fact has %d columns, not %d", row->desc->natts,
			 row->ncolumns);
	heap_deform_tuple(&tuple, row->desc, row->values, row->nulls);
}

/* A column of type float8; NAN: NULL. */
double
tsa_number_of(const TsaFactRow *row, int column)
{
	return row->nulls[column] ? NAN : DatumGetFloat8(row->values[column]);
}

/* A column of type bigint. */
double
tsa_big_number_of(const TsaFactRow *row, int column)
{
	return row->nulls[column] ? NAN :
		(double) DatumGetInt64(row->values[column]);
}

/* A column of type int. */
static double
small_number_of(const TsaFactRow *row, int column)
{
	return row->nulls[column] ? NAN :
		(double) DatumGetInt32(row->values[column]);
}

/* A column of type text; NULL: NULL. */
static const char *
text_of(const TsaFactRow *row, int column)
{
	return row->nulls[column] ? NULL :
		TextDatumGetCString(row->values[column]);
}

/* A column of type name. */
static const char *
name_of(const TsaFactRow *row, int column)
{
	return row->nulls[column] ? NULL :
		NameStr(*DatumGetName(row->values[column]));
}

/* A Boolean column. */
TsaTruth
tsa_truth_of(const TsaFactRow *row, int column)
{
	if (row->nulls[column])
		return TSA_NOT_KNOWN;
	return DatumGetBool(row->values[column]) ? TSA_TRUE : TSA_FALSE;
}

/* A column of type oid; 0: NULL. */
Oid
tsa_oid_of(const TsaFactRow *row, int column)
{
	return row->nulls[column] ? InvalidOid :
		DatumGetObjectId(row->values[column]);
}

/* A column of type name[]. */
static Datum *
names_of(const TsaFactRow *row, int column, int *n)
{
	Datum	   *names = NULL;

	*n = 0;
	if (!row->nulls[column])
		deconstruct_array(DatumGetArrayTypeP(row->values[column]), NAMEOID,
						  NAMEDATALEN, false, TYPALIGN_CHAR, &names, NULL, n);
	return names;
}

/* The number of a place; TSA_UNKNOWN_PLACE: there is none of that name. */
int
tsa_place_by_name(const TsaPlacement *p, const char *name)
{
	for (int i = 0; i < p->nplaces; i++)
	{
		if (strcmp(p->places[i].name, name) == 0)
			return i;
	}
	return TSA_UNKNOWN_PLACE;
}

/* The number of a place by a name of SQL's. */
static int
place_of(const TsaPlacement *p, Datum name)
{
	return tsa_place_by_name(p, NameStr(*DatumGetName(name)));
}

/* Elements of an array of float8.  Fails (22023) if some are null. */
static double *
read_numbers(Datum datum, int *n)
{
	ArrayType  *array = DatumGetArrayTypePCopy(datum);

	if (ARR_NDIM(array) > 1 || array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a curve must be lists without null elements")));
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return (double *) ARR_DATA_PTR(array);
}

/*
 * A curve.  Fails (22023) unless there is a latency for each depth, depths rise
 * and latencies are positive.
 */
static TsaCurve
read_curve(Datum depths, Datum latencies_us)
{
	TsaCurve	curve;
	int			nlatencies;
	bool		is_curve;

	curve.depth = read_numbers(depths, &curve.n);
	curve.us = read_numbers(latencies_us, &nlatencies);
	is_curve = curve.n == nlatencies;
	for (int i = 0; i < curve.n && is_curve; i++)
		is_curve = curve.us[i] > 0 &&
			curve.depth[i] > (i > 0 ? curve.depth[i - 1] : 0);
	if (!is_curve)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("depths must rise and latencies be positive")));
	return curve;
}

/* The source of the latency of a tablespace. */
static TsaLatencyFrom
latency_from(const char *name)
{
	static const char *const names[] = {
		"", "probe", "counters", "timing", "assumed"
	};

	for (int i = TSA_FROM_PROBE; name != NULL && i <= TSA_FROM_ASSUMPTION; i++)
	{
		if (strcmp(name, names[i]) == 0)
			return i;
	}
	return TSA_FROM_NOTHING;
}

/* A tablespace, without the columns that refer to others. */
static void
read_place(const TsaFactRow *row, TsaPlaceFact *f)
{
	f->name = name_of(row, P_TABLESPACE);
	f->is_probed = !row->nulls[P_RUN_ID];
	f->random_read_us = tsa_number_of(row, P_RANDOM_US);
	f->random_read_low_us = tsa_number_of(row, P_RANDOM_LOW_US);
	f->random_read_high_us = tsa_number_of(row, P_RANDOM_HIGH_US);
	if (!row->nulls[P_DEPTHS] && !row->nulls[P_DEPTH_US])
		f->curve = read_curve(row->values[P_DEPTHS], row->values[P_DEPTH_US]);
	f->cached_read_us = tsa_number_of(row, P_CACHED_US);
	f->sequential_page_us = tsa_number_of(row, P_PAGE_US);
	f->sequential_write_page_us = tsa_number_of(row, P_WRITE_PAGE_US);
	f->max_writes_per_s = tsa_number_of(row, P_MAX_WRITES);
	f->may_create = tsa_truth_of(row, P_MAY_CREATE);
	f->is_volatile = tsa_truth_of(row, P_VOLATILE);
	f->available_bytes = tsa_big_number_of(row, P_AVAILABLE);
	f->caveat = text_of(row, P_CAVEAT);
	f->latency_from = latency_from(text_of(row, P_LATENCY_FROM));
	f->present_read_us = tsa_number_of(row, P_PRESENT_US);
	f->present_read_low_us = tsa_number_of(row, P_PRESENT_LOW_US);
	f->present_read_high_us = tsa_number_of(row, P_PRESENT_HIGH_US);
	f->present_in_flight = tsa_number_of(row, P_IN_FLIGHT);
	f->is_serial = tsa_truth_of(row, P_IS_SERIAL) == TSA_TRUE;
}

/* The rate of earlier moves to a tablespace from another; NAN: none. */
static double
copy_rate(const TsaFactRow *row, const char *source)
{
	Jsonb	   *rates = DatumGetJsonbP(row->values[P_COPY_RATES]);
	JsonbValue	value;
	Datum		rate;

	if (!JB_ROOT_IS_OBJECT(rates) ||
		getKeyJsonValueFromContainer(&rates->root, source, strlen(source),
									 &value) == NULL ||
		value.type != jbvNumeric)
		return NAN;
	rate = NumericGetDatum(value.val.numeric);
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8, rate));
}

/* The facts on a tablespace and others. */
static void
read_ways(const TsaPlacement *p, const TsaFactRow *row, TsaPlaceFact *f)
{
	double	   *rates = palloc(p->nplaces * sizeof(double));
	bool	   *shares = palloc0(p->nplaces * sizeof(bool));
	int			n;
	Datum	   *names = names_of(row, P_SHARES, &n);

	for (int i = 0; i < n; i++)
	{
		int			place = place_of(p, names[i]);

		if (place >= 0)
			shares[place] = true;
	}
	for (int i = 0; i < p->nplaces; i++)
		rates[i] = row->nulls[P_COPY_RATES] ? NAN :
			copy_rate(row, p->places[i].name);
	f->copy_rates = rates;
	f->shares_device = shares;
}

/* For qsort(): by name. */
static int
compare_places(const void *a, const void *b)
{
	return strcmp(((const TsaPlaceFact *) a)->name,
				  ((const TsaPlaceFact *) b)->name);
}

/* Reads an array of tablespace_fact, and sorts it by name. */
static void
read_places(TsaFacts *facts, ArrayType *array)
{
	TsaPlacement *p = &facts->placement;
	TsaFactRow	row = {.ncolumns = P_COLUMNS};
	Datum	   *rows;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_DOUBLE,
					  &rows, NULL, &n);
	p->places = allocate((n + 1) * sizeof(TsaPlaceFact));
	facts->tablespaces = palloc((n + 1) * sizeof(Datum));
	for (int i = 0; i < n; i++)
	{
		tsa_read_fact_row(&row, rows[i]);
		if (row.nulls[P_TABLESPACE])
			continue;
		read_place(&row, &p->places[p->nplaces++]);
	}
	if (p->nplaces > 1)
		qsort(p->places, p->nplaces, sizeof(TsaPlaceFact), compare_places);
	for (int i = 0; i < n; i++)
	{
		int			place;

		tsa_read_fact_row(&row, rows[i]);
		if (row.nulls[P_TABLESPACE])
			continue;
		place = tsa_place_by_name(p, name_of(&row, P_TABLESPACE));
		facts->tablespaces[place] = rows[i];
		read_ways(p, &row, &p->places[place]);
	}
}

/* Tablespaces that a relation left lately. */
static void
read_left_lately(const TsaPlacement *p, const TsaFactRow *row,
				 TsaRelationFact *r)
{
	int			n;
	Datum	   *names = names_of(row, R_LEFT, &n);
	int		   *places = n > 0 ? palloc(n * sizeof(int)) : NULL;

	for (int i = 0; i < n; i++)
	{
		int			place = place_of(p, names[i]);

		if (place >= 0)
			places[r->nleft++] = place;
	}
	r->left_lately = places;
}

/* A relation. */
static void
read_relation(const TsaPlacement *p, const TsaFactRow *row, TsaRelationFact *r)
{
	const char *tablespace = name_of(row, R_TABLESPACE);
	const char *kind = text_of(row, R_KIND);

	r->id = tsa_oid_of(row, R_RELATION);
	r->table_id = tsa_oid_of(row, R_TABLE);
	r->place = tablespace == NULL ? TSA_NO_PLACE :
		tsa_place_by_name(p, tablespace);
	r->is_index = kind != NULL && strcmp(kind, "index") == 0;
	r->size_bytes = tsa_big_number_of(row, R_SIZE);
	r->rebuilt_bytes = tsa_big_number_of(row, R_REBUILT);
	r->brin_bytes = tsa_big_number_of(row, R_BRIN);
	r->reads_per_s = tsa_number_of(row, R_READS);
	r->hits_per_s = tsa_number_of(row, R_HITS);
	r->writes_per_s = tsa_number_of(row, R_WRITES_PER_S);
	r->tuples_per_scan = tsa_number_of(row, R_TUPLES);
	r->correlation = tsa_number_of(row, R_CORRELATION);
	r->system_cached = tsa_number_of(row, R_CACHED);
	r->scans = tsa_big_number_of(row, R_SCANS);
	r->writes = tsa_big_number_of(row, R_WRITES);
	r->counted_days = tsa_number_of(row, R_DAYS);
	r->column_name = name_of(row, R_COLUMN);
	r->expression = text_of(row, R_EXPRESSION);
	r->unusable = text_of(row, R_UNUSABLE);
	r->needed_for = text_of(row, R_NEEDED);
	r->duplicate_of = tsa_oid_of(row, R_DUPLICATE);
	r->obstacle = text_of(row, R_OBSTACLE);
	r->maintenance_reads_per_s = tsa_number_of(row, R_MAINTENANCE);
	r->moving_job = row->nulls[R_JOB] ? 0 : DatumGetInt64(row->values[R_JOB]);
	r->measured = tsa_truth_of(row, R_MEASURED) == TSA_TRUE;
	r->waiting_sessions = tsa_number_of(row, R_WAITING);
	r->scan_reads_per_s = tsa_number_of(row, R_SCAN_READS);
	r->scan_sessions = tsa_number_of(row, R_SCAN_SESSIONS);
	r->policy = text_of(row, R_POLICY);
	read_left_lately(p, row, r);
}

/* Reads an array of relation_fact, and numbers tables. */
static void
read_relations(TsaFacts *facts, ArrayType *array)
{
	TsaPlacement *p = &facts->placement;
	TsaFactRow	row = {.ncolumns = R_COLUMNS};
	HASHCTL		control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(TableEntry),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *tables = hash_create("tables", 1024, &control,
									 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_DOUBLE,
					  &facts->relations, NULL, &n);
	p->relations = allocate((n + 1) * sizeof(TsaRelationFact));
	p->n = n;
	for (int i = 0; i < n; i++)
	{
		TsaRelationFact *r = &p->relations[i];
		TableEntry *entry;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		tsa_read_fact_row(&row, facts->relations[i]);
		read_relation(p, &row, r);
		entry = hash_search(tables, &r->table_id, HASH_ENTER, &found);
		if (!found)
			entry->number = p->ntables++;
		r->table = entry->number;
	}
	hash_destroy(tables);
}

/* Reads a load_fact. */
static void
read_load(TsaLoadFact *load, Datum datum)
{
	TsaFactRow	row = {.ncolumns = L_COLUMNS};

	tsa_read_fact_row(&row, datum);
	load->reads_per_s = tsa_number_of(&row, L_READS);
	load->read_ms_per_s = tsa_number_of(&row, L_READ_MS);
	load->timed_read_us = tsa_number_of(&row, L_TIMED_US);
	load->snapshots = small_number_of(&row, L_SNAPSHOTS);
	load->reading_snapshots = small_number_of(&row, L_READING_SNAPSHOTS);
	load->active_sessions = tsa_number_of(&row, L_ACTIVE);
	load->reading_sessions = tsa_number_of(&row, L_READING);
	load->checkpoint_s = tsa_number_of(&row, L_CHECKPOINT);
	load->standbys = text_of(&row, L_STANDBYS);
}

/*
 * Reads the arguments at these positions; -1: there is none.  A NULL is
 * empty.  All is in the current memory context.
 */
void
tsa_read_facts(FunctionCallInfo fcinfo, int relations, int tablespaces,
			   int load, TsaFacts *facts)
{
	TsaPlacement *p = &facts->placement;

	memset(facts, 0, sizeof(*facts));
	p->alloc = allocate;
	p->destination = p->named = TSA_NO_PLACE;
	p->budget_bytes = NAN;
	p->block_bytes = BLCKSZ;
	p->load = (TsaLoadFact)
	{
		NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NULL, NULL
	};
	if (tablespaces >= 0 && !PG_ARGISNULL(tablespaces))
		read_places(facts, PG_GETARG_ARRAYTYPE_P(tablespaces));
	if (relations >= 0 && !PG_ARGISNULL(relations))
		read_relations(facts, PG_GETARG_ARRAYTYPE_P(relations));
	if (load >= 0 && !PG_ARGISNULL(load))
		read_load(&p->load, PG_GETARG_DATUM(load));
}

/* Reads relations, tablespaces and load, and makes all estimates. */
void
tsa_estimate_all(FunctionCallInfo fcinfo, TsaFacts *facts)
{
	tsa_read_facts(fcinfo, 0, 1, 2, facts);
	tsa_divide_waits(&facts->placement);
	tsa_estimate_load(&facts->placement);
	CHECK_FOR_INTERRUPTS();
	tsa_estimate_reads_here(&facts->placement);
	tsa_estimate_places(&facts->placement);
	CHECK_FOR_INTERRUPTS();
}
