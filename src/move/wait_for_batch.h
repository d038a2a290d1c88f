/*-------------------------------------------------------------------------
 *
 * wait.h
 *	  Waiting for a batch of jobs, with progress.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_FOR_BATCH_H
#define TSA_WAIT_FOR_BATCH_H

#include "postgres.h"

#include "postmaster/bgworker.h"

/* Tells the user more about a batch that is under way. */
typedef void (*TsaProgressPrinter) (int64 batch_id);

extern void tsa_wait_for_batch(int64 batch_id,
							   BackgroundWorkerHandle *handle,
							   TsaProgressPrinter print_more);
extern void tsa_report_failure(int64 batch_id);

#endif							/* TSA_WAIT_FOR_BATCH_H */
