/*-------------------------------------------------------------------------
 *
 * pause.h
 *	  Requests to pause a job.  All of this in a transaction.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PAUSE_H
#define TSA_PAUSE_H

#include "postgres.h"

/* Has somebody called pause_move()? */
extern bool tsa_pause_is_requested(int64 job_id);

/* True if the request was not there, or not gone, before. */
extern bool tsa_request_pause(int64 job_id);
extern bool tsa_withdraw_pause(int64 job_id);

#endif							/* TSA_PAUSE_H */
