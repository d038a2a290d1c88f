/*-------------------------------------------------------------------------
 *
 * installs.c
 *	  Tells the launcher that an extension has been created somewhere.
 *
 * Databases without the extension are rarely asked whether they have it by now
 * (sample_worker.c), since asking takes a process each.  CREATE EXTENSION in
 * any of them counts one up in shared memory, when it has committed, and the
 * launcher asks all of them again.  Of any extension: which one it is cannot
 * be looked up yet when the server tells (drop_guard.c), and it is rare enough.
 *
 * Without preloading there is neither a launcher nor this memory.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/shmem.h"

#include "sample/installs.h"

/* Extensions created since the server started, in shared memory */
static pg_atomic_uint32 *installs = NULL;

/* In this transaction */
static bool created = false;

static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

/* Hook: asks for shared memory. */
static void
request_memory(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(MAXALIGN(sizeof(*installs)));
}

/* Hook: makes or finds it. */
static void
find_memory(void)
{
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	installs = ShmemInitStruct("tablespace_advisor", sizeof(*installs), &found);
	if (!found)
		pg_atomic_init_u32(installs, 0);
}

/* Others can see it from here on. */
static void
count_creation(XactEvent event, void *arg pg_attribute_unused())
{
	if (event == XACT_EVENT_COMMIT && created)
		pg_atomic_fetch_add_u32(installs, 1);
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		created = false;
}

/* Registers the hooks, if the library is preloaded. */
void
tsa_init_installs(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_memory;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = find_memory;
}

/*
 * This transaction makes an extension.  Only sessions that have made one call
 * the callback.
 */
void
tsa_note_install(void)
{
	static bool is_registered = false;

	if (installs == NULL)
		return;
	if (!is_registered)
		RegisterXactCallback(count_creation, NULL);
	is_registered = created = true;
}

/* Differs from an earlier answer if an extension was created in between. */
uint32
tsa_installs_count(void)
{
	return installs == NULL ? 0 : pg_atomic_read_u32(installs);
}
