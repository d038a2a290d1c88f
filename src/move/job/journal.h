/*-------------------------------------------------------------------------
 *
 * journal.h
 *	  The journal of moves as this stage's own files see it: statements with
 *	  the journal's rights, locks that prove who lives, queueing, claiming
 *	  and settling.  The engine needs job.h alone.
 *
 * The locks are heavyweight locks of the advisory kind, in key classes that no
 * SQL function can name; those of workers are session-level ones:
 *
 *	 batch lock		access exclusive by the session that queues, until its
 *					transaction ends, while a worker waits for it already;
 *					then shared by each of the batch's workers until it exits.
 *					To get it exclusively and without waiting proves that no
 *					worker lives, unless one's own transaction has queued the
 *					batch, which the stronger mode tells.
 *	 gate lock		shared by a session that sends a cancel request, exclusive
 *					by the worker while it leaves a job.  A request thus never
 *					reaches the job after the one it was meant for.
 *	 heap lock		by the session that queues, until its transaction ends:
 *					shared for a move of an index, exclusive for one of the
 *					table (queue.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOURNAL_H
#define TSA_JOURNAL_H

#include "postgres.h"

#include "executor/spi.h"
#include "nodes/pg_list.h"

#include "move/job/job.h"
#include "move/plan/plan.h"
#include "state/state.h"

#define TSA_MAX_QUERY_ARGS 21

/* The states of a job that has not ended, for statements. */
#define TSA_UNFINISHED "('queued', 'running', 'paused')"

/* A statement on the journal and its plan, saved at first use. */
typedef struct TsaJournalQuery
{
	const char *sql;
	int			nargs;
	Oid			types[TSA_MAX_QUERY_ARGS];
	SPIPlanPtr	plan;
} TsaJournalQuery;

/* What tsa_journal_open() changed. */
typedef TsaState TsaJournal;

extern Oid	tsa_lock_journal(void);
extern void tsa_journal_is_kept(bool kept);
extern void tsa_journal_open(TsaJournal *journal);
extern void tsa_journal_close(TsaJournal *journal);
extern uint64 tsa_journal_run(TsaJournalQuery *query, Datum *values,
							  const char *nulls, bool read_only);
extern uint64 tsa_journal_update(TsaJournalQuery *query, Datum *values,
								 const char *nulls);
extern Datum tsa_journal_value(uint64 row, int col);

extern Datum tsa_oid_array(Datum *elems, int n);
extern const char *tsa_job_state_name(TsaJobState state);

extern void tsa_check_heap_is_free(const TsaMove *move);
extern List *tsa_queue_moves(List *moves, const TsaMoveOptions *options);
extern bool tsa_job_claim(int64 job_id, bool copies_only);
extern bool tsa_job_cancel_queued(int64 job_id);
extern int	tsa_job_worker_pid(int64 job_id);
extern List *tsa_jobs_of_batch(int64 batch_id);
extern List *tsa_open_batches(void);
extern List *tsa_foreign_jobs_with_files(void);
extern List *tsa_open_jobs(int64 batch_id);
extern bool tsa_batch_has_ended(int64 batch_id);

extern void tsa_jobs_prune(void);
extern void tsa_jobs_warn_of_publication(void);

typedef enum TsaLockClass
{
	TSA_LOCK_BATCH = 0x7341,
	TSA_LOCK_GATE = 0x7342,
	TSA_LOCK_HEAP = 0x7343
} TsaLockClass;

/* The mode of the session that queues. */
#define TSA_QUEUE_LOCK AccessExclusiveLock

extern void tsa_batch_lock_tag(LOCKTAG *tag, TsaLockClass lock_class,
							   int64 batch_id);
extern void tsa_jobs_settle_dead(void);
extern bool tsa_job_request_cancel(const TsaJob *job);

#endif							/* TSA_JOURNAL_H */
