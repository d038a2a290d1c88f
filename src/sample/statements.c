/*-------------------------------------------------------------------------
 *
 * statements.c
 *	  read_statements(): what pg_stat_statements has counted in this database.
 *
 * Its function in C is called by OID, see extension_members.c.
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

#include "state/extension_members.h"

PG_FUNCTION_INFO_V1(tsa_read_statements);

/* A column of the rows, if it is there and of that type; else 0. */
static int
column_of(TupleDesc rows, const char *name, Oid type)
{
	int			column = SPI_fnumber(rows, name);

	return column > 0 && SPI_gettypeid(rows, column) == type ? column : 0;
}

/*
 * Adds up the rows of this database.  False if they have not the columns for
 * that, as those of old versions.
 */
static bool
add_up(ReturnSetInfo *result, int64 *calls, float8 *ms)
{
	TupleDesc	rows = result->setDesc;
	int			database = column_of(rows, "dbid", OIDOID);
	int			count = column_of(rows, "calls", INT8OID);
	int			time = column_of(rows, "total_exec_time", FLOAT8OID);
	TupleTableSlot *slot;

	if (database == 0 || count == 0 || time == 0)
		return false;
	slot = MakeSingleTupleTableSlot(rows, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(result->setResult, true, false, slot))
	{
		bool		isnull[3];
		Datum		of = slot_getattr(slot, database, &isnull[0]);
		Datum		n = slot_getattr(slot, count, &isnull[1]);
		Datum		total = slot_getattr(slot, time, &isnull[2]);

		CHECK_FOR_INTERRUPTS();
		if (isnull[0] || isnull[1] || isnull[2] ||
			DatumGetObjectId(of) != MyDatabaseId)
			continue;
		*calls += DatumGetInt64(n);
		*ms += DatumGetFloat8(total);
	}
	ExecDropSingleTupleTableSlot(slot);
	return true;
}

/* Calls it without the texts of statements, and has its rows added up. */
static bool
call_statements(Oid function, int64 *calls, float8 *ms)
{
	LOCAL_FCINFO(call, 1);
	FmgrInfo	flinfo;
	ReturnSetInfo result = {.type = T_ReturnSetInfo};
	bool		known = false;

	fmgr_info(function, &flinfo);
	result.econtext = CreateStandaloneExprContext();
	result.allowedModes = SFRM_Materialize;
	InitFunctionCallInfoData(*call, &flinfo, 1, InvalidOid, NULL,
							 (Node *) &result);
	call->args[0].value = BoolGetDatum(false);
	call->args[0].isnull = false;
	(void) FunctionCallInvoke(call);
	if (result.returnMode == SFRM_Materialize && result.setResult != NULL)
	{
		known = add_up(&result, calls, ms);
		tuplestore_end(result.setResult);
	}
	FreeExprContext(result.econtext, true);
	return known;
}

/* read_statements() */
Datum
tsa_read_statements(PG_FUNCTION_ARGS)
{
	Oid			function = tsa_extension_function("pg_stat_statements",
												  "pg_stat_statements",
												  BOOLOID);
	int64		calls = 0;
	float8		ms = 0;
	TupleDesc	row;
	Datum		values[2];
	bool		nulls[2];
	bool		known;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg_internal("return type must be a row type")));
	known = OidIsValid(function) && call_statements(function, &calls, &ms);
	nulls[0] = nulls[1] = !known;
	values[0] = Int64GetDatum(calls);
	values[1] = Float8GetDatum(ms);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row),
													  values, nulls)));
}
