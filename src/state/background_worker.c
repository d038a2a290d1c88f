/*-------------------------------------------------------------------------
 *
 * background_worker.c
 *	  The extension's background workers: what they are, their settings.
 *
 * A database's owner can give it settings, and ALTER ROLE gives them to a
 * role; a worker that connects gets them like any session.  They must not
 * decide what the worker's statements mean, nor end them, nor make them take
 * hours (settings.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"

#include "state/background_worker.h"
#include "state/settings.h"

/*
 * A worker that runs a function of the library once, after recovery, and tells
 * this process when it starts and ends.  Its name is its type, unless the
 * caller gives it another one.
 */
BackgroundWorker
tsa_describe_worker(const char *function, const char *type)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_notify_pid = MyProcPid
	};

	strlcpy(worker.bgw_library_name, "tablespace_advisor", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, function, BGW_MAXLEN);
	strlcpy(worker.bgw_name, type, BGW_MAXLEN);
	strlcpy(worker.bgw_type, type, BGW_MAXLEN);
	return worker;
}

static void
override(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * Connects a worker to a database, or to none, as the bootstrap superuser.
 * Whoever owns the database can lock it (ALTER DATABASE ... RENAME), so the
 * wait for that is bounded as well.  Each worker connects here, so a damaged
 * page is an error to all of them, from the first catalog that is read on.
 */
void
tsa_connect_worker(Oid database, uint32 flags, const char *lock_timeout)
{
	override("lock_timeout", lock_timeout);
	tsa_set_reading(override);
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, flags);
}

/*
 * Overrides settings that would get into a worker's way, until it exits.  Those
 * that a server does not know are left out.
 */
void
tsa_override_settings(const char *lock_timeout,
					  const char *synchronous_commit, const char *read_only)
{
	const char *const settings[][2] = {
		{"lock_timeout", lock_timeout},
		{"statement_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		{"transaction_timeout", "0"},	/* from 17 on */
		{"default_transaction_read_only", read_only},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_deferrable", "off"},
		{"synchronous_commit", synchronous_commit},
		{"session_replication_role", "origin"},
		{"search_path", "pg_catalog, pg_temp"},
		{"exit_on_error", "off"},
		{"role", "none"},		/* ALTER DATABASE ... SET role */
		{"citus.override_table_visibility", "off"}	/* which hides shards */
	};

	for (int i = 0; i < (int) lengthof(settings); i++)
		if (GetConfigOption(settings[i][0], true, false) != NULL)
			override(settings[i][0], settings[i][1]);
	tsa_set_planner(override);
}
