/*-------------------------------------------------------------------------
 *
 * launcher_calls.c
 *	  Has the launcher look into a database at some time: for jobs that have
 *	  lost their worker, or are to be gone on with then.
 *
 * The launcher has no database, and to look into all of them from time to time
 * would start a process for each.  So a process that knows of such work says
 * so in shared memory, which there is if the library is preloaded: a worker
 * that ends before its time, and a recovery that has found no worker slot.  If
 * there are too many such databases, the launcher looks into all.  A restart
 * forgets them, and looks into all of them, too.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"

#include "move/worker/launcher_calls.h"

#define MAX_CALLS	64

/* A database, and when the launcher is to look into it. */
typedef struct LauncherCall
{
	Oid			database;
	TimestampTz due;
} LauncherCall;

typedef struct LauncherCalls
{
	slock_t		mutex;			/* of all the rest */
	Latch	   *latch;			/* the launcher's, NULL if there is none */
	TimestampTz all_due;		/* when it is to look into all databases */
	int			n;
	LauncherCall calls[MAX_CALLS];
} LauncherCalls;

/* In shared memory; NULL if the library is not preloaded. */
static LauncherCalls *shared = NULL;

static shmem_request_hook_type next_shmem_request = NULL;
static shmem_startup_hook_type next_shmem_startup = NULL;

/* Hook: asks for shared memory. */
static void
request_shmem(void)
{
	if (next_shmem_request != NULL)
		next_shmem_request();
	RequestAddinShmemSpace(MAXALIGN(sizeof(LauncherCalls)));
}

/* Hook: makes or finds it. */
static void
start_shmem(void)
{
	bool		found;

	if (next_shmem_startup != NULL)
		next_shmem_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("tablespace_advisor launcher",
							 sizeof(LauncherCalls), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(*shared));
		SpinLockInit(&shared->mutex);
		shared->all_due = DT_NOEND;
	}
	LWLockRelease(AddinShmemInitLock);
}

/*
 * Asks for the shared memory, while the library is being preloaded.
 */
void
tsa_init_launcher_calls(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	next_shmem_request = shmem_request_hook;
	shmem_request_hook = request_shmem;
	next_shmem_startup = shmem_startup_hook;
	shmem_startup_hook = start_shmem;
}

/* The launcher ends. */
static void
leave(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	SpinLockAcquire(&shared->mutex);
	shared->latch = NULL;
	SpinLockRelease(&shared->mutex);
}

/*
 * This process is the launcher, and looks into all databases first.
 */
void
tsa_receive_launcher_calls(void)
{
	SpinLockAcquire(&shared->mutex);
	shared->latch = MyLatch;
	shared->n = 0;
	shared->all_due = DT_NOEND;
	SpinLockRelease(&shared->mutex);
	before_shmem_exit(leave, (Datum) 0);
}

/*
 * Adds a call, or has an earlier one be due earlier.  With the spinlock held.
 */
static void
add_call(Oid database, TimestampTz due)
{
	int			i;

	for (i = 0; i < shared->n; i++)
		if (shared->calls[i].database == database)
			break;
	if (i == MAX_CALLS)
		shared->all_due = Min(shared->all_due, due);
	else if (i < shared->n)
		shared->calls[i].due = Min(shared->calls[i].due, due);
	else
	{
		shared->calls[i].database = database;
		shared->calls[i].due = due;
		shared->n++;
	}
}

/*
 * Has the launcher, if there is one, look into a database so many milliseconds
 * from now.
 */
void
tsa_call_launcher(Oid database, int64 ms)
{
	TimestampTz due = GetCurrentTimestamp() + ms * 1000;
	Latch	   *latch;

	if (shared == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	add_call(database, due);
	latch = shared->latch;
	SpinLockRelease(&shared->mutex);
	if (latch != NULL)
		SetLatch(latch);
}

/*
 * When the launcher is to look next; DT_NOEND: when it is told.
 */
TimestampTz
tsa_next_launcher_call(void)
{
	TimestampTz next;

	SpinLockAcquire(&shared->mutex);
	next = shared->all_due;
	for (int i = 0; i < shared->n; i++)
		next = Min(next, shared->calls[i].due);
	SpinLockRelease(&shared->mutex);
	return next;
}

/*
 * Takes a call that is due.  False if there is none.  InvalidOid stands for all
 * databases.
 */
bool
tsa_take_launcher_call(Oid *database)
{
	TimestampTz now = GetCurrentTimestamp();
	bool		found = false;

	SpinLockAcquire(&shared->mutex);
	if (shared->all_due <= now)
	{
		*database = InvalidOid;
		shared->all_due = DT_NOEND;
		found = true;
	}
	for (int i = 0; i < shared->n && !found; i++)
	{
		if (shared->calls[i].due > now)
			continue;
		*database = shared->calls[i].database;
		shared->calls[i] = shared->calls[--shared->n];
		found = true;
	}
	SpinLockRelease(&shared->mutex);
	return found;
}
