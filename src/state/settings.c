/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  Settings under which statements run that others may have to wait for.
 *
 * The caller, or the owner of the database, chooses how the planner plans, and
 * has it take hours for work that takes a moment: without hash joins, say, or
 * with code compiled for each statement.  Others wait meanwhile: for a
 * background worker, for a lock that a call has, or for advice in a database
 * that is not theirs.
 *
 * Such a call must not wait for its client either.  A client that reads
 * nothing stops the server at the next message that does not fit into the
 * socket; so messages are kept until nobody waits any more, and an error gives
 * back the locks that was locked, by a subtransaction, before it is reported.
 *
 * Nor does the caller, or the owner of the database or the role, decide that a
 * read which finds a damaged page returns zeros: a worker would copy those and
 * remove the original, or take a file for nobody's (damage.c).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/guc.h"

#include "state/settings.h"

/* As the server has them if nobody changes them, and nothing compiled. */
static const char *const planner[][2] = {
	{"cpu_index_tuple_cost", "0.005"},
	{"cpu_operator_cost", "0.0025"},
	{"cpu_tuple_cost", "0.01"},
	{"effective_cache_size", "4GB"},
	{"enable_bitmapscan", "on"},
	{"enable_hashagg", "on"},
	{"enable_hashjoin", "on"},
	{"enable_incremental_sort", "on"},
	{"enable_indexonlyscan", "on"},
	{"enable_indexscan", "on"},
	{"enable_material", "on"},
	{"enable_memoize", "on"},
	{"enable_mergejoin", "on"},
	{"enable_nestloop", "on"},
	{"enable_seqscan", "on"},
	{"enable_sort", "on"},
	{"from_collapse_limit", "8"},
	{"geqo", "on"},
	{"geqo_effort", "5"},
	{"geqo_pool_size", "0"},
	{"geqo_threshold", "12"},
	{"jit", "off"},
	{"join_collapse_limit", "8"},
	{"max_parallel_workers_per_gather", "0"},
	{"plan_cache_mode", "auto"},
	{"random_page_cost", "4"},
	{"seq_page_cost", "1"}
};

/* Settings by which a client could make the call wait, or end it. */
static const char *const messages[][2] = {
	{"client_min_messages", "error"},
	{"synchronous_commit", "off"},
	{"transaction_timeout", "0"}	/* from 17 on */
};

/*
 * Settings that make a read return something else than is stored, without an
 * error.  Not ignore_system_indexes, with which catalogs are read without
 * their indexes, correctly; it cannot be changed in a session, and helps where
 * such an index is damaged.  Nor ignore_invalid_pages, which is for recovery
 * alone.
 */
static const char *const reading[][2] = {
	{"ignore_checksum_failure", "off"},
	{"zero_damaged_pages", "off"}
};

/*
 * Gives the planner's settings to a function that sets them.
 */
void
tsa_set_planner(TsaSetter set)
{
	for (int i = 0; i < (int) lengthof(planner); i++)
		set(planner[i][0], planner[i][1]);
}

/*
 * Gives a function that sets them the settings with which a read that finds
 * damage fails.
 */
void
tsa_set_reading(TsaSetter set)
{
	for (int i = 0; i < (int) lengthof(reading); i++)
		set(reading[i][0], reading[i][1]);
}

/* Sets a parameter until the end of this level of settings. */
static void
set_for_level(const char *name, const char *value)
{
	/* PGC_SIGHUP: a worker of ours lets nothing else change some */
	(void) set_config_option(name, value, PGC_SIGHUP, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Has statements planned as by default, until the present nest level of
 * settings is closed.
 */
void
tsa_plan_as_usual(void)
{
	tsa_set_planner(set_for_level);
}

/*
 * Has this session wait for neither its client nor odd plans, until the nest
 * level of settings that is returned is closed, or the transaction ends.
 */
int
tsa_hurry(void)
{
	int			level = NewGUCNestLevel();

	tsa_plan_as_usual();
	for (int i = 0; i < (int) lengthof(messages); i++)
		if (GetConfigOption(messages[i][0], true, false) != NULL)
			set_for_level(messages[i][0], messages[i][1]);
	return level;
}

/*
 * Has reads of this session that find damage fail, as above.
 */
int
tsa_fail_on_damage(void)
{
	int			level = NewGUCNestLevel();

	tsa_set_reading(set_for_level);
	return level;
}

/*
 * Runs a function that takes a lock that others wait for and gives it back: in
 * a hurry, and in a subtransaction: its end gives it back if there is an
 * error.  Messages of the function to the client, but for errors, are lost.
 */
void
tsa_run_briefly(TsaAction action, void *arg)
{
	int			level = tsa_hurry();
	ErrorData  *error = tsa_try(action, arg);

	AtEOXact_GUC(false, level);
	if (error != NULL)
		ReThrowError(error);
}
