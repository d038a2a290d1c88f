/*-------------------------------------------------------------------------
 *
 * probe.c
 *	  SQL interface of the probe: arguments, privileges, rows.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "probe/measure.h"
#include "probe/probe.h"
#include "probe/run.h"
#include "state/state.h"
#include "state/subtransaction.h"
#include "state/tablespace.h"
#include "state/written.h"

#define MIN_FILE_BYTES	(UINT64CONST(1024) * 1024)
#define MAX_FILE_BYTES		(UINT64CONST(1) << 40)
#define FILE_UNIT			(128 * 1024)
#define MAX_DURATION_US	(3600.0 * USECS_PER_SEC)
#define MAX_DEPTHS			32

PG_FUNCTION_INFO_V1(probe_tablespace);

/* Define the stage's configuration parameters. */
void
tsa_init_probe(void)
{
	DefineCustomIntVariable("tablespace_advisor.probe_max_iops",
							"Sets the highest number of I/O requests per second that a probe makes.",
							"Zero means no limit.",
							&tsa_probe_max_iops,
							0, 0, 10000000,
							PGC_SUSET, 0,
							NULL, NULL, NULL);
}

/* Complain of an argument that must not be NULL. */
static void
refuse_null(bool isnull, const char *argument)
{
	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", argument)));
}

/* Read a duration: microseconds; an error if it is out of range. */
static uint64
parse_duration(const Interval *duration)
{
	double		us = (double) duration->time +
	(double) USECS_PER_DAY * duration->day +
	(double) USECS_PER_DAY * DAYS_PER_MONTH * duration->month;

	if (us < 1000 || us > MAX_DURATION_US)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration must be between 1 ms and 1 hour")));
	return (uint64) us;
}

/* Read a file size with unit: bytes, rounded up; 22023 beyond 1 MB to 1 TB. */
static uint64
parse_file_size(Datum size)
{
	int64		bytes = DatumGetInt64(DirectFunctionCall1(pg_size_bytes, size));

	if (bytes < (int64) MIN_FILE_BYTES || bytes > (int64) MAX_FILE_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("file_size must be between 1 MB and 1 TB")));
	return TYPEALIGN64(FILE_UNIT, (uint64) bytes);
}

/* Read the queue depths. */
static int
parse_depths(ArrayType *array, int *depths)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int			i;
	int			j;

	deconstruct_array(array, INT4OID, sizeof(int32), true, TYPALIGN_INT,
					  &elements, &nulls, &n);
	if (n < 1 || n > MAX_DEPTHS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("queue_depths must have between 1 and %d elements",
						MAX_DEPTHS)));
	for (i = 0; i < n; i++)
	{
		refuse_null(nulls[i], "an element of queue_depths");
		depths[i] = DatumGetInt32(elements[i]);
		if (depths[i] < 1 || depths[i] > TSA_MAX_DEPTH)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("queue depth %d is out of range", depths[i]),
					 errdetail("Queue depths are between 1 and %d.",
							   TSA_MAX_DEPTH)));
		for (j = 0; j < i; j++)
			if (depths[j] == depths[i])
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("queue depth %d is listed twice",
								depths[i])));
	}
	return n;
}

/* Find a workload by its name. */
static const TsaWorkload *
find_workload(const char *name)
{
	StringInfoData names;
	int			i;

	initStringInfo(&names);
	for (i = 0; i < TSA_WORKLOADS; i++)
	{
		if (strcmp(tsa_workloads[i].name, name) == 0)
			return &tsa_workloads[i];
		appendStringInfo(&names, "%s\"%s\"", i > 0 ? ", " : "",
						 tsa_workloads[i].name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown workload \"%s\"", name),
			 errhint("Workloads are %s.", names.data)));
	return NULL;				/* not reached */
}

/* Should relations of others be spared this workload? */
static bool
needs_scratch(const TsaWorkload *workload)
{
	return workload->write_percent > 0 || workload->buffered;
}

/* Read the workloads, or choose the default ones. */
static int
parse_workloads(ArrayType *array, bool existing, const TsaWorkload **workloads)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int			i;
	int			j;
	int			chosen = 0;

	if (array == NULL)
	{
		for (i = 0; i < TSA_WORKLOADS; i++)
			if (tsa_workloads[i].by_default &&
				!(existing && needs_scratch(&tsa_workloads[i])))
				workloads[chosen++] = &tsa_workloads[i];
		return chosen;
	}

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &n);
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("workloads must not be empty")));
	for (i = 0; i < n; i++)
	{
		const TsaWorkload *workload;

		refuse_null(nulls[i], "an element of workloads");
		workload = find_workload(TextDatumGetCString(elements[i]));
		if (existing && needs_scratch(workload))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("workload \"%s\" cannot be measured in mode \"existing\"",
							workload->name),
					 workload->buffered ?
					 errdetail("It has to empty the page cache, and this mode does not touch it.") :
					 errdetail("It writes, and this mode only reads.")));
		for (j = 0; j < chosen; j++)
			if (workloads[j] == workload)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("workload \"%s\" is listed twice",
								workload->name)));
		workloads[chosen++] = workload;
	}
	return chosen;
}

/* Read the mode: true for "existing", false for "scratch", else an error. */
static bool
parse_mode(const char *mode)
{
	if (strcmp(mode, "existing") == 0)
		return true;
	if (strcmp(mode, "scratch") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown mode \"%s\"", mode),
				 errhint("Modes are \"scratch\" and \"existing\".")));
	return false;
}

/* List the rows to measure. */
static void
plan_steps(TsaProbeRequest *request, const TsaWorkload **workloads,
		   int nworkloads, const int *depths, int ndepths)
{
	static const int concurrencies[] = {0, 1, TSA_CANDIDATE_DEPTH};
	int			i;
	int			j;

	request->steps = palloc0(sizeof(TsaProbeStep) * nworkloads *
							 (ndepths + (int) lengthof(concurrencies)));
	for (i = 0; i < nworkloads; i++)
	{
		const int  *these = depths;
		int			n = ndepths;

		if (workloads[i]->queue_depth > 0)
		{
			these = &workloads[i]->queue_depth;
			n = 1;
		}
		else if (workloads[i]->by_concurrency)
		{
			these = concurrencies;
			n = (int) lengthof(concurrencies);
		}
		for (j = 0; j < n; j++)
		{
			/* without a page cache between, 0 is no other than 1 */
			if (these[j] == 0 && !workloads[i]->buffered)
				continue;
			request->steps[request->nsteps].workload = workloads[i];
			request->steps[request->nsteps++].queue_depth = these[j];
		}
	}
}

/* Read all arguments of probe_tablespace(). */
static void
parse_request(FunctionCallInfo fcinfo, TsaProbeRequest *request)
{
	static const char *const names[] = {
		NULL, "duration", "file_size", "queue_depths", NULL, "mode"
	};
	const TsaWorkload *workloads[TSA_WORKLOADS];
	int			depths[MAX_DEPTHS];
	int			ndepths;
	int			nworkloads;
	int			i;

	for (i = 0; i < (int) lengthof(names); i++)
		if (names[i] != NULL)
			refuse_null(PG_ARGISNULL(i), names[i]);

	request->duration = PG_GETARG_INTERVAL_P(1);
	request->duration_us = parse_duration(request->duration);
	request->file_bytes = parse_file_size(PG_GETARG_DATUM(2));
	ndepths = parse_depths(PG_GETARG_ARRAYTYPE_P(3), depths);
	request->existing =
		parse_mode(text_to_cstring(PG_GETARG_TEXT_PP(5)));
	nworkloads = parse_workloads(PG_ARGISNULL(4) ? NULL :
								 PG_GETARG_ARRAYTYPE_P(4),
								 request->existing, workloads);
	plan_steps(request, workloads, nworkloads, depths, ndepths);
}

/*
 * Writing a scratch file takes the same right as a temporary table there.  The
 * database's own tablespace, which everybody may use without it, is granted
 * here as well.
 */
static void
check_privileges(const TsaProbeRequest *request)
{
	AclResult	result;

	if (request->existing || request->tablespace == MyDatabaseTableSpace)
		return;
	result = tsa_tablespace_aclcheck(request->tablespace, GetUserId(),
									 ACL_CREATE);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLESPACE, request->tablespace_name);
}

/*
 * The server keeps no temporary files in pg_global; pg_default's stand in for
 * them as long as both are on one file system.
 */
static void
check_global(TsaProbeRequest *request)
{
	struct stat global;
	struct stat base;

	if (request->existing || request->tablespace != GLOBALTABLESPACE_OID)
		return;
	if (stat("global", &global) != 0 || stat("base", &base) != 0 ||
		global.st_dev != base.st_dev)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot make a scratch file in tablespace \"pg_global\""),
				 errdetail("It is on another file system than \"pg_default\"."),
				 errhint("Use mode 'existing'.")));
	request->tablespace = DEFAULTTABLESPACE_OID;
}

/*
 * Probes one tablespace: a run of its own, and its rows.  The history keeps
 * more than three digits of each figure.
 */
static void
probe_one(const TsaProbeRequest *all, char *tablespace, ReturnSetInfo *rsinfo)
{
	TsaProbeRequest request = *all;
	TsaProbeRun run = {0};
	int			i;

	request.tablespace_name = tablespace;
	request.tablespace = tsa_find_tablespace(tablespace);
	check_privileges(&request);
	check_global(&request);

	tsa_probe_run(&request, &run);
	tsa_history_keep(&run);

	for (i = 0; i < run.nresults; i++)
	{
		Datum		values[TSA_RESULT_COLUMNS];
		bool		nulls[TSA_RESULT_COLUMNS];

		tsa_result_form(run.tablespace, &run.results[i], values, nulls);
		for (int c = 0; c < TSA_RESULT_COLUMNS; c++)
			if (!nulls[c] &&
				TupleDescAttr(rsinfo->setDesc, c)->atttypid == FLOAT8OID)
				values[c] =
					Float8GetDatum(tsa_three_digits(DatumGetFloat8(values[c])));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
}

/* Order names. */
static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* The tablespaces that relations can be in, by name. */
static List *
list_tablespaces(void)
{
	Relation	catalog = table_open(TableSpaceRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(catalog, 0, NULL);
	List	   *names = NIL;
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_tablespace row = (Form_pg_tablespace) GETSTRUCT(tuple);

		if (row->oid != GLOBALTABLESPACE_OID)
			names = lappend(names, pstrdup(NameStr(row->spcname)));
	}
	table_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(names, compare_names);
	return names;
}

/* One of several probes. */
typedef struct OneProbe
{
	const TsaProbeRequest *all;
	char	   *tablespace;
	ReturnSetInfo *rsinfo;
} OneProbe;

/* For a function that takes one argument: probes one tablespace. */
static void
probe_as_one(void *arg)
{
	OneProbe   *one = arg;

	probe_one(one->all, one->tablespace, one->rsinfo);
}

/*
 * Probe a tablespace, and go on with a warning where that cannot be done.  A
 * cancel ends it all.
 */
static bool
try_probe_one(const TsaProbeRequest *all, char *tablespace,
			  ReturnSetInfo *rsinfo)
{
	OneProbe	one = {all, tablespace, rsinfo};
	ErrorData  *error = tsa_try(probe_as_one, &one);

	if (error == NULL)
		return true;
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) ==
		ERRCODE_OPERATOR_INTERVENTION)
		ReThrowError(error);
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("tablespace \"%s\" is not probed: %s", tablespace,
					error->message),
			 error->detail ? errdetail_internal("%s", error->detail) : 0,
			 error->hint ? errhint("%s", error->hint) : 0));
	return false;
}

/*
 * Probe all tablespaces, one after another: those that share a device would
 * else be each other's load, and their scratch files would need room together.
 */
static void
probe_all(const TsaProbeRequest *request, ReturnSetInfo *rsinfo)
{
	bool		any = false;
	ListCell   *cell;

	foreach(cell, list_tablespaces())
		any |= try_probe_one(request, lfirst(cell), rsinfo);
	if (!any)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no tablespace could be probed"),
				 errhint("The warnings say why.")));
}

/*
 * SQL function probe_tablespace: measure the device under a tablespace, or
 * those under all; see its comment in probe.sql.
 */
Datum
probe_tablespace(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TsaProbeRequest request = {0};

	tsa_refuse_restricted_operation(fcinfo);
	tsa_check_signature(fcinfo, "probe_run", 6);
	parse_request(fcinfo, &request);
	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		probe_all(&request, rsinfo);
	else
		probe_one(&request, pstrdup(NameStr(*PG_GETARG_NAME(0))), rsinfo);
	return (Datum) 0;
}
