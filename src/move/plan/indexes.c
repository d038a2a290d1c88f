/*-------------------------------------------------------------------------
 *
 * indexes.c
 *	  Which indexes a call moves and where to.
 *
 * The catalogs are read through tablespace_advisor.indexes_of() and
 * tables_of() with the journal's rights; the checks of plan/rules.c are the
 * caller's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "move/job/journal.h"
#include "move/plan/rules.h"
#include "move/rebuild/rebuild.h"

#define MOVE_COLUMNS \
	"SELECT relation, heap, kind, schema_name, relation_name, persistence," \
	" tablespace, is_valid, is_exclusion, is_deferrable, size_bytes"

/* Reads the moves that a query of these columns on a relation comes to. */
static List *
load_moves(TsaJournalQuery *query, Oid target)
{
	MemoryContext context = CurrentMemoryContext;
	Datum		values[1];
	TsaJournal	journal;
	List	   *moves = NIL;

	values[0] = ObjectIdGetDatum(target);
	tsa_journal_open(&journal);
	tsa_journal_run(query, values, NULL, true);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext spi_context = MemoryContextSwitchTo(context);
		TsaMove    *move = palloc0(sizeof(TsaMove));

		move->relid = DatumGetObjectId(tsa_journal_value(i, 1));
		move->heapid = DatumGetObjectId(tsa_journal_value(i, 2));
		move->kind = DatumGetChar(tsa_journal_value(i, 3));
		move->schema_name = *DatumGetName(tsa_journal_value(i, 4));
		move->relation_name = *DatumGetName(tsa_journal_value(i, 5));
		move->persistence = DatumGetChar(tsa_journal_value(i, 6));
		move->source_tablespace = DatumGetObjectId(tsa_journal_value(i, 7));
		move->is_valid = DatumGetBool(tsa_journal_value(i, 8));
		move->is_exclusion = DatumGetBool(tsa_journal_value(i, 9));
		move->is_deferrable = DatumGetBool(tsa_journal_value(i, 10));
		move->size_bytes = DatumGetInt64(tsa_journal_value(i, 11));
		moves = lappend(moves, move);
		MemoryContextSwitchTo(spi_context);
	}
	tsa_journal_close(&journal);
	return moves;
}

/* The indexes of target, or target itself; see indexes_of(). */
List *
tsa_load_indexes(Oid target)
{
	static TsaJournalQuery query = {
		MOVE_COLUMNS " FROM tablespace_advisor.indexes_of($1)",
		1, {OIDOID}, NULL
	};

	return load_moves(&query, target);
}

/* The tables that target comes to; see tables_of(). */
List *
tsa_load_tables(Oid target)
{
	static TsaJournalQuery query = {
		MOVE_COLUMNS " FROM tablespace_advisor.tables_of($1)",
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

/*
 * Keeps the moves that the argument "indexes" names, a partitioned index
 * standing for its partitions too.
 */
static List *
restrict_to_indexes(List *moves, const TsaMoveOptions *options)
{
	List	   *kept = NIL;
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;

	deconstruct_array(options->indexes, REGCLASSOID, sizeof(Oid), true,
					  TYPALIGN_INT, &elems, &nulls, &nelems);
	for (int i = 0; i < nelems; i++)
	{
		Oid			relid = nulls[i] ? InvalidOid : DatumGetObjectId(elems[i]);
		ListCell   *lc;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"indexes\" must not contain nulls")));
		if (tsa_find_move(moves, relid) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not an index of \"%s\"",
							get_rel_name(relid) ? get_rel_name(relid) : "-",
							tsa_relation_name(options->target))));
		foreach(lc, tsa_load_indexes(relid))
			if (tsa_find_move(kept, ((TsaMove *) lfirst(lc))->relid) == NULL)
				kept = lappend(kept, lfirst(lc));
	}
	return kept;
}

/*
 * The moves (TsaMove *) that a call comes to, indexes with storage first, so
 * that a partitioned index follows its partitions.  Must be called inside a
 * transaction; says by notices what stays and why.
 */
List *
tsa_plan_indexes(const TsaMoveOptions *options)
{
	bool		advised = options->hot_only ||
		!OidIsValid(options->tablespace);
	List	   *moves;
	List	   *planned = NIL;
	ListCell   *lc;

	tsa_check_move_target(options->target);
	moves = tsa_load_indexes(options->target);
	foreach(lc, moves)
		tsa_check_move_rights(((TsaMove *) lfirst(lc))->heapid,
							  MyDatabaseTableSpace);
	if (moves == NIL)
	{
		tsa_check_move_rights(options->target, MyDatabaseTableSpace);
		ereport(NOTICE,
				(errmsg("\"%s\" has no indexes",
						tsa_relation_name(options->target))));
	}
	if (options->indexes != NULL)
		moves = restrict_to_indexes(moves, options);
	if (advised && moves != NIL)
	{
		moves = tsa_restrict_to_advice(moves, options);
		if (moves == NIL)
			ereport(NOTICE,
					(errmsg("the advice is to move no index of \"%s\"",
							get_rel_name(options->target)),
					 errhint("See advise_index_placement() for the reasons, or name a tablespace.")));
	}
	foreach(lc, moves)
	{
		TsaMove    *move = lfirst(lc);

		if (!advised)
			move->target_tablespace = options->tablespace;
		if (tsa_plan_move(move, options))
		{
			tsa_announce_move(move, NULL, options);
			planned = lappend(planned, move);
		}
	}
	tsa_check_space_of_moves(planned);
	return planned;
}

/*
 * The move that undoes an index's job: of a partitioned index just its own
 * entry, since its partitions had jobs of their own and may have come from
 * elsewhere.  options->tablespace is where it goes.
 */
List *
tsa_plan_index_back(const TsaMoveOptions *options)
{
	TsaMove    *move;

	tsa_check_move_target(options->target);
	move = tsa_find_move(tsa_load_indexes(options->target), options->target);
	if (move == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index",
						tsa_relation_name(options->target))));
	tsa_check_move_rights(move->heapid, MyDatabaseTableSpace);
	move->target_tablespace = options->tablespace;
	if (!tsa_plan_move(move, options))
		return NIL;
	tsa_check_space_of_moves(list_make1(move));
	return list_make1(move);
}
