/*-------------------------------------------------------------------------
 *
 * batch_lock.h
 *	  Locks that prove that a worker lives.
 *
 * They are heavyweight locks of the advisory kind, in key classes that no SQL
 * function can name; those of workers are session-level ones:
 *
 *	 call lock		shared by the first worker of each batch, in all databases,
 *					until it exits, and before by the session that queues: the
 *					number of such locks with a user's key is that of the
 *					user's calls under way, under all roles that the user took
 *					on.  Not for superusers: they have no limit.
 *	 helper lock	shared by each further worker of a batch, likewise.
 *	 limit lock		exclusive by a session of the user that starts a worker,
 *					from the count on.
 *	 slow lock		exclusive by a worker of a limited user that pauses or
 *					copies slowly: others may get its place
 *					(worker/user_limits.c).
 *	 batch lock		access exclusive by the session that queues, until its
 *					transaction ends, while a worker waits for it already;
 *					then shared by each of the batch's workers until it exits.
 *					To get it exclusively and without waiting proves that no
 *					worker lives, unless one's own transaction has queued the
 *					batch, which the stronger mode tells.
 *	 gate lock		shared by a session that sends a cancel request, exclusive
 *					by the worker while it leaves a job.  A request thus never
 *					reaches the job after the one it was meant for.
 *	 queue lock		exclusive by a session while it looks for moves that would
 *					be in the way of its own and inserts these (queue.c).
 *	 direction lock	shared by a worker, while it moves something from one
 *					tablespace to another one; of all databases alike, and for
 *					each owner of moves another one.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BATCH_LOCK_H
#define TSA_BATCH_LOCK_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "storage/lock.h"

#include "state/lock_class.h"

/* The mode of the session that queues. */
#define TSA_QUEUE_LOCK AccessExclusiveLock

extern void tsa_set_lock_tag(LOCKTAG *tag, TsaLockClass lock_class,
							 int64 batch_id);
extern void tsa_set_user_tag(LOCKTAG *tag, TsaLockClass lock_class,
							 Oid userid, uint32 number);
extern void tsa_set_direction_tag(LOCKTAG *tag, Oid from, Oid to, Oid owner);
extern bool tsa_batch_is_dead(int64 batch_id);
extern bool tsa_is_batch_worker(int64 batch_id, int pid);

/* Calls under way, in all databases, and workers beside the first of each. */
typedef struct TsaCallCount
{
	int			of_user;
	int			of_all;
	int			helpers;
} TsaCallCount;

extern TsaCallCount tsa_count_calls(Oid userid);
extern int	tsa_find_slow_worker(int waiting_ms);
extern bool tsa_role_above_locks(uint32 field1, uint32 field2,
								 TsaLockClass lock_class, LOCKMODE mode,
								 Oid asker);

#endif							/* TSA_BATCH_LOCK_H */
