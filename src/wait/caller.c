/*-------------------------------------------------------------------------
 *
 * caller.c
 *	  Classes of readers: the application, an export, maintenance, this
 *	  extension.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"

#include "wait/caller.h"

TsaWaitClass tsa_command_class = TSA_WAIT_APPLICATION;

/*
 * Is this process a worker of this extension?  Its reads are not the
 * application's.
 */
bool
tsa_is_own_worker(void)
{
	return MyBgworkerEntry != NULL &&
		strcmp(MyBgworkerEntry->bgw_library_name, "tablespace_advisor") == 0;
}

/*
 * The class of this process, which is such a worker.
 */
TsaWaitClass
tsa_own_worker_class(void)
{
	return strcmp(MyBgworkerEntry->bgw_function_name,
				  "tsa_move_worker_main") == 0 ?
		TSA_WAIT_MOVER : TSA_WAIT_EXTENSION;
}

/*
 * The class of this process.
 */
TsaWaitClass
tsa_wait_class(void)
{
	if (tsa_command_class != TSA_WAIT_APPLICATION)
		return tsa_command_class;
	if (tsa_is_own_worker())
		return tsa_own_worker_class();
	return MyBackendType == B_AUTOVAC_WORKER ? TSA_WAIT_MAINTENANCE :
		TSA_WAIT_APPLICATION;
}
