/*-------------------------------------------------------------------------
 *
 * wait.h
 *	  Waiting for a batch of jobs, with progress.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_H
#define TSA_WAIT_H

#include "postgres.h"

#include "postmaster/bgworker.h"

extern void tsa_wait_for_batch(int64 batch_id,
							   BackgroundWorkerHandle *handle, Oid schema);

#endif							/* TSA_WAIT_H */
