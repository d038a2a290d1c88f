/*-------------------------------------------------------------------------
 *
 * advice.c
 *	  Lets the advice choose the moves of a call and their targets, or forecast
 *	  the saving of a move that the caller has decided.
 *
 * It is asked for the caller: rights to move suffice to ask.  The savings that
 * it expects of a move are written into the journal beside the move.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "advise/advise.h"
#include "move/common/relation.h"
#include "move/job/journal.h"
#include "move/plan/advice.h"
#include "move/plan/load.h"
#include "state/subtransaction.h"

/*
 * The caller has decided.  Advice on more relations than this would hold up
 * the call.
 */
#define MAX_FORECASTS	100

/* Asks for advice on the target; the caller ends it. */
static void
ask_for_advice(TsaState *state, const TsaMoveOptions *options, bool moves_only)
{
	tsa_advice_open(state, options->target,
					OidIsValid(options->tablespace) ?
					tsa_tablespace_name(options->tablespace) : NULL,
					moves_only);
}

/*
 * Can a forecast be made for a tablespace, and compared after the move: was it
 * probed, and are there samples with relations where they are now?  By those
 * from before a move, what was read from the other place is slow.
 */
static bool
is_forecast_useful(Oid tablespace)
{
	static TsaStatement query = {
		.sql = "SELECT FROM tablespace_advisor.probe_run r"
		" JOIN pg_catalog.pg_tablespace t ON t.spcname = r.tablespace"
		" WHERE t.oid = $1"
		" AND EXISTS (SELECT FROM tablespace_advisor.sample)"
		" AND (SELECT NOT h.is_before"
		"   FROM tablespace_advisor.history_since_moves('1 day') h) LIMIT 1",
		.nargs = 1,
		.types = {OIDOID},
	};
	Datum		values[] = {ObjectIdGetDatum(tablespace)};
	TsaState	journal;
	bool		found;

	tsa_journal_open(&journal);
	found = tsa_run(&query, values, NULL, TSA_READS) > 0;
	tsa_state_close(&journal);
	return found;
}

/* The saving by row i of the answer; false: not known. */
static bool
get_forecast(uint64 i, float8 *saved)
{
	bool		known = tsa_result_text(i, "saved_ms_per_s") != NULL;

	*saved = known ?
		DatumGetFloat8(tsa_result_column(i, "saved_ms_per_s")) : 0;
	return known;
}

/*
 * Sets the target tablespaces that the advice recommends, and keeps the moves
 * that it recommends.  A partitioned index has no activity of its own to advise
 * on and stays.
 */
List *
tsa_restrict_to_advice(List *moves, const TsaMoveOptions *options)
{
	List	   *kept = NIL;
	TsaState	state;

	PushActiveSnapshot(GetTransactionSnapshot());
	ask_for_advice(&state, options, true);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		TsaMove    *move = tsa_find_move(moves,
										 DatumGetObjectId(tsa_result_column(i, "relation")));
		char	   *name = tsa_result_text(i, "tablespace");

		if (move == NULL || name == NULL)
			continue;
		move->target_tablespace = get_tablespace_oid(name, false);
		move->has_forecast = get_forecast(i, &move->forecast_saved_ms_per_s);
	}
	tsa_state_close(&state);
	PopActiveSnapshot();

	for (int i = 0; i < list_length(moves); i++)
	{
		TsaMove    *move = list_nth(moves, i);

		if (OidIsValid(move->target_tablespace))
			kept = lappend(kept, move);
	}
	return kept;
}

/* Moves that need forecasts. */
typedef struct Forecasts
{
	List	   *moves;
	const TsaMoveOptions *options;
} Forecasts;

/* For tsa_try(): asks for advice and keeps its forecasts of the moves. */
static void
ask_for_forecasts(void *arg)
{
	const Forecasts *forecasts = arg;
	TsaState	state;

	PushActiveSnapshot(GetTransactionSnapshot());
	ask_for_advice(&state, forecasts->options, false);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Oid			relid = DatumGetObjectId(tsa_result_column(i, "relation"));
		TsaMove    *move = tsa_find_move(forecasts->moves, relid);
		float8		saved;

		if (move == NULL && forecasts->options->with_indexes)
			move = tsa_find_move(forecasts->moves,
								 IndexGetRelation(relid, true));
		if (move == NULL || !get_forecast(i, &saved))
			continue;
		move->has_forecast = true;
		move->forecast_saved_ms_per_s += saved;
	}
	tsa_state_close(&state);
	PopActiveSnapshot();
}

/*
 * Writes down the forecasts of moves that the caller has decided, so that
 * move_outcomes can compare.  Indexes that move along with their table are
 * part of its forecast.  Advice takes a tenth of a second: it rests on all
 * that is read in the database, for any target.  So it is not asked for where
 * it could not say, or nothing could compare it.  A caller with the right to
 * move may ask, but if there is an error nevertheless, the move goes on
 * without a forecast.
 */
void
tsa_note_forecasts(List *moves, const TsaMoveOptions *options)
{
	Forecasts	forecasts = {moves, options};
	ErrorData  *error;

	if (moves == NIL || list_length(moves) > MAX_FORECASTS ||
		options->dry_run || !options->wants_forecast ||
		!is_forecast_useful(options->tablespace))
		return;
	error = tsa_try(ask_for_forecasts, &forecasts);
	if (error != NULL && (error->sqlerrcode == ERRCODE_QUERY_CANCELED ||
						  error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN))
		ReThrowError(error);
}
