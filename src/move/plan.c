/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  Which indexes a call moves and where to, and every check that can be
 *	  made before a job is queued.
 *
 * The catalogs are read through tablespace_advisor.indexes_of() with the
 * journal's rights; the checks of ownership and of CREATE on the tablespace
 * are the caller's.  A worker makes them again when it runs the job.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/statvfs.h>

#include "access/transam.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "move/journal.h"
#include "move/live_copy.h"
#include "move/plan.h"
#include "move/rebuild.h"

/* Quoted schema and name for messages. */
static const char *
display_name(const TsaMove *move)
{
	return quote_qualified_identifier(NameStr(move->schema_name),
									  NameStr(move->relation_name));
}

/* A size for people. */
static const char *
pretty_size(int64 bytes)
{
	return TextDatumGetCString(DirectFunctionCall1(pg_size_pretty,
												   Int64GetDatum(bytes)));
}

/* Refuses anything but a table, partitioned table, matview or index. */
static void
check_target(Oid target)
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
	if (target < FirstNormalObjectId ||
		IsCatalogNamespace(get_rel_namespace(target)) ||
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
 * The rights that a move needs: ownership of the table, as ALTER INDEX and
 * ALTER TABLE need it, and CREATE on the tablespace unless it is the
 * database's default one.  (REINDEX contents itself with MAINTAIN from
 * version 17 on; a live copy does not, and one rule is easier to know.)
 */
void
tsa_check_move_rights(Oid heapid, Oid target_tablespace)
{
	const char *heap_name = tsa_relation_name(heapid);
	const char *tablespace_name = tsa_tablespace_name(target_tablespace);

	if (!tsa_owns_relation(heapid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(heapid)),
					   heap_name);
	if (target_tablespace != MyDatabaseTableSpace)
	{
		AclResult	result = tsa_tablespace_create_aclcheck(target_tablespace,
															GetUserId());

		if (result != ACLCHECK_OK)
			aclcheck_error(result, OBJECT_TABLESPACE, tablespace_name);
	}
}

/*
 * Refuses to fill a tablespace up.  A relation's new storage is counted at
 * the size of the old one; where it lies beside others that grow, the write
 * itself may still fail.
 */
void
tsa_check_free_space(Oid tablespace, int64 needed)
{
	char		path[MAXPGPATH];
	struct statvfs fs;
	int64		free_bytes;

	if (tablespace == DEFAULTTABLESPACE_OID)
		strlcpy(path, "base", sizeof(path));
	else
		snprintf(path, sizeof(path), "pg_tblspc/%u", tablespace);
	if (statvfs(path, &fs) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not look up the free space of \"%s\": %m",
						path)));
	free_bytes = (int64) fs.f_bavail * (int64) fs.f_frsize;
	if (needed > free_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("not enough space in tablespace \"%s\"",
						tsa_tablespace_name(tablespace)),
				 errdetail("%s are needed, %s are free.",
						   pretty_size(needed), pretty_size(free_bytes))));
}

/* Reads the indexes of target (or target itself) from the catalogs. */
static List *
load_indexes(Oid target)
{
	static TsaJournalQuery query = {
		"SELECT relation, heap, kind, schema_name, relation_name, persistence,"
		" tablespace, is_valid, is_exclusion, is_deferrable, size_bytes"
		" FROM tablespace_advisor.indexes_of($1)",
		1, {OIDOID}, NULL
	};
	MemoryContext context = CurrentMemoryContext;
	Datum		values[1];
	TsaJournal	journal;
	List	   *moves = NIL;

	values[0] = ObjectIdGetDatum(target);
	tsa_journal_open(&journal);
	tsa_journal_run(&query, values, NULL, true);
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

/* The move of relid in a list, or NULL. */
static TsaMove *
find_move(List *moves, Oid relid)
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
		if (find_move(moves, relid) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not an index of \"%s\"",
							get_rel_name(relid) ? get_rel_name(relid) : "-",
							tsa_relation_name(options->target))));
		foreach(lc, load_indexes(relid))
			if (find_move(kept, ((TsaMove *) lfirst(lc))->relid) == NULL)
				kept = lappend(kept, lfirst(lc));
	}
	return kept;
}

/*
 * The types of all of advise_index_placement()'s arguments: with any other
 * number or types, a function of that name that somebody else has made in the
 * extension's schema might be taken for it.
 */
static const Oid advice_types[] = {REGCLASSOID, NAMEOID, TEXTOID};

/* Refuses a caller who may not ask for advice, saying what to do about it. */
static void
check_advice_rights(const char *schema)
{
	List	   *name = list_make2(makeString(pstrdup(schema)),
								  makeString(pstrdup("advise_index_placement")));
	Oid			function = LookupFuncName(name, lengthof(advice_types),
										  advice_types, false);

	if (!DatumGetBool(DirectFunctionCall2(has_function_privilege_id,
										  ObjectIdGetDatum(function),
										  CStringGetTextDatum("EXECUTE"))))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s",
						"advise_index_placement"),
				 errdetail("Without a tablespace, or with \"hot_only\", the advice decides what to move."),
				 errhint("Have a member of pg_monitor ask for advice, or become one; or name a tablespace and leave \"hot_only\" out.")));
}

/*
 * Sets the target tablespaces that the advice recommends, with the caller's
 * own rights, and keeps the moves that it recommends.  A partitioned index
 * has no activity of its own to advise on and stays.
 */
static List *
restrict_to_advice(List *moves, const TsaMoveOptions *options)
{
	const char *schema = get_namespace_name(options->schema);
	char	   *sql;
	Oid			types[lengthof(advice_types)];
	Datum		values[lengthof(advice_types)] = {0};
	char		nulls[] = {' ', 'n', 'n'};
	NameData	tablespace;
	List	   *kept = NIL;

	check_advice_rights(schema);
	memcpy(types, advice_types, sizeof(types));
	values[0] = ObjectIdGetDatum(options->target);
	if (OidIsValid(options->tablespace))
	{
		namestrcpy(&tablespace, tsa_tablespace_name(options->tablespace));
		values[1] = NameGetDatum(&tablespace);
		nulls[1] = ' ';
	}
	sql = psprintf("SELECT relation::pg_catalog.oid,"
				   " recommended_tablespace::pg_catalog.text"
				   " FROM %s.advise_index_placement($1, $2, $3)"
				   " WHERE action OPERATOR(pg_catalog.=) 'move'",
				   quote_identifier(schema));
	PushActiveSnapshot(GetTransactionSnapshot());
	SPI_connect();
	if (SPI_execute_with_args(sql, lengthof(types), types, values, nulls,
							  false, 0) < 0)
		elog(ERROR, "could not ask advise_index_placement()");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		TsaMove    *move = find_move(moves,
									 DatumGetObjectId(tsa_journal_value(i, 1)));
		char	   *name = SPI_getvalue(SPI_tuptable->vals[i],
										SPI_tuptable->tupdesc, 2);

		if (move != NULL && name != NULL)
			move->target_tablespace = get_tablespace_oid(name, false);
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

/* Decides by which method an index moves; refuses what it cannot do. */
static void
choose_method(TsaMove *move, const TsaMoveOptions *options)
{
	if (move->kind == RELKIND_PARTITIONED_INDEX)
	{
		move->method = TSA_METHOD_CATALOG;
		return;
	}
	if (options->method != TSA_METHOD_REBUILD)
	{
		const char *reason;

		LockRelationOid(move->relid, AccessShareLock);
		if (get_rel_name(move->relid) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("index %s does not exist any more",
							display_name(move))));
		if (tsa_live_copy_applies(move->relid, &reason))
		{
			move->method = TSA_METHOD_COPY;
			return;
		}
		if (options->method == TSA_METHOD_COPY)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot move index %s by live copy",
							display_name(move)),
					 errdetail("This is because %s.", reason),
					 errhint("Use method \"rebuild\" or \"auto\".")));
		ereport(NOTICE,
				(errmsg("index %s will be rebuilt, not copied",
						display_name(move)),
				 errdetail("This is because %s.", reason)));
	}
	move->method = TSA_METHOD_REBUILD;
	if (move->is_exclusion || move->is_deferrable)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot rebuild index %s concurrently",
						display_name(move)),
				 move->is_exclusion ?
				 errdetail("It belongs to an exclusion constraint, which REINDEX CONCURRENTLY does not support.") :
				 errdetail("It belongs to a deferrable constraint, which would be enforced immediately while the new index is built."),
				 errhint("Name the other indexes in the argument \"indexes\".")));
	if (options->max_rate > 0)
	{
		if (options->method == TSA_METHOD_REBUILD)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot limit the rate of method \"rebuild\""),
					 errdetail("REINDEX CONCURRENTLY has no throttle.")));
		ereport(NOTICE,
				(errmsg("\"max_rate\" does not apply to index %s, which is rebuilt",
						display_name(move))));
	}
}

/*
 * Checks one index and completes its move; false when it stays where it is,
 * which a notice says.
 */
static bool
plan_move(TsaMove *move, const TsaMoveOptions *options)
{
	tsa_check_move_rights(move->heapid, move->target_tablespace);
	if (move->persistence == RELPERSISTENCE_TEMP)
		check_target(move->relid);
	if (!move->is_valid && move->kind == RELKIND_INDEX)
	{
		ereport(NOTICE,
				(errmsg("skipping invalid index %s", display_name(move)),
				 errhint("Drop it, or repair it with REINDEX.")));
		return false;
	}
	if (move->source_tablespace == move->target_tablespace)
	{
		ereport(NOTICE,
				(errmsg("index %s is already in tablespace \"%s\"",
						display_name(move),
						tsa_tablespace_name(move->target_tablespace))));
		return false;
	}
	choose_method(move, options);
	namestrcpy(&move->source_name,
			   tsa_tablespace_name(move->source_tablespace));
	namestrcpy(&move->target_name,
			   tsa_tablespace_name(move->target_tablespace));
	if (options->dry_run)
		ereport(NOTICE,
				(errmsg("would move index %s (%s) from tablespace \"%s\" to \"%s\" by method %s",
						display_name(move), pretty_size(move->size_bytes),
						NameStr(move->source_name), NameStr(move->target_name),
						tsa_move_method_name(move->method))));
	return true;
}

/* Checks that all moves together fit into each tablespace that they go to. */
static void
check_space(List *moves)
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

	check_target(options->target);
	moves = load_indexes(options->target);
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
		moves = restrict_to_advice(moves, options);
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
		if (plan_move(move, options))
			planned = lappend(planned, move);
	}
	check_space(planned);
	return planned;
}
