/*-------------------------------------------------------------------------
 *
 * measure_locality.c
 *	  SQL function measure_index_locality: look at the B-trees of a table and
 *	  keep the results.
 *
 * Table and index are locked AccessShare, as a query would, until the
 * transaction ends.  An index of moderate size is read whole, of a larger one
 * some windows that begin at leaf pages chosen at random.  No function of the
 * table's owner runs, so that tsa_measure_locality() may be called with a
 * superuser's rights.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/spccache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "cost/btree_blocks.h"
#include "cost/correction.h"
#include "cost/cost.h"
#include "cost/locality_store.h"
#include "state/printable.h"
#include "state/state.h"

PG_FUNCTION_INFO_V1(measure_index_locality);

#define COLUMNS			17
#define TABLE_SIZE		(UINT32_C(1) << 20) /* twice TSA_LOCALITY_WHOLE */

/* The valid B-trees of a table, a partitioned table or one index. */
#define LIST_INDEXES \
	"SELECT i.indexrelid" \
	" FROM pg_catalog.pg_index i" \
	" JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid" \
	" JOIN pg_catalog.pg_am am ON am.oid = c.relam AND am.amname = 'btree'" \
	" WHERE (i.indrelid IN (SELECT $1 UNION ALL SELECT p.relid" \
	"   FROM pg_catalog.pg_partition_tree($1) p)" \
	"  OR i.indexrelid IN (SELECT $1 UNION ALL SELECT p.relid" \
	"   FROM pg_catalog.pg_partition_tree($1) p))" \
	"  AND c.relkind = 'i' AND i.indisvalid" \
	" ORDER BY i.indrelid, i.indexrelid"

/* List the indexes of the target. */
static Oid *
list_indexes(Oid target, int *n)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			types[] = {REGCLASSOID};
	Datum		values[] = {ObjectIdGetDatum(target)};
	int			guc_level = NewGUCNestLevel();
	Oid		   *indexes;
	uint64		i;

	tsa_state_show_all_relations();
	SPI_connect();
	if (SPI_execute_with_args(LIST_INDEXES, 1, types, values, NULL, true,
							  0) != SPI_OK_SELECT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not list the indexes of relation %u", target)));
	indexes = MemoryContextAlloc(caller, sizeof(Oid) * Max(SPI_processed, 1));
	for (i = 0; i < SPI_processed; i++)
	{
		bool		isnull;

		indexes[i] = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[i],
													SPI_tuptable->tupdesc, 1,
													&isnull));
	}
	*n = (int) SPI_processed;
	SPI_finish();
	AtEOXact_GUC(false, guc_level);
	return indexes;
}

/* Refuse a relation that has no indexes. */
static void
check_target(Oid target)
{
	char		relkind = get_rel_relkind(target);

	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", target)));
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW &&
		relkind != RELKIND_PARTITIONED_TABLE && relkind != RELKIND_INDEX &&
		relkind != RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" has no indexes whose locality could be measured",
						get_rel_name(target)),
				 errdetail("It is neither a table nor a materialized view nor an index.")));
	if (!tsa_owns_relation(target, GetUserId()) &&
		!has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(relkind),
					   get_rel_name(target));
}

/* How many entries an index has, as far as a sample can tell. */
static double
estimate_entries(const TsaBtreeReader *reader, double seen, double leaves)
{
	double		blocks = RelationGetNumberOfBlocks(reader->index);
	Form_pg_class form = reader->index->rd_rel;

	if (form->reltuples > 0 && form->relpages > 0)
		return form->reltuples * blocks / form->relpages;
	return leaves > 0 ? seen / leaves * blocks : 0;
}

/*
 * Read an index as a whole, or parts of it if it is large, and fill in its
 * windows in *row.
 */
static void
sample_index(Relation index, double table_blocks, TsaLocalityRow *row)
{
	TsaLocalityCounter *counter = palloc0(sizeof(TsaLocalityCounter));
	TsaLocalityPoint whole = {0};
	TsaBtreeReader reader;
	int			i;

	counter->table_size = TABLE_SIZE;
	counter->table = palloc0(TABLE_SIZE * sizeof(uint64));
	counter->distinct = palloc((Size) TSA_LOCALITY_WHOLE * sizeof(uint32));

	tsa_init_btree_reader(&reader, index, TSA_LOCALITY_WHOLE);
	if (RelationGetNumberOfBlocks(index) <= TSA_LOCALITY_WHOLE_PAGES &&
		tsa_btree_read(&reader, true))
	{
		tsa_locality_add(counter, reader.blocks, reader.nblocks);
		tsa_locality_count(counter, reader.blocks, reader.nblocks, &whole);
		row->entries = reader.nblocks;
		if (reader.nblocks > 0)
			tsa_locality_finish(counter, &whole, row->entries, table_blocks,
								&row->locality);
	}
	else
	{
		double		seen = 0;

		reader.leaf_pages = 0;
		reader.most = TSA_LOCALITY_WINDOW;
		for (i = 0; i < TSA_LOCALITY_WINDOWS; i++)
		{
			(void) tsa_btree_read(&reader, false);
			seen += reader.nblocks;
			tsa_locality_add(counter, reader.blocks, reader.nblocks);
		}
		row->entries = Max(estimate_entries(&reader, seen,
											(double) reader.leaf_pages),
						   reader.nblocks);
		tsa_locality_finish(counter, NULL, row->entries, table_blocks,
							&row->locality);
	}
	if (row->locality.npoints > 0 && reader.keys > 0)
	{
		TsaLocalityPoint *last =
		&row->locality.points[row->locality.npoints - 1];

		last->keys = row->entries * reader.keys / reader.entries;
		if (reader.leaf_steps > 0)
			last->leaves_in_order = (double) reader.leaf_steps_in_order /
				reader.leaf_steps;
	}
	pfree(reader.blocks);
	pfree(reader.last);
	pfree(counter->distinct);
	pfree(counter->table);
	pfree(counter);
}

/* The correlation that would be right for a window of such a size. */
static double
find_effective(const TsaLocalityRow *row, Relation heap, double entries)
{
	TsaCostSettings settings;
	TsaLocalScan local = {0};

	tsa_cost_settings_fill(&settings);
	get_tablespace_page_costs(heap->rd_rel->reltablespace,
							  &settings.table_random, &settings.table_seq);
	local.scan.table_pages = row->table_blocks;
	local.scan.table_tuples = Max(heap->rd_rel->reltuples, row->entries);
	local.scan.index_pages = row->index_blocks;
	local.scan.index_tuples = row->entries;
	local.scan.selectivity = entries / local.scan.table_tuples;
	local.scan.loop_count = 1;
	local.scan.index_quals = 1;
	local.runs = 1;
	return tsa_effective_correlation(&local, &settings, &row->locality,
									 &row->times);
}

/* A figure with four decimal places. */
static Datum
shown(double figure)
{
	return Float8GetDatum(rint(figure * 1e4) / 1e4);
}

/* Return the results, a row per size of window. */
static void
put_rows(ReturnSetInfo *rsinfo, const TsaLocalityRow *row, Relation heap)
{
	int			i;

	for (i = 0; i < row->locality.npoints; i++)
	{
		const TsaLocalityPoint *point = &row->locality.points[i];
		Datum		values[COLUMNS];
		bool		nulls[COLUMNS] = {0};

		values[0] = ObjectIdGetDatum(row->index);
		values[1] = Int64GetDatum((int64) rint(row->entries));
		values[2] = Int64GetDatum((int64) rint(point->entries));
		values[3] = shown(point->blocks);
		values[4] = shown(point->sequential);
		values[5] = shown(point->skip);
		values[6] = shown(point->random);
		values[7] = shown(point->adjacent_gaps);
		values[8] = shown(point->skip_gaps);
		values[9] = shown(point->far_gaps);
		values[10] = TimestampTzGetDatum(row->measured_at);
		values[11] = shown(row->then.correlation);
		nulls[11] = isnan(row->then.correlation);
		nulls[12] = !row->has_times;
		values[12] = shown(nulls[12] ? 0 :
						   find_effective(row, heap, point->entries));
		values[13] = shown(point->back_sequential);
		values[14] = shown(point->back_skip);
		values[15] = Int64GetDatum((int64) rint(point->windows));
		values[16] = shown(point->changes);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
}

/* Is the locality of such an index measured? */
static bool
can_measure(Relation index, Relation heap)
{
	return index->rd_rel->relkind == RELKIND_INDEX &&
		index->rd_rel->relam == BTREE_AM_OID &&
		heap->rd_rel->relam == HEAP_TABLE_AM_OID &&
		!RELATION_IS_OTHER_TEMP(index);
}

/*
 * Measure one index, and keep the results.  Both are locked.  Returns NULL if
 * there was nothing to find.
 */
static TsaLocalityRow *
measure(Relation index, Relation heap)
{
	TsaLocalityRow *row = palloc0(sizeof(TsaLocalityRow));

	row->index = RelationGetRelid(index);
	row->relation = RelationGetRelid(heap);
	row->index_file = tsa_locator_number(tsa_rel_locator(index));
	row->heap_file = tsa_locator_number(tsa_rel_locator(heap));
	row->index_blocks = RelationGetNumberOfBlocks(index);
	row->table_blocks = RelationGetNumberOfBlocks(heap);
	row->measured_at = GetCurrentTimestamp();
	tsa_table_look(index, row->relation, &row->then);
	sample_index(index, row->table_blocks, row);
	if (row->locality.npoints > 0)
	{
		tsa_locality_keep(row, tsa_locator_tablespace(tsa_rel_locator(heap)));
		return row;
	}
	pfree(row);
	return NULL;
}

/*
 * Measure an index again, if it and its table can be locked at once.  Returns
 * false if they could be, but nothing was measured.
 */
bool
tsa_measure_locality(Oid index_oid, Oid heap_oid)
{
	Relation	index;
	Relation	heap;
	bool		is_measured;

	if (!ConditionalLockRelationOid(heap_oid, AccessShareLock))
		return true;
	if (!ConditionalLockRelationOid(index_oid, AccessShareLock))
		return true;			/* the end of the transaction unlocks */
	heap = try_relation_open(heap_oid, NoLock);
	index = heap != NULL ? try_relation_open(index_oid, NoLock) : NULL;
	is_measured = index != NULL && can_measure(index, heap) &&
		index->rd_index != NULL && index->rd_index->indrelid == heap_oid &&
		measure(index, heap) != NULL;
	if (index != NULL)
		relation_close(index, NoLock);
	if (heap != NULL)
		relation_close(heap, NoLock);
	return is_measured;
}

/* Measure one index for a caller, and return the results. */
static void
measure_index(ReturnSetInfo *rsinfo, Oid index_oid, int number, int of,
			  bool *unprobed)
{
	Oid			heap_oid = IndexGetRelation(index_oid, true);
	Relation	heap = OidIsValid(heap_oid) ?
	try_relation_open(heap_oid, AccessShareLock) : NULL;
	Relation	index;
	TsaLocalityRow *row;

	if (heap == NULL)
		return;
	check_target(heap_oid);
	index = try_relation_open(index_oid, AccessShareLock);
	if (index != NULL && can_measure(index, heap))
	{
		if (of > 1)
			ereport(NOTICE,
					(errmsg("measuring the locality of index \"%s\", %d of %d",
							tsa_printable_text(RelationGetRelationName(index)),
							number, of)));
		row = measure(index, heap);
		if (row != NULL)
		{
			put_rows(rsinfo, row, heap);
			*unprobed |= !row->has_times;
			pfree(row);
		}
	}
	if (index != NULL)
		relation_close(index, NoLock);
	relation_close(heap, NoLock);
}

/* SQL function measure_index_locality; see its comment in locality.sql. */
Datum
measure_index_locality(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid		   *indexes;
	Oid			target;
	bool		unprobed = false;
	int			n;
	int			i;

	tsa_refuse_restricted_operation(fcinfo);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("target must not be null")));
	target = PG_GETARG_OID(0);
	check_target(target);
	InitMaterializedSRF(fcinfo, 0);

	indexes = list_indexes(target, &n);
	if (n == 0)
		ereport(NOTICE,
				(errmsg("\"%s\" has no valid B-tree index",
						get_rel_name(target))));
	for (i = 0; i < n; i++)
		measure_index(rsinfo, indexes[i], i + 1, n, &unprobed);
	if (unprobed)
		ereport(NOTICE,
				(errmsg("the tablespace of \"%s\" has not been probed",
						get_rel_name(target)),
				 errdetail("What was found has no influence on plans."),
				 errhint("Call probe_tablespace(), and then measure the locality again.")));
	return (Datum) 0;
}
