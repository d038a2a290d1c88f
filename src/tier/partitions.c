/*-------------------------------------------------------------------------
 *
 * partitions.c
 *	  advise_partition_placement() and move_partitions_concurrently():
 *	  partitions move by age and by disuse.
 *
 * Which ones is decided by an internal function that asks the catalogs and
 * the samples (partitions.sql); the moves are ordinary ones.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "move/move.h"
#include "state/state.h"
#include "state/tablespace.h"
#include "tier/contents.h"
#include "tier/round.h"

PG_FUNCTION_INFO_V1(tsa_advise_partition_placement);
PG_FUNCTION_INFO_V1(tsa_move_partitions_concurrently);

/* Arguments of judge_partitions() and partition_moves(). */
#define JUDGE_ARGS		6

/* Refuses an interval that is negative. */
static void
check_interval(Datum value, const char *name)
{
	Interval	zero = {0};

	if (DatumGetBool(DirectFunctionCall2(interval_lt, value,
										 IntervalPGetDatum(&zero))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must not be negative", name)));
}

/* Refuses hypertables of a TimescaleDB with an unknown catalog. */
static void
refuse_version(Oid target, const char *version)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot move chunks of hypertable \"%s\" of TimescaleDB %s",
					tsa_relation_name(target), version),
			 errdetail("The form of its catalog of chunks is not known."),
			 errhint("Move chunks one by one, with the relations of their compressed rows.")));
}

/* Refuses a relation that has neither partitions nor chunks. */
static void
check_target(Oid target)
{
	static TsaStatement query = {
		"SELECT h.version, h.is_known"
		" FROM tablespace_advisor.hypertable_of($1) h",
		1, {OIDOID}, NULL
	};
	MemoryContext context = CurrentMemoryContext;
	Datum		values[1];
	TsaState	journal;
	char	   *version = NULL;
	bool		is_known = false;

	if (get_rel_relkind(target) == RELKIND_PARTITIONED_TABLE)
		return;
	values[0] = ObjectIdGetDatum(target);
	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) > 0)
	{
		version = MemoryContextStrdup(context,
									  tsa_result_text(0, "version"));
		is_known = DatumGetBool(tsa_result_column(0, "is_known"));
	}
	tsa_state_close(&journal);
	if (version == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a partitioned table",
						tsa_relation_name(target))));
	if (!is_known)
		refuse_version(target, version);
}

/* Says where new chunks of a hypertable are made. */
static void
tell_attached(Oid target)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.printable("
		"   tablespace_advisor.attached_tablespaces($1)) AS names",
		1, {OIDOID}, NULL
	};
	Datum		values[1];
	TsaState	journal;
	char	   *names;

	if (get_rel_relkind(target) == RELKIND_PARTITIONED_TABLE)
		return;
	values[0] = ObjectIdGetDatum(target);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_READS);
	names = tsa_result_text(0, "names");
	if (names != NULL)
		ereport(NOTICE,
				(errmsg("new chunks of \"%s\" are made in tablespaces that are attached to it: %s",
						tsa_relation_name(target), names),
				 errhint("attach_tablespace() and detach_tablespace() of TimescaleDB change that.")));
	tsa_state_close(&journal);
}

/* Checks the arguments that function and procedure share and passes them on. */
static void
parse_arguments(FunctionCallInfo fcinfo, Datum *values, char *nulls)
{
	Oid			target =
	DatumGetObjectId(tsa_required_arg(fcinfo, 0, "target"));
	Datum		tablespace = tsa_required_arg(fcinfo, 1, "tablespace");
	Oid			oid;

	check_target(target);
	if (PG_ARGISNULL(2) && PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"older_than\" or \"unused_for\" must be given")));
	values[0] = ObjectIdGetDatum(target);
	oid = tsa_parse_tablespace(NameStr(*DatumGetName(tablespace)));
	values[1] = ObjectIdGetDatum(oid);
	for (int i = 2; i <= 3; i++)
	{
		nulls[i] = PG_ARGISNULL(i) ? 'n' : ' ';
		values[i] = PG_GETARG_DATUM(i);
		if (!PG_ARGISNULL(i))
			check_interval(values[i], i == 2 ? "older_than" : "unused_for");
	}
	nulls[4] = 'n';
	values[5] = ObjectIdGetDatum(GetUserId());
}

/* Samples tell the use of a table; they are not for everybody. */
static void
check_asker(Oid target)
{
	if (!tsa_owns_relation(target, GetUserId()) &&
		!has_privs_of_role(GetUserId(), ROLE_PG_MONITOR))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   tsa_relation_name(target));
}

/*
 * advise_partition_placement(target, tablespace, older_than, ...): the rows of
 * judge_partitions(), for owners and members of pg_monitor.
 */
Datum
tsa_advise_partition_placement(PG_FUNCTION_ARGS)
{
	static TsaStatement query = {
		"SELECT p.partition::pg_catalog.regclass, p.upper_bound, p.age,"
		" p.idle_for, p.size_bytes, p.action, p.reason"
		" FROM tablespace_advisor.judge_partitions($1, $2, $3, $4,"
		"   coalesce($5, '7 days'), $6) p",
		JUDGE_ARGS, {OIDOID, OIDOID, INTERVALOID, INTERVALOID, INTERVALOID,
		OIDOID}, NULL
	};
	Datum		values[JUDGE_ARGS] = {0};
	char		nulls[] = "      ";

	parse_arguments(fcinfo, values, nulls);
	check_asker(DatumGetObjectId(values[0]));
	tsa_return_rows(fcinfo, &query, values, nulls);
	return (Datum) 0;
}

/* The moves of the partitions that are to be moved. */
static List *
plan_partitions(FunctionCallInfo fcinfo, const TsaMoveOptions *options)
{
	static TsaStatement query = {
		"SELECT " TSA_MOVE_COLUMNS
		" FROM tablespace_advisor.partition_moves($1, $2, $3, $4, $5, $6, $7) p"
		" ORDER BY p.place",
		JUDGE_ARGS + 1, {OIDOID, OIDOID, INTERVALOID, INTERVALOID,
		INTERVALOID, OIDOID, BOOLOID}, NULL
	};
	Datum		values[JUDGE_ARGS + 1] = {0};
	char		nulls[] = "       ";

	parse_arguments(fcinfo, values, nulls);
	values[4] = tsa_required_arg(fcinfo, 4, "min_residence");
	check_interval(values[4], "min_residence");
	nulls[4] = ' ';
	values[6] = BoolGetDatum(options->with_indexes);
	return tsa_load_moves(&query, values, nulls, options, NULL);
}

/* Reads the arguments of move_partitions_concurrently(). */
static void
parse_options(FunctionCallInfo fcinfo, TsaMoveOptions *options)
{
	static const TsaMoveArgs args = {
		.until = 6,.max_rate = 7,.lock_timeout = 8,.wait = 9,.dry_run = 10,
		.min_rate = 11,.finish_by = 12,.during = 13
	};
	Datum		tablespace = tsa_required_arg(fcinfo, 1, "tablespace");

	*options = TSA_NO_OPTIONS;
	options->target =
		DatumGetObjectId(tsa_required_arg(fcinfo, 0, "target"));
	options->tablespace =
		tsa_parse_tablespace(NameStr(*DatumGetName(tablespace)));
	options->method = TSA_METHOD_AUTO;
	options->leaves_contended = true;
	options->with_indexes =
		DatumGetBool(tsa_required_arg(fcinfo, 5, "with_indexes"));
	options->policy = PG_ARGISNULL(2) ? "disuse" : "age";
	tsa_parse_move_options(fcinfo, &args, options);
}

/*
 * move_partitions_concurrently(target, tablespace, older_than, ...): moves
 * those to be moved; returns the row of job ids.
 */
Datum
tsa_move_partitions_concurrently(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	TsaMoveOptions options;
	List	   *moves;
	List	   *ids;

	tsa_check_signature(fcinfo, "job", 15);
	parse_options(fcinfo, &options);
	if (!options.dry_run)
		tsa_begin_call(fcinfo);
	tsa_check_create_right(options.tablespace);
	moves = plan_partitions(fcinfo, &options);
	tell_attached(options.target);
	tsa_check_space_of_moves(moves);
	if (moves == NIL)
		ereport(NOTICE,
				(errmsg("no partition of \"%s\" is to be moved",
						tsa_relation_name(options.target)),
				 errhint("See advise_partition_placement() for the reasons.")));
	else if (options.dry_run)
		tsa_announce_total(moves);
	if (moves == NIL || options.dry_run)
		return tsa_job_ids_row(fcinfo, NIL);

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	MemoryContextSwitchTo(context);
	ids = tsa_run_round(moves, &options);
	if (options.wait)
		tsa_report_moved(ids);
	SPI_finish();
	MemoryContextSwitchTo(context);
	return tsa_job_ids_row(fcinfo, ids);
}
