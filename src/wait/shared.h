/*-------------------------------------------------------------------------
 *
 * shared.h
 *	  The ledger in shared memory.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_SHARED_H
#define TSA_WAIT_SHARED_H

#include "storage/lwlock.h"

#include "wait/ledger.h"

typedef struct TsaWaitShared
{
	LWLock	   *lock;			/* protects all that follows */
	TsaLedger	ledger;
} TsaWaitShared;

/* NULL unless the library was preloaded */
extern TsaWaitShared *tsa_wait_shared;

extern void tsa_init_wait_memory(void);

#endif							/* TSA_WAIT_SHARED_H */
