/*-------------------------------------------------------------------------
 *
 * assume_tablespace.c
 *	  Tablespaces that are not there, for advice on devices to buy.
 *
 * They belong to the session, and are forgotten with the other assumptions
 * (assume.c).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_tablespace_d.h"
#include "commands/tablespace.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "cost/cost.h"
#include "state/state.h"

/*
 * More than anybody compares; also bounds the memory that a session can fill.
 */
#define MAX_TABLESPACES 16

/* The server's tablespaces are two, or FirstNormalObjectId and above. */
#define FIRST_ASSUMED_OID ((Oid) (FirstNormalObjectId - MAX_TABLESPACES))

typedef struct AssumedTablespace
{
	NameData	name;
	double		random_read_us;
	int64		bytes;
	NameData	like;			/* empty: none */
	double		max_reads_per_s;	/* 0: not given */
} AssumedTablespace;

static AssumedTablespace tablespaces[MAX_TABLESPACES];
static int	ntablespaces = 0;

void		(*tsa_before_assumption) (void) = NULL;

PG_FUNCTION_INFO_V1(tsa_assume_tablespace);
PG_FUNCTION_INFO_V1(tsa_assumed_tablespaces);

/* Must not fail. */
void
tsa_forget_tablespaces(void)
{
	ntablespaces = 0;
}

/* The assumption on a tablespace of that name; NULL if there is none. */
static AssumedTablespace *
find_assumed(const char *name)
{
	for (int i = 0; i < ntablespaces; i++)
		if (strcmp(NameStr(tablespaces[i].name), name) == 0)
			return &tablespaces[i];
	return NULL;
}

/*
 * An OID that stands for an assumed tablespace in plans; InvalidOid for others.
 * No tablespace has it, so that the planner takes the global page costs.
 */
Oid
tsa_assumed_tablespace_oid(const char *name)
{
	AssumedTablespace *assumed = find_assumed(name);

	return assumed == NULL ? InvalidOid :
		FIRST_ASSUMED_OID + (Oid) (assumed - tablespaces);
}

/* The name of an assumed tablespace by that OID, or NULL. */
const char *
tsa_assumed_tablespace_name(Oid oid)
{
	if (oid < FIRST_ASSUMED_OID ||
		oid >= FIRST_ASSUMED_OID + (Oid) ntablespaces)
		return NULL;
	return NameStr(tablespaces[oid - FIRST_ASSUMED_OID].name);
}

/* A positive number, or an error. */
static double
positive_argument(FunctionCallInfo fcinfo, int arg, const char *name)
{
	double		value = PG_GETARG_FLOAT8(arg);

	if (!(value > 0) || isinf(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a number greater than zero", name)));
	return value;
}

/* The name, which no tablespace of the server may have. */
static void
take_name(FunctionCallInfo fcinfo, AssumedTablespace *assumed)
{
	assumed->name = *PG_GETARG_NAME(0);
	if (NameStr(assumed->name)[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("tablespace must have a name")));
	if (OidIsValid(get_tablespace_oid(NameStr(assumed->name), true)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("tablespace \"%s\" already exists",
						NameStr(assumed->name)),
				 errhint("Assume one under another name.")));
}

/*
 * SQL function assume_tablespace(tablespace, random_read_us, bytes,
 * like_tablespace, max_reads_per_s)
 */
Datum
tsa_assume_tablespace(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"tablespace", "random_read_us", "bytes"
	};
	AssumedTablespace assumed = {0};
	AssumedTablespace *slot;

	tsa_refuse_restricted_operation(fcinfo);
	for (int i = 0; i < (int) lengthof(names); i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", names[i])));
	take_name(fcinfo, &assumed);
	assumed.random_read_us = positive_argument(fcinfo, 1, "random_read_us");
	assumed.bytes = DatumGetInt64(DirectFunctionCall1(pg_size_bytes,
													  PG_GETARG_DATUM(2)));
	if (assumed.bytes <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bytes must be greater than zero")));
	if (!PG_ARGISNULL(3))
	{
		assumed.like = *PG_GETARG_NAME(3);
		if (get_tablespace_oid(NameStr(assumed.like), false) ==
			GLOBALTABLESPACE_OID)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("only shared relations can be placed in pg_global tablespace")));
	}
	if (!PG_ARGISNULL(4))
	{
		assumed.max_reads_per_s =
			positive_argument(fcinfo, 4, "max_reads_per_s");
		if (assumed.max_reads_per_s * assumed.random_read_us < 1e6)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("max_reads_per_s is less than what one reader alone does in random_read_us")));
	}
	slot = find_assumed(NameStr(assumed.name));
	if (slot == NULL && ntablespaces == MAX_TABLESPACES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot assume more than %d tablespaces",
						MAX_TABLESPACES)));
	(*tsa_before_assumption) ();
	if (slot == NULL)
		slot = &tablespaces[ntablespaces++];
	*slot = assumed;
	PG_RETURN_VOID();
}

/* SQL function assumed_tablespaces(): those that are still not there */
Datum
tsa_assumed_tablespaces(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < ntablespaces; i++)
	{
		AssumedTablespace *assumed = &tablespaces[i];
		Datum		values[5];
		bool		nulls[5] = {0};

		if (OidIsValid(get_tablespace_oid(NameStr(assumed->name), true)))
			continue;
		values[0] = NameGetDatum(&assumed->name);
		values[1] = Float8GetDatum(assumed->random_read_us);
		values[2] = Int64GetDatum(assumed->bytes);
		values[3] = NameGetDatum(&assumed->like);
		nulls[3] = NameStr(assumed->like)[0] == '\0';
		values[4] = Float8GetDatum(assumed->max_reads_per_s);
		nulls[4] = assumed->max_reads_per_s == 0;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
