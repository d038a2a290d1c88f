/*-------------------------------------------------------------------------
 *
 * partman.c
 *	  read_partman(): pg_partman's row about a partitioned table.
 *
 * The table may belong to anybody, so no statement reads it: columns could be
 * of types with casts and operators of theirs, the table have policies, its
 * name become a view's while a lock is waited for.  The file is read, of the
 * table that is the extension's by its OID, under its lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "state/extension_members.h"

PG_FUNCTION_INFO_V1(tsa_read_partman);

/* The columns that are read. */
enum
{
	PARENT_TABLE,
	EPOCH,
	RETENTION,
	RETENTION_SCHEMA,
	KEEP_TABLE,
	COLUMNS
};

/* Finds the columns; false if one is not there, or not of the type it has. */
static bool
find_columns(TupleDesc desc, int *columns)
{
	static const char *const names[COLUMNS] = {
		"parent_table", "epoch", "retention", "retention_schema",
		"retention_keep_table"
	};

	for (int i = 0; i < COLUMNS; i++)
	{
		columns[i] = SPI_fnumber(desc, names[i]);
		if (columns[i] <= 0 ||
			SPI_gettypeid(desc, columns[i]) !=
			(i == KEEP_TABLE ? BOOLOID : TEXTOID))
			return false;
	}
	return true;
}

/* A text of a row; NULL when it is NULL. */
static char *
text_of(HeapTuple tuple, int column, TupleDesc desc)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, column, desc, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

/*
 * If the row is about that table: its epoch, and its retention unless old
 * partitions are only detached or moved.
 */
static bool
read_row(HeapTuple tuple, const int *columns, TupleDesc desc,
		 const char *parent, char **epoch, char **retention)
{
	char	   *of = text_of(tuple, columns[PARENT_TABLE], desc);
	bool		same = of != NULL && strcmp(of, parent) == 0;
	bool		isnull;
	Datum		keep;

	if (of != NULL)
		pfree(of);				/* there may be many rows, and long ones */
	if (!same)
		return false;
	*epoch = text_of(tuple, columns[EPOCH], desc);
	keep = heap_getattr(tuple, columns[KEEP_TABLE], desc, &isnull);
	if (!isnull && !DatumGetBool(keep) &&
		text_of(tuple, columns[RETENTION_SCHEMA], desc) == NULL)
		*retention = text_of(tuple, columns[RETENTION], desc);
	return true;
}

/* Looks for the row of a table. */
static void
read_config(Relation config, const char *parent, char **epoch,
			char **retention)
{
	TupleDesc	desc = RelationGetDescr(config);
	int			columns[COLUMNS];
	TableScanDesc scan;
	HeapTuple	tuple;

	if (config->rd_rel->relkind != RELKIND_RELATION ||
		config->rd_rel->relam != HEAP_TABLE_AM_OID ||
		config->rd_rel->relrowsecurity || !find_columns(desc, columns))
		return;
	scan = tsa_beginscan(config, GetActiveSnapshot());
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (read_row(tuple, columns, desc, parent, epoch, retention))
			break;
	}
	table_endscan(scan);
}

/* read_partman(target) */
Datum
tsa_read_partman(PG_FUNCTION_ARGS)
{
	Oid			target = PG_GETARG_OID(0);
	Oid			table = tsa_extension_table("pg_partman", "part_config");
	Relation	config = OidIsValid(table) ?
	try_table_open(table, AccessShareLock) : NULL;
	char	   *schema = get_namespace_name(get_rel_namespace(target));
	char	   *name = get_rel_name(target);
	char	   *texts[2] = {NULL, NULL};
	Datum		values[2] = {0};
	bool		nulls[2] = {true, true};
	TupleDesc	row;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg_internal("return type must be a row type")));
	if (config != NULL)
	{
		if (schema != NULL && name != NULL)
			read_config(config, psprintf("%s.%s", schema, name), &texts[0],
						&texts[1]);
		table_close(config, AccessShareLock);
	}
	for (int i = 0; i < 2; i++)
		if (texts[i] != NULL)
		{
			values[i] = CStringGetTextDatum(texts[i]);
			nulls[i] = false;
		}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row),
													  values, nulls)));
}
