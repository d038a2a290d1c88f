/*-------------------------------------------------------------------------
 *
 * parameters.c
 *	  Parameters of the measurement of read waits.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"

#include "wait/now.h"
#include "wait/parameters.h"

/* configuration parameters */
int			tsa_max_statements = 2000;

/*
 * Defines the parameters; max_statements only if the library is being
 * preloaded.
 */
void
tsa_define_wait_parameters(void)
{
	DefineCustomBoolVariable("tablespace_advisor.track_waits",
							 "Measures how long statements wait for reads of which relation.",
							 "Has an effect only if the library is preloaded.",
							 &tsa_now.track_waits, true,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("tablespace_advisor.track_waits_sample",
							"Measures one of so many executions; all of expensive plans.",
							"Executions are drawn at random, nested and top-level ones independently.",
							&tsa_now.track_waits_sample, 10, 1, 10000,
							PGC_SUSET, 0, NULL, NULL, NULL);
	if (!process_shared_preload_libraries_in_progress)
		return;
	DefineCustomIntVariable("tablespace_advisor.max_statements",
							"Statements with waits that are kept; space for four times as many relations.",
							NULL,
							&tsa_max_statements, 2000, 100, 100000,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
}
