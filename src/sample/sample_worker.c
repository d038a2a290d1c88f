/*-------------------------------------------------------------------------
 *
 * sample_worker.c
 *	  Samples in the background, if the library is preloaded.
 *
 * The launcher (src/move/worker/launcher.c) has no database.  Every
 * tablespace_advisor.sample_interval it has a short-lived worker connect to
 * each database in turn: a worker that stayed connected would make DROP
 * DATABASE fail.  A database without the extension is looked at every twelfth
 * time only; the worker tells so by a byte of shared memory.
 *
 * Rights.  The worker connects as the bootstrap superuser and calls one
 * function, take_sample().  Where the extension is not, anybody may have made
 * a function of that name, so it has to belong to the extension, which is
 * locked against DROP first.  It runs with the rights of its owner, in a
 * restricted security context, and with settings that the database's owner
 * cannot have changed.
 *
 * A sample of thousands of tables takes longer than the five seconds for
 * which DROP DATABASE, CREATE DATABASE ... TEMPLATE and ALTER DATABASE ...
 * RENAME wait for others to leave.  They have the database locked meanwhile,
 * for which the launcher looks; then the sample is given up.
 *
 * So it is when it takes longer than the time between two samples: the other
 * databases wait for their turn, and how long it takes is up to a database's
 * owner, by the number of tables.  Such a database is sampled in few rounds,
 * as somebody may have many.  The work after a sample (tsa_after_sample) is
 * ended for the same reasons, and the sample stays.
 *
 * A standby keeps no samples: the launcher starts when recovery has ended.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_database.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "sample/installs.h"
#include "sample/sample_worker.h"
#include "state/background_worker.h"
#include "tsa.h"

/* Looks at pg_stat_activity in a sample */
#define SNAPSHOTS	10

/* Relations that cannot be locked in that time are for the next round. */
#define LOCK_TIMEOUT "10s"

/* Between looks whether somebody waits for the database to be left. */
#define LOOK_MS		100

/* A sample may take as long, however often they are taken. */
#define MIN_LIMIT_S	30

/* Databases without it are asked every so many rounds, or after an install. */
#define ROUNDS_WITHOUT	12

/* Databases with a sample that took too long are left out for so many. */
#define ROUNDS_LATE		12

int			tsa_sample_interval = 300;
void		(*tsa_after_sample) (void) = NULL;

/* Messages of a worker to the launcher, in dynamic shared memory. */
typedef struct Reply
{
	bool		without_extension;
	bool		is_sampled;		/* committed; the rest may be cut short */
} Reply;

/* Defines the parameter and registers the hooks when the library is loaded. */
void
tsa_init_sample(void)
{
	DefineCustomIntVariable("tablespace_advisor.sample_interval",
							"Sets how often activity of all databases that have the extension is sampled.",
							"0 turns sampling off. Needs shared_preload_libraries.",
							&tsa_sample_interval, 300, 0, 86400,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
	tsa_init_installs();
}

/*
 * Has somebody a lock on the database that keeps new sessions away?
 */
static bool
is_wanted(Oid database)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, database, 0);
	if (LockAcquire(&tag, RowExclusiveLock, true, true) ==
		LOCKACQUIRE_NOT_AVAIL)
		return true;
	(void) LockRelease(&tag, RowExclusiveLock, true);
	return false;
}

/*
 * Has a worker that began then taken too long?  The log says so of a sample.
 */
static bool
is_late(Oid database, TimestampTz began, bool is_sampled)
{
	int			limit_s = Max(tsa_sample_interval, MIN_LIMIT_S);

	if (!TimestampDifferenceExceeds(began, GetCurrentTimestamp(),
									1000 * limit_s))
		return false;
	if (is_sampled)
		return true;
	ereport(LOG,
			(errmsg("gave up sampling database %u", database),
			 errdetail("It took longer than %d s, and other databases wait for their turn.",
					   limit_s)));
	return true;
}

/*
 * Waits for the end of a worker, but has it leave a database that somebody
 * wants for himself, or that takes it too long.  False if it took a sample too
 * long.
 */
static bool
wait_for_worker(BackgroundWorkerHandle *handle, Oid database,
				const volatile Reply *reply)
{
	TimestampTz began = GetCurrentTimestamp();
	pid_t		pid;

	while (GetBackgroundWorkerPid(handle, &pid) == BGWH_STARTED)
	{
		bool		is_sampled = reply->is_sampled;
		bool		late = is_late(database, began, is_sampled);

		if (late || is_wanted(database))
		{
			TerminateBackgroundWorker(handle);
			(void) WaitForBackgroundWorkerShutdown(handle);
			return is_sampled || !late;
		}
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOOK_MS, WAIT_EVENT_BGWORKER_SHUTDOWN);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/*
 * Runs a worker in a database and waits for its end; false if that took too
 * long.
 */
static bool
run_worker(Oid database, dsm_segment *segment)
{
	BackgroundWorker worker =
	tsa_describe_worker("tsa_sample_worker_main",
						"tablespace_advisor sampling");
	BackgroundWorkerHandle *handle;
	dsm_handle	reply = dsm_segment_handle(segment);
	bool		in_time = true;
	pid_t		pid;

	worker.bgw_main_arg = ObjectIdGetDatum(database);
	memcpy(worker.bgw_extra, &reply, sizeof(reply));
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		ereport(LOG,
				(errmsg("could not start a background worker to sample database %u",
						database),
				 errdetail("No worker slot is free."),
				 errhint("You might need to increase \"max_worker_processes\".")));
		return true;
	}
	if (WaitForBackgroundWorkerStartup(handle, &pid) == BGWH_STARTED)
		in_time = wait_for_worker(handle, database,
								  dsm_segment_address(segment));
	pfree(handle);
	return in_time;
}

/* Adds a database to a list that is kept. */
static List *
keep_database(List *list, Oid database)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	list = lappend_oid(list, database);
	MemoryContextSwitchTo(old);
	return list;
}

/*
 * Samples the given databases, one after the other.  Called by the launcher.
 */
void
tsa_sample_databases(List *databases)
{
	static List *without = NIL; /* databases without the extension */
	static List *late = NIL;	/* with a sample that took too long */
	static int	round = 0;
	static uint32 installs = 0;
	dsm_segment *segment = dsm_create(sizeof(Reply),
									  DSM_CREATE_NULL_IF_MAXSEGMENTS);
	Reply	   *reply;
	ListCell   *lc;

	if (segment == NULL)
		return;					/* next time */
	reply = dsm_segment_address(segment);
	if (round % ROUNDS_LATE == 0)
	{
		list_free(late);
		late = NIL;
	}
	if (round++ % ROUNDS_WITHOUT == 0 || installs != tsa_installs_count())
	{
		installs = tsa_installs_count();
		list_free(without);
		without = NIL;
	}
	foreach(lc, databases)
	{
		Oid			database = lfirst_oid(lc);

		if (list_member_oid(without, database) ||
			list_member_oid(late, database))
			continue;
		reply->without_extension = false;
		reply->is_sampled = false;
		if (!run_worker(database, segment))
			late = keep_database(late, database);
		if (reply->without_extension)
			without = keep_database(without, database);
	}
	dsm_detach(segment);
}

/*
 * Finds take_sample() of the extension, which is locked against DROP;
 * InvalidOid if the extension is not here, or of a version without it.
 */
static Oid
find_take_sample(bool *installed)
{
	Oid			argtypes[] = {INT4OID};
	Oid			extension = get_extension_oid("tablespace_advisor", true);
	Oid			function;

	if (OidIsValid(extension))
		LockDatabaseObject(ExtensionRelationId, extension, 0,
						   AccessShareLock);
	*installed = OidIsValid(extension) &&
		get_extension_oid("tablespace_advisor", true) == extension;
	if (!*installed)
		return InvalidOid;
	function = LookupFuncName(list_make2(makeString(TSA_STATE_SCHEMA),
										 makeString("take_sample")),
							  1, argtypes, true);
	if (!OidIsValid(function) ||
		getExtensionOfObject(ProcedureRelationId, function) != extension)
		return InvalidOid;
	return function;
}

/*
 * Calls take_sample() as its owner.
 */
static void
take_sample(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;
	Oid			save_userid;
	int			save_sec_context;

	if (!HeapTupleIsValid(tuple))
		return;					/* dropped, the extension with it */
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	GetUserIdAndSecContext(&save_userid, &save_sec_context);
	SetUserIdAndSecContext(owner, save_sec_context |
						   SECURITY_LOCAL_USERID_CHANGE);
	(void) OidFunctionCall1(function, Int32GetDatum(SNAPSHOTS));
	SetUserIdAndSecContext(save_userid, save_sec_context);
}

/* The part that the launcher reads; NULL if it does not wait any more. */
static Reply *
find_reply(void)
{
	dsm_handle	handle;
	dsm_segment *segment;

	memcpy(&handle, MyBgworkerEntry->bgw_extra, sizeof(handle));
	segment = dsm_attach(handle);
	return segment != NULL ? dsm_segment_address(segment) : NULL;
}

/*
 * Takes a sample, or does the work after it, in a transaction that has locked
 * the extension against DROP.  Returns whether the extension is installed.
 */
static bool
run_installed(const char *activity, bool is_sample)
{
	Oid			function;
	bool		installed;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	pgstat_report_activity(STATE_RUNNING, activity);
	function = find_take_sample(&installed);
	if (OidIsValid(function))
	{
		if (is_sample)
			take_sample(function);
		else
			(*tsa_after_sample) ();
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	return installed;
}

/* Main function of a worker that takes a sample of a database. */
void
tsa_sample_worker_main(Datum database)
{
	const TsaWorkerSettings settings = {LOCK_TIMEOUT, "off", "off"};
	Reply	   *reply;
	bool		installed;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	tsa_connect_worker(DatumGetObjectId(database), 0, &settings);
	installed = run_installed("sampling", true);
	reply = find_reply();
	if (reply == NULL)
		return;
	reply->without_extension = !installed;
	reply->is_sampled = installed;
	if (installed && tsa_after_sample != NULL)
		(void) run_installed("measuring localities again", false);
}
