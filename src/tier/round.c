/*-------------------------------------------------------------------------
 *
 * round.c
 *	  One round of an evacuation, or of a move of partitions: the moves that
 *	  an internal function plans are queued and, if the caller waits, awaited.
 *
 * The functions that plan look at the catalogs and the tablespace's directory
 * only, so ten thousand partitions need no locks on them.
 *
 * Between the plan and the queue somebody else may have queued a move of the
 * same relation, which refuses the whole batch (55006).  Then the round ends
 * with nothing queued, in a subtransaction, and is planned again.  Moves that
 * a transaction that has not ended is queueing are left out: it may stay open.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "move/move.h"
#include "state/settings.h"
#include "state/subtransaction.h"
#include "tier/round.h"

#define EXIT_POLL_MS	20

/* Makes a move of a row of the present result. */
static TsaMove *
read_move(uint64 row)
{
	TsaMove    *move = palloc0(sizeof(TsaMove));

	move->relid = DatumGetObjectId(tsa_result_column(row, "relation"));
	move->heapid = DatumGetObjectId(tsa_result_column(row, "heap"));
	move->kind = DatumGetChar(tsa_result_column(row, "kind"));
	move->schema_name =
		*DatumGetName(tsa_result_column(row, "schema_name"));
	move->relation_name =
		*DatumGetName(tsa_result_column(row, "relation_name"));
	move->persistence = DatumGetChar(tsa_result_column(row, "persistence"));
	move->source_tablespace =
		DatumGetObjectId(tsa_result_column(row, "tablespace"));
	move->target_tablespace =
		DatumGetObjectId(tsa_result_column(row, "to_tablespace"));
	namestrcpy(&move->source_name,
			   tsa_tablespace_name(move->source_tablespace));
	namestrcpy(&move->target_name,
			   tsa_tablespace_name(move->target_tablespace));
	move->size_bytes = DatumGetInt64(tsa_result_column(row, "size_bytes"));
	move->is_valid = true;
	if (!tsa_move_method_by_name(tsa_result_text(row, "method"),
								 &move->method))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("unrecognized method of a planned move")));
	return move;
}

/* Reads apply_placement()'s other columns, and the forecast. */
static void
read_plan(uint64 row, TsaMove *move, TsaRoundPlan *plan)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	HeapTuple	tuple = SPI_tuptable->vals[row];
	bool		isnull;
	Datum		saved = SPI_getbinval(tuple, desc,
									  SPI_fnumber(desc, "saved_ms_per_s"),
									  &isnull);

	move->has_forecast = !isnull;
	move->forecast_saved_ms_per_s = isnull ? 0 : DatumGetFloat8(saved);
	plan->waves = lappend_int(plan->waves,
							  DatumGetInt32(tsa_result_column(row, "wave")));
	plan->is_undo = DatumGetBool(tsa_result_column(row, "is_undo"));
}

/*
 * The moves (TsaMove *) that a statement plans, in its order.  An index that
 * goes along with its table follows it; without the table it stays for now.
 * plan: apply_placement()'s other columns, or NULL.
 */
List *
tsa_load_moves(TsaStatement *query, Datum *values, const char *nulls,
			   const TsaMoveOptions *options, TsaRoundPlan *plan)
{
	MemoryContext context = CurrentMemoryContext;
	TsaState	journal;
	TsaMove    *table = NULL;
	List	   *moves = NIL;

	tsa_journal_open(&journal);
	tsa_plan_as_usual();
	tsa_run(query, values, nulls, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext spi_context = MemoryContextSwitchTo(context);
		TsaMove    *move = read_move(i);
		bool		along = DatumGetBool(tsa_result_column(i, "goes_along"));

		CHECK_FOR_INTERRUPTS();
		if (plan != NULL)
			read_plan(i, move, plan);
		if (!along)
			moves = lappend(moves, move);
		if (move->relid == move->heapid)
			table = move;
		if (along && (table == NULL || table->relid != move->heapid))
			;					/* its table's move has been tried */
		else
			tsa_announce_move(move, along ? table : NULL, options);
		if (along && table != NULL && table->relid == move->heapid)
		{
			table->indexes = lappend_oid(table->indexes, move->relid);
			table->indexes_from = lappend_oid(table->indexes_from,
											  move->source_tablespace);
			table->size_bytes += move->size_bytes;
		}
		MemoryContextSwitchTo(spi_context);
	}
	tsa_state_close(&journal);
	return moves;
}

/* Moves to queue, and the ids of their jobs. */
typedef struct Queueing
{
	List	   *moves;
	const TsaMoveOptions *options;
	List	   *ids;
} Queueing;

/* For tsa_try(): queues the moves. */
static void
queue_all(void *arg)
{
	Queueing   *queueing = arg;

	queueing->ids = tsa_queue_moves(queueing->moves, queueing->options);
}

/*
 * Queues the moves and starts their worker, or, if one of the relations is
 * being moved by now, does nothing and returns NIL; else the ids (int64 *) of
 * the jobs.  The worker waits for the caller's commit.
 */
List *
tsa_queue_round(List *moves, const TsaMoveOptions *options,
				BackgroundWorkerHandle **handle)
{
	Queueing	queueing = {moves, options, NIL};
	ErrorData  *error = tsa_try(queue_all, &queueing);

	if (error != NULL)
	{
		if (error->sqlerrcode != ERRCODE_OBJECT_IN_USE)
			ReThrowError(error);
		return NIL;
	}
	if (queueing.ids != NIL)
		*handle = tsa_start_workers(*(int64 *) linitial(queueing.ids),
									tsa_count_copies(moves));
	return queueing.ids;
}

/*
 * Waits until no worker of a batch lives: a job is done before its
 * transaction has dropped the old file, and a worker may keep some for later.
 * Not by waiting for the lock: a worker may in turn wait for our transaction.
 */
static void
wait_for_exit(int64 batch_id)
{
	LOCKTAG		tag;

	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	while (LockAcquire(&tag, ExclusiveLock, false, true) ==
		   LOCKACQUIRE_NOT_AVAIL)
	{
		SPI_commit();
		tsa_sleep(EXIT_POLL_MS);
	}
	SPI_commit();
}

/* Prints how far a batch is as a whole. */
static void
print_batch_progress(int64 batch_id)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.batch_progress($1) AS line",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaState	journal;

	values[0] = Int64GetDatum(batch_id);
	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) == 1)
		ereport(NOTICE,
				(errmsg("moved so far: %s", tsa_result_text(0, "line"))));
	tsa_state_close(&journal);
}

/*
 * Commits, and waits for jobs that were queued.  The caller has a nonatomic SPI
 * connection.
 */
void
tsa_await_round(List *ids, BackgroundWorkerHandle *handle)
{
	int64		batch_id = *(int64 *) linitial(ids);

	SPI_commit();
	tsa_wait_for_batch(batch_id, handle,
					   list_length(ids) > 1 ? print_batch_progress : NULL);
	wait_for_exit(batch_id);
}

/*
 * Queues the moves, commits, and waits if that is asked for; returns the ids
 * (int64 *) of the jobs, NIL if somebody else moves one of the relations by
 * now.  The caller has a nonatomic SPI connection.
 */
List *
tsa_run_round(List *moves, const TsaMoveOptions *options)
{
	MemoryContext context = CurrentMemoryContext;
	BackgroundWorkerHandle *handle = NULL;
	List	   *ids = tsa_queue_round(moves, options, &handle);

	if (ids == NIL)
		return NIL;
	if (options->wait)
		tsa_await_round(ids, handle);
	else
		SPI_commit();
	MemoryContextSwitchTo(context);
	return ids;
}

/* Prints how the jobs have ended, one line each. */
void
tsa_report_moved(List *ids)
{
	static TsaStatement query = {
		"SELECT state, line, detail"
		" FROM tablespace_advisor.describe_jobs($1)",
		1, {INT8ARRAYOID}, NULL
	};
	Datum		values[1];
	TsaState	journal;

	values[0] = tsa_job_id_array(ids);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		const char *line = tsa_result_text(i, "line");

		if (strcmp(tsa_result_text(i, "state"), "done") == 0)
			ereport(NOTICE, (errmsg("moved %s", line)));
		else
			ereport(WARNING,
					(errmsg("could not move %s", line),
					 errdetail("%s", tsa_result_text(i, "detail"))));
	}
	tsa_state_close(&journal);
}

/* Every move to a tablespace needs CREATE on it. */
void
tsa_check_create_right(Oid tablespace)
{
	AclResult	result;

	if (tablespace == MyDatabaseTableSpace)
		return;
	result = tsa_tablespace_aclcheck(tablespace, GetUserId(), ACL_CREATE);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLESPACE,
					   tsa_printable_tablespace(tablespace));
}

/* The ids (int64 *) of jobs as an array. */
Datum
tsa_job_id_array(List *ids)
{
	Datum	   *elems = palloc(sizeof(Datum) * (list_length(ids) + 1));
	ListCell   *lc;
	int			n = 0;

	foreach(lc, ids)
		elems[n++] = Int64GetDatum(*(int64 *) lfirst(lc));
	return PointerGetDatum(construct_array(elems, n, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}
