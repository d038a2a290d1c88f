/*-------------------------------------------------------------------------
 *
 * request.h
 *	  Requests to a job that is queued or under way: to pause, other limits.
 *	  All of this in a transaction.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_REQUEST_H
#define TSA_REQUEST_H

#include "postgres.h"

#include "move/common/limits.h"

/* Has somebody called pause_move()? */
extern bool tsa_pause_is_requested(int64 job_id);

/* True if the request was not there, or not gone, before. */
extern bool tsa_request_pause(int64 job_id);
extern bool tsa_withdraw_pause(int64 job_id);

/* Milliseconds that the owner's moves waited for locks lately; 0: not known. */
extern double tsa_recent_waits_ms(Oid owner);

/* From now on the job has these limits. */
extern void tsa_request_limits(int64 job_id, const TsaLimits *limits);

/*
 * The limits of a job, and the bytes left of the other moves of its call; 0 if
 * the job need not end by some time.
 */
extern void tsa_read_limits(int64 job_id, TsaLimits *limits,
							int64 *others_left);

#endif							/* TSA_REQUEST_H */
