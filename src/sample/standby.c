/*-------------------------------------------------------------------------
 *
 * standby.c add_standby_activity(): the reads on a standby.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "state/state.h"
#include "state/statement.h"

PG_FUNCTION_INFO_V1(tsa_add_standby_activity);

/*
 * Refuses rows that are not of a standby of this server's, for this database.
 */
static void
check_origin(Datum activity)
{
	static TsaStatement statement = {
		"SELECT tablespace_advisor.is_of_this_database($1) AS is_own",
		1, {JSONBOID}, NULL
	};
	TsaState	state;
	bool		is_own;

	tsa_state_open(&state);
	is_own = tsa_run(&statement, &activity, NULL, TSA_READS) == 1 &&
		DatumGetBool(tsa_result_column(0, "is_own"));
	tsa_state_close(&state);
	if (!is_own)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"activity\" is not of a standby of this server and of this database"),
				 errhint("It is what standby_activity() returns there.")));
}

/*
 * add_standby_activity(activity, server): keeps the rows and returns how many
 * relations.  25006 on a standby, 22004 for NULL, errors of check_origin().
 */
Datum
tsa_add_standby_activity(PG_FUNCTION_ARGS)
{
	static TsaStatement statement = {
		"SELECT tablespace_advisor.keep_standby_activity($1,"
		" left(coalesce($2, $1->>'server', 'standby'), 63)::name) AS kept",
		2, {JSONBOID, TEXTOID}, NULL
	};
	Datum		values[2];
	char		nulls[] = "  ";
	TsaState	state;
	int			kept;

	tsa_refuse_restricted_operation(fcinfo);
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot keep anything on a standby"),
				 errhint("Call it on the primary.")));
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"activity\" must not be null")));
	tsa_state_check("standby_activity", RowExclusiveLock);
	values[0] = PG_GETARG_DATUM(0);
	check_origin(values[0]);
	values[1] = PG_ARGISNULL(1) ? (Datum) 0 :
		CStringGetTextDatum(NameStr(*PG_GETARG_NAME(1)));
	if (PG_ARGISNULL(1))
		nulls[1] = 'n';
	tsa_state_open(&state);
	tsa_run(&statement, values, nulls, TSA_CALLS);
	kept = DatumGetInt32(tsa_result_column(0, "kept"));
	tsa_state_close(&state);
	PG_RETURN_INT32(kept);
}
