/*-------------------------------------------------------------------------
 *
 * table_residency.c
 *	  How much of a table caches held when that was last looked at.
 *
 * Rows of tablespace_advisor.table_residency are written by SQL, when a
 * locality is measured and by every sample, and read without a query
 * (state_row.c), for the planner.  A reader locks the table only if that can be
 * had at once.
 *
 * Caches change, so a row holds for an hour only, and not beyond a start of
 * the server.  On a standby it would be about another machine's; a promoted one
 * may believe the old primary's for that hour.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "utils/inval.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "sample/table_residency.h"
#include "state/state.h"

#define HOLDS_FOR_MS	(3600 * 1000)

/* columns of the table */
enum
{
	COLUMN_RELATION = 1,
	COLUMN_SHARED,
	COLUMN_SYSTEM,
	COLUMN_MEASURED_AT,
	COLUMNS = COLUMN_MEASURED_AT
};

PG_FUNCTION_INFO_V1(tsa_renew_plans);

/* Take a row; false if it makes no sense. */
static bool
take_row(const Datum *values, const bool *nulls, void *arg)
{
	TsaTableResidency *residency = arg;

	for (int i = 0; i < COLUMNS; i++)
		if (nulls[i])
			return false;
	residency->shared_fraction = DatumGetFloat8(values[COLUMN_SHARED - 1]);
	residency->system_fraction = DatumGetFloat8(values[COLUMN_SYSTEM - 1]);
	residency->measured_at =
		DatumGetTimestampTz(values[COLUMN_MEASURED_AT - 1]);
	return residency->shared_fraction >= 0 &&
		residency->system_fraction >= 0 &&
		residency->shared_fraction + residency->system_fraction <= 1.000001;
}

/* Read the row of a table; false if there is none, or the lock is not had. */
bool
tsa_residency_load(Oid relation, TsaTableResidency *residency)
{
	Oid			table = tsa_state_try_lock("table_residency",
										   AccessShareLock);

	return OidIsValid(table) &&
		tsa_state_read_row(table, relation, COLUMNS, take_row, residency);
}

/* Is that still to be believed? */
bool
tsa_residency_holds(const TsaTableResidency *residency)
{
	return !RecoveryInProgress() &&
		residency->measured_at > PgStartTime &&
		!TimestampDifferenceExceeds(residency->measured_at,
									GetCurrentStatementStartTimestamp(),
									HOLDS_FOR_MS);
}

/* SQL function renew_plans; see its comment in table_residency.sql. */
Datum
tsa_renew_plans(PG_FUNCTION_ARGS)
{
	Oid			relation = PG_GETARG_OID(0);

	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
		CacheInvalidateRelcacheByRelid(relation);
	PG_RETURN_VOID();
}
