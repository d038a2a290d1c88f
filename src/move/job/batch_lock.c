/*-------------------------------------------------------------------------
 *
 * batch_lock.c
 *	  Locks that prove who lives; see batch_lock.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"

#include "compat.h"
#include "move/job/batch_lock.h"

/*
 * The lock of this class on a batch; batches are numbered per database.
 */
void
tsa_set_lock_tag(LOCKTAG *tag, TsaLockClass lock_class, int64 batch_id)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, (uint32) (batch_id >> 32),
						 (uint32) batch_id, lock_class);
}

/* The lock on moving from one tablespace to another one. */
void
tsa_set_direction_tag(LOCKTAG *tag, Oid from, Oid to)
{
	SET_LOCKTAG_ADVISORY(*tag, InvalidOid, from, to, TSA_LOCK_DIRECTION);
}

/*
 * Has a batch no living worker, and will it have none?  If so the lock, kept
 * to the end of the transaction, fixes its rows.  What this process holds is
 * in nobody's way when it asks for more, so its own batch is looked for first.
 */
bool
tsa_batch_is_dead(int64 batch_id)
{
	LOCKTAG		tag;

	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	if (tsa_lock_held_by_me(&tag, TSA_QUEUE_LOCK) ||	/* it waits for us */
		tsa_lock_held_by_me(&tag, ShareLock))	/* we are it */
		return false;
	return LockAcquire(&tag, ExclusiveLock, false, true) !=
		LOCKACQUIRE_NOT_AVAIL;
}

/*
 * The number of processes, but for others than pid if that is not 0, that hold
 * a lock in share mode.
 */
static int
count_holders(const LOCKTAG *tag, int pid)
{
	LockData   *locks = GetLockStatusData();
	int			count = 0;

	for (int i = 0; i < locks->nelements; i++)
		if ((pid == 0 || locks->locks[i].pid == pid) &&
			memcmp(&locks->locks[i].locktag, tag, sizeof(*tag)) == 0 &&
			(locks->locks[i].holdMask & LOCKBIT_ON(ShareLock)) != 0)
			count++;
	pfree(locks->locks);
	pfree(locks);
	return count;
}

/*
 * Is this process a living worker of the batch?  Only workers have the batch
 * lock in share mode.
 */
bool
tsa_is_batch_worker(int64 batch_id, int pid)
{
	LOCKTAG		tag;

	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	return count_holders(&tag, pid) > 0;
}

/*
 * The lock of this class on a role, the same in all databases.
 */
void
tsa_set_role_lock_tag(LOCKTAG *tag, TsaLockClass lock_class, Oid roleid)
{
	SET_LOCKTAG_ADVISORY(*tag, InvalidOid, roleid, 0, lock_class);
}

/*
 * How many batches of a role have a worker, in all databases?
 */
int
tsa_count_role_batches(Oid roleid)
{
	LOCKTAG		tag;

	tsa_set_role_lock_tag(&tag, TSA_LOCK_ROLE, roleid);
	return count_holders(&tag, 0);
}
