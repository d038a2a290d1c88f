/*-------------------------------------------------------------------------
 *
 * job.h
 *	  The journal of moves, tablespace_advisor.job: one row a relation move.
 *
 * Who writes what.  The session that queues a job inserts its row (state
 * "queued").  From then on the row belongs to the one background worker of
 * its batch, which alone moves it to "running" and further; the exceptions
 * are a job that is still queued, which cancel_move() may settle, and a job
 * whose worker is gone, which tsa_jobs_settle_dead() settles.  Both take the
 * row's tuple lock and look at its state again.
 *
 * Who lives.  A worker holds its batch's lock (tsa_batch_lock) from its first
 * moment to its end.  Whoever gets that lock in exclusive mode has proved
 * that no worker of the batch lives and none will start.
 *
 * Every function marked [T] must be called inside a transaction.  It takes
 * and drops a snapshot of its own, reads and writes the journal as the
 * bootstrap superuser in a security-restricted context with search_path
 * "pg_catalog, pg_temp", and restores all three before it returns; after an
 * error, the abort of the transaction does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOB_H
#define TSA_JOB_H

#include "postgres.h"

#include "storage/lock.h"

#include "compat.h"

typedef enum TsaJobState
{
	TSA_JOB_QUEUED,
	TSA_JOB_RUNNING,
	TSA_JOB_PAUSED,
	TSA_JOB_DONE,
	TSA_JOB_FAILED,
	TSA_JOB_CANCELLED
} TsaJobState;

typedef enum TsaMoveMethod
{
	TSA_METHOD_AUTO,
	TSA_METHOD_COPY,			/* live block copy */
	TSA_METHOD_REBUILD,			/* REINDEX CONCURRENTLY */
	TSA_METHOD_CATALOG,			/* no storage: a partitioned index or table */
	TSA_METHOD_LOCK				/* ALTER ... SET TABLESPACE */
} TsaMoveMethod;

/* Neither a bound nor regard for others. */
#define TSA_RATE_UNLIMITED (-1)

/* A job as it was queued, and what a clean-up after a crash needs to know. */
typedef struct TsaJob
{
	int64		job_id;
	int64		batch_id;		/* first job of the CALL */
	Oid			relid;
	Oid			heapid;			/* table of an index; relid for a table */
	char		kind;			/* relkind of relid */
	Oid			source_tablespace;	/* never 0: the database's default by OID */
	Oid			target_tablespace;	/* never 0 */
	Oid			owner;			/* role that asked for the move */
	TsaMoveMethod method_wanted;
	TsaMoveMethod method;
	TsaJobState state;
	int			lock_timeout_ms;
	int64		max_rate;		/* bytes per second, 0: as others allow, or
								 * TSA_RATE_UNLIMITED */

	bool		native;			/* of this server, in which database ever? */
	int			nindexes;		/* of a table's move: these move along */
	Oid		   *indexes;
	Oid		   *indexes_from;	/* their tablespaces when it was queued */

	int			nnew;			/* storage of the copy under way */
	RelFileLocator *new_storage;
	int			nold;			/* storage left behind, to be removed */
	RelFileLocator *old_storage;
} TsaJob;

typedef struct TsaJobProgress
{
	const char *phase;
	int64		bytes_total;
	int64		bytes_done;
	int64		blocks_left;	/* negative: not known */
	double		mb_per_s;		/* negative: not known */
	double		present_mb_per_s;	/* likewise */
	const char *rate_reason;	/* why, or NULL */
	int			passes;
	int			attempts;
	double		paused_ms;		/* time spent in pauses */
	double		lock_wait_ms;	/* longest wait for the exclusive lock */
	double		lock_ms;		/* it was held; 0: not known */
	int64		wal_bytes;		/* written for the job; known at its end */
	bool		keeps_old;		/* the old file can be removed later */
	RelFileLocator old_file;	/* if so */
	int			nblockers;
	int			blockers[8];
} TsaJobProgress;

/*
 * [T] Reads a job, its arrays into the current memory context; false when
 * there is none.
 */
extern bool tsa_job_load(int64 job_id, TsaJob *job);

/* Is the job done, failed or cancelled? */
static inline bool
tsa_job_has_ended(const TsaJob *job)
{
	return job->state == TSA_JOB_DONE || job->state == TSA_JOB_FAILED ||
		job->state == TSA_JOB_CANCELLED;
}

/*
 * [T] The transaction's commit will not wait for its flush.
 */
extern void tsa_commit_lazily(void);

/* [T] Writes progress; call it about once a second at most. */
extern void tsa_job_report(int64 job_id, const TsaJobProgress *p);

/* [T] The job has been paused by request, or goes on. */
extern void tsa_job_note_paused(int64 job_id, bool paused);

/*
 * Has somebody asked to cancel the job that this worker runs?  Costs nothing
 * and needs no transaction.  A request is an interrupt as well, so that
 * CHECK_FOR_INTERRUPTS() throws ERRCODE_QUERY_CANCELED; the worker settles
 * such a job as cancelled.
 */
extern bool tsa_job_cancel_requested(int64 job_id);

/* [T] The indexes that move along with the job's table. */
extern void tsa_job_note_indexes(int64 job_id, const Oid *indexes, int n);

/*
 * [T] In the transaction that creates the new storage: names it.  n = 0:
 * there is none any more.
 */
extern void tsa_job_note_new_storage(int64 job_id,
									 const RelFileLocator *storage, int n);

/*
 * [T] In the cutover's transaction: the new storage is the relations' now and
 * the old one, named here, is to be removed.  phase: "removing old file".
 */
extern void tsa_job_note_switched(int64 job_id,
								  const RelFileLocator *old_storage, int n);

/*
 * [T] Ends a job: state DONE, FAILED or CANCELLED, with the error's SQLSTATE,
 * message and detail if there is one, and the figures of a live copy that is
 * done, or NULL.  Forgets the new storage and, if DONE, the old one, since the
 * caller drops both in this transaction, unless the old one is kept for later.
 * Does nothing to a job that has ended.
 */
extern void tsa_job_settle(int64 job_id, TsaJobState state,
						   const ErrorData *err,
						   const TsaJobProgress *figures);

/* [T] The old storage of these jobs, which are done, is gone. */
extern void tsa_jobs_note_old_removed(const int64 *job_ids, int n);

/*
 * [T] Cancels a queued job that is not to be begun any more, because it would
 * end too late or its relation has grown too large; see conditions.sql.
 */
extern bool tsa_job_give_up(int64 job_id);

/* [T] WAL that the worker has written for the job. */
extern void tsa_job_note_wal(int64 job_id, uint64 bytes);

#endif							/* TSA_JOB_H */
