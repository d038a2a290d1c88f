/*-------------------------------------------------------------------------
 *
 * take.c
 *	  take_sample(), which is SECURITY DEFINER, and sample_activity(): lock the
 *	  extension's tables before they call by name the function that does the
 *	  work.
 *
 * An owner of the database with a chance to drop the extension in the middle
 * of it would make functions of the same names, to be called as the superuser.
 *
 * A sample keeps others away until it is committed.  People call
 * sample_activity(), which commits: a transaction that stays open would keep
 * everybody's samples waiting.  It commits before, too, as a commit runs code
 * that the caller has put off: deferred triggers, and the rest of cursors'
 * queries.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "utils/guc.h"

#include "state/settings.h"
#include "state/state.h"
#include "state/statement.h"
#include "tsa.h"

/* Looks at pg_stat_activity in a sample that somebody asks for */
#define SNAPSHOTS	10

PG_FUNCTION_INFO_V1(tsa_take_sample);
PG_FUNCTION_INFO_V1(tsa_sample_activity);

/*
 * take_sample(snapshots): takes a sample with the caller's rights, in a
 * security-restricted operation.
 */
Datum
tsa_take_sample(PG_FUNCTION_ARGS)
{
	Oid			argtypes[] = {INT4OID};
	int			guc_level;
	Oid			userid;
	int			sec_context;
	Oid			function;
	Datum		result;

	tsa_refuse_restricted_operation(fcinfo);
	tsa_state_check("sample", AccessShareLock);
	function = LookupFuncName(list_make2(makeString(TSA_STATE_SCHEMA),
										 makeString("add_all_samples")),
							  1, argtypes, false);
	guc_level = NewGUCNestLevel();
	tsa_state_show_all_relations();
	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(userid, sec_context |
						   SECURITY_RESTRICTED_OPERATION);
	result = OidFunctionCall1(function, PG_GETARG_DATUM(0));
	SetUserIdAndSecContext(userid, sec_context);
	AtEOXact_GUC(false, guc_level);
	return result;
}

/* Takes a sample with the extension's rights. */
static void
add_sample(void *arg pg_attribute_unused())
{
	static TsaStatement statement = {
		"SELECT tablespace_advisor.add_all_samples($1)", 1, {INT4OID}, NULL
	};
	Datum		values[1] = {Int32GetDatum(SNAPSHOTS)};
	TsaState	state;

	tsa_state_check("sample", AccessShareLock);
	tsa_state_open(&state);
	tsa_run(&statement, values, NULL, TSA_CALLS);
	tsa_state_close(&state);
}

/* sample_activity() */
Datum
tsa_sample_activity(PG_FUNCTION_ARGS)
{
	int			level;
	ErrorData  *error;

	tsa_refuse_restricted_operation(fcinfo);
	if (!tsa_may_commit(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("sample_activity() cannot run inside a transaction block"),
				 errdetail("It commits, so that others need not wait for its locks."),
				 errhint("Send CALL as a statement of its own, turn autocommit on, or call it from a top-level procedure or DO block in PL/pgSQL.")));
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	SPI_commit();
	(void) tsa_set_isolation(XACT_READ_COMMITTED);
	level = tsa_hurry();
	error = tsa_try(add_sample, NULL);
	if (error != NULL)
	{
		AtEOXact_GUC(false, level);
		ReThrowError(error);
	}
	SPI_commit();				/* which closes the level */
	SPI_finish();
	PG_RETURN_VOID();
}
