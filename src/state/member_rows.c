/*-------------------------------------------------------------------------
 *
 * member_rows.c
 *	  Rows of another extension's table.
 *
 * Such a table may belong to anybody, so no statement reads it: columns could
 * be of types with casts and operators of theirs, the table have policies, its
 * name become a view's while a lock is waited for, and a planner hook leave
 * rows out.  The file is read, of the table that is the extension's by its OID,
 * under its lock, and columns of the server's own types only.
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
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "state/bounded.h"
#include "state/extension_members.h"
#include "state/member_rows.h"

PG_FUNCTION_INFO_V1(tsa_member_rows);
PG_FUNCTION_INFO_V1(tsa_has_member_columns);

/* Some columns of a table: their numbers, and the functions that print them. */
typedef struct Columns
{
	int			n;
	int		   *numbers;
	Oid		   *functions;
} Columns;

/*
 * The function that prints a type of which nothing depends on settings or on
 * names; InvalidOid for all others.
 */
static Oid
output_function(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return F_BOOLOUT;
		case INT2OID:
			return F_INT2OUT;
		case INT4OID:
			return F_INT4OUT;
		case INT8OID:
			return F_INT8OUT;
		case NAMEOID:
			return F_NAMEOUT;
		case TEXTOID:
			return F_TEXTOUT;
		case JSONBOID:
			return F_JSONB_OUT;
		case OIDOID:
		case REGCLASSOID:
		case REGTYPEOID:
			return F_OIDOUT;
		default:
			return InvalidOid;
	}
}

/* Finds the columns; false if one is not there, or of another type. */
static bool
find_columns(TupleDesc desc, const char *const *names, Columns *columns)
{
	columns->numbers = palloc(sizeof(int) * columns->n);
	columns->functions = palloc(sizeof(Oid) * columns->n);
	for (int i = 0; i < columns->n; i++)
	{
		columns->numbers[i] = SPI_fnumber(desc, names[i]);
		if (columns->numbers[i] <= 0)
			return false;
		columns->functions[i] =
			output_function(SPI_gettypeid(desc, columns->numbers[i]));
		if (!OidIsValid(columns->functions[i]))
			return false;
	}
	return true;
}

/*
 * Opens an extension's table; NULL if there is none with a readable file, or
 * it has not these columns.
 */
static Relation
open_table(const char *extension, const char *table,
		   const char *const *names, Columns *columns)
{
	Oid			relid = tsa_extension_table(extension, table);
	Relation	rel = OidIsValid(relid) ?
	try_table_open(relid, AccessShareLock) : NULL;

	if (rel == NULL)
		return NULL;
	if (rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relam == HEAP_TABLE_AM_OID &&
		!rel->rd_rel->relrowsecurity &&
		find_columns(RelationGetDescr(rel), names, columns))
		return rel;
	table_close(rel, AccessShareLock);
	return NULL;
}

/* Texts longer than any name, number or setting count as NULL. */
static bool
is_bounded(Oid function, Datum value)
{
	return (function != F_TEXTOUT && function != F_JSONB_OUT) ||
		tsa_is_short(value);
}

/* Hands the columns of each row to the receiver, until that has enough. */
static void
scan_table(Relation rel, const Columns *columns, TsaMemberReceiver receive,
		   void *arg)
{
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext,
													  "row",
													  ALLOCSET_DEFAULT_SIZES);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = tsa_beginscan(rel, snapshot);
	char	  **values = palloc(sizeof(char *) * columns->n);
	bool		more = true;
	HeapTuple	tuple;

	while (more && (tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(row_context);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < columns->n; i++)
		{
			bool		isnull;
			Datum		value = heap_getattr(tuple, columns->numbers[i],
											 RelationGetDescr(rel), &isnull);

			values[i] = isnull || !is_bounded(columns->functions[i], value) ?
				NULL : OidOutputFunctionCall(columns->functions[i], value);
		}
		more = receive(values, arg);
		MemoryContextSwitchTo(old);
		MemoryContextReset(row_context);
	}
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	MemoryContextDelete(row_context);
}

/*
 * Hands columns of the rows of an extension's table to the receiver; nothing
 * if there is no such table, or if it has not these columns.
 */
void
tsa_read_member_rows(const char *extension, const char *table,
					 const char *const *names, int ncolumns,
					 TsaMemberReceiver receive, void *arg)
{
	Columns		columns = {ncolumns, NULL, NULL};
	Relation	rel = open_table(extension, table, names, &columns);

	if (rel == NULL)
		return;
	scan_table(rel, &columns, receive, arg);
	table_close(rel, AccessShareLock);
}

/* Is there such a table of an extension, and has it these columns? */
bool
tsa_can_read_member(const char *extension, const char *table,
					const char *const *names, int ncolumns)
{
	Columns		columns = {ncolumns, NULL, NULL};
	Relation	rel = open_table(extension, table, names, &columns);

	if (rel == NULL)
		return false;
	table_close(rel, AccessShareLock);
	return true;
}

/* Where rows go to. */
typedef struct RowStore
{
	ReturnSetInfo *result;
	int			ncolumns;
} RowStore;

/* Receives a row as texts, and keeps it as an array. */
static bool
store_row(char **values, void *arg)
{
	RowStore   *store = arg;
	Datum	   *elements = palloc0(sizeof(Datum) * store->ncolumns);
	bool	   *nulls = palloc0(sizeof(bool) * store->ncolumns);
	int			dims[1] = {store->ncolumns};
	int			lbs[1] = {1};
	Datum		row;
	bool		isnull = false;

	for (int i = 0; i < store->ncolumns; i++)
	{
		nulls[i] = values[i] == NULL;
		if (!nulls[i])
			elements[i] = CStringGetTextDatum(values[i]);
	}
	row = PointerGetDatum(construct_md_array(elements, nulls, 1, dims, lbs,
											 TEXTOID, -1, false,
											 TYPALIGN_INT));
	tuplestore_putvalues(store->result->setResult, store->result->setDesc,
						 &row, &isnull);
	return true;
}

/* The names of columns that a function was called with. */
static const char **
names_of(ArrayType *array, int *n)
{
	Datum	   *elements;
	const char **names;

	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &elements, NULL, n);
	names = palloc(sizeof(char *) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
		names[i] = NameStr(*DatumGetName(elements[i]));
	return names;
}

/*
 * member_rows(extension, table_name, columns): these columns as text, a row per
 * row of the extension's table; see tsa_read_member_rows().
 */
Datum
tsa_member_rows(PG_FUNCTION_ARGS)
{
	char	   *extension = NameStr(*PG_GETARG_NAME(0));
	char	   *table = NameStr(*PG_GETARG_NAME(1));
	RowStore	store;
	const char **names = names_of(PG_GETARG_ARRAYTYPE_P(2), &store.ncolumns);

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	store.result = (ReturnSetInfo *) fcinfo->resultinfo;
	tsa_read_member_rows(extension, table, names, store.ncolumns, store_row,
						 &store);
	return (Datum) 0;
}

/* has_member_columns(extension, table_name, columns) */
Datum
tsa_has_member_columns(PG_FUNCTION_ARGS)
{
	int			n;
	const char **names = names_of(PG_GETARG_ARRAYTYPE_P(2), &n);

	PG_RETURN_BOOL(tsa_can_read_member(NameStr(*PG_GETARG_NAME(0)),
									   NameStr(*PG_GETARG_NAME(1)), names, n));
}
