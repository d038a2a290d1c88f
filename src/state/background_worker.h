/*-------------------------------------------------------------------------
 *
 * background_worker.h
 *	  The extension's background workers: what they are, their settings.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BACKGROUND_WORKER_H
#define TSA_BACKGROUND_WORKER_H

#include "postgres.h"

#include "postmaster/bgworker.h"

extern BackgroundWorker tsa_describe_worker(const char *function,
											const char *type);
extern void tsa_connect_worker(Oid database, uint32 flags,
							   const char *lock_timeout);
extern void tsa_override_settings(const char *lock_timeout,
								  const char *synchronous_commit,
								  const char *read_only);

#endif							/* TSA_BACKGROUND_WORKER_H */
