/*-------------------------------------------------------------------------
 *
 * batch_lock.h
 *	  Locks that prove who lives.
 *
 * They are heavyweight locks of the advisory kind, in key classes that no SQL
 * function can name; those of workers are session-level ones:
 *
 *	 role lock		shared by the first worker of each batch of a role, in all
 *					databases, until it exits: their number is that of the
 *					role's batches.
 *	 limit lock		exclusive by a session of the role that starts a worker,
 *					from the count until the worker has the role lock.
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
 *	 direction lock	shared by a worker, from its first move from one tablespace
 *					to another one until it exits; of all databases alike.  To
 *					get it exclusively, for a moment, proves that nobody moves
 *					that way.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BATCH_LOCK_H
#define TSA_BATCH_LOCK_H

#include "postgres.h"

#include "storage/lock.h"

typedef enum TsaLockClass
{
	TSA_LOCK_ROLE = 0x7344,
	TSA_LOCK_LIMIT = 0x7345,
	TSA_LOCK_BATCH = 0x7341,
	TSA_LOCK_GATE = 0x7342,
	TSA_LOCK_QUEUE = 0x7343,
	TSA_LOCK_DIRECTION = 0x7347
} TsaLockClass;

/* The mode of the session that queues. */
#define TSA_QUEUE_LOCK AccessExclusiveLock

extern void tsa_set_lock_tag(LOCKTAG *tag, TsaLockClass lock_class,
							 int64 batch_id);
extern void tsa_set_direction_tag(LOCKTAG *tag, Oid from, Oid to);
extern bool tsa_batch_is_dead(int64 batch_id);
extern bool tsa_is_batch_worker(int64 batch_id, int pid);
extern void tsa_set_role_lock_tag(LOCKTAG *tag, TsaLockClass lock_class,
								  Oid roleid);
extern int	tsa_count_role_batches(Oid roleid);

#endif							/* TSA_BATCH_LOCK_H */
