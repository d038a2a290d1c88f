/*-------------------------------------------------------------------------
 *
 * history.h
 *	  The journal of moves in the long run.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOB_HISTORY_H
#define TSA_JOB_HISTORY_H

/* [T] */
extern void tsa_init_job_history(void);
extern void tsa_log_job(int64 job_id);
extern void tsa_prune_jobs(int64 batch_id);
extern void tsa_warn_of_publication(void);

#endif							/* TSA_JOB_HISTORY_H */
