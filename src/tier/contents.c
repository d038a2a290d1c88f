/*-------------------------------------------------------------------------
 *
 * contents.c tablespace_contents(): the contents of a tablespace, and how they
 * leave.
 *
 * It takes a superuser's rights to look at file names and other databases, and
 * the answer has the part that the caller may know: so it is a C function that
 * runs an internal one as the bootstrap superuser, with the caller as an
 * argument.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "move/move.h"
#include "state/settings.h"
#include "state/tablespace.h"
#include "tier/contents.h"

PG_FUNCTION_INFO_V1(tsa_tablespace_contents);

/* Returns the rows of a statement on the extension's own functions. */
void
tsa_return_rows(FunctionCallInfo fcinfo, TsaStatement *query,
				Datum *values, const char *nulls)
{
	ReturnSetInfo *result;
	TsaState	journal;

	InitMaterializedSRF(fcinfo, 0);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	tsa_journal_open(&journal);
	tsa_plan_as_usual();
	tsa_run(query, values, nulls, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(result->setResult, SPI_tuptable->vals[i]);
	tsa_state_close(&journal);
}

/* A tablespace's OID by an argument that must not be NULL. */
static Oid
tablespace_arg(FunctionCallInfo fcinfo, int n, const char *name)
{
	Datum		value = tsa_required_arg(fcinfo, n, name);

	return tsa_parse_tablespace(NameStr(*DatumGetName(value)));
}

/*
 * tablespace_contents(tablespace, target): rows as in contents.sql; names in
 * other databases for superusers only.  Target may be NULL.
 */
Datum
tsa_tablespace_contents(PG_FUNCTION_ARGS)
{
	static TsaStatement query = {
		"SELECT c.database, c.relation, c.kind, c.size_bytes, c.how,"
		" c.statement || ';', c.reason"
		" FROM tablespace_advisor.contents_of($1, $2, $3, true) c",
		3, {OIDOID, OIDOID, BOOLOID}, NULL
	};
	Datum		values[3];
	char		nulls[] = "   ";

	tsa_refuse_restricted_operation(fcinfo);
	values[0] = ObjectIdGetDatum(tablespace_arg(fcinfo, 0, "tablespace"));
	values[1] = (Datum) 0;
	nulls[1] = PG_ARGISNULL(1) ? 'n' : ' ';
	if (!PG_ARGISNULL(1))
		values[1] = ObjectIdGetDatum(tablespace_arg(fcinfo, 1,
													"to_tablespace"));
	values[2] = BoolGetDatum(superuser());
	tsa_return_rows(fcinfo, &query, values, nulls);
	return (Datum) 0;
}
