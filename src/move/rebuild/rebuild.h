/*-------------------------------------------------------------------------
 *
 * rebuild.h
 *	  Method rebuild: REINDEX CONCURRENTLY into the other tablespace; and
 *	  the names of what may have been dropped, which throw.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_REBUILD_H
#define TSA_REBUILD_H

#include "postgres.h"

#include "storage/lock.h"

#include "move/job/job.h"

/* Session-level locks of a rebuild; after an error, tsa_abort() frees them. */
typedef struct IndexLock
{
	LockRelId	heap;
	LockRelId	index;
} IndexLock;

extern const char *tsa_tablespace_name(Oid tablespace);
extern const char *tsa_relation_name(Oid relid);
extern void tsa_rebuild(const TsaJob *job);
extern bool tsa_rebuild_follow(int64 job_id);
extern void tsa_set_tablespace(const TsaJob *job);
extern void tsa_lock_index(Oid heapid, Oid relid, IndexLock *lock);
extern void tsa_unlock_index(IndexLock *lock);

/* transient_index.c */
extern void tsa_drop_leftovers(void);

#endif							/* TSA_REBUILD_H */
