/*-------------------------------------------------------------------------
 *
 * queue.c
 *	  The journal of moves: how jobs get into it, and from there to a worker.
 *	  The rules for writers of each column are in job.h.
 *
 * One relation is moved once at a time, which the journal's unique index
 * decides.  But the moves of a table and of its indexes must not overlap
 * either: the mover of an index keeps AccessShare on the table for as long as
 * it copies, so that the table's mover, which must have AccessExclusive, would
 * not get its cutover, and a rebuild's ShareUpdateExclusive does the same.
 * Nor may two moves of one table take the same index along.  So a session that
 * queues looks for unfinished jobs of the same heap: of committed ones, which
 * it is refused for, and of transactions that have not ended (uncommitted.c),
 * and waits for their end.  That two sessions do not both find none, each
 * looks and inserts with the queue lock in hand, and has it for no longer
 * (settings.c): retry_move() may be called in a transaction that stays open,
 * and that must not keep others from queueing moves that it has nothing to do
 * with.  For the same reason a call that moves relations of many owners does
 * not wait, but leaves those relations where they are.
 *
 * A partitioned table or index has no storage to be copied: its entry is
 * changed under a short lock, which contends with nothing for long.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "move/common/relation.h"
#include "move/common/stop_point.h"
#include "move/job/batch_lock.h"
#include "move/job/history.h"
#include "move/job/job_limits.h"
#include "move/job/journal.h"
#include "move/job/journal_room.h"
#include "move/job/queue.h"
#include "move/job/uncommitted.h"
#include "move/job/waiting.h"
#include "state/printable.h"
#include "state/settings.h"
#include "state/state.h"

/* Is this row the move of a table that has storage?  For statements. */
#define TSA_IS_TABLE(row) "(" row ".kind IN ('r', 'm'))"

/*
 * Job or batch ids from a result's column "id", in the caller's context.
 */
static List *
job_id_list(MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	List	   *ids = NIL;

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		int64	   *id = palloc(sizeof(int64));

		*id = DatumGetInt64(tsa_result_column(i, "id"));
		ids = lappend(ids, id);
	}
	MemoryContextSwitchTo(old);
	return ids;
}

/*
 * How many of the moves are live copies.
 */
int
tsa_count_copies(const List *moves)
{
	ListCell   *lc;
	int			n = 0;

	foreach(lc, moves)
		n += ((TsaMove *) lfirst(lc))->method == TSA_METHOD_COPY;
	return n;
}

/*
 * Claims a queued or interrupted job for this worker.  Returns false if the job
 * has another state, is for another worker, is being cancelled by a transaction
 * that may stay open, has a closed time window, or must not begin: its row may
 * have been locked when tsa_give_up_job() looked.  progress_handle leads other
 * sessions to the figures of the worker's copies; 0: they have no access
 * (live_progress.c).
 *
 * The first worker of a batch takes every job.  The others take live copies
 * only.  They leave out a table if its own indexes move in the same batch, and
 * these indexes, because each move would delay the other's cutover.  A row
 * that is left out is not locked, so that the first worker does not skip it.
 */
bool
tsa_claim_job(int64 job_id, bool copies_only, int64 progress_handle)
{
#define CLAIM(condition) \
	"UPDATE tablespace_advisor.job SET state = 'running'," \
	" worker_pid = $2, phase = 'starting'," \
	" progress_handle = nullif($3, 0)," \
	" started_at = coalesce(started_at, pg_catalog.clock_timestamp())" \
	" WHERE state IN ('queued', 'interrupted') AND job_id = ANY (ARRAY(" \
	"   SELECT q.job_id FROM tablespace_advisor.job q" \
	"   WHERE q.job_id = $1 AND q.state IN ('queued', 'interrupted')" \
	condition " FOR NO KEY UPDATE SKIP LOCKED))" \
	" AND (SELECT tablespace_advisor.window_opens(l.during," \
	"     pg_catalog.clock_timestamp())" \
	"   FROM tablespace_advisor.job_limits l WHERE l.job_id = $1) IS NULL" \
	" AND (until IS NULL AND lock_up_to IS NULL OR state = 'interrupted' OR" \
	"   tablespace_advisor.reason_not_to_begin(job_id) IS NULL)"
	/* two statements: the plan of one for both would be made at each call */
	static TsaStatement any = {
		CLAIM(""), 3, {INT8OID, INT4OID, INT8OID}, NULL
	};
	static TsaStatement copies = {
		CLAIM(" AND q.method = 'copy' AND NOT EXISTS ("
			  "   SELECT FROM tablespace_advisor.job o"
			  "   WHERE o.heap = q.heap AND o.batch_id = q.batch_id"
			  "     AND o.job_id <> q.job_id AND o.state IN " TSA_UNFINISHED
			  "     AND " TSA_IS_TABLE("o") " <> " TSA_IS_TABLE("q") ")"),
		3, {INT8OID, INT4OID, INT8OID}, NULL
	};
#undef CLAIM
	Datum		values[3];

	values[0] = Int64GetDatum(job_id);
	values[1] = Int32GetDatum(MyProcPid);
	values[2] = Int64GetDatum(progress_handle);
	return tsa_journal_update(copies_only ? &copies : &any, values, NULL) == 1;
}

/*
 * Cancels a job that is queued or interrupted; false if it is neither.  The
 * leftovers of an interrupted one are for the caller, or for the next
 * recovery.
 */
bool
tsa_cancel_queued_job(int64 job_id)
{
	static TsaStatement query = {
		"WITH cancelled AS (UPDATE tablespace_advisor.job"
		" SET state = 'cancelled',"
		" sqlstate = CASE state WHEN 'interrupted' THEN '57014' END,"
		" error = CASE state WHEN 'interrupted'"
		"   THEN 'cancelled on request' END,"
		" finished_at = pg_catalog.clock_timestamp()"
		" WHERE job_id = $1 AND state IN ('queued', 'interrupted')"
		" RETURNING job_id),"
		" gone AS (DELETE FROM tablespace_advisor.job_mark m"
		"   USING cancelled c WHERE m.job_id = c.job_id)"
		" SELECT FROM cancelled",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	return tsa_journal_update(&query, values, NULL) == 1;
}

/* Process id of the worker of a running job, 0 when it does not run. */
int
tsa_find_job_worker(int64 job_id)
{
	static TsaStatement query = {
		"SELECT worker_pid FROM tablespace_advisor.job"
		" WHERE job_id = $1 AND state IN ('running', 'paused')",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaState	journal;
	int			pid = 0;

	values[0] = Int64GetDatum(job_id);
	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) == 1)
		pid = DatumGetInt32(tsa_result_column(0, "worker_pid"));
	tsa_state_close(&journal);
	return pid;
}

/* The ids (int64 *) that a query finds, in the current memory context. */
static List *
find_ids(TsaStatement *query, int64 arg)
{
	MemoryContext context = CurrentMemoryContext;
	Datum		values[1];
	TsaState	journal;
	List	   *ids;

	values[0] = Int64GetDatum(arg);
	tsa_journal_open(&journal);
	tsa_state_use_indexes();
	tsa_run(query, values, NULL, TSA_READS);
	ids = job_id_list(context);
	tsa_state_close(&journal);
	return ids;
}

/* Unfinished jobs (int64 *) of a batch, in the current memory context. */
List *
tsa_list_batch_jobs(int64 batch_id)
{
	static TsaStatement query = {
		"SELECT job_id AS id FROM tablespace_advisor.job"
		" WHERE batch_id = $1 AND state IN " TSA_UNFINISHED
		" ORDER BY job_id",
		1, {INT8OID}, NULL
	};

	return find_ids(&query, batch_id);
}

/*
 * The work left of a batch: jobs that have not ended, and files of jobs that
 * have: old ones, many of which are dropped at a time, and files that could
 * not be reached.  For statements.
 */
#define TSA_LEFT_TO_DO \
	"(state IN " TSA_UNFINISHED " OR new_filenumbers IS NOT NULL" \
	" OR old_filenumbers IS NOT NULL)"

/*
 * Batches (int64 *) with something left, in the current memory context; also
 * those that just wait for a time window, if they are wanted.
 */
List *
tsa_list_open_batches(bool with_waiting)
{
	static TsaStatement query = {
		"SELECT DISTINCT batch_id AS id FROM tablespace_advisor.job j"
		" WHERE " TSA_LEFT_TO_DO " AND ($1 > 0 OR NOT EXISTS ("
		"   SELECT FROM tablespace_advisor.waiting_job w"
		"   WHERE w.job_id = j.job_id)) ORDER BY batch_id",
		1, {INT8OID}, NULL
	};

	return find_ids(&query, with_waiting);
}

/*
 * Are there jobs of another server or database?  Looks at the two ends of an
 * index: every call asks.
 */
bool
tsa_has_foreign_jobs(void)
{
#define END(way) \
	"(SELECT system_identifier, database FROM tablespace_advisor.job" \
	" ORDER BY system_identifier " way ", database " way " LIMIT 1)"
	static TsaStatement query = {
		"SELECT FROM " END("ASC") " a, " END("DESC") " b"
		" WHERE (a.system_identifier, a.database) <> ($1, $2)"
		" OR (b.system_identifier, b.database) <> ($1, $2)",
		2, {INT8OID, OIDOID}, NULL
	};
#undef END
	Datum		values[2];

	values[0] = Int64GetDatum((int64) GetSystemIdentifier());
	values[1] = ObjectIdGetDatum(MyDatabaseId);
	return tsa_journal_update_by_index(&query, values) > 0;
}

/* Jobs (int64 *) of another server or database that name files. */
List *
tsa_list_foreign_jobs(void)
{
	static TsaStatement query = {
		"SELECT job_id AS id FROM tablespace_advisor.job"
		" WHERE (system_identifier <> $1 OR database <>"
		"   (SELECT oid FROM pg_catalog.pg_database"
		"    WHERE datname = pg_catalog.current_database()))"
		" AND (new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL)"
		" ORDER BY job_id",
		1, {INT8OID}, NULL
	};

	return find_ids(&query, (int64) GetSystemIdentifier());
}

/*
 * Jobs (int64 *) of a batch with something left, locked, in the same way; but
 * those that a transaction which may stay open has locked are left out.
 */
List *
tsa_lock_open_jobs(int64 batch_id)
{
	static TsaStatement query = {
		"SELECT job_id AS id FROM tablespace_advisor.job"
		" WHERE batch_id = $1 AND " TSA_LEFT_TO_DO " ORDER BY job_id"
		" FOR NO KEY UPDATE SKIP LOCKED",
		1, {INT8OID}, NULL
	};
	MemoryContext context = CurrentMemoryContext;
	Datum		values[1];
	TsaState	journal;
	List	   *ids;

	values[0] = Int64GetDatum(batch_id);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_WRITES);
	ids = job_id_list(context);
	tsa_state_close(&journal);
	return ids;
}

/* Is nothing left of a batch? */
bool
tsa_batch_has_ended(int64 batch_id)
{
	static TsaStatement query = {
		"SELECT FROM tablespace_advisor.job"
		" WHERE batch_id = $1 AND " TSA_LEFT_TO_DO " LIMIT 1",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaState	journal;
	bool		ended;

	values[0] = Int64GetDatum(batch_id);
	tsa_journal_open(&journal);
	ended = tsa_run(&query, values, NULL, TSA_READS) == 0;
	tsa_state_close(&journal);
	return ended;
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
 * Is there a size up to which the relation may be locked?  Not for the
 * journal's own tables, which are locked at any size.
 */
static bool
has_lock_up_to(const TsaMove *move, const TsaMoveOptions *options)
{
	return options->lock_up_to >= 0 && move->method == TSA_METHOD_LOCK &&
		strcmp(NameStr(move->schema_name), "tablespace_advisor") != 0;
}

/*
 * Inserts a job.  Returns its id; 0 when an unfinished job for the relation
 * exists, which the unique index decides even between sessions that insert
 * at the same time.  batch_id 0 makes it the first job of a new batch.
 */
static int64
insert_job(const TsaMove *move, const TsaMoveOptions *options, int64 batch_id)
{
	static TsaStatement query = {
		.sql = "INSERT INTO tablespace_advisor.job (job_id, batch_id, relation,"
		" heap, kind, schema_name, relation_name, from_tablespace,"
		" from_tablespace_name, to_tablespace, to_tablespace_name,"
		" method_wanted, method, bytes_total, max_rate, min_rate, finish_by,"
		" until, lock_up_to, lock_timeout_ms,"
		" owner, system_identifier, database, indexes, indexes_from,"
		" forecast_saved_ms_per_s, call_user, policy, index_names, during)"
		" OVERRIDING SYSTEM VALUE"
		" SELECT id, CASE $1 WHEN 0 THEN id ELSE $1 END, $2, $3, $4, $5, $6,"
		" $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,"
		" $21, $22, $23, $24, $25, $26, $27,"
		" (SELECT pg_catalog.array_agg(c.relname ORDER BY i.n)"
		"   FROM pg_catalog.unnest($23) WITH ORDINALITY i (index, n)"
		"   LEFT JOIN pg_catalog.pg_class c ON c.oid = i.index), $28"
		" FROM (SELECT pg_catalog.nextval('tablespace_advisor.job_job_id_seq')"
		"   OFFSET 0) AS s(id)"
		" ON CONFLICT (relation) WHERE state IN " TSA_UNFINISHED " DO NOTHING"
		" RETURNING job_id"
	};
	const char *wanted = tsa_move_method_name(options->method);
	const char *method = tsa_move_method_name(move->method);
	bool		alone = move->indexes == NIL;
	TsaLimitsValues limits = tsa_limits_values(&options->limits);
	TsaArg		args[] = {
		[1] = {INT8OID, Int64GetDatum(batch_id), false},
		[2] = {OIDOID, ObjectIdGetDatum(move->relid), false},
		[3] = {OIDOID, ObjectIdGetDatum(move->heapid), false},
		[4] = {CHAROID, CharGetDatum(move->kind), false},
		[5] = {NAMEOID, NameGetDatum(&move->schema_name), false},
		[6] = {NAMEOID, NameGetDatum(&move->relation_name), false},
		[7] = {OIDOID, ObjectIdGetDatum(move->source_tablespace), false},
		[8] = {NAMEOID, NameGetDatum(&move->source_name), false},
		[9] = {OIDOID, ObjectIdGetDatum(move->target_tablespace), false},
		[10] = {NAMEOID, NameGetDatum(&move->target_name), false},
		[11] = {TEXTOID, CStringGetTextDatum(wanted), false},
		[12] = {TEXTOID, CStringGetTextDatum(method), false},
		[13] = {INT8OID, Int64GetDatum(move->size_bytes), false},
		[14] = {INT8OID, limits.values[0], limits.nulls[0]},
		[15] = {INT8OID, limits.values[1], limits.nulls[1]},
		[16] = {TIMESTAMPTZOID, limits.values[2], limits.nulls[2]},
		[17] = {TIMESTAMPTZOID, TimestampTzGetDatum(options->until),
		TIMESTAMP_IS_NOEND(options->until)},
		[18] = {INT8OID, Int64GetDatum(options->lock_up_to),
		!has_lock_up_to(move, options)},
		[19] = {INT4OID, Int32GetDatum(options->lock_timeout_ms),
		false},
		[20] = {OIDOID, ObjectIdGetDatum(GetUserId()), false},
		[21] = {INT8OID, Int64GetDatum((int64) GetSystemIdentifier()),
		false},
		[22] = {OIDOID, ObjectIdGetDatum(MyDatabaseId), false},
		[23] = {OIDARRAYOID, oid_list_array(move->indexes), alone},
		[24] = {OIDARRAYOID, oid_list_array(move->indexes_from),
		alone},
		[25] = {FLOAT8OID, Float8GetDatum(move->forecast_saved_ms_per_s),
		!move->has_forecast},
		[26] = {OIDOID, ObjectIdGetDatum(GetSessionUserId()), false},
		[27] = {TEXTOID, options->policy ?
			CStringGetTextDatum(options->policy) : (Datum) 0,
		options->policy == NULL},
		[28] = {TEXTOID, limits.values[3], limits.nulls[3]}
	};
	TsaState	journal;
	int64		job_id = 0;

	tsa_journal_open(&journal);
	if (tsa_run_args(&query, args, lengthof(args), TSA_WRITES) == 1)
		job_id = DatumGetInt64(tsa_result_column(0, "job_id"));
	tsa_state_close(&journal);
	return job_id;
}

/*
 * Fails since a relation is being moved already; "other": by the move of that
 * one, of which it is a part, or which is a part of it.
 */
static void
report_busy(const TsaMove *move, const char *other_kind, const char *other)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("%s \"%s\" is being moved already",
					tsa_relation_kind_name(move->kind),
					tsa_printable_text(NameStr(move->relation_name))),
			 other ? errdetail("The move of its %s \"%s\" has not ended.",
							   other_kind, tsa_printable_text(other)) : 0,
			 errhint("See tablespace_moves; cancel_move() ends the other move.")));
}

/*
 * Refuses a move that another unfinished one would get in the way of: see the
 * head of this file; or a rebuild has put this index in the place of the one
 * that its job names, and still waits for the readers of the old one.
 */
void
tsa_check_heap_is_free(const TsaMove *move)
{
	static TsaStatement query = {
		.sql = "SELECT kind, relation_name, relation <> $2 AND"
		"   (schema_name, relation_name) <> ($5, $6) AS is_other"
		" FROM tablespace_advisor.job j"
		" WHERE heap = $1 AND state IN " TSA_UNFINISHED
		" AND (relation = $2"
		"   OR NOT $4 AND method <> 'catalog'"
		"     AND ($3 OR " TSA_IS_TABLE("j")
		"       OR method = 'rebuild' AND schema_name = $5"
		"         AND relation_name = $6))"
		" ORDER BY job_id LIMIT 1"
	};
	TsaArg		args[] = {
		[1] = {OIDOID, ObjectIdGetDatum(move->heapid), false},
		[2] = {OIDOID, ObjectIdGetDatum(move->relid), false},
		[3] = {BOOLOID, BoolGetDatum(tsa_move_is_table(move)), false},
		[4] = {BOOLOID,
		BoolGetDatum(move->method == TSA_METHOD_CATALOG), false},
		[5] = {NAMEOID, NameGetDatum(&move->schema_name), false},
		[6] = {NAMEOID, NameGetDatum(&move->relation_name), false}
	};
	TsaState	journal;

	tsa_journal_open(&journal);
	if (tsa_run_args(&query, args, lengthof(args), TSA_READS) == 1)
	{
		char		kind = DatumGetChar(tsa_result_column(0, "kind"));
		Datum		name = tsa_result_column(0, "relation_name");
		bool		is_other = DatumGetBool(tsa_result_column(0, "is_other"));

		report_busy(move, tsa_relation_kind_name(kind),
					is_other ? NameStr(*DatumGetName(name)) : NULL);
	}
	tsa_state_close(&journal);
}

/*
 * Throws if committed jobs that have not ended are in the way; so the insertion
 * meets none that it would wait for with the queue lock in hand.
 */
static void
check_heaps_are_free(List *moves)
{
	ListCell   *lc;

	CommandCounterIncrement();	/* see this transaction's jobs */
	foreach(lc, moves)
		tsa_check_heap_is_free(lfirst(lc));
}

/* Says which moves are left out. */
static void
report_left_out(List *contended)
{
	ListCell   *lc;

	foreach(lc, contended)
	{
		TsaMove    *move = lfirst(lc);

		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("leaving %s \"%s\" where it is",
						tsa_relation_kind_name(move->kind),
						tsa_printable_text(NameStr(move->relation_name))),
				 errdetail("A transaction that has not ended is queueing or changing a move of it, or of its table or indexes.")));
	}
}

/* The jobs that a call queues. */
typedef struct Queueing
{
	List	   *moves;
	const TsaMoveOptions *options;
	List	   *left_out;		/* moves */
	List	   *ids;			/* of jobs, int64 * */
	TransactionId awaited;		/* by jobs not queued for that */
} Queueing;

/* Inserts the jobs of moves that nothing is in the way of. */
static void
insert_jobs(Queueing *queueing)
{
	ListCell   *lc;

	foreach(lc, queueing->moves)
	{
		TsaMove    *move = lfirst(lc);
		int64	   *id = palloc(sizeof(int64));

		tsa_make_journal_room();
		*id = insert_job(move, queueing->options, queueing->ids == NIL ? 0 :
						 *(int64 *) linitial(queueing->ids));
		if (*id == 0)
			report_busy(move, NULL, NULL);
		queueing->ids = lappend(queueing->ids, id);
	}
}

/*
 * Looks with the queue lock in hand whether something is in the way of the
 * moves, leaves out those to be left out, and queues the others.
 */
static void
try_to_queue(void *arg)
{
	Queueing   *queueing = arg;
	List	   *contended;
	LOCKTAG		tag;

	tsa_set_lock_tag(&tag, TSA_LOCK_QUEUE, 0);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	queueing->awaited = InvalidTransactionId;
	contended = tsa_list_contended(queueing->moves, &queueing->awaited);
	if (queueing->options->leaves_contended)
	{
		queueing->awaited = InvalidTransactionId;
		queueing->left_out = list_concat(queueing->left_out, contended);
		queueing->moves = list_difference_ptr(queueing->moves, contended);
	}

	/* in this order, or a commit in between is seen by neither */
	tsa_stop_point("queue looked at");
	check_heaps_are_free(queueing->moves);
	if (!TransactionIdIsValid(queueing->awaited))
		insert_jobs(queueing);
	(void) LockRelease(&tag, ExclusiveLock, false);
}

/*
 * Says at once that moves cannot end by finish_by, if measurements show that.
 */
static void
warn_if_late(int64 batch_id, TimestampTz finish_by)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.earliest_end($1) AS earliest",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	Datum		earliest;
	const char *time = NULL;
	TsaState	journal;

	if (TIMESTAMP_IS_NOEND(finish_by))
		return;
	CommandCounterIncrement();
	values[0] = Int64GetDatum(batch_id);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_READS);
	earliest = tsa_result_column(0, "earliest");
	if (earliest != (Datum) 0)
		time = timestamptz_to_str(DatumGetTimestampTz(earliest));
	if (finish_by <= GetCurrentTimestamp() ||
		(earliest != (Datum) 0 && DatumGetTimestampTz(earliest) > finish_by))
		ereport(WARNING,
				(errmsg("what is to be moved cannot be moved by \"finish_by\""),
				 time == NULL ? 0 :
				 errdetail("At the highest rates measured so far it would be by %s.",
						   time),
				 errhint("It goes on at full speed; alter_move() and cancel_move() change that.")));
	tsa_state_close(&journal);
}

/*
 * Inserts the jobs of a call, all or none, and returns their ids (int64 *).
 */
List *
tsa_queue_moves(List *moves, const TsaMoveOptions *options)
{
	Queueing	queueing = {.moves = moves,.options = options};

	tsa_warn_of_publication();
	for (;;)
	{
		tsa_run_briefly(try_to_queue, &queueing);
		if (!TransactionIdIsValid(queueing.awaited))
			break;
		XactLockTableWait(queueing.awaited, NULL, NULL, XLTW_None);
	}
	report_left_out(queueing.left_out);
	if (queueing.ids != NIL)
	{
		int64		batch_id = *(int64 *) linitial(queueing.ids);

		warn_if_late(batch_id, options->limits.finish_by);
		if (tsa_has_window(&options->limits.during))
			tsa_tell_opening(batch_id, DT_NOEND);
	}
	return queueing.ids;
}

/*
 * Gives a repeated move the forecast of the first one, and its policy; new_id:
 * its batch.
 */
void
tsa_keep_forecast(int64 job_id, int64 new_id)
{
	static TsaStatement query = {
		"UPDATE tablespace_advisor.job n"
		" SET forecast_saved_ms_per_s = o.forecast_saved_ms_per_s,"
		"   policy = o.policy"
		" FROM tablespace_advisor.job o"
		" WHERE o.job_id = $1 AND n.batch_id = $2 AND n.relation = o.relation",
		2, {INT8OID, INT8OID}, NULL
	};
	Datum		values[2];

	values[0] = Int64GetDatum(job_id);
	values[1] = Int64GetDatum(new_id);
	(void) tsa_journal_update(&query, values, NULL);
}
