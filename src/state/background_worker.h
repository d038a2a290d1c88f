/*-------------------------------------------------------------------------
 *
 * background_worker.h
 *	  The extension's background workers: their names, their settings, and
 *	  their end.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BACKGROUND_WORKER_H
#define TSA_BACKGROUND_WORKER_H

#include "postgres.h"

#include "postmaster/bgworker.h"

/* Settings that workers of different kinds differ in. */
typedef struct TsaWorkerSettings
{
	const char *lock_timeout;
	const char *synchronous_commit;
	const char *read_only;
} TsaWorkerSettings;

extern BackgroundWorker tsa_describe_worker(const char *function,
											const char *type);
extern void tsa_connect_worker(Oid database, uint32 flags,
							   const TsaWorkerSettings *settings);
extern void tsa_renew_settings(void);

#endif							/* TSA_BACKGROUND_WORKER_H */
