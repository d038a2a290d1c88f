/*-------------------------------------------------------------------------
 *
 * advice.c
 *	  Lets advise_index_placement() decide what a call moves, and where to.
 *
 * It is asked with the caller's own rights, which those that a move needs
 * suffice for.  What it expects a move to save is written into the journal
 * beside the move.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "move/common/relation.h"
#include "move/job/journal.h"
#include "move/plan/advice.h"
#include "move/plan/load.h"

/*
 * The types of all of advise_index_placement()'s arguments: with any other
 * number or types, a function of that name that somebody else has made in the
 * extension's schema might be taken for it.
 */
static const Oid advice_types[] = {
	REGCLASSOID, NAMEOID, TEXTOID, INTERVALOID
};

/*
 * Sets the target tablespaces that the advice recommends, with the caller's
 * own rights, and keeps the moves that it recommends.  A partitioned index
 * has no activity of its own to advise on and stays.
 */
List *
tsa_restrict_to_advice(List *moves, const TsaMoveOptions *options)
{
	const char *schema = get_namespace_name(options->schema);
	char	   *sql;
	Oid			types[lengthof(advice_types)];
	Datum		values[lengthof(advice_types)] = {0};
	char		nulls[] = {' ', 'n', 'n', 'n'};
	NameData	tablespace;
	List	   *kept = NIL;

	memcpy(types, advice_types, sizeof(types));
	values[0] = ObjectIdGetDatum(options->target);
	if (OidIsValid(options->tablespace))
	{
		namestrcpy(&tablespace, tsa_tablespace_name(options->tablespace));
		values[1] = NameGetDatum(&tablespace);
		nulls[1] = ' ';
	}
	sql = psprintf("SELECT relation::pg_catalog.oid AS relation,"
				   " to_tablespace::pg_catalog.text AS tablespace,"
				   " saved_ms_per_s::pg_catalog.float8 AS saved_ms_per_s"
				   " FROM %s.advise_index_placement($1, $2, $3, $4)"
				   " WHERE action OPERATOR(pg_catalog.=) 'move'",
				   quote_identifier(schema));
	PushActiveSnapshot(GetTransactionSnapshot());
	SPI_connect();
	if (SPI_execute_with_args(sql, lengthof(types), types, values, nulls,
							  false, 0) < 0)
		elog(ERROR, "could not ask advise_index_placement()");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		TsaMove    *move = tsa_find_move(moves,
										 DatumGetObjectId(tsa_journal_column(i, "relation")));
		char	   *name = tsa_journal_text(i, "tablespace");
		char	   *saved = tsa_journal_text(i, "saved_ms_per_s");

		if (move == NULL || name == NULL)
			continue;
		move->target_tablespace = get_tablespace_oid(name, false);
		move->has_forecast = saved != NULL;
		if (saved != NULL)
			move->forecast_saved_ms_per_s =
				DatumGetFloat8(tsa_journal_column(i, "saved_ms_per_s"));
	}
	SPI_finish();
	PopActiveSnapshot();

	for (int i = 0; i < list_length(moves); i++)
	{
		TsaMove    *move = list_nth(moves, i);

		if (OidIsValid(move->target_tablespace))
			kept = lappend(kept, move);
	}
	return kept;
}
