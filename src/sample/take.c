/*-------------------------------------------------------------------------
 *
 * take.c
 *	  take_sample(), which is SECURITY DEFINER: locks the extension's tables
 *	  before it calls by name what does the work.
 *
 * An owner of the database who could drop the extension in the middle of it
 * would make functions of the same names, to be called as the superuser.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "utils/guc.h"

#include "state/state.h"
#include "tsa.h"

PG_FUNCTION_INFO_V1(tsa_take_sample);

Datum
tsa_take_sample(PG_FUNCTION_ARGS)
{
	Oid			argtypes[] = {INT4OID};
	int			guc_level;
	Oid			function;
	Datum		result;

	tsa_refuse_restricted_operation(fcinfo);
	tsa_state_check("sample", AccessShareLock);
	function = LookupFuncName(list_make2(makeString(TSA_STATE_SCHEMA),
										 makeString("add_all_samples")),
							  1, argtypes, false);
	guc_level = NewGUCNestLevel();
	tsa_state_show_all_relations();
	result = OidFunctionCall1(function, PG_GETARG_DATUM(0));
	AtEOXact_GUC(false, guc_level);
	return result;
}
