/*-------------------------------------------------------------------------
 *
 * caller.h
 *	  Classes of readers: the application, an export, maintenance, this
 *	  extension.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_CALLER_H
#define TSA_WAIT_CALLER_H

#include "postgres.h"

#include "miscadmin.h"

#include "wait/ledger.h"

/* of the utility command that is being executed */
extern TsaWaitClass tsa_command_class;

extern bool tsa_is_own_worker(void);
extern TsaWaitClass tsa_own_worker_class(void);
extern TsaWaitClass tsa_wait_class(void);

/*
 * Is this process a client's?  Reads of others are looked at when a transaction
 * ends (process.c).
 */
static inline bool
tsa_is_session(void)
{
	return MyBackendType == B_BACKEND;
}

#endif							/* TSA_WAIT_CALLER_H */
