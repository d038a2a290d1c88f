/*-------------------------------------------------------------------------
 *
 * pins.c pin_placement() and unpin_placement(): relations that are to stay.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "state/state.h"
#include "state/statement.h"

#define PIN_ARGS 3

/* All advice reads it. */
#define MAX_REASON_CHARS 1000

/* Of relations that are gone; somebody else may be doing the same. */
#define DELETE_GONE \
	"DELETE FROM tablespace_advisor.placement_pin" \
	" WHERE relation = ANY (ARRAY(" \
	"  SELECT p.relation FROM tablespace_advisor.placement_pin p" \
	"  WHERE NOT EXISTS" \
	"   (SELECT FROM pg_catalog.pg_class c WHERE c.oid = p.relation)" \
	"  FOR UPDATE SKIP LOCKED))"

PG_FUNCTION_INFO_V1(tsa_pin_placement);
PG_FUNCTION_INFO_V1(tsa_unpin_placement);

/*
 * Refuses NULL, a relation without storage, and callers other than its owner.
 */
static void
check_pin(FunctionCallInfo fcinfo)
{
	Oid			relation;
	Oid			table;
	char		relkind;

	tsa_refuse_restricted_operation(fcinfo);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("relation must not be null")));
	relation = table = PG_GETARG_OID(0);
	relkind = get_rel_relkind(relation);
	if (relkind == RELKIND_INDEX)
		table = IndexGetRelation(relation, true);
	else if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW)
	{
		if (relkind == '\0')
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("relation with OID %u does not exist", relation)));
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table or index with storage",
						get_rel_name(relation))));
	}
	if (!OidIsValid(table) || !tsa_owns_relation(table, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s", get_rel_name(table))));
}

/* Fails (22001) if the reason is too long. */
static void
check_reason(text *reason)
{
	if (pg_mbstrlen_with_len(VARDATA_ANY(reason),
							 VARSIZE_ANY_EXHDR(reason)) > MAX_REASON_CHARS)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("reason must not be longer than %d characters",
						MAX_REASON_CHARS)));
}

/* Runs a statement on the pins; returns how many rows it changed. */
static uint64
change_pins(TsaStatement *statement, Datum *values, const char *nulls)
{
	TsaState	state;
	uint64		changed;

	tsa_state_check("placement_pin", RowExclusiveLock);
	tsa_state_open(&state);
	changed = tsa_run(statement, values, nulls, TSA_WRITES);
	tsa_state_close(&state);
	return changed;
}

/* pin_placement(relation, reason) */
Datum
tsa_pin_placement(PG_FUNCTION_ARGS)
{
	static TsaStatement forget = {DELETE_GONE, 0, {0}, NULL};
	static TsaStatement statement = {
		"INSERT INTO tablespace_advisor.placement_pin"
		" (relation, reason, pinned_by) VALUES ($1, $2, $3)"
		" ON CONFLICT (relation) DO UPDATE"
		" SET reason = EXCLUDED.reason, ends_at = NULL,"
		"   pinned_by = EXCLUDED.pinned_by,"
		"   pinned_at = EXCLUDED.pinned_at",
		PIN_ARGS, {OIDOID, TEXTOID, OIDOID}, NULL
	};
	Datum		values[PIN_ARGS];
	char		nulls[] = "   ";

	check_pin(fcinfo);
	values[0] = PG_GETARG_DATUM(0);
	values[1] = PG_GETARG_DATUM(1);
	values[2] = ObjectIdGetDatum(GetUserId());
	if (PG_ARGISNULL(1))
		nulls[1] = 'n';
	else
		check_reason(PG_GETARG_TEXT_PP(1));
	change_pins(&forget, NULL, NULL);
	change_pins(&statement, values, nulls);
	PG_RETURN_VOID();
}

/* unpin_placement(relation) */
Datum
tsa_unpin_placement(PG_FUNCTION_ARGS)
{
	static TsaStatement statement = {
		"DELETE FROM tablespace_advisor.placement_pin WHERE relation = $1",
		1, {OIDOID}, NULL
	};
	Datum		values[1];

	check_pin(fcinfo);
	values[0] = PG_GETARG_DATUM(0);
	PG_RETURN_BOOL(change_pins(&statement, values, NULL) > 0);
}
