/*-------------------------------------------------------------------------
 *
 * cancel.h
 *	  Requests to cancel a job.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CANCEL_H
#define TSA_CANCEL_H

#include "postgres.h"

#include "move/job/job.h"

extern bool tsa_cancel_job(const TsaJob *job);

#endif							/* TSA_CANCEL_H */
