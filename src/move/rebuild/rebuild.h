/*-------------------------------------------------------------------------
 *
 * rebuild.h
 *	  Method rebuild: REINDEX CONCURRENTLY into the other tablespace.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_REBUILD_H
#define TSA_REBUILD_H

#include "postgres.h"

#include "storage/lock.h"

#include "move/common/session.h"
#include "move/job/job.h"

/* Session-level locks of a rebuild; after an error, tsa_abort() frees them. */
typedef struct TsaIndexLock
{
	LockRelId	heap;
	LockRelId	index;
} TsaIndexLock;

extern void tsa_rebuild(const TsaSession *session, const TsaJob *job);
extern bool tsa_follow_rebuild(int64 job_id);
extern void tsa_set_tablespace(TsaSession *session, const TsaJob *job);
extern void tsa_lock_index(Oid heapid, Oid relid, TsaIndexLock *lock);
extern void tsa_unlock_index(TsaIndexLock *lock);

#endif							/* TSA_REBUILD_H */
