/*-------------------------------------------------------------------------
 *
 * queue.h
 *	  How jobs get into the journal, and from there to a worker.
 *
 * All of this is to be called inside a transaction.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_QUEUE_H
#define TSA_QUEUE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "move/job/planned_move.h"

extern void tsa_check_heap_is_free(const TsaMove *move);
extern List *tsa_queue_moves(List *moves, const TsaMoveOptions *options);
extern int	tsa_count_copies(const List *moves);
extern bool tsa_claim_job(int64 job_id, bool copies_only,
						  int64 progress_handle);
extern bool tsa_cancel_queued_job(int64 job_id);
extern int	tsa_find_job_worker(int64 job_id);
extern List *tsa_list_batch_jobs(int64 batch_id);
extern List *tsa_list_open_batches(bool with_waiting);
extern bool tsa_has_foreign_jobs(void);
extern List *tsa_list_foreign_jobs(void);
extern List *tsa_lock_open_jobs(int64 batch_id);
extern bool tsa_batch_has_ended(int64 batch_id);
extern void tsa_keep_forecast(int64 job_id, int64 new_id);

#endif							/* TSA_QUEUE_H */
