/*-------------------------------------------------------------------------
 *
 * job.c
 *	  The journal of moves: changes of a job's row, one statement each.  The
 *	  rules for writers are in job.h.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
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

#include "move/job/index_names.h"
#include "move/job/job.h"
#include "move/job/job_limits.h"
#include "move/job/journal.h"
#include "move/job/marks.h"
#include "state/printable.h"

/* A job that is interrupted so often without a mark in between fails. */
#define MAX_STALLS	10

/* Of marks that tell only of comparing: until all has been so often. */
#define MAX_COMPARISONS	20

static const char *const state_names[] = {
	[TSA_JOB_QUEUED] = "queued",
	[TSA_JOB_RUNNING] = "running",
	[TSA_JOB_PAUSED] = "paused",
	[TSA_JOB_INTERRUPTED] = "interrupted",
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

/* The name of a state in the journal; a constant. */
const char *
tsa_job_state_name(TsaJobState state)
{
	return state_names[state];
}

/* The name of a method in the journal; a constant. */
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

/* The state of that name.  Throws if there is none: the journal is damaged. */
static TsaJobState
state_by_name(const char *name)
{
	for (int i = 0; i < (int) lengthof(state_names); i++)
		if (strcmp(state_names[i], name) == 0)
			return (TsaJobState) i;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg_internal("unrecognized job state \"%s\"", name)));
}

/*
 * The OIDs of an array in a column of the result's only row, in the given
 * context; returns their number, 0 if the column is NULL.
 */
static int
oids_of_result(const char *column, MemoryContext context, Oid **oids)
{
	Datum		array = tsa_result_column(0, column);
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
 * Storage of the result, from a column of tablespaces and one of numbers.  The
 * database's own tablespace is 0 there: ALTER DATABASE ... SET TABLESPACE takes
 * the files along, as CREATE DATABASE does that copies a template's files.
 */
static int
storage_of_result(const char *tablespace_column, const char *number_column,
				  MemoryContext context, RelFileLocator **storage)
{
	Oid		   *tablespaces;
	Oid		   *numbers;
	int			n = oids_of_result(tablespace_column, context, &tablespaces);

	if (oids_of_result(number_column, context, &numbers) != n)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("the journal names %d tablespaces for another number of files",
								 n)));
	*storage = MemoryContextAlloc(context, sizeof(RelFileLocator) * Max(n, 1));
	for (int i = 0; i < n; i++)
		(*storage)[i] = tsa_make_locator(OidIsValid(tablespaces[i]) ?
										 tablespaces[i] : MyDatabaseTableSpace,
										 MyDatabaseId, numbers[i]);
	return n;
}

/* An array of OIDs. */
Datum
tsa_oid_array(Datum *elems, int n)
{
	return PointerGetDatum(construct_array(elems, n, OIDOID, sizeof(Oid), true,
										   TYPALIGN_INT));
}

/* An array of numbers. */
Datum
tsa_int4_array(const int *numbers, int n)
{
	Datum	   *elems = palloc(sizeof(Datum) * Max(n, 1));

	for (int i = 0; i < n; i++)
		elems[i] = Int32GetDatum(numbers[i]);
	return PointerGetDatum(construct_array(elems, n, INT4OID, sizeof(int32),
										   true, TYPALIGN_INT));
}

/* A string that may be NULL. */
static Datum
text_or_null(const char *string)
{
	return string ? CStringGetTextDatum(string) : (Datum) 0;
}

/* Tablespaces and numbers of storage as two arrays, NULL if there is none. */
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

/*
 * Reads the files of a copy under way, so that it can be gone on with.
 */
static void
read_kept(TsaJob *job, MemoryContext context)
{
	RelFileLocator *sources;
	Oid		   *relids;

	job->kept = MemoryContextAllocZero(context, sizeof(TsaKeptCopy) *
									   Max(job->nnew, 1));
	job->nkept = job->nnew;
	if (oids_of_result("source_relations", context, &relids) != job->nnew ||
		storage_of_result("source_tablespaces", "source_filenumbers", context,
						  &sources) != job->nnew)
		job->nkept = 0;
	for (int i = 0; i < job->nkept; i++)
	{
		job->kept[i].relid = relids[i];
		job->kept[i].source = sources[i];
		job->kept[i].copy = job->new_storage[i];
	}
	tsa_mark_of_result(job->nkept, job->kept, &job->kept_lsns);
	job->kept_compared = DatumGetInt64(tsa_result_column(0, "compared"));
}

/*
 * Reads the result's only row; arrays go to the given context.
 */
static void
read_job(TsaJob *job, MemoryContext context)
{
	job->batch_id = DatumGetInt64(tsa_result_column(0, "batch_id"));
	job->relid = DatumGetObjectId(tsa_result_column(0, "relation"));
	job->heapid = DatumGetObjectId(tsa_result_column(0, "heap"));
	job->kind = DatumGetChar(tsa_result_column(0, "kind"));
	job->source_tablespace =
		DatumGetObjectId(tsa_result_column(0, "from_tablespace"));
	job->target_tablespace =
		DatumGetObjectId(tsa_result_column(0, "to_tablespace"));
	job->source_name =
		*DatumGetName(tsa_result_column(0, "from_tablespace_name"));
	job->target_name =
		*DatumGetName(tsa_result_column(0, "to_tablespace_name"));
	job->owner = DatumGetObjectId(tsa_result_column(0, "owner"));
	if (!tsa_move_method_by_name(tsa_result_text(0, "method_wanted"),
								 &job->method_wanted) ||
		!tsa_move_method_by_name(tsa_result_text(0, "method"), &job->method))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("unrecognized method of job " INT64_FORMAT,
								 job->job_id)));
	job->state = state_by_name(tsa_result_text(0, "state"));
	tsa_limits_of_result(&job->limits);
	job->lock_timeout_ms = job->limits.lock_timeout_ms;
	job->lock_up_to = DatumGetInt64(tsa_result_column(0, "lock_up_to"));
	job->takeovers = DatumGetInt32(tsa_result_column(0, "takeovers"));
	job->native = DatumGetBool(tsa_result_column(0, "native"));
	job->nnew = storage_of_result("new_tablespaces", "new_filenumbers",
								  context, &job->new_storage);
	job->nold = storage_of_result("old_tablespaces", "old_filenumbers",
								  context, &job->old_storage);
	read_kept(job, context);
	job->interruptions =
		DatumGetInt32(tsa_result_column(0, "interruptions"));
	job->has_expired = DatumGetBool(tsa_result_column(0, "has_expired"));
	job->is_stuck = DatumGetInt32(tsa_result_column(0, "stalls")) > MAX_STALLS;
	job->nindexes = oids_of_result("indexes", context, &job->indexes);
	if (oids_of_result("indexes_from", context, &job->indexes_from) !=
		job->nindexes)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("job " INT64_FORMAT " names %d indexes and another number of tablespaces",
								 job->job_id, job->nindexes)));
	job->index_names = tsa_index_names_of_result(job->nindexes, context);
}

/*
 * Reads a job into *job, its arrays into the current memory context.  False
 * if there is no such job.  Throws if its row is damaged.
 */
bool
tsa_job_load(int64 job_id, TsaJob *job)
{
	static TsaStatement query = {
		"SELECT batch_id, relation, heap, kind, from_tablespace, to_tablespace,"
		" from_tablespace_name, to_tablespace_name,"
		" owner, method_wanted, method, state,"
		" l.max_rate, l.min_rate, l.finish_by, l.lock_timeout_ms, l.during,"
		" coalesce(lock_up_to, -1) AS lock_up_to, takeovers,"
		" system_identifier = $2 AS native,"
		" new_tablespaces, new_filenumbers, old_tablespaces, old_filenumbers,"
		" source_relations, source_tablespaces, source_filenumbers,"
		" m.blocks AS mark, m.lsns AS mark_lsns,"
		" coalesce(m.bytes_compared, 0) AS compared,"
		" tablespace_advisor.copy_kept_until(interrupted_at, l.during)"
		"   <= pg_catalog.clock_timestamp() IS TRUE AS has_expired,"
		" interruptions, stalls, indexes, indexes_from, index_names"
		" FROM tablespace_advisor.job"
		" JOIN tablespace_advisor.job_limits l USING (job_id)"
		" LEFT JOIN LATERAL (SELECT blocks, lsns, bytes_compared"
		"   FROM tablespace_advisor.job_mark k WHERE k.job_id = $1"
		"   ORDER BY k.mark_id DESC LIMIT 1) m ON true"
		" WHERE job_id = $1",
		2, {INT8OID, INT8OID}, NULL
	};
	Datum		values[2];
	MemoryContext context = CurrentMemoryContext;
	TsaState	journal;
	bool		found;

	values[0] = Int64GetDatum(job_id);
	values[1] = Int64GetDatum((int64) GetSystemIdentifier());

	tsa_journal_open(&journal);
	found = tsa_run(&query, values, NULL, TSA_READS) == 1;
	if (found)
	{
		job->job_id = job_id;
		read_job(job, context);
	}
	tsa_state_close(&journal);
	return found;
}

/*
 * Writes a copy's figures to the job's row.  Negative values, zeros in the
 * case of lock times, and NULL texts mean "not known" and become NULL, but for
 * bytes, which stay as they are.
 */
void
tsa_job_note_figures(int64 job_id, const TsaMoveProgress *p)
{
	static TsaStatement query = {
		.sql = "UPDATE tablespace_advisor.job SET phase = $2,"
		" bytes_total = coalesce($3, bytes_total),"
		" bytes_done = coalesce($4, bytes_done),"
		" blocks_left = $5, mb_per_s = $6, passes = $7,"
		" restarts = $8,"
		" attempts = $9, blocked_by = $10,"
		" paused_ms = $11, waited_ms = $12,"
		" lock_wait_ms = $13,"
		" lock_ms = $14, present_mb_per_s = $15,"
		" rate_reason = $16, is_late = $17,"
		" others_lost_percent = $18"
		" WHERE job_id = $1"
	};
	TsaArg		args[] = {
		[1] = {INT8OID, Int64GetDatum(job_id), false},
		[2] = {TEXTOID, text_or_null(p->phase), p->phase == NULL},
		[3] = {INT8OID, Int64GetDatum(p->bytes_total),
		p->bytes_total < 0},
		[4] = {INT8OID, Int64GetDatum(p->bytes_done), p->bytes_done < 0},
		[5] = {INT8OID, Int64GetDatum(p->blocks_left),
		p->blocks_left < 0},
		[6] = {FLOAT8OID, Float8GetDatum(p->mb_per_s), p->mb_per_s < 0},
		[7] = {INT4OID, Int32GetDatum(p->passes), false},
		[8] = {INT4OID, Int32GetDatum(p->restarts), false},
		[9] = {INT4OID, Int32GetDatum(p->attempts), false},
		[10] = {INT4ARRAYOID, tsa_int4_array(p->blockers, p->nblockers),
		p->nblockers == 0},
		[11] = {FLOAT8OID, Float8GetDatum(p->paused_ms), false},
		[12] = {FLOAT8OID, Float8GetDatum(p->waited_ms), false},
		[13] = {FLOAT8OID, Float8GetDatum(p->lock_wait_ms),
		p->attempts == 0},
		[14] = {FLOAT8OID, Float8GetDatum(p->lock_ms), p->lock_ms <= 0},
		[15] = {FLOAT8OID, Float8GetDatum(p->present_mb_per_s),
		p->present_mb_per_s < 0},
		[16] = {TEXTOID, text_or_null(p->rate_reason),
		p->rate_reason == NULL},
		[17] = {BOOLOID, BoolGetDatum(p->is_late), false},
		[18] = {FLOAT8OID, Float8GetDatum(p->others_lost_percent),
		p->others_lost_percent < 0}
	};

	tsa_journal_update_args(&query, args, lengthof(args));
}

/* Sets a running or paused job to "paused" (true) or "running". */
void
tsa_job_note_paused(int64 job_id, bool paused)
{
	static TsaStatement query = {
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

/* Forgets the storage that n ended jobs name: its files are removed. */
void
tsa_jobs_note_removed(const int64 *job_ids, int n)
{
	static TsaStatement query = {
		"UPDATE tablespace_advisor.job SET new_tablespaces = NULL,"
		" new_filenumbers = NULL, old_tablespaces = NULL,"
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

/*
 * Cancels a queued job that must not begin any more (conditions.sql).  True if
 * it did; false if the job may begin, is not queued, or its row is locked.
 */
bool
tsa_give_up_job(int64 job_id)
{
	/* the condition inside spares most jobs the function */
	static TsaStatement query = {
		"UPDATE tablespace_advisor.job j SET state = 'cancelled',"
		" sqlstate = '57014', error = r.reason,"
		" finished_at = pg_catalog.clock_timestamp()"
		" FROM (SELECT tablespace_advisor.reason_not_to_begin(job_id) AS reason"
		"   FROM tablespace_advisor.job WHERE job_id = $1 AND state = 'queued'"
		"   AND (until IS NOT NULL OR lock_up_to IS NOT NULL)"
		"   FOR NO KEY UPDATE SKIP LOCKED) r"
		" WHERE j.job_id = $1 AND j.state = 'queued' AND r.reason IS NOT NULL",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	return tsa_journal_update(&query, values, NULL) == 1;
}

/* Adds bytes of WAL to those that the job has written. */
void
tsa_job_note_wal(int64 job_id, uint64 bytes)
{
	static TsaStatement query = {
		"UPDATE tablespace_advisor.job"
		" SET wal_bytes = coalesce(wal_bytes, 0) + $2 WHERE job_id = $1",
		2, {INT8OID, INT8OID}, NULL
	};
	Datum		values[2];

	values[0] = Int64GetDatum(job_id);
	values[1] = Int64GetDatum((int64) bytes);
	tsa_journal_update(&query, values, NULL);
}

/* Replaces the list of n indexes that move along with the job's table. */
void
tsa_job_note_indexes(int64 job_id, const Oid *indexes, int n)
{
	static TsaStatement query = {
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

/*
 * A job that somebody else has ended must not go on: its files are or will be
 * removed.
 */
static void
check_is_under_way(int64 job_id, uint64 rows)
{
	if (rows != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("job " INT64_FORMAT " is not under way any more",
						job_id)));
}

/*
 * Names the n files of a new copy, or none, instead of any earlier ones, with
 * one mark for their kept blocks: lsns has the images' WAL, NULL for none.
 * Throws if n > 0 and the job has ended.
 */
void
tsa_job_note_new_storage(int64 job_id, const TsaKeptCopy *made, int n,
						 const TsaLsnRanges *lsns, int64 compared)
{
	/* earlier marks are of other files, or contained in the new one */
	static TsaStatement query = {
		"WITH gone AS (DELETE FROM tablespace_advisor.job_mark"
		"   WHERE job_id = $1),"
		" kept AS (INSERT INTO tablespace_advisor.job_mark"
		"   (job_id, blocks, bytes_done, lsns, bytes_compared)"
		"   SELECT $1, $7, $8, $9, $10 WHERE $8 > 0)"
		" UPDATE tablespace_advisor.job SET new_tablespaces = $2,"
		" new_filenumbers = $3, source_relations = $4,"
		" source_tablespaces = $5, source_filenumbers = $6"
		" WHERE job_id = $1 AND ($3 IS NULL OR state IN " TSA_UNFINISHED ")",
		10, {INT8OID, OIDARRAYOID, OIDARRAYOID, OIDARRAYOID, OIDARRAYOID,
		OIDARRAYOID, INT8ARRAYOID, INT8OID, PG_LSNARRAYOID, INT8OID}, NULL
	};
	TsaLsnRanges none = {0};
	int64		blocks = 0;
	RelFileLocator *copies = palloc(sizeof(RelFileLocator) * Max(n, 1));
	RelFileLocator *sources = palloc(sizeof(RelFileLocator) * Max(n, 1));
	Datum	   *relids = palloc(sizeof(Datum) * Max(n, 1));
	Datum		values[10];
	char		nulls[] = "          ";
	uint64		rows;

	for (int i = 0; i < n; i++)
	{
		copies[i] = made[i].copy;
		sources[i] = made[i].source;
		relids[i] = ObjectIdGetDatum(made[i].relid);
		blocks += made[i].blocks;
	}
	values[0] = Int64GetDatum(job_id);
	storage_arrays(copies, n, &values[1], &nulls[1]);
	values[3] = tsa_oid_array(relids, n);
	nulls[3] = nulls[1];
	storage_arrays(sources, n, &values[4], &nulls[4]);
	values[6] = tsa_mark_blocks(made, n);
	values[7] = Int64GetDatum(blocks * BLCKSZ);
	values[8] = tsa_mark_lsns(lsns != NULL ? lsns : &none);
	values[9] = Int64GetDatum(compared);
	rows = tsa_journal_update(&query, values, nulls);
	if (n > 0)
		check_is_under_way(job_id, rows);
}

/* In the window of a cutover. */
static TsaStatement note_switched = {
	"UPDATE tablespace_advisor.job SET phase = 'removing old file',"
	" old_tablespaces = $2, old_filenumbers = $3,"
	" new_tablespaces = NULL, new_filenumbers = NULL,"
	" bytes_done = bytes_total, blocks_left = 0, blocked_by = NULL"
	" WHERE job_id = $1 AND state IN " TSA_UNFINISHED,
	3, {INT8OID, OIDARRAYOID, OIDARRAYOID}, NULL
};

/*
 * Locks the job's row until the transaction ends, and plans the statement of
 * tsa_job_note_switched().  Throws if the job has ended.
 */
void
tsa_job_lock(int64 job_id)
{
	static TsaStatement query = {
		"SELECT FROM tablespace_advisor.job"
		" WHERE job_id = $1 AND state IN " TSA_UNFINISHED
		" FOR NO KEY UPDATE",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	check_is_under_way(job_id, tsa_journal_update(&query, values, NULL));
	tsa_journal_plan(&note_switched);
}

/*
 * Makes a running or paused job "interrupted", or "queued" if no copy is kept.
 * Counts an interruption, and a stall if no mark since the last one tells of
 * progress (copy/resume.c), unless by_window: its time window has closed.  Of
 * its marks the last one stays, so that the others count once, even if the next
 * worker ends before it has made the first of its own.
 */
void
tsa_job_note_interrupted(int64 job_id, bool keeps_copy, bool by_window)
{
	static TsaStatement query = {
		"WITH marks AS (DELETE FROM tablespace_advisor.job_mark"
		"   WHERE job_id = $1 RETURNING *),"
		" newest AS (INSERT INTO tablespace_advisor.job_mark"
		"   (job_id, blocks, bytes_done, lsns, bytes_compared)"
		"   SELECT $1, blocks, bytes_done, lsns, bytes_compared FROM marks"
		"   ORDER BY mark_id DESC LIMIT 1)"
		" UPDATE tablespace_advisor.job j SET"
		" state = CASE WHEN $2 THEN 'interrupted' ELSE 'queued' END,"
		" phase = NULL, worker_pid = NULL, progress_handle = NULL,"
		" blocked_by = NULL, blocks_left = NULL, rate_reason = NULL,"
		" present_mb_per_s = NULL, interruptions = interruptions + $3,"
		" bytes_done = CASE WHEN $2 THEN coalesce(m.bytes_done, 0) ELSE 0 END,"
		" bytes_total = greatest(j.bytes_total, m.bytes_done),"
		" blocks_again = j.blocks_again + coalesce(m.again, 0),"
		" takeovers = 0, stalls = CASE WHEN m.bytes_done > j.bytes_done"
		"   OR m.compared < $4 * m.bytes_done AND m.compared > m.compared_before"
		"   THEN 0 ELSE stalls + $3 END,"
		" interrupted_at = pg_catalog.clock_timestamp()"
		" FROM (SELECT (pg_catalog.array_agg(bytes_done"
		"     ORDER BY mark_id DESC))[1] AS bytes_done,"
		"   pg_catalog.max(blocks_again) AS again,"
		"   pg_catalog.min(bytes_compared) AS compared_before,"
		"   pg_catalog.max(bytes_compared) AS compared"
		"   FROM marks) m"
		" WHERE j.job_id = $1 AND state IN ('running', 'paused')",
		4, {INT8OID, BOOLOID, INT4OID, INT8OID}, NULL
	};
	Datum		values[4];

	values[0] = Int64GetDatum(job_id);
	values[1] = BoolGetDatum(keeps_copy);
	values[2] = Int32GetDatum(by_window ? 0 : 1);
	values[3] = Int64GetDatum(MAX_COMPARISONS);
	tsa_journal_update(&query, values, NULL);
}

/*
 * Names the n old files, to be removed, and forgets the new ones.  Throws if
 * the job has ended.
 */
void
tsa_job_note_switched(int64 job_id, const RelFileLocator *old_storage, int n)
{
	Datum		values[3];
	char		nulls[] = "   ";

	values[0] = Int64GetDatum(job_id);
	storage_arrays(old_storage, n, &values[1], &nulls[1]);
	if (note_switched.plan == NULL)
		tsa_journal_plan(&note_switched);
	check_is_under_way(job_id,
					   tsa_journal_update(&note_switched, values, nulls));
}

/* Ends an unfinished job as *end says; does nothing to one that has ended. */
void
tsa_finish_job(int64 job_id, const TsaJobEnd *end)
{
	static TsaStatement query = {
		.sql = "WITH gone AS (DELETE FROM tablespace_advisor.job_mark"
		"   WHERE job_id = $1)"
		" UPDATE tablespace_advisor.job SET state = $2,"
		" sqlstate = $3, error = $4, detail = $5,"
		" blocked_by = NULL, blocks_left = NULL,"
		" phase = CASE WHEN $2 <> 'done' AND old_filenumbers IS NOT NULL"
		"   THEN phase END,"
		" bytes_total = coalesce($6, bytes_total),"
		" bytes_done = CASE $2 WHEN 'done'"
		"   THEN coalesce($6, bytes_total) ELSE bytes_done END,"
		" mb_per_s = coalesce($7, mb_per_s),"
		" passes = coalesce($8, passes),"
		" restarts = coalesce($9, restarts),"
		" attempts = coalesce($10, attempts),"
		" paused_ms = coalesce($11, paused_ms),"
		" waited_ms = coalesce($12, waited_ms),"
		" lock_wait_ms = coalesce($13, lock_wait_ms),"
		" lock_ms = coalesce($14, lock_ms),"
		" others_lost_percent = coalesce($15, others_lost_percent),"
		" is_late = coalesce($18, is_late),"
		" blocks_again = blocks_again + coalesce($19, 0),"
		" (max_rate, min_rate, finish_by, during, lock_timeout_ms) ="
		"   (SELECT max_rate, min_rate, finish_by, during, lock_timeout_ms"
		"   FROM tablespace_advisor.job_limits l WHERE l.job_id = $1),"
		" wal_bytes = coalesce(coalesce(wal_bytes, 0) + $16, wal_bytes),"
		" new_tablespaces = CASE WHEN $17"
		"   THEN new_tablespaces END,"
		" new_filenumbers = CASE WHEN $17"
		"   THEN new_filenumbers END,"
		" old_tablespaces = CASE WHEN $2 <> 'done' OR $17"
		"   THEN old_tablespaces END,"
		" old_filenumbers = CASE WHEN $2 <> 'done' OR $17"
		"   THEN old_filenumbers END,"
		" finished_at = pg_catalog.clock_timestamp()"
		" WHERE job_id = $1 AND state IN " TSA_UNFINISHED
	};
	static const TsaMoveProgress none = {0};
	const ErrorData *err = end->err;
	const TsaMoveProgress *p = end->figures ? end->figures : &none;
	bool		unknown = end->figures == NULL;
	const char *sqlstate = end->table_dropped ? TSA_TABLE_DROPPED :
	err ? unpack_sql_state(err->sqlerrcode) : NULL;
	const char *error = err && err->message ?
	tsa_printable_text(err->message) : "";
	const char *detail = err && err->detail ?
	tsa_printable_text(err->detail) : NULL;
	TsaArg		args[] = {
		[1] = {INT8OID, Int64GetDatum(job_id), false},
		[2] = {TEXTOID, text_or_null(tsa_job_state_name(end->state)), false},
		[3] = {TEXTOID, text_or_null(sqlstate), err == NULL},
		[4] = {TEXTOID, text_or_null(error), err == NULL},
		[5] = {TEXTOID, text_or_null(detail), detail == NULL},
		[6] = {INT8OID, Int64GetDatum(p->bytes_total), unknown},
		[7] = {FLOAT8OID, Float8GetDatum(p->mb_per_s), unknown},
		[8] = {INT4OID, Int32GetDatum(p->passes), unknown},
		[9] = {INT4OID, Int32GetDatum(p->restarts), unknown},
		[10] = {INT4OID, Int32GetDatum(p->attempts), unknown},
		[11] = {FLOAT8OID, Float8GetDatum(p->paused_ms), unknown},
		[12] = {FLOAT8OID, Float8GetDatum(p->waited_ms), unknown},
		[13] = {FLOAT8OID, Float8GetDatum(p->lock_wait_ms), unknown},
		[14] = {FLOAT8OID, Float8GetDatum(p->lock_ms), unknown},
		[15] = {FLOAT8OID, Float8GetDatum(p->others_lost_percent),
		unknown || p->others_lost_percent < 0},
		[16] = {INT8OID, Int64GetDatum(end->wal_bytes), unknown},
		[17] = {BOOLOID, BoolGetDatum(end->keeps_files), false},
		[18] = {BOOLOID, BoolGetDatum(p->is_late), unknown},
		[19] = {INT8OID, Int64GetDatum(p->blocks_again), unknown}
	};

	tsa_journal_update_args(&query, args, lengthof(args));
}
