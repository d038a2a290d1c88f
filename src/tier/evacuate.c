/*-------------------------------------------------------------------------
 *
 * evacuate.c
 *	  evacuate_tablespace(): everything of this database that can be moved
 *	  leaves a tablespace.
 *
 * Relations are made while others are moved, so it is planned again after
 * each round, until a round finds nothing that has not been tried; three
 * rounds at most.  Then come the tables of the journal of moves, with which
 * the moves before had to do.
 *
 * Relations that do not move stay and are named at the end.  Nothing is
 * dropped, revoked or deleted: the statements for that are printed.
 *
 * A tablespace that is being emptied must not be filled at the same time by
 * another evacuation.  So the call keeps two locks to its end, which nothing
 * else takes: on the tablespace that it empties Share, on the one that it
 * fills RowExclusive.  They are for all databases, and have its role as a key:
 * they keep nobody away, but are looked for by others.  A call that does not
 * wait gives them back; then its unfinished moves stand for them in the same
 * database, and in others the locks of its workers on the direction
 * (batch_lock.h).
 *
 * Only a move of a role with all rights of the caller refuses a call.  A role
 * that owns one table could refuse evacuations to everybody else, by a move
 * that it lets pause.  Moves of such a role the other way are its own; the
 * call warns of them and moves the relations that it finds.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "compat.h"
#include "move/move.h"
#include "state/state.h"
#include "state/tablespace.h"
#include "tier/contents.h"
#include "tier/round.h"

PG_FUNCTION_INFO_V1(tsa_plan_evacuation);
PG_FUNCTION_INFO_V1(tsa_evacuate_tablespace);

#define MAX_ROUNDS		3
#define MAX_LEFT_LINES	100

/* The arguments of a call, checked and converted. */
typedef struct Evacuation
{
	Oid			source;
	Oid			target;
	Oid			asker;
	TsaMoveOptions options;
} Evacuation;

/* Reads and checks the arguments "tablespace" and "to_tablespace". */
static void
parse_tablespaces(FunctionCallInfo fcinfo, Evacuation *evacuation)
{
	Datum		source = tsa_required_arg(fcinfo, 0, "tablespace");
	Datum		target = tsa_required_arg(fcinfo, 1, "to_tablespace");

	evacuation->asker = GetUserId();
	evacuation->source = tsa_parse_tablespace(NameStr(*DatumGetName(source)));
	evacuation->target = tsa_parse_tablespace(NameStr(*DatumGetName(target)));
	if (evacuation->source == evacuation->target)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot evacuate tablespace \"%s\" into itself",
						NameStr(*DatumGetName(source)))));
}

/* Bytes of an argument that is a size; negative if it is NULL. */
static int64
parse_lock_up_to(FunctionCallInfo fcinfo, int n)
{
	int64		bytes;

	if (PG_ARGISNULL(n))
		return -1;
	bytes = DatumGetInt64(DirectFunctionCall1(pg_size_bytes,
											  PG_GETARG_DATUM(n)));
	if (bytes < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"lock_up_to\" must not be negative")));
	return bytes;
}

/* Reads the arguments of evacuate_tablespace(). */
static void
parse_evacuation(FunctionCallInfo fcinfo, Evacuation *evacuation)
{
	static const TsaMoveArgs args = {
		.max_rate = 2,.lock_timeout = 3,.wait = 4,.dry_run = 5,
		.until = 7,.min_rate = 8,.finish_by = 9,.during = 10
	};
	TsaMoveOptions *options = &evacuation->options;

	memset(evacuation, 0, sizeof(*evacuation));
	*options = TSA_NO_OPTIONS;
	parse_tablespaces(fcinfo, evacuation);
	options->tablespace = evacuation->target;
	options->method = TSA_METHOD_AUTO;
	options->with_indexes = true;
	options->leaves_contended = true;
	options->policy = "evacuation";
	tsa_parse_move_options(fcinfo, &args, options);
	options->lock_up_to = parse_lock_up_to(fcinfo, 6);
}

/* Fills in the first five arguments of evacuation_of(). */
static void
plan_arguments(const Evacuation *evacuation, Datum *values, char *nulls)
{
	TsaLimitsValues limits = tsa_limits_values(&evacuation->options.limits);
	int64		lock_up_to = evacuation->options.lock_up_to;

	values[0] = ObjectIdGetDatum(evacuation->source);
	values[1] = ObjectIdGetDatum(evacuation->target);
	values[2] = Int64GetDatum(lock_up_to);
	nulls[2] = lock_up_to < 0 ? 'n' : ' ';
	values[3] = ObjectIdGetDatum(evacuation->asker);
	values[4] = limits.values[0];
	nulls[4] = limits.nulls[0] ? 'n' : ' ';
}

typedef enum WhichRelations
{
	ALL_RELATIONS, ALL_BUT_JOURNAL, JOURNAL_ONLY
} WhichRelations;

/* The moves of a round: of relations that no job of this call was for. */
static List *
plan_round(const Evacuation *evacuation, List *ids, WhichRelations which)
{
	static TsaStatement query = {
		"SELECT " TSA_MOVE_COLUMNS
		" FROM tablespace_advisor.evacuation_of($1, $2, $3, $4, $5) p"
		" WHERE p.method IS NOT NULL AND (p.is_journal = $7) IS NOT FALSE"
		" AND NOT EXISTS ("
		"   SELECT FROM pg_catalog.unnest($6) i"
		"     JOIN tablespace_advisor.job j ON j.job_id = i"
		"   WHERE j.relation = p.relation)"
		" ORDER BY p.place",
		7, {OIDOID, OIDOID, INT8OID, OIDOID, INT8OID, INT8ARRAYOID, BOOLOID},
		NULL
	};
	Datum		values[7];
	char		nulls[] = "       ";

	plan_arguments(evacuation, values, nulls);
	values[5] = tsa_job_id_array(ids);
	values[6] = BoolGetDatum(which == JOURNAL_ONLY);
	nulls[6] = which == ALL_RELATIONS ? 'n' : ' ';
	return tsa_load_moves(&query, values, nulls, &evacuation->options,
						  NULL);
}

/* Prints the warnings of evacuation_warnings(). */
static void
print_warnings(const Evacuation *evacuation)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.printable(w) AS w"
		" FROM tablespace_advisor.evacuation_warnings($1, $2) w",
		2, {OIDOID, OIDOID}, NULL
	};
	Datum		values[2];
	TsaState	journal;

	values[0] = ObjectIdGetDatum(evacuation->source);
	values[1] = ObjectIdGetDatum(evacuation->target);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
		ereport(WARNING,
				(errmsg("%s", tsa_result_text(i, "w"))));
	tsa_state_close(&journal);
}

/* Asks something of the planned moves; the caller closes the journal. */
static void
ask_journal(const Evacuation *evacuation, TsaStatement *query,
			TsaState *journal)
{
	Datum		values[5];
	char		nulls[] = "     ";

	plan_arguments(evacuation, values, nulls);
	tsa_journal_open(journal);
	tsa_run(query, values, nulls, TSA_READS);
}

/* Prints which relations would stay, and why. */
static void
print_staying(const Evacuation *evacuation)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.printable(pg_catalog.format('%s %I.%I',"
		"   tablespace_advisor.kind_name(p.kind), p.schema_name,"
		"   p.relation_name)) AS relation,"
		" tablespace_advisor.printable(tablespace_advisor.evacuation_reason("
		"   p.why, p.detail, p.stays, p.stays_detail)) AS reason"
		" FROM tablespace_advisor.evacuation_of($1, $2, $3, $4, $5) p"
		" WHERE p.method IS NULL ORDER BY p.place",
		5, {OIDOID, OIDOID, INT8OID, OIDOID, INT8OID}, NULL
	};
	TsaState	journal;

	ask_journal(evacuation, &query, &journal);
	for (uint64 i = 0; i < SPI_processed; i++)
		ereport(NOTICE,
				(errmsg("would leave %s where it is",
						tsa_result_text(i, "relation")),
				 errdetail("%s", tsa_result_text(i, "reason"))));
	tsa_state_close(&journal);
}

/*
 * Prints the sum of all moves, as plan_evacuation() has it, or that there are
 * none.
 */
static void
print_total(const Evacuation *evacuation)
{
	static TsaStatement query = {
		"SELECT pg_catalog.concat(p.size, coalesce(', about '"
		"     || tablespace_advisor.pretty_seconds(p.move_seconds),"
		"   '; the time is not known: no move was made there,"
		" and no probe of both')) AS size,"
		" tablespace_advisor.printable(p.reason) AS reason, p.moves"
		" FROM (SELECT p.*, pg_catalog.count(p.method) OVER () AS moves"
		"  FROM tablespace_advisor.evacuation_plan($1, $2, $3, $4, $5) p) p"
		" WHERE p.kind = 'total'",
		5, {OIDOID, OIDOID, INT8OID, OIDOID, INT8OID}, NULL
	};
	TsaState	journal;

	ask_journal(evacuation, &query, &journal);
	if (DatumGetInt64(tsa_result_column(0, "moves")) == 0)
		ereport(NOTICE,
				(errmsg("nothing is to be moved")));
	else
		ereport(NOTICE,
				(errmsg("would move in all: %s", tsa_result_text(0, "size")),
				 errdetail("%s.", tsa_result_text(0, "reason"))));
	tsa_state_close(&journal);
}

/*
 * Prints a line for a remaining object: kind, place, reason, and its
 * statement.
 */
static void
print_left(const Evacuation *evacuation, uint64 row)
{
	const char *database = tsa_result_text(row, "database");
	const char *reason = tsa_result_text(row, "reason");
	const char *statement = tsa_result_text(row, "statement");
	bool		elsewhere = DatumGetBool(tsa_result_column(row, "elsewhere"));

	ereport(NOTICE,
			(errmsg("left in tablespace \"%s\": %s",
					tsa_printable_tablespace(evacuation->source),
					tsa_result_text(row, "what")),
			 reason ? errdetail("%s", reason) : 0,
			 statement == NULL ? 0 : elsewhere ?
			 errhint("In another database: %s;", statement) :
			 database == NULL ?
			 errhint("In any database: %s;", statement) :
			 errhint("In database \"%s\": %s;", database, statement)));
}

/*
 * Prints the remaining objects and the statements for them.  The contents of
 * other databases is for members of pg_monitor, their names for superusers.
 */
static void
report_left(const Evacuation *evacuation)
{
	static TsaStatement query = {
		"SELECT * FROM tablespace_advisor.evacuation_left($1, $2, $3, $4, $5,"
		" $6, $7)",
		7, {OIDOID, OIDOID, INT8OID, OIDOID, INT8OID, BOOLOID, BOOLOID}, NULL
	};
	bool		sees_all = has_privs_of_role(GetUserId(), ROLE_PG_MONITOR);
	const char *name = tsa_printable_tablespace(evacuation->source);
	Datum		values[7];
	char		nulls[] = "       ";
	TsaState	journal;
	uint64		nleft;

	plan_arguments(evacuation, values, nulls);
	values[5] = BoolGetDatum(sees_all);
	values[6] = BoolGetDatum(superuser());
	tsa_journal_open(&journal);
	tsa_run(&query, values, nulls, TSA_READS);
	nleft = SPI_processed;
	for (uint64 i = 0; i < Min(nleft, MAX_LEFT_LINES); i++)
		print_left(evacuation, i);
	tsa_state_close(&journal);

	if (!sees_all)
		ereport(NOTICE,
				(errmsg("this database has %s in tablespace \"%s\"",
						nleft == 0 ? "nothing" : "something", name),
				 errhint("tablespace_contents() lists the relations of other databases for members of pg_monitor.")));
	else if (evacuation->source == DEFAULTTABLESPACE_OID)
		ereport(NOTICE,
				(errmsg("tablespace \"%s\" has been relieved, it can never be dropped",
						name)));
	else if (nleft == 0)
		ereport(NOTICE,
				(errmsg("tablespace \"%s\" is empty", name),
				 errhint("DROP TABLESPACE %s;", quote_identifier(name))));
	else
		ereport(NOTICE,
				(errmsg_plural("tablespace \"%s\" still contains %u entry",
							   "tablespace \"%s\" still contains %u entries",
							   nleft, name, (unsigned int) nleft),
				 errdetail("tablespace_contents() lists them all."),
				 errhint("After the statements above: DROP TABLESPACE %s;",
						 quote_identifier(name))));
}

/*
 * Takes one of the two locks, or gives it back; see the head of this file.
 * False if another evacuation of the same role has it.
 */
static bool
lock_tablespace(Oid tablespace, Oid asker, LOCKMODE mode, bool acquire)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, InvalidOid, tablespace, asker,
						 TSA_LOCK_EVACUATION);
	if (acquire)
		return LockAcquire(&tag, mode, true, true) != LOCKACQUIRE_NOT_AVAIL;
	return LockRelease(&tag, mode, true);
}

/*
 * Does a role with all rights of the caller hold the lock of the other mode on
 * a tablespace?
 */
static bool
is_opposed(Oid tablespace, Oid asker, LOCKMODE mode)
{
	return tsa_role_above_locks(InvalidOid, tablespace, TSA_LOCK_EVACUATION,
								mode, asker);
}

/* Refuses to go on: somebody moves relations the other way. */
static void
refuse_opposite(const Evacuation *evacuation, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("cannot evacuate tablespace \"%s\" into \"%s\" now",
					tsa_printable_tablespace(evacuation->source),
					tsa_printable_tablespace(evacuation->target)),
			 errdetail_internal("%s", detail),
			 errhint("See tablespace_moves; cancel_move() ends a move.")));
}

/*
 * Does a worker, of any database, move from the second tablespace to the first
 * one, for a role with all rights of the caller?
 */
static bool
somebody_moves_back(const Evacuation *evacuation)
{
	return tsa_role_above_locks(evacuation->target, evacuation->source,
								TSA_LOCK_DIRECTION, ShareLock,
								evacuation->asker);
}

/*
 * Refuses an evacuation against unfinished moves the other way, or warns of
 * them.
 */
static void
check_opposite_moves(const Evacuation *evacuation)
{
	static TsaStatement query = {
		"SELECT o.job_id, o.refuses"
		" FROM tablespace_advisor.opposite_move($1, $2, $3) o",
		3, {OIDOID, OIDOID, OIDOID}, NULL
	};
	Datum		values[3];
	TsaState	journal;
	int64		job_id = 0;
	bool		refuses = false;

	values[0] = ObjectIdGetDatum(evacuation->source);
	values[1] = ObjectIdGetDatum(evacuation->target);
	values[2] = ObjectIdGetDatum(evacuation->asker);
	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) == 1)
	{
		job_id = DatumGetInt64(tsa_result_column(0, "job_id"));
		refuses = DatumGetBool(tsa_result_column(0, "refuses"));
	}
	tsa_state_close(&journal);
	if (refuses)
		refuse_opposite(evacuation,
						psprintf("Move " INT64_FORMAT " goes the other way.",
								 job_id));
	if (somebody_moves_back(evacuation))
		refuse_opposite(evacuation,
						"A move in another database goes the other way.");
	if (job_id != 0)
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("move " INT64_FORMAT " goes the other way", job_id),
				 errdetail("It is another role's, and is not waited for."),
				 errhint("See tablespace_moves; cancel_move() ends a move.")));
}

/* All rounds of a call; returns the jobs' ids. */
static List *
run_rounds(const Evacuation *evacuation)
{
	const TsaMoveOptions *options = &evacuation->options;
	TsaMoveOptions last = *options;
	List	   *ids = NIL;
	List	   *moves;

	for (int round = 1; round <= MAX_ROUNDS; round++)
	{
		List	   *queued;

		moves = plan_round(evacuation, ids, options->wait ?
						   ALL_BUT_JOURNAL : ALL_RELATIONS);
		if (round == 1)
			tsa_check_space_of_moves(moves);
		if (moves == NIL || options->until <= GetCurrentTimestamp())
			break;
		queued = tsa_run_round(moves, options);
		ids = list_concat(ids, queued);
		if (!options->wait && queued != NIL)
			return ids;
	}
	if (!options->wait || options->until <= GetCurrentTimestamp())
		return ids;
	moves = plan_round(evacuation, ids, JOURNAL_ONLY);
	last.until = DT_NOEND;
	last.lock_up_to = -1;
	if (moves != NIL)
		ids = list_concat(ids, tsa_run_round(moves, &last));
	return ids;
}

/* Moves, with the locks in hand, and reports; returns the jobs' ids. */
static List *
evacuate_locked(const Evacuation *evacuation)
{
	List	   *ids;

	if (is_opposed(evacuation->source, evacuation->asker, RowExclusiveLock))
		refuse_opposite(evacuation, "Another evacuation fills the first one.");
	if (is_opposed(evacuation->target, evacuation->asker, ShareLock))
		refuse_opposite(evacuation, "The second one is being evacuated itself.");
	check_opposite_moves(evacuation);
	ids = run_rounds(evacuation);
	if (evacuation->options.wait)
	{
		tsa_report_moved(ids);
		report_left(evacuation);
	}
	return ids;
}

/* Evacuates under locks, which it gives back also after an error. */
static List *
evacuate(const Evacuation *evacuation)
{
	Oid			asker = evacuation->asker;
	List	   *volatile ids = NIL;
	bool		source_locked;
	bool		target_locked;

	/* both before either is looked for: of two calls one sees the other */
	source_locked = lock_tablespace(evacuation->source, asker, ShareLock,
									true);
	target_locked = lock_tablespace(evacuation->target, asker,
									RowExclusiveLock, true);
	PG_TRY();
	{
		ids = evacuate_locked(evacuation);
	}
	PG_FINALLY();
	{
		if (source_locked)
			(void) lock_tablespace(evacuation->source, asker, ShareLock, false);
		if (target_locked)
			(void) lock_tablespace(evacuation->target, asker, RowExclusiveLock,
								   false);
	}
	PG_END_TRY();
	return ids;
}

/*
 * evacuate_tablespace(tablespace, target, ...): moves in rounds, or tells what
 * it would do (dry_run).  Returns the row of job ids; errors as in its COMMENT.
 */
Datum
tsa_evacuate_tablespace(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	Evacuation	evacuation;
	List	   *ids;

	tsa_check_signature(fcinfo, "job", 12);
	parse_evacuation(fcinfo, &evacuation);
	if (!evacuation.options.dry_run)
		tsa_begin_call(fcinfo);
	tsa_check_create_right(evacuation.target);
	print_warnings(&evacuation);
	if (evacuation.options.dry_run)
	{
		tsa_check_space_of_moves(plan_round(&evacuation, NIL, ALL_RELATIONS));
		print_staying(&evacuation);
		print_total(&evacuation);
		return tsa_job_ids_row(fcinfo, NIL);
	}

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	MemoryContextSwitchTo(context);
	ids = evacuate(&evacuation);
	SPI_finish();
	MemoryContextSwitchTo(context);
	return tsa_job_ids_row(fcinfo, ids);
}

/*
 * plan_evacuation(tablespace, target, ...): the same, as rows, and nothing
 * moves.
 */
Datum
tsa_plan_evacuation(PG_FUNCTION_ARGS)
{
	static TsaStatement query = {
		"SELECT p.relation, p.kind, p.size_bytes, p.how, p.method,"
		" p.move_seconds, tablespace_advisor.wrapped(p.reason, 30), p.size"
		" FROM tablespace_advisor.evacuation_plan($1, $2, $3, $4, $5) p",
		5, {OIDOID, OIDOID, INT8OID, OIDOID, INT8OID}, NULL
	};
	Evacuation	evacuation = {.options = TSA_NO_OPTIONS};
	Datum		values[5];
	char		nulls[] = "     ";

	tsa_check_signature(fcinfo, "job", 4);
	parse_tablespaces(fcinfo, &evacuation);
	if (!has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
		tsa_check_create_right(evacuation.target);
	evacuation.options.lock_up_to = parse_lock_up_to(fcinfo, 2);
	if (!PG_ARGISNULL(3))
		tsa_parse_max_rate(PG_GETARG_DATUM(3), &evacuation.options.limits);
	plan_arguments(&evacuation, values, nulls);
	tsa_return_rows(fcinfo, &query, values, nulls);
	return (Datum) 0;
}
