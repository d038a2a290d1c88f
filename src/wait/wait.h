/*-------------------------------------------------------------------------
 *
 * wait.h
 *	  The stage that measures read waits: parameters and registration.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_H
#define TSA_WAIT_H

#include "postgres.h"

extern bool tsa_track_waits;
extern int	tsa_track_waits_sample;
extern int	tsa_max_statements;

extern void tsa_init_waits(void);

#endif							/* TSA_WAIT_H */
