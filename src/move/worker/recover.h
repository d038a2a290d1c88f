/*-------------------------------------------------------------------------
 *
 * recover.h
 *	  Jobs that have lost their worker.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RECOVER_H
#define TSA_RECOVER_H

#include "postgres.h"

extern void tsa_init_recover(void);

/* [T] */
extern bool tsa_recover_jobs(bool take_over);
extern void tsa_end_jobs(void);
extern bool tsa_has_dead_batch(void);

#endif							/* TSA_RECOVER_H */
