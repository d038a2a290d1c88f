/*-------------------------------------------------------------------------
 *
 * launcher.c
 *	  After a restart of a server that preloads the library: recovers the jobs
 *	  that the restart interrupted, in every database, without waiting for
 *	  somebody to call.
 *
 * A launcher starts when recovery has ended, that is also when a standby is
 * promoted.  It has no database; it lists them and starts, one after the
 * other, a short-lived worker in each, which first recovers interrupted moves,
 * as every call of the extension does.  Then the launcher has all of them
 * sampled from time to time (src/sample/sample_worker.c), and does the same
 * again where somebody asks for it (launcher_calls.c).
 *
 * Without preloading nothing of this exists, and the next call recovers the
 * jobs.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "move/common/session.h"
#include "move/job/journal.h"
#include "move/job/waiting.h"
#include "move/rebuild/transient_index.h"
#include "move/worker/launcher.h"
#include "move/worker/launcher_calls.h"
#include "move/worker/recover.h"
#include "move/worker/worker.h"
#include "sample/sample_worker.h"
#include "state/background_worker.h"

/*
 * Objects that a recovery worker cannot lock in that time are left to the next
 * one.
 */
#define LOCK_TIMEOUT_MS "5000"

/* If there is no slot for a worker that goes on with moves. */
#define RETRY_MS		INT64CONST(60000)

/*
 * Registers the launcher, if the library is being preloaded.  Not for
 * pg_upgrade, which has read which files there are and which transaction ID is
 * next before it starts the old server: nothing may move then, or be written.
 */
void
tsa_init_launcher(void)
{
	BackgroundWorker worker;

	if (!process_shared_preload_libraries_in_progress || IsBinaryUpgrade)
		return;
	worker = tsa_describe_worker("tsa_launcher_main",
								 "tablespace_advisor launcher");
	worker.bgw_restart_time = 60;
	worker.bgw_notify_pid = 0;
	RegisterBackgroundWorker(&worker);
}

/*
 * OIDs of the databases that can be connected to, in the given context.
 */
static List *
list_databases(MemoryContext context)
{
	List	   *databases = NIL;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	tsa_begin();
	(void) GetTransactionSnapshot();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database database = (Form_pg_database) GETSTRUCT(tuple);

		if (database->datallowconn && !database->datistemplate)
		{
			MemoryContext old = MemoryContextSwitchTo(context);

			databases = lappend_oid(databases, database->oid);
			MemoryContextSwitchTo(old);
		}
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();
	return databases;
}

/*
 * Runs a recovery worker in a database, if there is a slot for it, and waits
 * for its end.  take_over: it also starts workers for queued jobs.
 */
static void
recover_database(Oid database, bool take_over)
{
	BackgroundWorker worker =
	tsa_describe_worker("tsa_recover_worker_main",
						"tablespace_advisor recovery");
	BackgroundWorkerHandle *handle;
	pid_t		pid;

	worker.bgw_main_arg = ObjectIdGetDatum(database);
	worker.bgw_extra[0] = take_over;
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		ereport(LOG,
				(errmsg("could not start a background worker to recover interrupted moves in database %u",
						database),
				 errdetail("No worker slot is free."),
				 errhint("The next call in that database that moves something, or waits for moves, recovers them.")));
		return;
	}
	if (WaitForBackgroundWorkerStartup(handle, &pid) == BGWH_STARTED)
		(void) WaitForBackgroundWorkerShutdown(handle);
}

/*
 * For a function: its transaction may stay open, and jobs that are recovered
 * in it stay locked as long, out of others' reach.  So a worker of its own
 * does it first.  take_over: as above; not for a function that may cancel
 * queued jobs.
 */
void
tsa_recover_for_caller(bool take_over)
{
	if (tsa_has_dead_batch())
		recover_database(MyDatabaseId, take_over);
	(void) tsa_recover_jobs(false);
}

/*
 * Recovers the jobs of all databases.
 */
static void
recover_all_databases(void)
{
	List	   *databases = list_databases(TopMemoryContext);
	ListCell   *lc;

	foreach(lc, databases)
		recover_database(lfirst_oid(lc), true);
	list_free(databases);
}

/*
 * Looks into the databases that somebody has asked for.
 */
static void
answer_calls(void)
{
	Oid			database;

	while (tsa_take_launcher_call(&database))
	{
		if (OidIsValid(database))
			recover_database(database, true);
		else
			recover_all_databases();
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Sleeps until a moment, or for ever (DT_NOEND); less if the latch is set.
 */
static void
sleep_until(TimestampTz wake)
{
	long		ms = wake == DT_NOEND ? -1 :
	TimestampDifferenceMilliseconds(GetCurrentTimestamp(), wake) + 1;

	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH |
					 (ms >= 0 ? WL_TIMEOUT : 0), Min(ms, SECS_PER_DAY * 1000L),
					 PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

/*
 * Samples all databases every tablespace_advisor.sample_interval, and answers
 * calls.
 */
static void
work_for_ever(void)
{
	TimestampTz last = 0;

	for (;;)
	{
		TimestampTz due = DT_NOEND;

		answer_calls();
		if (tsa_sample_interval > 0)
		{
			due = last + tsa_sample_interval * USECS_PER_SEC;
			if (GetCurrentTimestamp() >= due)
			{
				List	   *databases = list_databases(TopMemoryContext);

				last = GetCurrentTimestamp();
				tsa_sample_databases(databases);
				list_free(databases);
				continue;
			}
		}
		sleep_until(Min(due, tsa_next_launcher_call()));
	}
}

/*
 * Main function of the launcher: recovers jobs after a restart, and has
 * samples taken until the server stops.
 */
void
tsa_launcher_main(Datum arg pg_attribute_unused())
{
	const TsaWorkerSettings settings = {"0", "off", "off"};

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	tsa_connect_worker(InvalidOid, 0, &settings);
	tsa_receive_launcher_calls();
	recover_all_databases();
	work_for_ever();
}

/* Main function of a worker that recovers the jobs of a database. */
void
tsa_recover_worker_main(Datum database)
{
	TsaWorker	worker;
	TimestampTz opening = DT_NOEND;
	bool		installed;
	bool		lacks_worker;

	/* a session that waits for this worker may have the row of a job locked */
	tsa_enter_worker(&worker, DatumGetObjectId(database), LOCK_TIMEOUT_MS);
	tsa_begin();
	installed = tsa_keep_journal();
	lacks_worker = installed &&
		tsa_recover_jobs(MyBgworkerEntry->bgw_extra[0]);
	if (installed)
		opening = tsa_next_opening();
	tsa_commit(&worker.session);
	if (!TIMESTAMP_IS_NOEND(opening))
		tsa_call_launcher(DatumGetObjectId(database),
						  TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
														  opening) + 1);
	if (lacks_worker)
		tsa_call_launcher(DatumGetObjectId(database), RETRY_MS);
	if (installed)
		tsa_drop_transient_indexes(&worker.session);
}
