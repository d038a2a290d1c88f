/*-------------------------------------------------------------------------
 *
 * size.c
 *	  SQL interface of the pgbench arithmetic in pgbench_size.c.
 *
 * The properties of the server come from its own headers and settings, nothing
 * is assumed.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/visibilitymapdefs.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/block.h"
#include "storage/bufpage.h"
#include "storage/fsm_internals.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "size/pgbench_size.h"

PG_FUNCTION_INFO_V1(pgbench_forks);
PG_FUNCTION_INFO_V1(pgbench_catalog_bytes);
PG_FUNCTION_INFO_V1(pgbench_nearest_scale);

/*
 * Describe this server's pages.
 */
static TsaPageLayout
describe_server(void)
{
	TsaPageLayout layout = {
		.block_size = BLCKSZ,
		.max_align = MAXIMUM_ALIGNOF,
		.page_header = SizeOfPageHeaderData,
		.item_id = sizeof(ItemIdData),
		.heap_header = SizeofHeapTupleHeader,
		.index_header = sizeof(IndexTupleData),
		.item_pointer = sizeof(ItemPointerData),
		.btree_special = sizeof(BTPageOpaqueData),
		.leaf_fillfactor = BTREE_DEFAULT_FILLFACTOR,
		.inner_fillfactor = BTREE_NONLEAF_FILLFACTOR,
		.fsm_slots = SlotsPerFSMPage,
		.vm_heap_blocks = (BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) *
		(BITS_PER_BYTE / BITS_PER_HEAPBLOCK),
		.max_blocks = (int64) MaxBlockNumber + 1,
		.extend_limit = tsa_bulk_extend_limit(),
		.copy_small_tables = TSA_PGBENCH_COPIES_SMALL_TABLES,
	};

	return layout;
}

/* Callback: may be cancelled here. */
static void
check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/*
 * Fetch an integer argument, which must not be NULL.
 */
static int32
get_int_arg(FunctionCallInfo fcinfo, int number, const char *name)
{
	if (PG_ARGISNULL(number))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name)));
	return PG_GETARG_INT32(number);
}

/*
 * Refuse a fillfactor or number of partitions that pgbench would refuse.
 */
static void
check_options(const TsaPgbenchOptions *options)
{
	if (options->fillfactor < TSA_PGBENCH_MIN_FILLFACTOR ||
		options->fillfactor > TSA_PGBENCH_MAX_FILLFACTOR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fillfactor must be between %d and %d, not %d",
						TSA_PGBENCH_MIN_FILLFACTOR,
						TSA_PGBENCH_MAX_FILLFACTOR,
						options->fillfactor)));
	if (options->partitions < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of partitions must not be negative")));
}

/*
 * Refuse a scale that pgbench cannot load, or at which some partitions would
 * have no row.
 */
static void
check_scale(const TsaPageLayout *layout, const TsaPgbenchOptions *options)
{
	int			max_scale = tsa_max_pgbench_scale(layout, options);

	if (options->scale < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scale must be at least 1, not %d", options->scale)));
	if (options->scale > max_scale)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("scale %d is too large", options->scale),
				 errdetail("With these options pgbench can load up to scale %d on this server.",
						   max_scale)));
	if (options->scale < tsa_min_pgbench_scale(options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot have more partitions than rows"),
				 errdetail("At scale %d pgbench_accounts has " INT64_FORMAT " rows.",
						   options->scale,
						   options->scale * TSA_PGBENCH_ACCOUNTS)));
}

/*
 * Emit one row of pgbench_forks().
 */
static void
put_fork(ReturnSetInfo *rsinfo, const char *relation, const char *suffix,
		 const char *fork, int64 blocks)
{
	Datum		values[3];
	bool		nulls[3] = {false};
	char		name[NAMEDATALEN + 8];

	snprintf(name, sizeof(name), "%s%s", relation, suffix);
	values[0] = CStringGetTextDatum(name);
	values[1] = CStringGetTextDatum(fork);
	values[2] = Int64GetDatum(blocks);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	pfree(DatumGetPointer(values[0]));
	pfree(DatumGetPointer(values[1]));
}

/*
 * pgbench_forks(scale, fillfactor, partitions, bigint_scale)
 *
 * One row per relation fork that pgbench -i makes.  Forks without a file do
 * not appear; the empty main fork of a relation does.
 */
Datum
pgbench_forks(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TsaPageLayout layout = describe_server();
	TsaPgbenchOptions options;
	int64		count;
	int64		i;

	options.scale = get_int_arg(fcinfo, 0, "scale");
	options.fillfactor = get_int_arg(fcinfo, 1, "fillfactor");
	options.partitions = get_int_arg(fcinfo, 2, "number of partitions");
	options.bigint_scale = get_int_arg(fcinfo, 3, "bigint_scale");
	check_options(&options);
	check_scale(&layout, &options);

	InitMaterializedSRF(fcinfo, 0);
	count = tsa_count_pgbench_tables(&options);
	for (i = 0; i < count; i++)
	{
		TsaPgbenchTable table;

		CHECK_FOR_INTERRUPTS();
		tsa_size_pgbench_table(&layout, &options, i, &table);
		put_fork(rsinfo, table.name, "", "main", table.heap_blocks);
		if (table.fsm_blocks > 0)
			put_fork(rsinfo, table.name, "", "fsm", table.fsm_blocks);
		if (table.vm_blocks > 0)
			put_fork(rsinfo, table.name, "", "vm", table.vm_blocks);
		if (table.has_pkey)
			put_fork(rsinfo, table.name, "_pkey", "main", table.pkey_blocks);
	}
	return (Datum) 0;
}

/*
 * pgbench_catalog_bytes(partitions): by how much catalogs grow.
 */
Datum
pgbench_catalog_bytes(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(TSA_PARTITION_CATALOG_BYTES *
					Max(get_int_arg(fcinfo, 0, "number of partitions"), 0));
}

/*
 * The size that estimate_pgbench_scale() compares with its target.
 */
static TsaPgbenchObject
parse_object(const char *name)
{
	if (strcmp(name, "database") == 0)
		return TSA_PGBENCH_ALL;
	if (strcmp(name, "table") == 0)
		return TSA_PGBENCH_TABLE;
	if (strcmp(name, "index") == 0)
		return TSA_PGBENCH_INDEX;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized object: \"%s\"", name),
			 errhint("Valid objects are \"database\", \"table\" and \"index\".")));
	pg_unreachable();
}

/*
 * pgbench_nearest_scale(target_bytes, object, fillfactor, partitions,
 *						 empty_bytes)
 *
 * The scale at which the object's size is nearest to the target.
 */
Datum
pgbench_nearest_scale(PG_FUNCTION_ARGS)
{
	TsaPageLayout layout = describe_server();
	TsaPgbenchOptions options;
	TsaPgbenchObject object;
	int64		base_bytes = 0;
	int64		target_bytes;
	int64		largest_bytes;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null",
						PG_ARGISNULL(0) ? "target size" : "object")));
	target_bytes = PG_GETARG_INT64(0);
	object = parse_object(text_to_cstring(PG_GETARG_TEXT_PP(1)));
	options.fillfactor = get_int_arg(fcinfo, 2, "fillfactor");
	options.partitions = get_int_arg(fcinfo, 3, "number of partitions");
	options.bigint_scale = TSA_PGBENCH_BIGINT_SCALE;
	check_options(&options);
	if (target_bytes <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("target size must be greater than zero")));

	if (object == TSA_PGBENCH_ALL)
	{
		if (PG_ARGISNULL(4))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_DATABASE),
					 errmsg("could not determine the size of an empty database"),
					 errdetail("This server has no database \"template1\" and no database \"template0\".")));
		base_bytes = PG_GETARG_INT64(4);
	}

	options.scale = tsa_max_pgbench_scale(&layout, &options);
	largest_bytes = base_bytes + BLCKSZ *
		tsa_sum_pgbench_blocks(&layout, &options, object, check_interrupts);
	if (target_bytes > largest_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("target size is too large"),
				 errdetail("With these options pgbench can load up to scale %d on this server, which takes " INT64_FORMAT " bytes.",
						   options.scale, largest_bytes)));

	PG_RETURN_INT32(tsa_find_pgbench_scale(&layout, &options, object,
										   base_bytes, target_bytes,
										   check_interrupts));
}
