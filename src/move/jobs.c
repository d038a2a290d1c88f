/*-------------------------------------------------------------------------
 *
 * jobs.c
 *	  The journal of moves: what becomes of a job, one statement each.  The
 *	  rules of who may write what are in jobs.h.
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

#include "move/journal.h"

#define UNFINISHED "('queued', 'running', 'paused')"

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
	[TSA_METHOD_CATALOG] = "catalog"
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

/* Job ids of a result whose first column they are, in the caller's context. */
static List *
job_id_list(MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	List	   *ids = NIL;

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		int64	   *id = palloc(sizeof(int64));

		*id = DatumGetInt64(tsa_journal_value(i, 1));
		ids = lappend(ids, id);
	}
	MemoryContextSwitchTo(old);
	return ids;
}

bool
tsa_job_load(int64 job_id, TsaJob *job)
{
	static TsaJournalQuery query = {
		"SELECT batch_id, relation, heap, kind, from_tablespace, to_tablespace,"
		" owner, method_wanted, method, state, lock_timeout_ms, max_rate,"
		" system_identifier = $2 AND database = $3,"
		" new_tablespace, new_filenumber, old_tablespace, old_filenumber"
		" FROM tablespace_advisor.job WHERE job_id = $1",
		3, {INT8OID, INT8OID, OIDOID}, NULL
	};
	Datum		values[3];
	TsaJournal	journal;
	bool		found;

	values[0] = Int64GetDatum(job_id);
	values[1] = Int64GetDatum((int64) GetSystemIdentifier());
	values[2] = ObjectIdGetDatum(MyDatabaseId);

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
		job->new_tablespace = DatumGetObjectId(tsa_journal_value(0, 14));
		job->new_filenumber = DatumGetObjectId(tsa_journal_value(0, 15));
		job->old_tablespace = DatumGetObjectId(tsa_journal_value(0, 16));
		job->old_filenumber = DatumGetObjectId(tsa_journal_value(0, 17));
	}
	tsa_journal_close(&journal);
	return found;
}

void
tsa_job_report(int64 job_id, const TsaJobProgress *p)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET phase = $2, bytes_total = $3,"
		" bytes_done = $4, blocks_left = $5, mb_per_s = $6, passes = $7,"
		" attempts = $8, blocked_by = $9, paused_ms = $10 WHERE job_id = $1",
		10, {INT8OID, TEXTOID, INT8OID, INT8OID, INT8OID, FLOAT8OID, INT4OID,
		INT4OID, INT4ARRAYOID, FLOAT8OID}, NULL
	};
	Datum		blockers[lengthof(p->blockers)];
	Datum		values[10];
	char		nulls[] = "          ";

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

/*
 * A cancel request reaches a worker as SIGINT and only while the job in
 * question is its current one (see tsa_job_cancel), so the flag that the
 * signal sets is the answer.
 */
bool
tsa_job_cancel_requested(int64 job_id pg_attribute_unused())
{
	return QueryCancelPending;
}

void
tsa_job_note_new_storage(int64 job_id, Oid tablespace,
						 RelFileNumber new_filenumber)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET new_tablespace = $2,"
		" new_filenumber = $3 WHERE job_id = $1",
		3, {INT8OID, OIDOID, OIDOID}, NULL
	};
	Datum		values[3];

	values[0] = Int64GetDatum(job_id);
	values[1] = ObjectIdGetDatum(tablespace);
	values[2] = ObjectIdGetDatum(new_filenumber);
	tsa_journal_update(&query, values, NULL);
}

void
tsa_job_note_switched(int64 job_id, Oid old_tablespace,
					  RelFileNumber old_filenumber)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET phase = 'removing old file',"
		" old_tablespace = $2, old_filenumber = $3,"
		" new_tablespace = NULL, new_filenumber = NULL,"
		" bytes_done = bytes_total, blocks_left = 0, blocked_by = NULL"
		" WHERE job_id = $1",
		3, {INT8OID, OIDOID, OIDOID}, NULL
	};
	Datum		values[3];

	values[0] = Int64GetDatum(job_id);
	values[1] = ObjectIdGetDatum(old_tablespace);
	values[2] = ObjectIdGetDatum(old_filenumber);
	tsa_journal_update(&query, values, NULL);
}

void
tsa_job_note_lock_ms(int64 job_id, double ms)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET lock_ms = $2 WHERE job_id = $1",
		2, {INT8OID, FLOAT8OID}, NULL
	};
	Datum		values[2];

	values[0] = Int64GetDatum(job_id);
	values[1] = Float8GetDatum(ms);
	tsa_journal_update(&query, values, NULL);
}

void
tsa_job_note_old_removed(int64 job_id)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET old_tablespace = NULL,"
		" old_filenumber = NULL,"
		" phase = CASE WHEN state IN " UNFINISHED " THEN phase END"
		" WHERE job_id = $1",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	tsa_journal_update(&query, values, NULL);
}

void
tsa_job_settle(int64 job_id, TsaJobState state, const ErrorData *err)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET state = $2, sqlstate = $3,"
		" error = $4, detail = $5, blocked_by = NULL, blocks_left = NULL,"
		" phase = CASE WHEN old_filenumber IS NOT NULL THEN phase END,"
		" bytes_done = CASE $2 WHEN 'done' THEN bytes_total"
		"   ELSE bytes_done END,"
		" new_tablespace = NULL, new_filenumber = NULL,"
		" finished_at = pg_catalog.clock_timestamp()"
		" WHERE job_id = $1 AND state IN " UNFINISHED,
		5, {INT8OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID}, NULL
	};
	Datum		values[5] = {0};
	char		nulls[] = "  nnn";

	values[0] = Int64GetDatum(job_id);
	values[1] = CStringGetTextDatum(tsa_job_state_name(state));
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
	tsa_journal_update(&query, values, nulls);
}

/* Makes a queued job the running one of this worker; false if it is not
 * queued any more, or not for this worker. */
bool
tsa_job_claim(int64 job_id, bool copies_only)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET state = 'running',"
		" worker_pid = $2, phase = 'starting',"
		" started_at = pg_catalog.clock_timestamp()"
		" WHERE job_id = $1 AND state = 'queued'"
		" AND (NOT $3 OR method = 'copy')",
		3, {INT8OID, INT4OID, BOOLOID}, NULL
	};
	Datum		values[3];

	values[0] = Int64GetDatum(job_id);
	values[1] = Int32GetDatum(MyProcPid);
	values[2] = BoolGetDatum(copies_only);
	return tsa_journal_update(&query, values, NULL) == 1;
}

/* Cancels a job that is still queued; false if it is not. */
bool
tsa_job_cancel_queued(int64 job_id)
{
	static TsaJournalQuery query = {
		"UPDATE tablespace_advisor.job SET state = 'cancelled',"
		" finished_at = pg_catalog.clock_timestamp()"
		" WHERE job_id = $1 AND state = 'queued'",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	return tsa_journal_update(&query, values, NULL) == 1;
}

/* Process id of the worker of a running job, 0 when it does not run. */
int
tsa_job_worker_pid(int64 job_id)
{
	static TsaJournalQuery query = {
		"SELECT worker_pid FROM tablespace_advisor.job"
		" WHERE job_id = $1 AND state IN ('running', 'paused')",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaJournal	journal;
	int			pid = 0;

	values[0] = Int64GetDatum(job_id);
	tsa_journal_open(&journal);
	if (tsa_journal_run(&query, values, NULL, true) == 1)
		pid = DatumGetInt32(tsa_journal_value(0, 1));
	tsa_journal_close(&journal);
	return pid;
}

/*
 * Jobs (int64 *) in the current memory context: of one batch, or unfinished
 * ones of all batches when batch_id is 0.
 */
List *
tsa_jobs_of_batch(int64 batch_id, bool unfinished_only)
{
	static TsaJournalQuery query = {
		"SELECT job_id FROM tablespace_advisor.job"
		" WHERE ($1 = 0 OR batch_id = $1)"
		" AND (NOT $2 OR state IN " UNFINISHED ")"
		" ORDER BY job_id",
		2, {INT8OID, BOOLOID}, NULL
	};
	MemoryContext context = CurrentMemoryContext;
	Datum		values[2];
	TsaJournal	journal;
	List	   *ids;

	values[0] = Int64GetDatum(batch_id);
	values[1] = BoolGetDatum(unfinished_only);
	tsa_journal_open(&journal);
	tsa_journal_run(&query, values, NULL, true);
	ids = job_id_list(context);
	tsa_journal_close(&journal);
	return ids;
}

/*
 * Inserts a job.  Returns its id; 0 when an unfinished job for the relation
 * exists, which the unique index decides even between sessions that insert
 * at the same time.  batch_id 0 makes it the first job of a new batch.
 */
int64
tsa_job_insert(const TsaMove *move, const TsaMoveOptions *options,
			   int64 batch_id)
{
	static TsaJournalQuery query = {
		"INSERT INTO tablespace_advisor.job (job_id, batch_id, relation, heap,"
		" kind, schema_name, relation_name, from_tablespace,"
		" from_tablespace_name, to_tablespace, to_tablespace_name,"
		" method_wanted, method, bytes_total, max_rate, lock_timeout_ms,"
		" owner, system_identifier, database)"
		" OVERRIDING SYSTEM VALUE"
		" SELECT id, CASE $1 WHEN 0 THEN id ELSE $1 END, $2, $3, $4, $5, $6,"
		" $7, $8, $9, $10, $11, $12, $13, nullif($14, 0), $15, $16, $17, $18"
		" FROM (SELECT pg_catalog.nextval('tablespace_advisor.job_job_id_seq')"
		"   OFFSET 0) AS s(id)"
		" ON CONFLICT (relation) WHERE state IN " UNFINISHED " DO NOTHING"
		" RETURNING job_id",
		18, {INT8OID, OIDOID, OIDOID, CHAROID, NAMEOID, NAMEOID, OIDOID,
			NAMEOID, OIDOID, NAMEOID, TEXTOID, TEXTOID, INT8OID, INT8OID,
		INT4OID, OIDOID, INT8OID, OIDOID}, NULL
	};
	Datum		values[18];
	TsaJournal	journal;
	int64		job_id = 0;

	values[0] = Int64GetDatum(batch_id);
	values[1] = ObjectIdGetDatum(move->relid);
	values[2] = ObjectIdGetDatum(move->heapid);
	values[3] = CharGetDatum(move->kind);
	values[4] = NameGetDatum(&move->schema_name);
	values[5] = NameGetDatum(&move->relation_name);
	values[6] = ObjectIdGetDatum(move->source_tablespace);
	values[7] = NameGetDatum(&move->source_name);
	values[8] = ObjectIdGetDatum(move->target_tablespace);
	values[9] = NameGetDatum(&move->target_name);
	values[10] = CStringGetTextDatum(tsa_move_method_name(options->method));
	values[11] = CStringGetTextDatum(tsa_move_method_name(move->method));
	values[12] = Int64GetDatum(move->size_bytes);
	values[13] = Int64GetDatum(options->max_rate);
	values[14] = Int32GetDatum(options->lock_timeout_ms);
	values[15] = ObjectIdGetDatum(GetUserId());
	values[16] = Int64GetDatum((int64) GetSystemIdentifier());
	values[17] = ObjectIdGetDatum(MyDatabaseId);

	tsa_journal_open(&journal);
	if (tsa_journal_run(&query, values, NULL, false) == 1)
		job_id = DatumGetInt64(tsa_journal_value(0, 1));
	tsa_journal_close(&journal);
	return job_id;
}
