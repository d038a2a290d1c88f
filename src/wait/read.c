/*-------------------------------------------------------------------------
 *
 * read.c
 *	  SQL functions that return the measured waits.
 *
 * The ledger is copied under the lock in shared mode, and rows are made from
 * the copy, so that backends are not kept from handing in for long.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "wait/local.h"
#include "wait/parameters.h"
#include "wait/shared.h"

PG_FUNCTION_INFO_V1(tsa_wait_relations);
PG_FUNCTION_INFO_V1(tsa_wait_statements);
PG_FUNCTION_INFO_V1(tsa_wait_info);
PG_FUNCTION_INFO_V1(tsa_flush_waits);

#define MAX_COLUMNS 13

static const char *const class_names[] = {
	[TSA_WAIT_APPLICATION] = "application",
	[TSA_WAIT_EXPORT] = "export",
	[TSA_WAIT_MAINTENANCE] = "maintenance",
	[TSA_WAIT_PLANNING] = "planning",
	[TSA_WAIT_MOVER] = "moves",
	[TSA_WAIT_EXTENSION] = "extension"
};

static const char *const access_names[] = {
	[TSA_ACCESS_ALL] = "all",
	[TSA_ACCESS_INDEX] = "index",
	[TSA_ACCESS_HEAP_BY_INDEX] = "heap by index",
	[TSA_ACCESS_HEAP_BY_BITMAP] = "heap by bitmap",
	[TSA_ACCESS_SEQUENTIAL] = "sequential",
	[TSA_ACCESS_MODIFIED] = "modified",
	[TSA_ACCESS_TOAST] = "toast",
	[TSA_ACCESS_OTHER] = "other",
	[TSA_ACCESS_UTILITY] = "utility",
	[TSA_ACCESS_UNATTRIBUTED] = "unattributed"
};

/* A row that is being filled, from the left. */
typedef struct Row
{
	int			n;
	Datum		values[MAX_COLUMNS];
	bool		nulls[MAX_COLUMNS];
} Row;

/* The next column of a row. */
static void
add(Row *row, Datum value)
{
	row->nulls[row->n] = false;
	row->values[row->n++] = value;
}

/* The same, NULL. */
static void
add_null(Row *row)
{
	row->nulls[row->n] = true;
	row->values[row->n++] = (Datum) 0;
}

/* The same, a number. */
static void
add_number(Row *row, double number)
{
	add(row, Float8GetDatum(number));
}

/* The same, a text. */
static void
add_text(Row *row, const char *text)
{
	add(row, CStringGetTextDatum(text));
}

/* Puts the row into the result; the next one begins. */
static void
put_row(const ReturnSetInfo *result, Row *row)
{
	CHECK_FOR_INTERRUPTS();
	tuplestore_putvalues(result->setResult, result->setDesc, row->values,
						 row->nulls);
	row->n = 0;
}

/* A copy of a table of the ledger, to walk over its entries. */
static void
copy_table(const TsaFixedTable *from, TsaFixedTable *to)
{
	Size		bytes = TSA_FIXED_TABLE_BYTES(from->nslots, from->entry_size);
	char	   *memory = MemoryContextAllocHuge(CurrentMemoryContext, bytes);

	LWLockAcquire(tsa_wait_shared->lock, LW_SHARED);
	*to = *from;
	memcpy(memory, from->slots, bytes);
	LWLockRelease(tsa_wait_shared->lock);
	to->slots = memory;
	to->used = (uint8 *) memory + (Size) to->nslots * to->entry_size;
}

/* A histogram as an array; NULL if it is empty. */
static void
add_histogram(Row *row, const uint64_t *histogram)
{
	Datum		values[TSA_HISTOGRAM_BUCKETS];
	uint64		sum = 0;

	for (int i = 0; i < TSA_HISTOGRAM_BUCKETS; i++)
	{
		values[i] = Float8GetDatum((double) histogram[i]);
		sum += histogram[i];
	}
	if (sum == 0)
		add_null(row);
	else
		add(row, PointerGetDatum(construct_array(values, TSA_HISTOGRAM_BUCKETS,
												 FLOAT8OID, sizeof(float8),
												 FLOAT8PASSBYVAL,
												 TYPALIGN_DOUBLE)));
}

/* Adds an entry of a relation to the rows of the result. */
static void
put_relation(const ReturnSetInfo *result, const TsaRelationEntry *entry)
{
	Row			row = {0};

	add(&row, ObjectIdGetDatum(entry->key.dbid));
	add(&row, ObjectIdGetDatum(entry->key.relid));
	add_text(&row, class_names[entry->key.class]);
	add_text(&row, access_names[entry->key.access]);
	add_number(&row, (double) entry->figures.calls);
	add_number(&row, (double) entry->figures.hits);
	add_number(&row, (double) entry->figures.reads);
	add_number(&row, (double) entry->figures.waited_ns / 1e6);
	add_histogram(&row, entry->histogram);
	add(&row, TimestampTzGetDatum(entry->since));
	put_row(result, &row);
}

/* wait_relations(): a row per entry; none unless the library is preloaded. */
Datum
tsa_wait_relations(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	TsaFixedTable table;
	TsaRelationEntry *entry;
	uint32		position = 0;

	InitMaterializedSRF(fcinfo, 0);
	if (tsa_wait_shared == NULL)
		return (Datum) 0;
	copy_table(&tsa_wait_shared->ledger.relations, &table);
	while ((entry = tsa_fixed_table_next(&table, &position)) != NULL)
		put_relation(result, entry);
	return (Datum) 0;
}

/* A row of a statement, or of its reads of a relation. */
static void
put_statement(const ReturnSetInfo *result, const TsaStatementKey *key,
			  Oid relid, TsaWaitAccess access, const TsaWaitFigures *figures,
			  const uint64_t *total_ns, TimestampTz since)
{
	Row			row = {0};

	add(&row, ObjectIdGetDatum(key->dbid));
	add(&row, ObjectIdGetDatum(key->userid));
	add(&row, Int64GetDatum((int64) key->queryid));
	add(&row, BoolGetDatum(key->toplevel != 0));
	add(&row, ObjectIdGetDatum(relid));
	add_text(&row, class_names[key->class]);
	add_text(&row, access_names[access]);
	add_number(&row, (double) figures->calls);
	if (total_ns == NULL)
		add_null(&row);
	else
		add_number(&row, (double) *total_ns / 1e6);
	add_number(&row, (double) figures->hits);
	add_number(&row, (double) figures->reads);
	add_number(&row, (double) figures->waited_ns / 1e6);
	add(&row, TimestampTzGetDatum(since));
	put_row(result, &row);
}

/*
 * wait_statements(): a row per statement and per share; none unless the library
 * is preloaded.
 */
Datum
tsa_wait_statements(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	TsaFixedTable table;
	TsaStatementEntry *statement;
	TsaShareEntry *share;
	uint32		position = 0;

	InitMaterializedSRF(fcinfo, 0);
	if (tsa_wait_shared == NULL)
		return (Datum) 0;
	copy_table(&tsa_wait_shared->ledger.statements, &table);
	while ((statement = tsa_fixed_table_next(&table, &position)) != NULL)
		put_statement(result, &statement->key, InvalidOid, TSA_ACCESS_ALL,
					  &statement->figures, &statement->total_ns,
					  statement->since);
	copy_table(&tsa_wait_shared->ledger.shares, &table);
	position = 0;
	while ((share = tsa_fixed_table_next(&table, &position)) != NULL)
		put_statement(result, &share->key.statement, share->key.relid,
					  share->key.access, &share->figures, NULL, share->since);
	return (Datum) 0;
}

/* The row of wait_info() if something is measured. */
static void
describe_ledger(Row *row)
{
	const TsaLedger *ledger = &tsa_wait_shared->ledger;

	LWLockAcquire(tsa_wait_shared->lock, LW_SHARED);
	add(row, TimestampTzGetDatum(ledger->since));
	add(row, BoolGetDatum(tsa_now.track_waits));
	add(row, Int32GetDatum(tsa_now.track_waits_sample));
	add(row, Float8GetDatum((double) ledger->seen));
	add(row, Float8GetDatum((double) ledger->measured));
	add(row, Int32GetDatum((int32) ledger->relations.nentries));
	add(row, Int32GetDatum((int32) ledger->relations.max_entries));
	add(row, Int64GetDatum((int64) ledger->overflowed));
	add(row, Int64GetDatum((int64) ledger->reclaimed));
	add(row, Int32GetDatum((int32) ledger->statements.nentries));
	add(row, Int32GetDatum((int32) ledger->statements.max_entries));
	add(row, Int64GetDatum((int64) ledger->evicted));
	add(row, Float8GetDatum((double) ledger->lost_reads));
	LWLockRelease(tsa_wait_shared->lock);
}

/* wait_info(): facts of the ledger; NULLs unless the library is preloaded. */
Datum
tsa_wait_info(PG_FUNCTION_ARGS)
{
	TupleDesc	tuple;
	Row			row = {0};

	if (get_call_result_type(fcinfo, NULL, &tuple) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg_internal("return type must be a row type")));
	if (tsa_wait_shared != NULL)
		describe_ledger(&row);
	while (row.n < tuple->natts)
		add_null(&row);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tuple),
													  row.values, row.nulls)));
}

/*
 * flush_waits(): hands in this backend's figures; false if another process has
 * the ledger's lock.
 */
Datum
tsa_flush_waits(PG_FUNCTION_ARGS pg_attribute_unused())
{
	PG_RETURN_BOOL(tsa_local_hand_in_soon());
}
