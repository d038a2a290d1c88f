/*-------------------------------------------------------------------------
 *
 * queue.c
 *	  The journal of moves: how jobs get into it, and from there to a worker.
 *	  The rules of who may write what are in jobs.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "move/journal.h"

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
		" AND (NOT $2 OR state IN " TSA_UNFINISHED ")"
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

/* A list of OIDs as an array. */
static Datum
oid_list_array(const List *oids)
{
	Datum	   *elems = palloc(sizeof(Datum) * Max(list_length(oids), 1));

	for (int i = 0; i < list_length(oids); i++)
		elems[i] = ObjectIdGetDatum(list_nth_oid(oids, i));
	return tsa_oid_array(elems, list_length(oids));
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
		" owner, system_identifier, database, indexes, indexes_from)"
		" OVERRIDING SYSTEM VALUE"
		" SELECT id, CASE $1 WHEN 0 THEN id ELSE $1 END, $2, $3, $4, $5, $6,"
		" $7, $8, $9, $10, $11, $12, $13, nullif($14, 0), $15, $16, $17, $18,"
		" $19, $20"
		" FROM (SELECT pg_catalog.nextval('tablespace_advisor.job_job_id_seq')"
		"   OFFSET 0) AS s(id)"
		" ON CONFLICT (relation) WHERE state IN " TSA_UNFINISHED " DO NOTHING"
		" RETURNING job_id",
		20, {INT8OID, OIDOID, OIDOID, CHAROID, NAMEOID, NAMEOID, OIDOID,
			NAMEOID, OIDOID, NAMEOID, TEXTOID, TEXTOID, INT8OID, INT8OID,
		INT4OID, OIDOID, INT8OID, OIDOID, OIDARRAYOID, OIDARRAYOID}, NULL
	};
	Datum		values[20];
	char		nulls[] = "                    ";
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
	values[18] = oid_list_array(move->indexes);
	values[19] = oid_list_array(move->indexes_from);
	nulls[18] = nulls[19] = move->indexes != NIL ? ' ' : 'n';

	tsa_journal_open(&journal);
	if (tsa_journal_run(&query, values, nulls, false) == 1)
		job_id = DatumGetInt64(tsa_journal_value(0, 1));
	tsa_journal_close(&journal);
	return job_id;
}
