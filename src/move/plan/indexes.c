/*-------------------------------------------------------------------------
 *
 * indexes.c
 *	  Which indexes a call moves and where to.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "move/common/relation.h"
#include "move/plan/advice.h"
#include "move/plan/load.h"
#include "move/plan/plan.h"
#include "move/plan/rules.h"

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
 * transaction; notices name the relations that stay, and why.
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
							tsa_relation_name(options->target)),
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
	tsa_report_staying(moves);
	tsa_check_space_of_moves(planned);
	if (!advised)
		tsa_note_forecasts(planned, options);
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
	{
		tsa_report_staying(list_make1(move));
		return NIL;
	}
	tsa_check_space_of_moves(list_make1(move));
	return list_make1(move);
}
