/*-------------------------------------------------------------------------
 *
 * tables.c
 *	  Which tables a call moves, and which of their indexes with them.
 *
 * A table, its TOAST table and the latter's index move together, and so do
 * those indexes of the table that live copy can move to the same tablespace:
 * one job, one cutover.  An index that is to be rebuilt, or that goes
 * elsewhere, gets a job of its own behind its table's.  The two must not run
 * at the same time, since the mover of an index locks its table, and they do
 * not: see tsa_claim_job().
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "move/common/relation.h"
#include "move/plan/advice.h"
#include "move/plan/load.h"
#include "move/plan/plan.h"
#include "move/plan/rules.h"

/* Refuses an index; the rest of the check is that of any move. */
static void
check_table_target(Oid target)
{
	char		kind = get_rel_relkind(target);

	if (kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is an index", tsa_relation_name(target)),
				 errhint("Use move_indexes_concurrently().")));
	tsa_check_move_target(target);
}

/*
 * Plans the move of one table with these of its indexes, with the table's
 * target tablespace set for them, too; adds the moves to the list.
 */
static List *
plan_table(List *planned, TsaMove *table, List *indexes,
		   const TsaMoveOptions *options)
{
	bool		moves = tsa_plan_move(table, options);
	ListCell   *lc;

	if (moves)
	{
		tsa_announce_move(table, NULL, options);
		planned = lappend(planned, table);
	}
	foreach(lc, indexes)
	{
		TsaMove    *index = lfirst(lc);

		if (!tsa_plan_move(index, options))
			continue;
		if (moves && index->method == TSA_METHOD_COPY &&
			index->target_tablespace == table->target_tablespace)
		{
			tsa_announce_move(index, table, options);
			table->indexes = lappend_oid(table->indexes, index->relid);
			table->indexes_from = lappend_oid(table->indexes_from,
											  index->source_tablespace);
			table->size_bytes += index->size_bytes;
		}
		else
		{
			tsa_announce_move(index, NULL, options);
			planned = lappend(planned, index);
		}
	}
	return planned;
}

/*
 * The tables that target comes to, without those that have no storage here, and
 * without unlogged partitions, which no live copy can follow.
 */
static List *
load_local_tables(Oid target)
{
	List	   *tables = NIL;
	ListCell   *lc;

	foreach(lc, tsa_load_tables(target))
	{
		TsaMove    *table = lfirst(lc);

		tsa_check_move_rights(table->heapid, MyDatabaseTableSpace);
		if (table->kind == RELKIND_FOREIGN_TABLE)
			ereport(NOTICE,
					(errmsg("skipping foreign %s",
							tsa_move_display_name(table))));
		else if (table->persistence == RELPERSISTENCE_UNLOGGED &&
				 table->kind != RELKIND_PARTITIONED_TABLE &&
				 table->relid != target)
			ereport(NOTICE,
					(errmsg("skipping unlogged %s",
							tsa_move_display_name(table)),
					 errdetail("There is no write-ahead log that a live copy of it could follow."),
					 errhint("ALTER TABLE ... SET TABLESPACE moves it, and locks it until it is copied.")));
		else
			tables = lappend(tables, table);
	}
	return tables;
}

/*
 * Takes the indexes of a table off the front of a list in the order of their
 * tables, skipping those of tables before it.
 */
static List *
take_indexes(List *indexes, int *next, const TsaMove *table)
{
	List	   *taken = NIL;

	for (; *next < list_length(indexes); (*next)++)
	{
		TsaMove    *index = list_nth(indexes, *next);

		if (index->kind != RELKIND_INDEX || index->heapid > table->heapid)
			break;
		if (index->heapid < table->heapid)
			continue;
		index->target_tablespace = table->target_tablespace;
		taken = lappend(taken, index);
	}
	return taken;
}

/*
 * Adds the moves of partitioned indexes, which come last: new partitions get
 * theirs in the right place.
 */
static List *
plan_partitioned_indexes(List *planned, List *indexes,
						 const TsaMoveOptions *options)
{
	ListCell   *lc;

	foreach(lc, indexes)
	{
		TsaMove    *index = lfirst(lc);

		if (index->kind != RELKIND_PARTITIONED_INDEX)
			continue;
		index->target_tablespace = options->tablespace;
		if (!tsa_plan_move(index, options))
			continue;
		tsa_announce_move(index, NULL, options);
		planned = lappend(planned, index);
	}
	return planned;
}

/*
 * The moves (TsaMove *) that a call comes to: the tables with storage, each
 * followed by those of its indexes that do not move along, then partitioned
 * tables and indexes.  Must be called inside a transaction; notices name the
 * relations that stay, and why.
 */
List *
tsa_plan_tables(const TsaMoveOptions *options)
{
	List	   *tables;
	List	   *indexes = NIL;
	List	   *planned = NIL;
	int			next = 0;
	ListCell   *lc;

	check_table_target(options->target);
	tables = load_local_tables(options->target);
	if (options->hot_only)
	{
		tables = tsa_restrict_to_advice(tables, options);
		if (tables == NIL)
			ereport(NOTICE,
					(errmsg("the advice is not to move table \"%s\"",
							tsa_relation_name(options->target)),
					 errhint("See advise_index_placement() for the reasons, or leave \"hot_only\" out.")));
	}
	if (options->with_indexes)
		indexes = tsa_load_indexes(options->target);
	foreach(lc, tables)
	{
		TsaMove    *table = lfirst(lc);
		List	   *own = NIL;

		table->target_tablespace = options->tablespace;
		if (table->kind != RELKIND_PARTITIONED_TABLE)
			own = take_indexes(indexes, &next, table);
		planned = plan_table(planned, table, own, options);
	}
	if (!options->hot_only)
		planned = plan_partitioned_indexes(planned, indexes, options);
	tsa_report_staying(tables);
	tsa_report_staying(indexes);
	tsa_check_space_of_moves(planned);
	if (!options->hot_only)
		tsa_note_forecasts(planned, options);
	return planned;
}

/*
 * Where the index number i of a table's job is to go when that job is
 * repeated or, if "back", undone.  InvalidOid, with a notice, if it stays.
 */
static Oid
tablespace_again(const TsaJob *job, int i, const TsaMove *table,
				 const TsaMove *index, bool back)
{
	if (index == NULL)
		ereport(NOTICE,
				(errmsg("one of the indexes that were to move along with %s does not exist any more",
						tsa_move_display_name(table))));
	else if (!back)
		return job->target_tablespace;
	else if (get_tablespace_name(job->indexes_from[i]) == NULL)
		ereport(NOTICE,
				(errmsg("%s stays where it is",
						tsa_move_display_name(index)),
				 errdetail("The tablespace that it came from has been dropped.")));
	else if (index->source_tablespace == job->target_tablespace ||
			 index->source_tablespace == job->indexes_from[i])
		return job->indexes_from[i];
	else
		ereport(NOTICE,
				(errmsg("%s stays where it is",
						tsa_move_display_name(index)),
				 errdetail("It has been moved since.")));
	return InvalidOid;
}

/*
 * The moves that repeat a table's job or, if "back", undo it, with the indexes
 * that the job names.  options->tablespace is where the table goes.  Of a
 * partitioned table just its own entry: its partitions had jobs of their own.
 */
List *
tsa_plan_table_again(const TsaMoveOptions *options, const TsaJob *job,
					 bool back)
{
	List	   *indexes = NIL;
	List	   *wanted = NIL;
	List	   *planned;
	TsaMove    *table;

	check_table_target(job->relid);
	table = tsa_find_move(tsa_load_tables(job->relid), job->relid);
	if (table == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", job->relid)));
	tsa_check_move_rights(table->heapid, MyDatabaseTableSpace);
	table->target_tablespace = options->tablespace;
	if (job->nindexes > 0)
		indexes = tsa_load_indexes(job->relid);
	for (int i = 0; i < job->nindexes; i++)
	{
		TsaMove    *index = tsa_find_move(indexes, job->indexes[i]);
		Oid			tablespace = tablespace_again(job, i, table, index,
												  back);

		if (!OidIsValid(tablespace))
			continue;
		index->target_tablespace = tablespace;
		wanted = lappend(wanted, index);
	}
	planned = plan_table(NIL, table, wanted, options);
	tsa_report_staying(lcons(table, list_copy(wanted)));
	tsa_check_space_of_moves(planned);
	return planned;
}
