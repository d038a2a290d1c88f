/*-------------------------------------------------------------------------
 *
 * apply.c
 *	  apply_placement(): judges earlier rounds, and follows the advice.
 *
 * An internal function (apply.sql) plans a round, with the extension's rights
 * but only relations that the caller may move.  Its moves run in waves: those
 * of a wave fit at the same time, and the room that they free is for the next
 * one.  A wave of which a move has failed ends the round, since later ones may
 * need its room.
 *
 * Each wave is noted as part of the round (placement_round) by the transaction
 * that queues it, so that all that has moved is judged, and may be undone, by
 * a later round, also if this one is cancelled, loses its session or dies with
 * the server.  A cancelled round has cancelled its moves.  If the session of
 * one is gone, the wave under way goes on; those that had not begun are
 * advised again.  Relations that were moved back are pinned when their moves
 * have ended, by this round or by the next one (finish_rounds()).
 *
 * A session lock keeps a second round of the same database out, if it is of
 * the same role or of one with all its rights: another one refuses nobody,
 * since its moves may pause for ever.  It is given up at the end, also of a
 * round that fails, and by the end of the session; moves of a round that
 * outlive it refuse the next one alike.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "move/move.h"
#include "tier/round.h"

#define PLAN_ARGS	4

PG_FUNCTION_INFO_V1(tsa_apply_placement);

/* A planned round. */
typedef struct Round
{
	List	   *moves;
	TsaRoundPlan plan;
} Round;

/* Keeps others out until the lock is released, or refuses. */
static void
lock_round(LOCKTAG *tag)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, 0, GetUserId(), TSA_LOCK_ROUND);
	if (tsa_role_above_locks(MyDatabaseId, 0, TSA_LOCK_ROUND, ExclusiveLock,
							 GetUserId()) ||
		LockAcquire(tag, ExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another round of apply_placement() is under way")));
}

/* Reads the arguments of plan_round(); 22023 unless max_bytes is positive. */
static void
parse_arguments(FunctionCallInfo fcinfo, Datum *values, char *nulls)
{
	int64		bytes = 0;

	values[0] = ObjectIdGetDatum(GetUserId());
	nulls[1] = PG_ARGISNULL(0) ? 'n' : ' ';
	values[1] = PG_GETARG_DATUM(0);
	nulls[2] = PG_ARGISNULL(1) ? 'n' : ' ';
	if (!PG_ARGISNULL(1))
		bytes = DatumGetInt64(DirectFunctionCall1(pg_size_bytes,
												  PG_GETARG_DATUM(1)));
	if (!PG_ARGISNULL(1) && bytes <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be positive", "max_bytes")));
	values[2] = Int64GetDatum(bytes);
	values[3] = PG_GETARG_DATUM(2);
}

/* Reads the arguments of apply_placement() into options. */
static void
parse_options(FunctionCallInfo fcinfo, TsaMoveOptions *options)
{
	/* it always waits: "wait" only has to be some argument that is not null */
	static const TsaMoveArgs args = {
		.wait = 2,.max_rate = 3,.min_rate = 4,.lock_timeout = 5,.until = 6,
		.finish_by = 7,.dry_run = 8,.during = 9
	};

	*options = TSA_NO_OPTIONS;
	options->method = TSA_METHOD_AUTO;
	options->leaves_contended = true;
	(void) tsa_required_arg(fcinfo, 2, "verify");
	tsa_parse_move_options(fcinfo, &args, options);
	options->wait = true;
	options->wants_forecast = false;
}

/*
 * Plans a round for the call's arguments: its moves, and for each the wave,
 * the forecast, and whether it undoes another one.
 */
static void
plan_round(FunctionCallInfo fcinfo, const TsaMoveOptions *options,
		   Round *round)
{
	static TsaStatement query = {
		"SELECT " TSA_MOVE_COLUMNS ", p.saved_ms_per_s, p.wave, p.is_undo"
		" FROM tablespace_advisor.plan_round($1, $2, $3, $4) p",
		PLAN_ARGS, {OIDOID, TEXTOID, INT8OID, BOOLOID}, NULL
	};
	Datum		values[PLAN_ARGS];
	char		nulls[] = "    ";

	parse_arguments(fcinfo, values, nulls);
	round->moves = tsa_load_moves(&query, values, nulls, options,
								  &round->plan);
}

/* How many of some jobs have not moved their relation. */
static uint64
count_failures(List *ids)
{
	static TsaStatement query = {
		"SELECT 1 FROM tablespace_advisor.job"
		" WHERE job_id = ANY ($1) AND state <> 'done'",
		1, {INT8ARRAYOID}, NULL
	};
	Datum		values[1];
	TsaState	journal;
	uint64		failures;

	values[0] = tsa_job_id_array(ids);
	tsa_journal_open(&journal);
	failures = tsa_run(&query, values, NULL, TSA_READS);
	tsa_state_close(&journal);
	return failures;
}

/* Notes a wave as part of a round; its jobs were queued just now. */
static void
note_wave(int64 batch_id, int64 round_id, bool is_undo)
{
	static TsaStatement query = {
		"INSERT INTO tablespace_advisor.placement_round"
		" (batch_id, round_id, is_undo) VALUES ($1, $2, $3)",
		3, {INT8OID, INT8OID, BOOLOID}, NULL
	};
	Datum		values[3];
	TsaState	journal;

	values[0] = Int64GetDatum(batch_id);
	values[1] = Int64GetDatum(round_id);
	values[2] = BoolGetDatum(is_undo);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_WRITES);
	tsa_state_close(&journal);
}

/* Pins the relations that ended rounds have moved back. */
static void
finish_rounds(void)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.finish_rounds()", 0, {0}, NULL
	};
	TsaState	journal;

	tsa_journal_open(&journal);
	tsa_run(&query, NULL, NULL, TSA_CALLS);
	tsa_state_close(&journal);
}

/*
 * Refuses to begin while moves are under way of a round that has lost its
 * session, and would refuse if it had not.
 */
static void
check_earlier_moves(void)
{
	static TsaStatement query = {
		"SELECT j.job_id FROM tablespace_advisor.job j"
		" JOIN tablespace_advisor.placement_round r USING (batch_id)"
		" WHERE tablespace_advisor.is_unfinished(j.state)"
		" AND coalesce(pg_catalog.pg_has_role(j.owner, $1, 'USAGE'), false)"
		" ORDER BY j.job_id LIMIT 1",
		1, {OIDOID}, NULL
	};
	Datum		values[1];
	TsaState	journal;

	values[0] = ObjectIdGetDatum(GetUserId());

	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("a move of an earlier round of apply_placement() is under way"),
				 errdetail("Move " INT64_FORMAT " has not ended.",
						   DatumGetInt64(tsa_result_column(0, "job_id"))),
				 errhint("See tablespace_moves; cancel_move() ends a move.")));
	tsa_state_close(&journal);
}

/* Runs the waves one after the other; returns the ids of all jobs. */
static List *
run_waves(const Round *round, const TsaMoveOptions *options)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *all = NIL;
	int			n = 0;

	while (n < list_length(round->moves))
	{
		int			wave = list_nth_int(round->plan.waves, n);
		BackgroundWorkerHandle *handle = NULL;
		List	   *moves = NIL;
		List	   *ids;

		while (n < list_length(round->moves) &&
			   list_nth_int(round->plan.waves, n) == wave)
			moves = lappend(moves, list_nth(round->moves, n++));
		tsa_check_space_of_moves(moves);
		ids = tsa_queue_round(moves, options, &handle);
		if (ids == NIL)
		{
			ereport(WARNING,
					(errmsg("somebody else is moving one of the relations")));
			break;
		}
		all = list_concat(all, ids);
		note_wave(*(int64 *) linitial(ids), *(int64 *) linitial(all),
				  round->plan.is_undo);
		tsa_await_round(ids, handle);
		MemoryContextSwitchTo(context);
		if (count_failures(ids) > 0)
			break;
	}
	return all;
}

/* Plans and runs a round; the caller holds the lock. */
static List *
run(FunctionCallInfo fcinfo, const TsaMoveOptions *options)
{
	MemoryContext context = CurrentMemoryContext;
	Round		round = {0};
	List	   *ids;

	if (!options->dry_run)
	{
		check_earlier_moves();
		finish_rounds();
	}
	plan_round(fcinfo, options, &round);
	if (round.moves == NIL)
		ereport(NOTICE,
				(errmsg("nothing is to be moved"),
				 errhint("explain_placement() has the reasons.")));
	else if (round.plan.is_undo)
		ereport(NOTICE,
				(errmsg("reading got slower after an earlier round: the moves that made it slower are undone")));
	if (round.moves != NIL && options->dry_run)
		tsa_announce_total(round.moves);
	if (round.moves == NIL || options->dry_run)
		return NIL;
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	MemoryContextSwitchTo(context);
	ids = run_waves(&round, options);
	if (ids != NIL)
	{
		finish_rounds();
		tsa_report_moved(ids);
		SPI_commit();
	}
	SPI_finish();
	MemoryContextSwitchTo(context);
	return ids;
}

/*
 * apply_placement(max_bytes, budget, verify, ...): follows the advice on the
 * whole database. 42501 for a role that is no member of pg_monitor.
 */
Datum
tsa_apply_placement(PG_FUNCTION_ARGS)
{
	TsaMoveOptions options;
	LOCKTAG		tag;
	List	   *volatile ids = NIL;

	tsa_check_signature(fcinfo, "job", 11);
	if (!has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to follow the advice on the whole database"),
				 errdetail("Only members of the role \"pg_monitor\" may.")));
	parse_options(fcinfo, &options);
	if (!options.dry_run)
		tsa_begin_call(fcinfo);
	lock_round(&tag);
	PG_TRY();
	{
		ids = run(fcinfo, &options);
	}
	PG_FINALLY();
	{
		(void) LockRelease(&tag, ExclusiveLock, true);
	}
	PG_END_TRY();
	return tsa_job_ids_row(fcinfo, ids);
}
