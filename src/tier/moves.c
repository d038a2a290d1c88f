/*-------------------------------------------------------------------------
 *
 * moves.c
 *	  all_tablespace_moves(): the moves of all databases of the server.
 *
 * Each database has a journal of its own, which is read there, by a worker in
 * other databases (look.c).  Where the extension is not, there is nothing;
 * where it is of another version, or its journal is locked, a row says so.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "state/state.h"
#include "state/statement.h"
#include "tier/contents.h"
#include "tier/rows.h"

PG_FUNCTION_INFO_V1(tsa_all_tablespace_moves);

#define COL_ERROR		12

/* Times in a form that no setting of either database changes. */
static TsaStatement find_statement = {
	"SELECT m.job_id, m.relation_name, m.from_tablespace, m.to_tablespace,"
	" m.method, m.state, m.phase, m.bytes_total, m.bytes_done, m.percent,"
	" m.mb_per_s, extract(epoch FROM m.eta) || ' s', m.error,"
	" pg_get_userbyid(m.owner), m.pid, to_jsonb(m.queued_at) #>> '{}',"
	" to_jsonb(m.started_at) #>> '{}', to_jsonb(m.finished_at) #>> '{}'"
	" FROM tablespace_advisor.move_progress m"
	" WHERE m.finished_at IS NULL OR m.finished_at > $1 ORDER BY m.job_id",
	1, {TIMESTAMPTZOID}, NULL
};

/* A row that says why there are no others. */
static void
send_obstacle(const char *why, TsaRowReceiver receive, void *arg)
{
	char	   *values[TSA_MOVE_ROW_COLUMNS] = {0};

	values[COL_ERROR] = pstrdup(why);
	receive(values, arg);
}

/* The rows of this database's journal, which is locked. */
static void
find_moves(TimestampTz since, TsaRowReceiver receive, void *arg)
{
	Datum		params[1];
	TsaState	state;
	uint64		nfound;

	params[0] = TimestampTzGetDatum(since);
	tsa_state_open(&state);
	nfound = tsa_run(&find_statement, params, NULL, TSA_READS);
	for (uint64 i = 0; i < nfound; i++)
	{
		char	   *values[TSA_MOVE_ROW_COLUMNS];

		CHECK_FOR_INTERRUPTS();
		for (int col = 0; col < TSA_MOVE_ROW_COLUMNS; col++)
			values[col] = SPI_getvalue(SPI_tuptable->vals[i],
									   SPI_tuptable->tupdesc, col + 1);
		receive(values, arg);
	}
	tsa_state_close(&state);
}

/*
 * Hands the rows of tablespace_advisor.moves_of() for this database to the
 * receiver.
 */
void
tsa_find_moves(TimestampTz since, TsaRowReceiver receive, void *arg)
{
	if (!OidIsValid(tsa_state_extension()))
		return;
	if (!tsa_state_is_current())
		send_obstacle("The extension is of another version there.", receive,
					  arg);
	else if (!OidIsValid(tsa_state_try_lock("job", AccessShareLock)))
		send_obstacle("Somebody has locked the journal of moves there.",
					  receive, arg);
	else
		find_moves(since, receive, arg);
}

/* all_tablespace_moves(since): moves of all databases. */
Datum
tsa_all_tablespace_moves(PG_FUNCTION_ARGS)
{
	static TsaStatement query = {
		"SELECT * FROM tablespace_advisor.moves_everywhere($1)",
		1, {INTERVALOID}, NULL
	};
	Datum		values[1];

	tsa_refuse_restricted_operation(fcinfo);
	values[0] = tsa_required_arg(fcinfo, 0, "since");
	tsa_return_rows(fcinfo, &query, values, NULL);
	return (Datum) 0;
}
