/*-------------------------------------------------------------------------
 *
 * statements.c
 *	  read_statements(), read_temporary_io(): counters of pg_stat_statements
 *	  for this database.
 *
 * Its functions in C are called by OID, see extension_members.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

#include "sample/statements.h"
#include "state/extension_members.h"

PG_FUNCTION_INFO_V1(tsa_read_statements);
PG_FUNCTION_INFO_V1(tsa_read_temporary_io);

#define MAX_COLUMNS 4

/* A column that is added up: bigint or float8. */
typedef struct SummedColumn
{
	const char *name;
	Oid			type;
	float8		sum;
	int			number;
} SummedColumn;

/* A column of the rows, if it is there and of that type; else 0. */
int
tsa_column_of(TupleDesc rows, const char *name, Oid type)
{
	int			column = SPI_fnumber(rows, name);

	return column > 0 && SPI_gettypeid(rows, column) == type ? column : 0;
}

/*
 * Adds up the rows of this database.  False if they have not the columns for
 * that, as those of old versions.
 */
static bool
add_up(ReturnSetInfo *result, SummedColumn *columns, int ncolumns)
{
	TupleDesc	rows = result->setDesc;
	int			database = tsa_column_of(rows, "dbid", OIDOID);
	TupleTableSlot *slot;

	for (int i = 0; i < ncolumns; i++)
	{
		columns[i].number = tsa_column_of(rows, columns[i].name,
										  columns[i].type);
		if (columns[i].number == 0)
			return false;
	}
	if (database == 0)
		return false;
	slot = MakeSingleTupleTableSlot(rows, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(result->setResult, true, false, slot))
	{
		bool		isnull;
		Datum		of = slot_getattr(slot, database, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (isnull || DatumGetObjectId(of) != MyDatabaseId)
			continue;
		for (int i = 0; i < ncolumns; i++)
		{
			Datum		value = slot_getattr(slot, columns[i].number, &isnull);

			if (!isnull)
				columns[i].sum += columns[i].type == INT8OID ?
					(float8) DatumGetInt64(value) : DatumGetFloat8(value);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	return true;
}

/*
 * Calls pg_stat_statements() of the extension of that name as the current
 * user, and has its rows taken; with_texts: the texts of statements, too.  The
 * result is false without that extension, else that of "take".  Errors: 55000
 * if its library is not loaded.
 */
bool
tsa_call_statements(bool with_texts, TsaTakeStatements take, void *arg)
{
	Oid			function = tsa_extension_function("pg_stat_statements",
												  "pg_stat_statements",
												  BOOLOID);

	LOCAL_FCINFO(call, 1);
	FmgrInfo	flinfo;
	ReturnSetInfo result = {.type = T_ReturnSetInfo};
	bool		known = false;

	if (!OidIsValid(function))
		return false;
	fmgr_info(function, &flinfo);
	result.econtext = CreateStandaloneExprContext();
	result.allowedModes = SFRM_Materialize;
	InitFunctionCallInfoData(*call, &flinfo, 1, InvalidOid, NULL,
							 (Node *) &result);
	call->args[0].value = BoolGetDatum(with_texts);
	call->args[0].isnull = false;
	(void) FunctionCallInvoke(call);
	if (result.returnMode == SFRM_Materialize && result.setResult != NULL)
	{
		known = take(&result, arg);
		tuplestore_end(result.setResult);
	}
	FreeExprContext(result.econtext, true);
	return known;
}

/* Columns that are added up. */
typedef struct SummedColumns
{
	SummedColumn *columns;
	int			n;
} SummedColumns;

/* For a statement on pg_stat_statements: adds up columns of its rows. */
static bool
take_sums(ReturnSetInfo *result, void *arg)
{
	SummedColumns *sums = arg;

	return add_up(result, sums->columns, sums->n);
}

/* Adds up columns of the statements of this database, without their texts. */
static bool
sum_statements(SummedColumn *columns, int ncolumns)
{
	SummedColumns sums = {columns, ncolumns};

	return tsa_call_statements(false, take_sums, &sums);
}

/* Since when it counts; false if it does not say. */
static bool
counted_since(Datum *since)
{
	Oid			function = tsa_extension_function("pg_stat_statements",
												  "pg_stat_statements_info",
												  InvalidOid);

	LOCAL_FCINFO(call, 0);
	FmgrInfo	flinfo;
	Datum		row;
	bool		isnull = true;

	if (!OidIsValid(function))
		return false;
	fmgr_info(function, &flinfo);
	InitFunctionCallInfoData(*call, &flinfo, 0, InvalidOid, NULL, NULL);
	row = FunctionCallInvoke(call);
	if (!call->isnull)
		*since = GetAttributeByName(DatumGetHeapTupleHeader(row), "stats_reset",
									&isnull);
	return !isnull;
}

/* A row of sums, of the type that the function returns, and one column more. */
static Datum
return_sums(FunctionCallInfo fcinfo, const SummedColumn *columns, int ncolumns,
			bool known, Datum last)
{
	TupleDesc	row;
	Datum		values[MAX_COLUMNS + 1];
	bool		nulls[MAX_COLUMNS + 1];

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg_internal("return type must be a row type")));
	for (int i = 0; i < ncolumns; i++)
		values[i] = columns[i].type == INT8OID ?
			Int64GetDatum((int64) columns[i].sum) :
			Float8GetDatum(columns[i].sum);
	values[ncolumns] = last;
	memset(nulls, known ? 0 : 1, sizeof(nulls));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row),
													  values, nulls)));
}

/*
 * read_statements(): executions and their milliseconds, summed over this
 * database; NULLs without pg_stat_statements, 55000 if it is not preloaded.
 */
Datum
tsa_read_statements(PG_FUNCTION_ARGS)
{
	SummedColumn columns[] = {
		{.name = "calls",.type = INT8OID},
		{.name = "total_exec_time",.type = FLOAT8OID}
	};

	return return_sums(fcinfo, columns, lengthof(columns),
					   sum_statements(columns, lengthof(columns)), (Datum) 0);
}

/*
 * read_temporary_io(): blocks of temporary files and their milliseconds, summed
 * over this database, and the start of the counters; NULLs and errors likewise.
 */
Datum
tsa_read_temporary_io(PG_FUNCTION_ARGS)
{
	SummedColumn columns[] = {
		{.name = "temp_blks_read",.type = INT8OID},
		{.name = "temp_blk_read_time",.type = FLOAT8OID},
		{.name = "temp_blks_written",.type = INT8OID},
		{.name = "temp_blk_write_time",.type = FLOAT8OID}
	};
	Datum		since = (Datum) 0;
	bool		known = sum_statements(columns, lengthof(columns)) &&
	counted_since(&since);

	return return_sums(fcinfo, columns, lengthof(columns), known, since);
}
