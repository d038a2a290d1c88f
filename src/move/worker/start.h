/*-------------------------------------------------------------------------
 *
 * start.h
 *	  Starts the background workers of a batch.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_START_H
#define TSA_START_H

#include "postgres.h"

#include "postmaster/bgworker.h"

/* A worker's arguments, in bgw_extra. */
typedef struct TsaWorkerArgs
{
	Oid			database;
	int64		batch_id;
	Oid			user;			/* whose call counts; 0: has no limit */
	bool		copies_only;	/* not the batch's first worker */
} TsaWorkerArgs;

extern void tsa_init_worker_start(void);
extern BackgroundWorkerHandle *tsa_start_workers(int64 batch_id, int ncopies);
extern bool tsa_take_over_batch(int64 batch_id);

#endif							/* TSA_START_H */
