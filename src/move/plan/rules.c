/*-------------------------------------------------------------------------
 *
 * rules.c
 *	  Rules for every move, of an index or of a table: the checks that can be
 *	  made before a job is queued, and the choice of the method.
 *
 * Ownership and CREATE on the tablespace are checked as the caller.  A worker
 * checks both again when it runs the job.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "move/common/eligible.h"
#include "move/common/relation.h"
#include "move/job/queue.h"
#include "move/plan/rules.h"
#include "state/printable.h"

/* So many relations that stay are named one by one. */
#define MAX_NAMED	3

/* Kind, and quoted schema and name, for messages. */
const char *
tsa_move_display_name(const TsaMove *move)
{
	const char *name =
	quote_qualified_identifier(NameStr(move->schema_name),
							   NameStr(move->relation_name));

	return psprintf("%s %s", tsa_relation_kind_name(move->kind),
					tsa_printable_text(name));
}

/* Refuses anything but a table, partitioned table, matview or index. */
void
tsa_check_move_target(Oid target)
{
	const char *name = tsa_relation_name(target);

	switch (get_rel_relkind(target))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_MATVIEW:
		case RELKIND_INDEX:
		case RELKIND_PARTITIONED_INDEX:
		case RELKIND_TOASTVALUE:
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a table, materialized view or index",
							name)));
	}
	/* extensions may have tables of their own in pg_catalog */
	if (target < FirstNormalObjectId ||
		IsToastNamespace(get_rel_namespace(target)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move system relation \"%s\"", name),
				 errdetail("System catalogs, TOAST tables and their indexes stay where they are.")));
	if (get_rel_persistence(target) == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move temporary relation \"%s\"", name),
				 errdetail("A background worker has no access to another session's temporary relations.")));
}

/*
 * Refuses relations that live copy cannot move, with a hint to another way.
 */
static void
refuse_copy(const TsaMove *move, const TsaMoveOptions *options,
			const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot move %s by live copy",
					tsa_move_display_name(move)),
			 errdetail("%s", reason),
			 tsa_is_columnar(move->relid) ?
			 errhint("Convert it to heap by alter_table_set_access_method(), move it, and convert it back.") :
			 tsa_move_is_table(move) ?
			 errhint("ALTER %s ... SET TABLESPACE moves it, and locks it until it is copied.",
					 move->kind == RELKIND_MATVIEW ?
					 "MATERIALIZED VIEW" : "TABLE") :
			 options->with_indexes ?
			 errhint("Use method \"auto\".") :
			 errhint("Use method \"rebuild\" or \"auto\".")));
}

/* Decides that an index is rebuilt; refuses indexes that cannot be. */
static void
choose_rebuild(TsaMove *move, const TsaMoveOptions *options)
{
	move->method = TSA_METHOD_REBUILD;
	if (move->is_exclusion || move->is_deferrable)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot rebuild %s concurrently",
						tsa_move_display_name(move)),
				 move->is_exclusion ?
				 errdetail("It belongs to an exclusion constraint, which REINDEX CONCURRENTLY does not support.") :
				 errdetail("It belongs to a deferrable constraint, which would be enforced immediately while the new index is built."),
				 options->with_indexes ?
				 errhint("Move the table without its indexes, and those that can be moved by move_indexes_concurrently().") :
				 errhint("Name the other indexes in the argument \"indexes\".")));
	if (options->limits.max_rate > 0)
	{
		if (options->method == TSA_METHOD_REBUILD)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot limit the rate of method \"rebuild\""),
					 errdetail("REINDEX CONCURRENTLY has no throttle.")));
		ereport(NOTICE,
				(errmsg("\"max_rate\" does not apply to %s, which is rebuilt",
						tsa_move_display_name(move))));
	}
}

/*
 * Decides by which method a relation moves; refuses those that it cannot move.
 * Method "lock" is for the repetition of such a move only.
 */
static void
choose_method(TsaMove *move, const TsaMoveOptions *options)
{
	if (move->kind == RELKIND_PARTITIONED_INDEX ||
		move->kind == RELKIND_PARTITIONED_TABLE)
	{
		move->method = TSA_METHOD_CATALOG;
		return;
	}
	if (options->method == TSA_METHOD_LOCK)
	{
		move->method = TSA_METHOD_LOCK;
		return;
	}
	if (options->method != TSA_METHOD_REBUILD)
	{
		const char *reason = NULL;

		if (tsa_copy_applies(move->relid, &reason))
		{
			move->method = TSA_METHOD_COPY;
			return;
		}
		if (options->method == TSA_METHOD_COPY || tsa_move_is_table(move))
			refuse_copy(move, options, reason);
		ereport(NOTICE,
				(errmsg("%s will be rebuilt, not copied",
						tsa_move_display_name(move)),
				 errdetail("%s", reason)));
	}
	choose_rebuild(move, options);
}

/*
 * Checks one relation and completes its move; false when it stays where it
 * is, which a notice says, or tsa_report_staying() will.
 */
bool
tsa_plan_move(TsaMove *move, const TsaMoveOptions *options)
{
	tsa_check_move_rights(move->heapid, move->target_tablespace);
	if (move->persistence == RELPERSISTENCE_TEMP)
		tsa_check_move_target(move->relid);
	if (!move->is_valid && move->kind == RELKIND_INDEX &&
		options->method != TSA_METHOD_LOCK)
	{
		ereport(NOTICE,
				(errmsg("skipping invalid %s", tsa_move_display_name(move)),
				 errhint("Drop it, or repair it with REINDEX.")));
		return false;
	}
	if (move->source_tablespace == move->target_tablespace)
	{
		/* unless it is about to leave */
		tsa_check_heap_is_free(move);
		move->stays = true;
		return false;
	}
	choose_method(move, options);
	namestrcpy(&move->source_name,
			   tsa_tablespace_name(move->source_tablespace));
	namestrcpy(&move->target_name,
			   tsa_tablespace_name(move->target_tablespace));
	return true;
}

/*
 * Describes a planned move, in a dry run. moved_with: the table that it moves
 * along with, or NULL.
 */
void
tsa_announce_move(const TsaMove *move, const TsaMove *moved_with,
				  const TsaMoveOptions *options)
{
	const char *source = tsa_printable_text(NameStr(move->source_name));
	const char *target = tsa_printable_text(NameStr(move->target_name));

	if (!options->dry_run)
		return;
	if (move->method == TSA_METHOD_CATALOG)
		ereport(NOTICE,
				(errmsg("would move %s, which has no storage, from tablespace \"%s\" to \"%s\" in the catalog",
						tsa_move_display_name(move),
						source, target)));
	else
		ereport(NOTICE,
				(errmsg("would move %s (%s) from tablespace \"%s\" to \"%s\" by method %s%s",
						tsa_move_display_name(move),
						tsa_pretty_size(move->size_bytes),
						source, target,
						tsa_move_method_name(move->method),
						moved_with != NULL ? ", along with its table" : "")));
}

/*
 * Ends a dry run: prints how many relations the moves (TsaMove *) would move,
 * and their size.
 */
void
tsa_announce_total(const List *moves)
{
	int64		bytes = 0;
	int			relations = 0;
	ListCell   *lc;

	foreach(lc, moves)
	{
		const TsaMove *move = lfirst(lc);

		bytes += move->size_bytes;
		relations += 1 + list_length(move->indexes);
	}
	ereport(NOTICE,
			(errmsg_plural("would move in all: %d relation, %s",
						   "would move in all: %d relations, %s",
						   relations, relations, tsa_pretty_size(bytes))));
}

/*
 * How many of the moves in a list stay in a tablespace?
 */
static int
count_staying(const List *moves, Oid tablespace)
{
	ListCell   *lc;
	int			n = 0;

	foreach(lc, moves)
	{
		const TsaMove *move = lfirst(lc);

		n += move->stays && move->target_tablespace == tablespace;
	}
	return n;
}

/*
 * Says by notices which of the relations that a call comes to are where they
 * are to go, or how many if they are many.
 */
void
tsa_report_staying(List *moves)
{
	List	   *reported = NIL;
	ListCell   *lc;

	foreach(lc, moves)
	{
		const TsaMove *move = lfirst(lc);
		Oid			tablespace = move->target_tablespace;
		int			n;

		if (!move->stays || list_member_oid(reported, tablespace))
			continue;
		n = count_staying(moves, tablespace);
		if (n > MAX_NAMED)
		{
			reported = lappend_oid(reported, tablespace);
			ereport(NOTICE,
					(errmsg("%d relations are already in tablespace \"%s\"",
							n, tsa_printable_tablespace(tablespace))));
		}
		else
			ereport(NOTICE,
					(errmsg("%s is already in tablespace \"%s\"",
							tsa_move_display_name(move),
							tsa_printable_tablespace(tablespace))));
	}
}

/* Checks that all moves together fit into each tablespace that they go to. */
void
tsa_check_space_of_moves(List *moves)
{
	List	   *checked = NIL;
	ListCell   *lc;

	foreach(lc, moves)
	{
		Oid			tablespace = ((TsaMove *) lfirst(lc))->target_tablespace;
		int64		needed = 0;
		ListCell   *lc2;

		if (list_member_oid(checked, tablespace))
			continue;
		foreach(lc2, moves)
			if (((TsaMove *) lfirst(lc2))->target_tablespace == tablespace)
			needed += ((TsaMove *) lfirst(lc2))->size_bytes;
		tsa_check_free_space(tablespace, needed);
		checked = lappend_oid(checked, tablespace);
	}
}
