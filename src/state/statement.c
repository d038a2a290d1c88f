/*-------------------------------------------------------------------------
 *
 * statement.c
 *	  Statements that run with the extension's rights.
 *
 * Statements are constants, their plans are saved, and state.c sees to it that
 * no code but the server's runs with these rights.
 *
 * TSA_READS and TSA_WRITES see all that is committed, under any isolation
 * level of the caller's transaction, and wait for rows as under READ
 * COMMITTED: a row that a worker has changed since the caller's snapshot would
 * be an error otherwise, and the caller could not cancel its jobs.
 *
 * For that, and under REPEATABLE READ and SERIALIZABLE only, a statement that
 * writes runs with the isolation level changed: the server has no other way to
 * go on with the newest version of a row there.  It must not take a
 * transaction snapshot meanwhile, which would replace the caller's, so that
 * the caller's next reads would be of another moment.  Volatile functions take
 * one, and so do foreign keys.  Statements that need either run as TSA_CALLS,
 * with the caller's isolation level and snapshot.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"

#include "state/statement.h"

/*
 * Prepares a statement, for as long as the process lives.  The options are
 * those of cursors.
 */
static void
prepare_with(TsaStatement *statement, int nargs, Oid *types, int options)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(statement->sql, nargs, types,
										  options);

	if (plan == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("SPI_prepare failed: %s",
								 SPI_result_code_string(SPI_result))));
	SPI_keepplan(plan);
	statement->plan = plan;
}

/*
 * Prepares a statement with arguments of these types, its plan being the
 * server's choice, generic or custom.
 */
static void
prepare(TsaStatement *statement, int nargs, Oid *types)
{
	prepare_with(statement, nargs, types, 0);
}

/*
 * Plans a statement for any values, so that it need not be when it runs, with
 * locks that others wait for.  Before its first run, or it is planned for the
 * values of each.
 */
void
tsa_plan(TsaStatement *statement)
{
	CachedPlan *plan;

	if (statement->plan == NULL)
		prepare_with(statement, statement->nargs, statement->types,
					 CURSOR_OPT_GENERIC_PLAN);
	plan = SPI_plan_get_cached_plan(statement->plan);
	if (plan == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("the plan of \"%s\" is not one statement's",
								 statement->sql)));
	ReleaseCachedPlan(plan, CurrentResourceOwner);
}

/*
 * Sets the isolation level of the transaction under way, one of XACT_..., and
 * returns the one it had.  By the variable, since SET TRANSACTION is refused
 * once the transaction has a snapshot.  The next transaction begins with the
 * session's default again.
 */
int
tsa_set_isolation(int level)
{
	int			former = XactIsoLevel;

	XactIsoLevel = level;
	return former;
}

/*
 * Runs a prepared statement with the rows, and the waiting for rows, of READ
 * COMMITTED, while the caller's transaction keeps its snapshot and level.
 * Returns the code of SPI; throws if the statement has replaced the snapshot.
 */
static int
execute_committed(const TsaStatement *statement, Datum *values,
				  const char *nulls)
{
	Snapshot	snapshot = GetTransactionSnapshot();
	int			level = tsa_set_isolation(XACT_READ_COMMITTED);
	volatile int rc;

	PG_TRY();
	{
		rc = SPI_execute_snapshot(statement->plan, values, nulls,
								  GetLatestSnapshot(), InvalidSnapshot,
								  false, true, 0);
	}
	PG_FINALLY();
	{
		(void) tsa_set_isolation(level);
	}
	PG_END_TRY();
	if (GetTransactionSnapshot() != snapshot)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("the transaction's snapshot was replaced by \"%s\"",
								 statement->sql)));
	return rc;
}

/* Runs a prepared statement; returns the number of rows. */
static uint64
execute(const TsaStatement *statement, Datum *values, const char *nulls,
		TsaStatementMode mode)
{
	int			rc;

	if (mode == TSA_CALLS)
		rc = SPI_execute_plan(statement->plan, values, nulls, false, 0);
	else if (mode == TSA_WRITES && IsolationUsesXactSnapshot())
		rc = execute_committed(statement, values, nulls);
	else
		rc = SPI_execute_snapshot(statement->plan, values, nulls,
								  GetLatestSnapshot(), InvalidSnapshot,
								  mode == TSA_READS, true, 0);
	if (rc < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("SPI_execute failed: %s",
								 SPI_result_code_string(rc))));
	return SPI_processed;
}

/*
 * Runs a statement; returns the number of rows.
 */
uint64
tsa_run(TsaStatement *statement, Datum *values, const char *nulls,
		TsaStatementMode mode)
{
	if (statement->plan == NULL)
		prepare(statement, statement->nargs, statement->types);
	return execute(statement, values, nulls, mode);
}

/*
 * Runs a statement with parameters that have their types with them, the same
 * ones at each call; nargs is the length of the array.
 */
uint64
tsa_run_args(TsaStatement *statement, const TsaArg *args, int nargs,
			 TsaStatementMode mode)
{
	Datum		values[TSA_MAX_ARGS];
	char		nulls[TSA_MAX_ARGS];
	Oid			types[TSA_MAX_ARGS];

	nargs--;
	Assert(nargs <= TSA_MAX_ARGS);
	for (int i = 0; i < nargs; i++)
	{
		values[i] = args[i + 1].value;
		nulls[i] = args[i + 1].isnull ? 'n' : ' ';
		types[i] = args[i + 1].type;
	}
	if (statement->plan == NULL)
		prepare(statement, nargs, types);
	return execute(statement, values, nulls, mode);
}

/* A column of the last result, by its name. */
static int
column_number(const char *name)
{
	int			number = SPI_fnumber(SPI_tuptable->tupdesc, name);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("the result has no column \"%s\"", name)));
	return number;
}

/*
 * A value of the last result; 0 when it is NULL.
 */
Datum
tsa_result_column(uint64 row, const char *name)
{
	bool		isnull;
	Datum		datum = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc,
									  column_number(name), &isnull);

	return isnull ? (Datum) 0 : datum;
}

/*
 * A value of the last result as a string; NULL when it is NULL.
 */
char *
tsa_result_text(uint64 row, const char *name)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
						column_number(name));
}
