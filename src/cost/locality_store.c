/*-------------------------------------------------------------------------
 *
 * locality_store.c
 *	  The table tablespace_advisor.index_locality.
 *
 * Rows are written by SQL, as state.c describes, and read by an index scan,
 * because the planner needs them at a moment when no query may run.  A reader
 * locks the table only if that can be had at once.
 *
 * The part of the table in caches is looked up with it (table_residency.c).
 *
 * A session that writes a row invalidates index and table in the relation
 * cache of all sessions, by which they forget the rows that they have read
 * (locality_cache.c), and renew their plans.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "cost/cost.h"
#include "cost/locality_store.h"
#include "state/state.h"
#include "state/statement.h"
#include "tsa.h"

#define POINT_FIELDS	15
#define OLD_FIELDS		13		/* before 1.0; 1.0 has 14 */
#define TIME_FIELDS		10

/* columns of the table */
enum
{
	COLUMN_INDEX = 1,
	COLUMN_RELATION,
	COLUMN_INDEX_FILE,
	COLUMN_HEAP_FILE,
	COLUMN_INDEX_BLOCKS,
	COLUMN_TABLE_BLOCKS,
	COLUMN_ENTRIES,
	COLUMN_MEASURED_AT,
	COLUMN_POINTS,
	COLUMN_READ_TIMES,
	COLUMN_CORRELATION,
	COLUMN_REPLACED_ROWS,
	COLUMNS = COLUMN_REPLACED_ROWS
};

#define SELECT_TIMES \
	"SELECT ARRAY[sequential_page_us, random_read_us, skip_read_us," \
	"  cached_read_us, adjacent_0_us, adjacent_1_us, depth," \
	"  adjacent_deep_us, skip_deep_us, random_deep_us]::pg_catalog.float8[]" \
	" FROM tablespace_advisor.read_times WHERE tablespace_oid = $1" \
	"  AND num_nulls(sequential_page_us, random_read_us, skip_read_us," \
	"   cached_read_us, adjacent_0_us, adjacent_1_us) = 0"

/*
 * Another session that measures the same index may stay in that transaction.
 */
#define LOCK_TIMEOUT	"1s"

/* Somebody else's transaction that does the same may stay open. */
#define DELETE_GONE \
	"DELETE FROM tablespace_advisor.index_locality WHERE index = ANY (ARRAY(" \
	" SELECT l.index FROM tablespace_advisor.index_locality l" \
	" WHERE NOT EXISTS" \
	"  (SELECT FROM pg_catalog.pg_class c WHERE c.oid = l.index)" \
	" FOR UPDATE SKIP LOCKED))"

#define KEEP_RESIDENCY \
	"SELECT tablespace_advisor.keep_residency($1)"

#define INSERT_ROW \
	"INSERT INTO tablespace_advisor.index_locality (index, relation," \
	" index_file, heap_file, index_blocks, table_blocks, entries," \
	" measured_at, points, read_times, correlation, replaced_rows)" \
	" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)" \
	" ON CONFLICT (index) DO UPDATE SET (relation, index_file, heap_file," \
	"  index_blocks, table_blocks, entries, measured_at, points," \
	"  read_times, correlation, replaced_rows) =" \
	"  ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"

/* The fields of a point, in the order of the column. */
static void
list_fields(TsaLocalityPoint *point, double **fields)
{
	fields[0] = &point->entries;
	fields[1] = &point->windows;
	fields[2] = &point->blocks;
	fields[3] = &point->sequential;
	fields[4] = &point->skip;
	fields[5] = &point->random;
	fields[6] = &point->back_sequential;
	fields[7] = &point->back_skip;
	fields[8] = &point->adjacent_gaps;
	fields[9] = &point->skip_gaps;
	fields[10] = &point->far_gaps;
	fields[11] = &point->changes;
	fields[12] = &point->skip_blocks;
	fields[13] = &point->keys;
	fields[14] = &point->leaves_in_order;
}

/* The points as an array of arrays. */
static Datum
form_points(TsaLocality *locality)
{
	Datum		elements[(TSA_LOCALITY_LEVELS + 1) * POINT_FIELDS];
	int			dims[2] = {locality->npoints, POINT_FIELDS};
	int			lower_bounds[2] = {1, 1};
	int			i;
	int			j;

	for (i = 0; i < locality->npoints; i++)
	{
		double	   *fields[POINT_FIELDS];

		list_fields(&locality->points[i], fields);
		for (j = 0; j < POINT_FIELDS; j++)
			elements[i * POINT_FIELDS + j] = Float8GetDatum(*fields[j]);
	}
	return PointerGetDatum(construct_md_array(elements, NULL, 2, dims,
											  lower_bounds, FLOAT8OID,
											  sizeof(float8),
											  FLOAT8PASSBYVAL,
											  TYPALIGN_DOUBLE));
}

/* The other way round; false if that is no such array. */
static bool
read_points(Datum value, TsaLocality *locality)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	float8	   *data = (float8 *) ARR_DATA_PTR(array);
	int			nfields;
	int			i;
	int			j;

	if (ARR_NDIM(array) != 2 || ARR_HASNULL(array) ||
		ARR_ELEMTYPE(array) != FLOAT8OID ||
		ARR_DIMS(array)[0] > TSA_LOCALITY_LEVELS + 1)
		return false;
	nfields = ARR_DIMS(array)[1];
	if (nfields < OLD_FIELDS || nfields > POINT_FIELDS)
		return false;
	locality->npoints = ARR_DIMS(array)[0];
	for (i = 0; i < locality->npoints; i++)
	{
		double	   *fields[POINT_FIELDS];

		list_fields(&locality->points[i], fields);
		for (j = 0; j < nfields; j++)
		{
			*fields[j] = data[i * nfields + j];
			if (!isfinite(*fields[j]) || *fields[j] < 0)
				return false;
		}
		if (locality->points[i].entries < 1 ||
			locality->points[i].blocks <= 0 ||
			(i > 0 && locality->points[i].entries <=
			 locality->points[i - 1].entries))
			return false;
	}
	return locality->npoints > 0;
}

/*
 * Times of the processor, and of the way to an I/O worker if reads are made by
 * these (io_method, from 18 on).
 */
TsaCpuTimes
tsa_cpu_times(void)
{
	const char *method = GetConfigOption("io_method", true, false);
	TsaCpuTimes cpu = TSA_CPU_TIMES;

	if (method == NULL)
		return cpu;
	cpu = (TsaCpuTimes) TSA_CPU_TIMES_18;
	if (strcmp(method, "worker") == 0)
	{
		cpu.worker = TSA_WORKER_US;
		cpu.prefetch = 0;
	}
	return cpu;
}

/*
 * From 18 on neighbours are read by one request, of which the kernel reads
 * ahead, at any concurrency.
 */
void
tsa_times_combine(TsaReadTimes *times)
{
	if (GetConfigOption("io_method", true, false) == NULL)
		return;
	times->adjacent_1 = Min(times->adjacent_1, times->adjacent_0);
	times->adjacent_n = Min(times->adjacent_n, times->adjacent_1);
}

/* Read the times; false if they are not complete. */
static bool
read_times(Datum value, TsaReadTimes *times)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Datum	   *elements;
	bool	   *nulls;
	double		numbers[TIME_FIELDS] = {0};
	int			n;
	int			i;

	if (ARR_ELEMTYPE(array) != FLOAT8OID)
		return false;
	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &elements, &nulls, &n);
	if (n != TIME_FIELDS)
		return false;
	for (i = 0; i < TIME_FIELDS; i++)
	{
		numbers[i] = nulls[i] ? 0 : DatumGetFloat8(elements[i]);
		if (!isfinite(numbers[i]) || (i < 6 && numbers[i] <= 0))
			return false;
	}
	times->cpu = tsa_cpu_times();
	times->sequential = numbers[0];
	times->random = numbers[1];
	times->skip = numbers[2];
	times->cached = Min(numbers[3], times->sequential);
	times->adjacent_0 = numbers[4];
	times->adjacent_1 = numbers[5];
	times->depth = (int) Min(Max(numbers[6], 0), 1024);
	times->adjacent_n = numbers[7];
	times->skip_n = numbers[8] > 0 ? numbers[8] : times->skip;
	times->random_n = numbers[9] > 0 ? numbers[9] : times->random;
	if (times->adjacent_n <= 0)
		times->depth = 0;
	tsa_times_combine(times);
	return true;
}

/* Ask for the times of a tablespace; SPI is connected. */
static Datum
select_times(Oid tablespace, bool *isnull)
{
	static TsaStatement statement = {SELECT_TIMES, 1, {OIDOID}, NULL};
	Datum		values[] = {ObjectIdGetDatum(tablespace)};

	*isnull = true;
	if (tsa_run(&statement, values, NULL, TSA_READS) != 1)
		return (Datum) 0;
	return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
						 isnull);
}

/* Replace the row; SPI is connected. */
static void
replace_row(TsaLocalityRow *row, Datum times, bool no_times)
{
	static TsaStatement delete_gone = {DELETE_GONE, 0, {0}, NULL};
	static TsaStatement insert_row = {
		INSERT_ROW, COLUMNS,
		{
			OIDOID, OIDOID, OIDOID, OIDOID, INT8OID, INT8OID, FLOAT8OID,
			TIMESTAMPTZOID, FLOAT8ARRAYOID, FLOAT8ARRAYOID, FLOAT8OID,
			FLOAT8OID
		},
		NULL
	};
	static TsaStatement keep_residency = {KEEP_RESIDENCY, 1, {OIDOID}, NULL};
	Datum		values[COLUMNS];
	char		nulls[COLUMNS + 1] = "            ";

	values[0] = ObjectIdGetDatum(row->index);
	values[1] = ObjectIdGetDatum(row->relation);
	values[2] = ObjectIdGetDatum(row->index_file);
	values[3] = ObjectIdGetDatum(row->heap_file);
	values[4] = Int64GetDatum((int64) row->index_blocks);
	values[5] = Int64GetDatum((int64) row->table_blocks);
	values[6] = Float8GetDatum(row->entries);
	values[7] = TimestampTzGetDatum(row->measured_at);
	values[8] = form_points(&row->locality);
	values[9] = times;
	if (no_times)
		nulls[9] = 'n';
	values[10] = Float8GetDatum(row->then.correlation);
	if (isnan(row->then.correlation))
		nulls[10] = 'n';
	values[11] = Float8GetDatum(row->then.replaced_rows);
	tsa_run(&delete_gone, NULL, NULL, TSA_WRITES);
	tsa_run(&insert_row, values, nulls, TSA_WRITES);
	tsa_run(&keep_residency, &values[1], NULL, TSA_CALLS);
}

/*
 * Keep the measurement, and look up the times that go with it, those of the
 * table's tablespace.
 */
void
tsa_locality_keep(TsaLocalityRow *row, Oid tablespace)
{
	TsaState	state;
	Datum		times;
	bool		no_times;

	tsa_state_check("index_locality",
					XactReadOnly ? AccessShareLock : RowExclusiveLock);
	tsa_state_open(&state);
	(void) set_config_option("lock_timeout", LOCK_TIMEOUT, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	times = select_times(tablespace, &no_times);
	row->has_times = !no_times && read_times(times, &row->times);
	if (!XactReadOnly)
		replace_row(row, times, no_times);
	tsa_state_close(&state);

	if (XactReadOnly)
	{
		ereport(NOTICE,
				(errmsg("the locality of the index is not kept"),
				 RecoveryInProgress() ?
				 errdetail("The server is a standby.") :
				 errdetail("The transaction is read-only.")));
		return;
	}
	CacheInvalidateRelcacheByRelid(row->index);
	CacheInvalidateRelcacheByRelid(row->relation);
}

/* Take a row; false if it makes no sense. */
static bool
take_row(const Datum *values, const bool *nulls, void *arg)
{
	TsaLocalityRow *row = arg;

	for (int i = 0; i < COLUMNS; i++)
		if (nulls[i] && i + 1 != COLUMN_READ_TIMES &&
			i + 1 != COLUMN_CORRELATION && i + 1 != COLUMN_REPLACED_ROWS)
			return false;
	row->index = DatumGetObjectId(values[COLUMN_INDEX - 1]);
	row->relation = DatumGetObjectId(values[COLUMN_RELATION - 1]);
	row->index_file = DatumGetObjectId(values[COLUMN_INDEX_FILE - 1]);
	row->heap_file = DatumGetObjectId(values[COLUMN_HEAP_FILE - 1]);
	row->index_blocks =
		(double) DatumGetInt64(values[COLUMN_INDEX_BLOCKS - 1]);
	row->table_blocks =
		(double) DatumGetInt64(values[COLUMN_TABLE_BLOCKS - 1]);
	row->entries = DatumGetFloat8(values[COLUMN_ENTRIES - 1]);
	row->measured_at = DatumGetTimestampTz(values[COLUMN_MEASURED_AT - 1]);
	row->then.correlation = nulls[COLUMN_CORRELATION - 1] ? NAN :
		DatumGetFloat8(values[COLUMN_CORRELATION - 1]);
	row->then.replaced_rows = nulls[COLUMN_REPLACED_ROWS - 1] ? NAN :
		DatumGetFloat8(values[COLUMN_REPLACED_ROWS - 1]);
	row->has_times = !nulls[COLUMN_READ_TIMES - 1] &&
		read_times(values[COLUMN_READ_TIMES - 1], &row->times);
	return read_points(values[COLUMN_POINTS - 1], &row->locality);
}

/* Are index and table still in the files that were looked at? */
bool
tsa_locality_has_files(const TsaLocalityRow *row)
{
	Relation	index = RelationIdGetRelation(row->index);
	Relation	heap = RelationIdGetRelation(row->relation);
	bool		result = index != NULL && heap != NULL &&
	tsa_locator_number(tsa_rel_locator(index)) == row->index_file &&
	tsa_locator_number(tsa_rel_locator(heap)) == row->heap_file;

	if (index != NULL)
		RelationClose(index);
	if (heap != NULL)
		RelationClose(heap);
	return result;
}

/* The part of the table in caches, and the times with that. */
static void
find_residency(TsaLocalityRow *row)
{
	tsa_times_cached(&row->times, 0, 0, &row->cold);
	row->has_residency = tsa_residency_load(row->relation, &row->residency);
	if (!row->has_residency)
		return;
	tsa_times_cached(&row->times, row->residency.shared_fraction,
					 row->residency.system_fraction, &row->resident);
}

/*
 * Read the row of an index as it was kept.  Returns false if the table is not
 * there or could not be locked at once; *is_found says whether there is a row.
 */
bool
tsa_locality_read(Oid index, TsaLocalityRow *row, bool *is_found)
{
	Oid			table;

	*is_found = false;
	if (!OidIsValid(get_namespace_oid(TSA_STATE_SCHEMA, true)))
		return true;
	table = tsa_state_try_lock("index_locality", AccessShareLock);
	if (!OidIsValid(table))
		return false;
	*is_found = tsa_state_read_row(table, index, COLUMNS, take_row, row);
	return true;
}

/*
 * Read the row of an index for plans.  Returns as tsa_locality_read(), but
 * *is_found says whether there is a row that holds, has times and is not stale.
 */
bool
tsa_locality_load(Oid index, TsaLocalityRow *row, bool *is_found)
{
	if (!tsa_locality_read(index, row, is_found))
		return false;
	*is_found = *is_found && row->has_times && tsa_locality_has_files(row) &&
		tsa_table_change(index, row->relation, row->entries, &row->then,
						 &row->statistics) == NULL;
	if (*is_found)
		find_residency(row);
	return true;
}
