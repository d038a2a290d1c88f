/*-------------------------------------------------------------------------
 *
 * renew_locality.c
 *	  Localities that do not describe their indexes any more: the view
 *	  void_locality finds them, and the sampler measures them again.
 *
 * After a sample (src/sample/sample_worker.c) one index is measured again, the
 * one that was measured longest ago, if no session of the server runs a
 * statement and the pages to read fit into tablespace_advisor.locality_budget.
 * So an owner of many such indexes delays others, but loads the disk no more
 * than one index per sample.
 *
 * It runs as the bootstrap superuser, and no code of the index's owner runs:
 * pages are read and not compared (btree_blocks.c), the statements are ours
 * and run with a fixed search path (state.c).  Index and table are locked if
 * that can be had at once, else left for the next sample; so is a row that
 * somebody's open transaction has measured.  The locks and the
 * row are the transaction's, which ends here: nobody waits longer for them
 * than the measurement takes, and the launcher ends the worker where somebody
 * waits for the database.
 *
 * An index that cannot be measured, since a page is damaged or it is not a
 * B-tree any more, loses its times and so its influence on plans.  Else it
 * would be tried for ever, before all others.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "compat.h"
#include "cost/cost.h"
#include "cost/locality_store.h"
#include "sample/sample_worker.h"
#include "state/state.h"
#include "state/statement.h"
#include "state/subtransaction.h"

PG_FUNCTION_INFO_V1(locality_fault);

/* configuration parameter, kB */
static int	locality_budget = 32768;

#define FIND_VOID \
	"SELECT l.index, l.relation" \
	" FROM tablespace_advisor.void_locality v" \
	" JOIN tablespace_advisor.index_locality l USING (index)" \
	" WHERE v.pages_to_read <= $1 AND NOT EXISTS" \
	"  (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.state = 'active'" \
	"   AND a.backend_type <> 'walsender'" \
	"   AND a.pid <> pg_catalog.pg_backend_pid())" \
	" ORDER BY l.measured_at, l.index LIMIT 1 FOR UPDATE OF l SKIP LOCKED"

#define FORGET \
	"UPDATE tablespace_advisor.index_locality SET read_times = NULL" \
	" WHERE index = $1"

typedef struct VoidLocality
{
	Oid			index;
	Oid			relation;
	bool		is_measured;
} VoidLocality;

/*
 * Why the row does not describe its index any more; NULL if it does, or if
 * there is nothing to measure: another session's temporary table, or an empty
 * index.  Index and table are locked.
 */
static const char *
find_fault(const TsaLocalityRow *row, Relation index, Relation heap)
{
	double		index_blocks = RelationGetNumberOfBlocks(index);
	uint32		key;

	if (index_blocks <= 1 || RELATION_IS_OTHER_TEMP(index))
		return NULL;
	if (!tsa_locality_has_files(row))
		return "rewritten";
	if (index_blocks > TSA_MAX_GROWTH * row->index_blocks ||
		RelationGetNumberOfBlocks(heap) > TSA_MAX_GROWTH * row->table_blocks)
		return "grown";
	return tsa_table_change(row->index, row->relation, row->entries,
							&row->then, &key);
}

/* SQL function locality_fault; see its comment in locality.sql. */
Datum
locality_fault(PG_FUNCTION_ARGS)
{
	Oid			index_oid = PG_GETARG_OID(0);
	TsaLocalityRow *row = palloc0(sizeof(TsaLocalityRow));
	const char *fault = NULL;
	Relation	heap;
	Relation	index;
	bool		is_found;

	(void) tsa_locality_read(index_oid, row, &is_found);
	if (!is_found ||
		!ConditionalLockRelationOid(row->relation, AccessShareLock))
		PG_RETURN_NULL();
	if (ConditionalLockRelationOid(index_oid, AccessShareLock))
	{
		heap = RelationIdGetRelation(row->relation);
		index = heap != NULL ? RelationIdGetRelation(index_oid) : NULL;
		if (index != NULL)
		{
			fault = find_fault(row, index, heap);
			RelationClose(index);
		}
		if (heap != NULL)
			RelationClose(heap);
		UnlockRelationOid(index_oid, AccessShareLock);
	}
	UnlockRelationOid(row->relation, AccessShareLock);
	if (fault == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(fault));
}

/* Find an index to measure; false if there is none, or the server is busy. */
static bool
find_target(VoidLocality *target)
{
	static TsaStatement statement = {FIND_VOID, 1, {INT8OID}, NULL};
	Datum		values[1];
	TsaState	state;
	bool		is_found;

	values[0] = Int64GetDatum((int64) locality_budget * 1024 / BLCKSZ);
	tsa_state_check("index_locality", RowExclusiveLock);
	tsa_state_open(&state);
	is_found = tsa_run(&statement, values, NULL, TSA_WRITES) == 1;
	if (is_found)
	{
		target->index = DatumGetObjectId(tsa_result_column(0, "index"));
		target->relation = DatumGetObjectId(tsa_result_column(0, "relation"));
	}
	tsa_state_close(&state);
	return is_found;
}

/* For tsa_try(): measures one index. */
static void
measure_target(void *arg)
{
	VoidLocality *target = arg;

	target->is_measured = tsa_measure_locality(target->index,
											   target->relation);
}

/* Let an index have no influence on plans until somebody measures it. */
static void
forget_target(const VoidLocality *target)
{
	static TsaStatement statement = {FORGET, 1, {OIDOID}, NULL};
	Datum		values[1] = {ObjectIdGetDatum(target->index)};
	TsaState	state;

	tsa_state_check("index_locality", RowExclusiveLock);
	tsa_state_open(&state);
	tsa_run(&statement, values, NULL, TSA_WRITES);
	tsa_state_close(&state);
}

/* Measure one index again, if there is any and the server is idle. */
static void
renew_locality(void)
{
	VoidLocality target = {0};
	ErrorData  *error;

	if (locality_budget == 0 || !tsa_state_is_current() ||
		!find_target(&target))
		return;
	error = tsa_try(measure_target, &target);
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	if (error != NULL && error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		return;
	if (error != NULL)
		ereport(LOG,
				(errmsg("could not measure the locality of index %u again: %s",
						target.index, error->message)));
	if (!target.is_measured)
		forget_target(&target);
}

/* Define the parameter, and have the sampler come here. */
void
tsa_init_renew_locality(void)
{
	DefineCustomIntVariable("tablespace_advisor.locality_budget",
							"Sets how much may be read after a sample to measure the locality of an index again.",
							"One index is measured after a sample, if its table was rewritten, has grown or has changed, and no session runs a statement. 0 turns that off.",
							&locality_budget, 32768, 0, 1024 * 1024,
							PGC_SIGHUP, GUC_UNIT_KB, NULL, NULL, NULL);
	tsa_after_sample = renew_locality;
}
