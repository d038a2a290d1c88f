/*-------------------------------------------------------------------------
 *
 * stop_point.c
 *	  Named moments at which a live copy, or a call that queues moves, can be
 *	  made to wait, for tests.
 *
 * The servers we support are mostly built without injection points.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "utils/guc.h"

#include "move/common/sleep.h"
#include "move/common/stop_point.h"

/* tablespace_advisor.debug_stop_at */
static char *debug_stop_at = NULL;

/*
 * Registers the configuration parameter.
 */
void
tsa_init_stop_points(void)
{
	DefineCustomStringVariable("tablespace_advisor.debug_stop_at",
							   "Makes a live copy, or a call that queues moves, wait at a named point.",
							   "For tests only. It goes on when the parameter is changed and the configuration is loaded again.",
							   &debug_stop_at, "",
							   PGC_SIGHUP, GUC_NOT_IN_SAMPLE,
							   NULL, NULL, NULL);
}

/*
 * Waits here for as long as the configuration names this point, and says so in
 * pg_stat_activity.  Locks stay held.
 */
void
tsa_stop_point(const char *name)
{
	if (debug_stop_at == NULL || strcmp(debug_stop_at, name) != 0)
		return;

	pgstat_report_activity(STATE_RUNNING,
						   psprintf("live copy stopped at: %s", name));
	while (strcmp(debug_stop_at, name) == 0)
	{
		tsa_sleep(100);
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
	}
	pgstat_report_activity(STATE_RUNNING, "live copy");
}

/*
 * Does the configuration name a point, but none of those that begin so?
 */
bool
tsa_stops_elsewhere(const char *prefix)
{
	return debug_stop_at != NULL && debug_stop_at[0] != '\0' &&
		strncmp(debug_stop_at, prefix, strlen(prefix)) != 0;
}
