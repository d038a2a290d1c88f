/*-------------------------------------------------------------------------
 *
 * job.c
 *	  The journal of moves: what becomes of a job, one statement each.  The
 *	  rules of who may write what are in job.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "move/job/job.h"
#include "move/job/journal.h"

static const char *const state_names[] = {
	[TSA_JOB_QUEUED] = "queued",
	[TSA_JOB_RUNNING] = "running",
	[TSA_JOB_PAUSED] = "paused",
	[TSA_JOB_DONE] = "done",
	[TSA_JOB_FAILED] = "failed",
	[TSA_JOB_CANCELLED] = "cancelled"
};

static const char *const method_names[] = {
	[TSA_METHOD_AUTO] = "auto",
	[TSA_METHOD_COPY] = "copy",
	[TSA_METHOD_REBUILD] = "rebuild",
	[TSA_METHOD_CATALOG] = "catalog",
	[TSA_METHOD_LOCK] = "lock"
};

const char *
tsa_job_state_name(TsaJobState state)
{
	return state_names[state];
}

const char *
tsa_move_method_name(TsaMoveMethod method)
{
	return method_names[method];
}

/* Finds a method by its name; false when there is none of that name. */
bool
tsa_move_method_by_name(const char *name, TsaMoveMethod *method)
{
	for (int i = 0; i < (int) lengthof(method_names); i++)
		if (strcmp(method_names[i], name) == 0)
		{
			*method = (TsaMoveMethod) i;
			return true;
		}
	return false;
}

static TsaJobState
state_by_name(const char *name)
{
	for (int i = 0; i < (int) lengthof(state_names); i++)
		if (strcmp(state_names[i], name) == 0)
			return (TsaJobState) i;
	elog(ERROR, "unrecognized job state \"%s\"", name);
}

/*
 * The OIDs of an array in a column of the result's only row, in the given
 * context; returns their number, 0 if the column is NULL.
 */
static int
oids_of_result(int col, MemoryContext context, Oid **oids)
{
	Datum		array = tsa_journal_value(0, col);
	Datum	   *elems;
	int			n;

	*oids = NULL;
	if (array == (Datum) 0)
		return 0;
	deconstruct_array(DatumGetArrayTypeP(array), OIDOID, sizeof(Oid), true,
					  TYPALIGN_INT, &elems, NULL, &n);
	*oids = MemoryContextAlloc(context, sizeof(Oid) * Max(n, 1));
	for (int i = 0; i < n; i++)
		(*oids)[i] = DatumGetObjectId(elems[i]);
	return n;
}

/*
 * The same for storage, from a column of tablespaces and one of numbers.  The
 * database's own tablespace is 0 there: ALTER DATABASE ... SET TABLESPACE takes
 * the files along, as CREATE DATABASE does that copies a template's files.
 */
static int
storage_of_result(int col, MemoryContext context, RelFileLocator **storage)
{
	Oid		   *tablespaces;
	Oid		   *numbers;
	int			n = oids_of_result(col, context, &tablespaces);

	if (oids_of_result(col + 1, context, &numbers) != n)
		elog(ERROR, "the journal names %d tablespaces for another number of files",
			 n);
	*storage = MemoryContextAlloc(context, sizeof(RelFileLocator) * Max(n, 1));
	for (int i = 0; i < n; i++)
		(*storage)[i] = tsa_make_locator(OidIsValid(tablespaces[i]) ?
										 tablespaces[i] : MyDatabaseTableSpace,
										 MyDatabaseId, numbers[i]);
	return n;
}

/*
 * An array of OIDs.
 */
Datum
tsa_oid_array(Datum *elems, int n)
{
	return PointerGetDatum(construct_array(elems, n, OIDOID, sizeof(Oid), true,
										   TYPALIGN_INT));
}

/*
 * Tablespaces and numbers of storage as two arrays, NULL if there is none.
 */
static void
storage_arrays(const RelFileLocator *storage, int n, Datum *values, char *nulls)
{
	Datum	   *tablespaces = palloc(sizeof(Datum) * Max(n, 1));
	Datum	   *numbers = palloc(sizeof(Datum) * Max(n, 1));

	for (int i = 0; i < n; i++)
	{
		Oid			tablespace = tsa_locator_tablespace(storage[i]);

		if (tablespace == MyDatabaseTableSpace)
			tablespace = InvalidOid;
		tablespaces[i] = ObjectIdGetDatum(tablespace);
		numbers[i] = ObjectIdGetDatum(tsa_locator_number(storage[i]));
	}
	values[0] = tsa_oid_array(tablespaces, n);
	values[1] = tsa_oid_array(numbers, n);
	nulls[0] = nulls[1] = n > 0 ? ' ' : 'n';
}

bool
tsa_job_load(int64 job_id, TsaJob *job)
{
	static TsaJournalQuery query = {
		"SELECT batch_id, relation, heap, kind, from_tablespace, to_tablespace,"
		" owner, method_wanted, method, state, lock_timeout_ms, max_rate,"
		" system_identifier = $2,"
		" new_tablespaces, new_filenumbers, old_tablespaces, old_filenumbers,"
		" indexes, indexes_from"
		" FROM tablespace_advisor.job WHERE job_id = $1",
		2, {INT8OID, INT8OID}, NULL
	};
	Datum		values[2];
	MemoryContext context = CurrentMemoryContext;
	TsaJournal	journal;
	bool		found;

	values[0] = Int64GetDatum(job_id);
	values[1] = Int64GetDatum((int64) GetSystemIdentifier());

	tsa_journal_open(&journal);
	found = tsa_journal_run(&query, values, NULL, true) == 1;
	if (found)
	{
		HeapTuple	tuple = SPI_tuptable->vals[0];
		TupleDesc	desc = SPI_tuptable->tupdesc;

		job->job_id = job_id;
		job->batch_id = DatumGetInt64(tsa_journal_value(0, 1));
		job->relid = DatumGetObjectId(tsa_journal_value(0, 2));
		job->heapid = DatumGetObjectId(tsa_journal_value(0, 3));
		job->kind = DatumGetChar(tsa_journal_value(0, 4));
		job->source_tablespace = DatumGetObjectId(tsa_journal_value(0, 5));
		job->target_tablespace = DatumGetObjectId(tsa_journal_value(0, 6));
		job->owner = DatumGetObjectId(tsa_journal_value(0, 7));
		if (!tsa_move_method_by_name(SPI_getvalue(tuple, desc, 8),
									 &job->method_wanted) ||
			!tsa_move_method_by_name(SPI_getvalue(tuple, desc, 9),
									 &job->method))
			elog(ERROR, "unrecognized method of job " INT64_FORMAT, job_id);
		job->state = state_by_name(SPI_getvalue(tuple, desc, 10));
		job->lock_timeout_ms = DatumGetInt32(tsa_journal_value(0, 11));
		job->max_rate = DatumGetInt64(tsa_journal_value(0, 12));
		job->native = DatumGetBool(tsa_journal_value(0, 13));
		job->nnew = storage_of_result(14, context, &job->new_storage);
		job->nold = storage_of_result(16, context, &job->old_storage);
		job->nindexes = oids_of_result(18, context, &job->indexes);
		if (oids_of_result(19, context, &job->indexes_from) != job->nindexes)
			elog(ERROR, "job " INT64_FORMAT " names %d indexes and another number of tablespaces",
				 job_id, job->nindexes);
	}
	tsa_journal_close(&journal);
	return found;
}

void
tsa_job_report(int64 job_id, const TsaMoveProgress *p)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET phase = $2, bytes_total = $3,"
		" bytes_done = $4, blocks_left = $5, mb_per_s = $6, passes = $7,"
		" attempts = $8, blocked_by = $9, paused_ms = $10, lock_wait_ms = $11,"
		" lock_ms = $12, present_mb_per_s = $13, rate_reason = $14"
		" WHERE job_id = $1",
		14, {INT8OID, TEXTOID, INT8OID, INT8OID, INT8OID, FLOAT8OID, INT4OID,
		INT4OID, INT4ARRAYOID, FLOAT8OID, FLOAT8OID, FLOAT8OID, FLOAT8OID,
		TEXTOID}, NULL
	};
	Datum		blockers[lengthof(p->blockers)];
	Datum		values[14];
	char		nulls[] = "              ";

	for (int i = 0; i < p->nblockers; i++)
		blockers[i] = Int32GetDatum(p->blockers[i]);
	values[0] = Int64GetDatum(job_id);
	values[1] = p->phase ? CStringGetTextDatum(p->phase) : (Datum) 0;
	nulls[1] = p->phase ? ' ' : 'n';
	values[2] = Int64GetDatum(p->bytes_total);
	values[3] = Int64GetDatum(p->bytes_done);
	values[4] = Int64GetDatum(p->blocks_left);
	nulls[4] = p->blocks_left >= 0 ? ' ' : 'n';
	values[5] = Float8GetDatum(p->mb_per_s);
	nulls[5] = p->mb_per_s >= 0 ? ' ' : 'n';
	values[6] = Int32GetDatum(p->passes);
	values[7] = Int32GetDatum(p->attempts);
	values[8] = PointerGetDatum(construct_array(blockers, p->nblockers, INT4OID,
												sizeof(int32), true,
												TYPALIGN_INT));
	nulls[8] = p->nblockers > 0 ? ' ' : 'n';
	values[9] = Float8GetDatum(p->paused_ms);
	values[10] = Float8GetDatum(p->lock_wait_ms);
	nulls[10] = p->attempts > 0 ? ' ' : 'n';
	values[11] = Float8GetDatum(p->lock_ms);
	nulls[11] = p->lock_ms > 0 ? ' ' : 'n';
	values[12] = Float8GetDatum(p->present_mb_per_s);
	nulls[12] = p->present_mb_per_s >= 0 ? ' ' : 'n';
	values[13] = p->rate_reason ? CStringGetTextDatum(p->rate_reason) :
		(Datum) 0;
	nulls[13] = p->rate_reason ? ' ' : 'n';
	tsa_journal_update(&query, values, nulls);
}

void
tsa_job_note_paused(int64 job_id, bool paused)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET state = CASE WHEN $2 THEN 'paused'"
		"   ELSE 'running' END"
		" WHERE job_id = $1 AND state IN ('running', 'paused')",
		2, {INT8OID, BOOLOID}, NULL
	};
	Datum		values[2];

	values[0] = Int64GetDatum(job_id);
	values[1] = BoolGetDatum(paused);
	tsa_journal_update(&query, values, NULL);
}

void
tsa_jobs_note_old_removed(const int64 *job_ids, int n)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET old_tablespaces = NULL,"
		" old_filenumbers = NULL WHERE job_id = ANY ($1)",
		1, {INT8ARRAYOID}, NULL
	};
	Datum	   *elems = palloc(sizeof(Datum) * n);
	Datum		values[1];

	for (int i = 0; i < n; i++)
		elems[i] = Int64GetDatum(job_ids[i]);
	values[0] = PointerGetDatum(construct_array(elems, n, INT8OID,
												sizeof(int64), FLOAT8PASSBYVAL,
												TYPALIGN_DOUBLE));
	tsa_journal_update(&query, values, NULL);
}

bool
tsa_give_up_job(int64 job_id)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET state = 'cancelled',"
		" sqlstate = '57014', error = r,"
		" finished_at = pg_catalog.clock_timestamp()"
		" FROM tablespace_advisor.reason_not_to_begin($1) r"
		" WHERE job_id = $1 AND state = 'queued' AND r IS NOT NULL",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	return tsa_journal_update(&query, values, NULL) == 1;
}

void
tsa_job_note_wal(int64 job_id, uint64 bytes)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET wal_bytes = $2 WHERE job_id = $1",
		2, {INT8OID, INT8OID}, NULL
	};
	Datum		values[2];

	values[0] = Int64GetDatum(job_id);
	values[1] = Int64GetDatum((int64) bytes);
	tsa_journal_update(&query, values, NULL);
}

void
tsa_job_note_indexes(int64 job_id, const Oid *indexes, int n)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET indexes = $2 WHERE job_id = $1",
		2, {INT8OID, OIDARRAYOID}, NULL
	};
	Datum	   *elems = palloc(sizeof(Datum) * Max(n, 1));
	Datum		values[2];

	for (int i = 0; i < n; i++)
		elems[i] = ObjectIdGetDatum(indexes[i]);
	values[0] = Int64GetDatum(job_id);
	values[1] = tsa_oid_array(elems, n);
	tsa_journal_update(&query, values, NULL);
}

void
tsa_job_note_new_storage(int64 job_id, const RelFileLocator *storage, int n)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET new_tablespaces = $2,"
		" new_filenumbers = $3 WHERE job_id = $1",
		3, {INT8OID, OIDARRAYOID, OIDARRAYOID}, NULL
	};
	Datum		values[3];
	char		nulls[] = "   ";

	values[0] = Int64GetDatum(job_id);
	storage_arrays(storage, n, &values[1], &nulls[1]);
	tsa_journal_update(&query, values, nulls);
}

void
tsa_job_note_switched(int64 job_id, const RelFileLocator *old_storage, int n)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET phase = 'removing old file',"
		" old_tablespaces = $2, old_filenumbers = $3,"
		" new_tablespaces = NULL, new_filenumbers = NULL,"
		" bytes_done = bytes_total, blocks_left = 0, blocked_by = NULL"
		" WHERE job_id = $1",
		3, {INT8OID, OIDARRAYOID, OIDARRAYOID}, NULL
	};
	Datum		values[3];
	char		nulls[] = "   ";

	values[0] = Int64GetDatum(job_id);
	storage_arrays(old_storage, n, &values[1], &nulls[1]);
	tsa_journal_update(&query, values, nulls);
}

void
tsa_finish_job(int64 job_id, const TsaJobEnd *end)
{
	const ErrorData *err = end->err;
	const TsaMoveProgress *figures = end->figures;
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET state = $2, sqlstate = $3,"
		" error = $4, detail = $5, blocked_by = NULL, blocks_left = NULL,"
		" phase = CASE WHEN $2 <> 'done' AND old_filenumbers IS NOT NULL"
		"   THEN phase END,"
		" bytes_total = coalesce($6, bytes_total),"
		" bytes_done = CASE $2 WHEN 'done' THEN coalesce($6, bytes_total)"
		"   ELSE bytes_done END,"
		" mb_per_s = coalesce($7, mb_per_s), passes = coalesce($8, passes),"
		" attempts = coalesce($9, attempts),"
		" paused_ms = coalesce($10, paused_ms),"
		" lock_wait_ms = coalesce($11, lock_wait_ms),"
		" lock_ms = coalesce($12, lock_ms),"
		" wal_bytes = coalesce($13, wal_bytes),"
		" new_tablespaces = NULL, new_filenumbers = NULL,"
		" old_tablespaces = CASE WHEN $2 <> 'done' OR $14"
		"   THEN old_tablespaces END,"
		" old_filenumbers = CASE WHEN $2 <> 'done' OR $14"
		"   THEN old_filenumbers END,"
		" finished_at = pg_catalog.clock_timestamp()"
		" WHERE job_id = $1 AND state IN " TSA_UNFINISHED,
		14, {INT8OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, INT8OID, FLOAT8OID,
			INT4OID, INT4OID, FLOAT8OID, FLOAT8OID, FLOAT8OID, INT8OID,
		BOOLOID}, NULL
	};
	Datum		values[14] = {0};
	char		nulls[] = "  nnnnnnnnnnn ";

	values[0] = Int64GetDatum(job_id);
	values[1] = CStringGetTextDatum(tsa_job_state_name(end->state));
	if (err != NULL)
	{
		values[2] = CStringGetTextDatum(unpack_sql_state(err->sqlerrcode));
		nulls[2] = ' ';
		values[3] = CStringGetTextDatum(err->message ? err->message : "");
		nulls[3] = ' ';
		if (err->detail != NULL)
		{
			values[4] = CStringGetTextDatum(err->detail);
			nulls[4] = ' ';
		}
	}
	if (figures != NULL)
	{
		values[5] = Int64GetDatum(figures->bytes_total);
		values[6] = Float8GetDatum(figures->mb_per_s);
		values[7] = Int32GetDatum(figures->passes);
		values[8] = Int32GetDatum(figures->attempts);
		values[9] = Float8GetDatum(figures->paused_ms);
		values[10] = Float8GetDatum(figures->lock_wait_ms);
		values[11] = Float8GetDatum(figures->lock_ms);
		values[12] = Int64GetDatum(end->wal_bytes);
		memset(&nulls[5], ' ', 8);
	}
	values[13] = BoolGetDatum(end->keeps_old);
	tsa_journal_update(&query, values, nulls);
}
