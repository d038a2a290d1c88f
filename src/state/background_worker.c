/*-------------------------------------------------------------------------
 *
 * background_worker.c
 *	  The extension's background workers: their kinds, their settings, and when
 *	  they end.
 *
 * Settings.  A database's owner can give it settings, and ALTER ROLE gives
 * them to a role; a worker that connects gets them like any session.  They
 * must not change the meaning of the worker's statements, nor end them, nor
 * make them take hours (settings.c).  So the worker's own settings are in
 * place before it connects, with a source (PGC_S_OVERRIDE) that databases and
 * roles do not override.
 *
 * Code of others that runs in a worker, which is functions of indexes, sets
 * parameters with a higher source (PGC_S_SESSION), by SET, set_config() or the
 * SET clause of a function.  The server runs such functions in a nest level of
 * settings and undoes their changes.  Until then only their own job is
 * concerned, but for parameters that turn an error or a timer into the end of
 * the process: the other jobs would go with it.  Those are locked: their
 * context, in this process, becomes that of a parameter which only the
 * configuration file can change, and each way to set it is an error.  Not
 * PGC_INTERNAL, of which parallel workers would not be told the value.  And
 * after such code tsa_renew_settings() sets all of the worker's values again.
 *
 * Postmaster.  A process notices that the postmaster is dead when it waits, and
 * one that works at full speed does not wait; the server cannot start again
 * until it has ended.  The kernel sends a signal then, for which the server has
 * a handler that sets a flag.  A worker's handler also asks for the end of the
 * process, as SIGTERM does, so the next CHECK_FOR_INTERRUPTS() ends it, in code
 * of the server's too.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/pmsignal.h"
#include "utils/guc.h"

#include "compat.h"
#include "state/background_worker.h"
#include "state/settings.h"

/* By these code that runs in a worker could end its process. */
static const char *const lethal[] = {
	"exit_on_error",
	"idle_in_transaction_session_timeout",
	"idle_session_timeout",
	"transaction_timeout"		/* from 17 on */
};

/*
 * A worker that runs a function of the library once, after recovery, and tells
 * this process when it starts and ends.  Its name is its type, unless the
 * caller gives it another one.  From 19 on CREATE, ALTER and DROP DATABASE may
 * end it.
 */
BackgroundWorker
tsa_describe_worker(const char *function, const char *type)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION | BGWORKER_INTERRUPTIBLE,
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

/*
 * The signal that the kernel sends when the parent process has died.  From
 * anybody else it means nothing.
 */
static void
parent_died(SIGNAL_ARGS)
{
	int			save_errno = errno;

	(void) postgres_signal_arg;
	postmaster_possibly_dead = true;
	if (getppid() != PostmasterPid)
		(void) kill(MyProcPid, SIGTERM);
	errno = save_errno;
}

/*
 * Has this process end when the postmaster is dead; see the head of this file.
 * die() has to be its handler of SIGTERM already.
 */
static void
end_with_postmaster(void)
{
	int			signal_number = 0;

	if (prctl(PR_GET_PDEATHSIG, &signal_number) == 0 && signal_number != 0)
		pqsignal(signal_number, parent_died);
	if (!PostmasterIsAlive())
		proc_exit(1);
}

/* The settings of this process, which is a worker. */
static TsaWorkerSettings own;

/* The value that RESET restores; no database or role overrides it. */
static void
set_default(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_SIGHUP, PGC_S_OVERRIDE);
}

/* The value in force, over settings by code of others. */
static void
set_value(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_SIGHUP, PGC_S_SESSION);
}

/*
 * Gives a function settings that would get into the worker's way, but for those
 * that this server does not know.
 */
static void
apply_settings(TsaSetter set)
{
	const char *const settings[][2] = {
		{"lock_timeout", own.lock_timeout},
		{"statement_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		{"idle_session_timeout", "0"},
		{"transaction_timeout", "0"},	/* from 17 on */
		{"default_transaction_read_only", own.read_only},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_deferrable", "off"},
		{"synchronous_commit", own.synchronous_commit},
		{"session_replication_role", "origin"},
		{"search_path", "pg_catalog, pg_temp"},
		{"exit_on_error", "off"},
		{"role", "none"},		/* ALTER DATABASE ... SET role */
		{"citus.override_table_visibility", "off"}	/* which hides shards */
	};

	for (int i = 0; i < (int) lengthof(settings); i++)
		if (GetConfigOption(settings[i][0], true, false) != NULL)
			set(settings[i][0], settings[i][1]);
	tsa_set_planner(set);
	tsa_set_reading(set);
}

/*
 * The worker's settings are in force again, over those that code of others has
 * left.  To be called after such code has run, outside any transaction: the
 * end of one would undo it.
 */
void
tsa_renew_settings(void)
{
	apply_settings(set_default);
	apply_settings(set_value);
}

/*
 * Connects a worker, with its settings, to a database, or to none, as the
 * bootstrap superuser.  Each worker connects here, so a damaged page is an
 * error to all of them, from the first catalog that is read on.  The owner of
 * the database can lock it (ALTER DATABASE ... RENAME), so the wait for that
 * is bounded by lock_timeout as well.  SIGTERM has its handler, die(), and is
 * not blocked.
 */
void
tsa_connect_worker(Oid database, uint32 flags,
				   const TsaWorkerSettings *settings)
{
	end_with_postmaster();
	own = *settings;
	apply_settings(set_default);
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, flags);
	tsa_renew_settings();
	for (int i = 0; i < (int) lengthof(lethal); i++)
	{
		struct config_generic *parameter = tsa_find_parameter(lethal[i]);

		if (parameter != NULL)
			parameter->context = PGC_SIGHUP;
	}
}
