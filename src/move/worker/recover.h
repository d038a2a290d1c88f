/*-------------------------------------------------------------------------
 *
 * recover.h
 *	  Ends the jobs whose worker is gone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RECOVER_H
#define TSA_RECOVER_H

#include "postgres.h"

/* [T] */
extern void tsa_recover_jobs(void);
extern bool tsa_has_dead_batch(void);

#endif							/* TSA_RECOVER_H */
