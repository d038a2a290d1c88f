/*-------------------------------------------------------------------------
 *
 * recover.h
 *	  Ends the running jobs whose worker is gone; others take over the queued.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RECOVER_H
#define TSA_RECOVER_H

#include "postgres.h"

/* [T] */
extern void tsa_recover_jobs(bool take_over);
extern bool tsa_has_dead_batch(void);

#endif							/* TSA_RECOVER_H */
