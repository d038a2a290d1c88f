/*-------------------------------------------------------------------------
 *
 * live_copy.h
 *	  Moves a relation to another tablespace by live block copy.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LIVE_COPY_H
#define TSA_LIVE_COPY_H

#include "postgres.h"

#include "move/job/job.h"

extern void tsa_live_copy_init(void);

/*
 * Can this relation be moved by live copy?  If not, *reason says why in words
 * that can follow "because".  Call in a transaction.
 */
extern bool tsa_live_copy_applies(Oid relid, const char **reason);

/*
 * Moves job->relid to job->target_tablespace.  Called by a worker outside any
 * transaction; returns outside any transaction when the relation has moved
 * and its old file is small enough to be dropped at one go.  Throws an error
 * when it could not be moved; the worker then ends its transaction.  Either
 * way the worker calls tsa_live_copy_drop_leftovers() when it settles the job,
 * and if it has moved writes the figures to the journal.  job->indexes follows
 * indexes that are rebuilt meanwhile.
 */
extern void tsa_live_copy(TsaJob *job, TsaJobProgress *figures);

/*
 * Removes what an ended move left on disk, as the journal names it: the copy
 * that did not become the relation's storage, or the old file of one that
 * did.  Call in a transaction, when no worker of the job lives or the worker
 * is the caller; the files go when the transaction commits.  Returns true if
 * the relation had moved.
 */
extern bool tsa_live_copy_drop_leftovers(const TsaJob *job);

/*
 * Warns of files that the job of another server names and that are here.
 */
extern void tsa_live_copy_warn_of_leftovers(const TsaJob *job);

/*
 * The same for the files of this process's present move, and for those that it
 * has kept, when the journal is gone.
 */
extern void tsa_live_copy_drop_unnamed(void);

/* pending_drops.c */
extern bool tsa_old_files_have_room(void);
extern void tsa_old_file_keep(int64 job_id, RelFileLocator file);
extern void tsa_old_files_drop(void);
extern void tsa_old_files_remove(bool all);

#endif							/* TSA_LIVE_COPY_H */
