/*-------------------------------------------------------------------------
 *
 * load.c
 *	  The relations that a call's target comes to.
 *
 * The catalogs are read through tablespace_advisor.indexes_of() and
 * table_and_partitions() with the journal's rights; the checks of rules.c are
 * the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"

#include "move/job/journal.h"
#include "move/plan/load.h"

#define MOVE_COLUMNS \
	"SELECT relation, heap, kind, schema_name, relation_name, persistence," \
	" tablespace, is_valid, is_exclusion, is_deferrable, size_bytes"

/* Reads the moves that a query of these columns on a relation comes to. */
static List *
load_moves(TsaStatement *query, Oid target)
{
	MemoryContext context = CurrentMemoryContext;
	Datum		values[1];
	TsaState	journal;
	List	   *moves = NIL;

	values[0] = ObjectIdGetDatum(target);
	tsa_journal_open(&journal);
	tsa_run(query, values, NULL, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext spi_context = MemoryContextSwitchTo(context);
		TsaMove    *move = palloc0(sizeof(TsaMove));

		move->relid = DatumGetObjectId(tsa_result_column(i, "relation"));
		move->heapid = DatumGetObjectId(tsa_result_column(i, "heap"));
		move->kind = DatumGetChar(tsa_result_column(i, "kind"));
		move->schema_name = *DatumGetName(tsa_result_column(i, "schema_name"));
		move->relation_name = *DatumGetName(tsa_result_column(i, "relation_name"));
		move->persistence = DatumGetChar(tsa_result_column(i, "persistence"));
		move->source_tablespace = DatumGetObjectId(tsa_result_column(i, "tablespace"));
		move->is_valid = DatumGetBool(tsa_result_column(i, "is_valid"));
		move->is_exclusion = DatumGetBool(tsa_result_column(i, "is_exclusion"));
		move->is_deferrable = DatumGetBool(tsa_result_column(i, "is_deferrable"));
		move->size_bytes = DatumGetInt64(tsa_result_column(i, "size_bytes"));
		moves = lappend(moves, move);
		MemoryContextSwitchTo(spi_context);
	}
	tsa_state_close(&journal);
	return moves;
}

/* The indexes of target, or target itself; see indexes_of(). */
List *
tsa_load_indexes(Oid target)
{
	static TsaStatement query = {
		MOVE_COLUMNS " FROM tablespace_advisor.indexes_of($1)",
		1, {OIDOID}, NULL
	};

	return load_moves(&query, target);
}

/* The tables that target comes to; see table_and_partitions(). */
List *
tsa_load_tables(Oid target)
{
	static TsaStatement query = {
		MOVE_COLUMNS " FROM tablespace_advisor.table_and_partitions($1)",
		1, {OIDOID}, NULL
	};

	return load_moves(&query, target);
}

/* The move of relid in a list, or NULL. */
TsaMove *
tsa_find_move(List *moves, Oid relid)
{
	ListCell   *lc;

	foreach(lc, moves)
		if (((TsaMove *) lfirst(lc))->relid == relid)
		return (TsaMove *) lfirst(lc);
	return NULL;
}
