/*-------------------------------------------------------------------------
 *
 * bloat.c read_index_pages(): pgstattuple's figures of a B-tree.
 *
 * Its function in C is called by OID, see extension_members.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"

#include "state/extension_members.h"

PG_FUNCTION_INFO_V1(tsa_read_index_pages);

/* read_index_pages(index) */
Datum
tsa_read_index_pages(PG_FUNCTION_ARGS)
{
	static const char *const columns[] = {
		"leaf_pages", "internal_pages", "avg_leaf_density"
	};
	Oid			function = tsa_extension_function("pgstattuple",
												  "pgstatindex", REGCLASSOID);
	HeapTupleHeader found;
	TupleDesc	row;
	Datum		values[lengthof(columns)];
	bool		nulls[lengthof(columns)];

	if (!OidIsValid(function))
		PG_RETURN_NULL();
	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg_internal("return type must be a row type")));
	found = DatumGetHeapTupleHeader(OidFunctionCall1(function,
													 PG_GETARG_DATUM(0)));
	for (int i = 0; i < (int) lengthof(columns); i++)
		values[i] = GetAttributeByName(found, columns[i], &nulls[i]);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row),
													  values, nulls)));
}
