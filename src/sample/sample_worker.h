/*-------------------------------------------------------------------------
 *
 * sample_worker.h
 *	  Samples in the background, if the library is preloaded.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SAMPLE_WORKER_H
#define TSA_SAMPLE_WORKER_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* tablespace_advisor.sample_interval, in seconds; 0: no samples */
extern int	tsa_sample_interval;

/*
 * A later stage's work in a database after each sample of it, in a transaction
 * of its own; NULL: nothing.
 */
extern void (*tsa_after_sample) (void);

extern void tsa_init_sample(void);
extern void tsa_sample_databases(List *databases);

extern PGDLLEXPORT void tsa_sample_worker_main(Datum database);

#endif							/* TSA_SAMPLE_WORKER_H */
