/*-------------------------------------------------------------------------
 *
 * keep_advice.c
 *	  After a probe, the advice that it leads to is kept with it.
 *
 * The next recommendation changes that for a clear gain only, so that probes
 * beside a load, which differ by the load, lead to one (regret.c).
 *
 * find_costs() runs with the extension's rights: it reads catalogs, statistics
 * and counters, and no code of others.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"

#include "cost/cost.h"
#include "probe/probe_history.h"
#include "state/state.h"
#include "state/statement.h"

/* Keep the advice of a run. */
static void
keep_advice(int64 run_id)
{
	static TsaStatement statement = {
		"SELECT tablespace_advisor.keep_cost_advice($1)", 1, {INT8OID}, NULL
	};
	Datum		values[1] = {Int64GetDatum(run_id)};
	TsaState	state;

	tsa_state_open(&state);
	tsa_run(&statement, values, NULL, TSA_CALLS);
	tsa_state_close(&state);
}

/* Have probes come here. */
void
tsa_init_keep_advice(void)
{
	tsa_after_probe = keep_advice;
}
