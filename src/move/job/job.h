/*-------------------------------------------------------------------------
 *
 * job.h
 *	  The journal of moves, tablespace_advisor.job: one row a relation move.
 *
 * Writers.  The session that queues a job inserts its row (state "queued").
 * From then on the row belongs to the one background worker of its batch,
 * which alone moves it to "running" and further; the exceptions are a job that
 * is still queued, which cancel_move() may end, and a job without its worker,
 * which tsa_recover_jobs() ends.  Both take the row's tuple lock and look at
 * its state again.  Jobs that a dead worker leaves queued are for the next
 * worker of the batch, which tsa_take_over_batch() starts.
 *
 * Signs of life.  A worker holds its batch's lock (batch_lock.h) from its
 * first moment to its end.  A process that gets that lock in exclusive mode
 * has proved that no worker of the batch lives and none will start.
 *
 * Every function marked [T] must be called inside a transaction.  It takes
 * and drops a snapshot of its own, reads and writes the journal as the
 * bootstrap superuser in a security-restricted context with search_path
 * "pg_catalog, pg_temp", and restores all three before it returns; after an
 * error, the abort of the transaction does.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOB_H
#define TSA_JOB_H

#include "postgres.h"

#include "compat.h"
#include "move/common/kept_copy.h"
#include "move/common/limits.h"
#include "move/common/lsn_ranges.h"
#include "move/common/progress.h"

typedef enum TsaJobState
{
	TSA_JOB_QUEUED,
	TSA_JOB_RUNNING,
	TSA_JOB_PAUSED,
	TSA_JOB_INTERRUPTED,		/* no worker has it, its copy is kept */
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

/* A job as it was queued, and the data for a clean-up after a crash. */
typedef struct TsaJob
{
	int64		job_id;
	int64		batch_id;		/* first job of the CALL */
	Oid			relid;
	Oid			heapid;			/* table of an index; relid for a table */
	char		kind;			/* relkind of relid */
	Oid			source_tablespace;	/* never 0: the database's default by OID */
	Oid			target_tablespace;	/* never 0 */
	NameData	source_name;	/* of these, when it was queued */
	NameData	target_name;
	Oid			owner;			/* role that asked for the move */
	TsaMoveMethod method_wanted;
	TsaMoveMethod method;
	TsaJobState state;
	int			lock_timeout_ms;
	TsaLimits	limits;			/* as they are now */
	int64		lock_up_to;		/* method lock: bytes; negative: any size */
	int			takeovers;		/* by workers that were to begin it */

	bool		native;			/* of this server, in which database ever? */
	int			nindexes;		/* of a table's move: these move along */
	Oid		   *indexes;
	Oid		   *indexes_from;	/* their tablespaces when it was queued */
	NameData   *index_names;	/* their names then; empty: not known */

	int			interruptions;
	bool		has_expired;	/* it was interrupted long ago */
	bool		is_stuck;		/* it is interrupted again and again */

	int			nnew;			/* storage of the copy under way */
	RelFileLocator *new_storage;
	int			nkept;			/* the same, if it can be gone on with */
	TsaKeptCopy *kept;
	TsaLsnRanges kept_lsns;		/* of its last mark */
	int64		kept_compared;	/* likewise */
	int			nold;			/* storage left behind, to be removed */
	RelFileLocator *old_storage;
} TsaJob;

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
 * [T] Writes the figures of a copy that has not done its job.  While it is
 * under way they are in shared memory (live_progress.h).
 */
extern void tsa_job_note_figures(int64 job_id, const TsaMoveProgress *p);

/* [T] The job has been paused by request, or goes on. */
extern void tsa_job_note_paused(int64 job_id, bool paused);

/* [T] The indexes that move along with the job's table. */
extern void tsa_job_note_indexes(int64 job_id, const Oid *indexes, int n);

/*
 * [T] In the transaction that creates the new storage: names it.  n = 0: there
 * is none any more.  lsns, compared: of the mark for kept blocks; NULL for
 * none.  Throws if the job has been ended.
 */
extern void tsa_job_note_new_storage(int64 job_id, const TsaKeptCopy *made,
									 int n, const TsaLsnRanges *lsns,
									 int64 compared);

/*
 * [T] The worker of a running job is gone, or leaves it as its time window has
 * closed: it is to be gone on with by another one, or to be begun again, if no
 * copy is kept.
 */
extern void tsa_job_note_interrupted(int64 job_id, bool keeps_copy,
									 bool by_window);

/*
 * [T] Locks the job's row and plans tsa_job_note_switched(), so that this does
 * not wait in this transaction, and is quick.  Throws if the job has been
 * ended.
 */
extern void tsa_job_lock(int64 job_id);

/*
 * [T] In the cutover's transaction: the new storage is the relations' now and
 * the old one, named here, is to be removed.  phase: "removing old file".
 * Throws if the job has been ended, and its copy removed with it.
 */
extern void tsa_job_note_switched(int64 job_id,
								  const RelFileLocator *old_storage, int n);

/*
 * SQLSTATE of a job if its table was dropped before its end, as by retention.
 */
#define TSA_TABLE_DROPPED "TA001"

/* How a job ends. */
typedef struct TsaJobEnd
{
	TsaJobState state;			/* DONE, FAILED or CANCELLED */
	const ErrorData *err;		/* or NULL */
	const TsaMoveProgress *figures; /* of a live copy that is done, or NULL */
	int64		wal_bytes;		/* that it wrote; counts with figures only */
	bool		keeps_files;	/* its files are removed later */
	bool		table_dropped;	/* FAILED since there is no such table any
								 * more */
} TsaJobEnd;

/*
 * [T] Ends a job.  Forgets the new storage and, if DONE, the old one, since the
 * caller drops both in this transaction, unless they are kept for later.
 * Does nothing to a job that has ended.
 */
extern void tsa_finish_job(int64 job_id, const TsaJobEnd *end);

/* [T] The storage that these jobs, which have ended, still name is gone. */
extern void tsa_jobs_note_removed(const int64 *job_ids, int n);

/*
 * [T] Cancels a queued job that is not to be begun any more, because it would
 * end too late or its relation has grown too large; see conditions.sql.
 */
extern bool tsa_give_up_job(int64 job_id);

/* [T] WAL that the worker has written for the job. */
extern void tsa_job_note_wal(int64 job_id, uint64 bytes);

extern const char *tsa_job_state_name(TsaJobState state);
extern const char *tsa_move_method_name(TsaMoveMethod method);
extern bool tsa_move_method_by_name(const char *name, TsaMoveMethod *method);
extern Datum tsa_oid_array(Datum *elems, int n);
extern Datum tsa_int4_array(const int *numbers, int n);

#endif							/* TSA_JOB_H */
