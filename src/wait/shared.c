/*-------------------------------------------------------------------------
 *
 * shared.c
 *	  The ledger in shared memory.
 *
 * One lock protects it.  Backends take it conditionally and keep their figures
 * if it is not free (local.c); only functions that read it wait for it, and
 * they hold it in shared mode for as long as it takes to copy the entries.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "wait/parameters.h"
#include "wait/shared.h"

#define TRANCHE "tablespace_advisor"

TsaWaitShared *tsa_wait_shared = NULL;

static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

/* How much the ledger has room for, by the parameter for statements. */
static TsaLedgerSize
ledger_size(void)
{
	TsaLedgerSize size = {
		.relations = Max(4 * tsa_max_statements, 4096),
		.statements = tsa_max_statements,
		.shares = 4 * tsa_max_statements
	};

	return size;
}

/* Shared memory of this stage, in bytes. */
static Size
shared_size(void)
{
	return MAXALIGN(sizeof(TsaWaitShared)) + tsa_ledger_bytes(ledger_size());
}

/* Reserves memory and a lock. */
static void
request_memory(void)
{
	if (previous_request)
		previous_request();
	RequestAddinShmemSpace(shared_size());
	RequestNamedLWLockTranche(TRANCHE, 1);
}

/* Sets up the memory, at the start of the server and after a crash. */
static void
set_up_memory(void)
{
	bool		found;

	if (previous_startup)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	tsa_wait_shared = ShmemInitStruct("tablespace_advisor waits",
									  shared_size(), &found);
	if (!found)
	{
		tsa_wait_shared->lock = &GetNamedLWLockTranche(TRANCHE)->lock;
		tsa_ledger_init(&tsa_wait_shared->ledger,
						(char *) tsa_wait_shared +
						MAXALIGN(sizeof(TsaWaitShared)),
						ledger_size(), true, GetCurrentTimestamp());
	}
	LWLockRelease(AddinShmemInitLock);
}

/*
 * Takes the hooks that reserve shared memory.
 */
void
tsa_init_wait_memory(void)
{
	previous_request = shmem_request_hook;
	shmem_request_hook = request_memory;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = set_up_memory;
}
