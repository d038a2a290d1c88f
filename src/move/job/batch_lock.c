/*-------------------------------------------------------------------------
 *
 * batch_lock.c
 *	  Locks that prove that a worker lives; see batch_lock.h.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/timestamp.h"

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

/* The lock on moving an owner's relations from one tablespace to another. */
void
tsa_set_direction_tag(LOCKTAG *tag, Oid from, Oid to, Oid owner)
{
	SET_LOCKTAG_ADVISORY(*tag, from, to, owner, TSA_LOCK_DIRECTION);
}

/*
 * A lock of a user's.  The number tells those of one database apart.
 */
void
tsa_set_user_tag(LOCKTAG *tag, TsaLockClass lock_class, Oid userid,
				 uint32 number)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, userid, number, lock_class);
}

/*
 * Has a batch no living worker, and will it have none?  If so the lock, kept
 * to the end of the transaction, fixes its rows.  A lock of this process does
 * not conflict when it asks for more, so its own batch is looked for first.
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
 * Is this process, or any if pid is 0, a living worker of the batch?  Only
 * workers have the batch lock in share mode.
 */
bool
tsa_is_batch_worker(int64 batch_id, int pid)
{
	LOCKTAG		tag;

	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	return count_holders(&tag, pid) > 0;
}

/*
 * Counts calls and workers of limited users by their locks.  A call counts
 * once, whether its session, its worker or both have the lock.
 */
TsaCallCount
tsa_count_calls(Oid userid)
{
	LockData   *locks = GetLockStatusData();
	TsaCallCount count = {0};

	for (int i = 0; i < locks->nelements; i++)
	{
		const LOCKTAG *tag = &locks->locks[i].locktag;
		bool		is_first = true;

		if (tag->locktag_type != LOCKTAG_ADVISORY)
			continue;
		count.helpers += tag->locktag_field4 == TSA_LOCK_HELPER;
		if (tag->locktag_field4 != TSA_LOCK_CALL)
			continue;
		for (int j = 0; j < i && is_first; j++)
			is_first = memcmp(&locks->locks[j].locktag, tag, sizeof(*tag)) != 0;
		if (!is_first)
			continue;
		count.of_all++;
		count.of_user += tag->locktag_field2 == userid;
	}
	pfree(locks->locks);
	pfree(locks);
	return count;
}

/* Has a process an advisory lock of this class in this mode? */
static bool
process_holds(const LockData *locks, int pid, TsaLockClass lock_class,
			  LOCKMODE mode)
{
	for (int i = 0; i < locks->nelements; i++)
	{
		const LOCKTAG *tag = &locks->locks[i].locktag;

		if (locks->locks[i].pid == pid &&
			tag->locktag_type == LOCKTAG_ADVISORY &&
			tag->locktag_field4 == lock_class &&
			(locks->locks[i].holdMask & LOCKBIT_ON(mode)) != 0)
			return true;
	}
	return false;
}

/* Has a process waited for a lock for so long? */
static bool
process_waits(const LockData *locks, int pid, int ms)
{
	TimestampTz now = GetCurrentTimestamp();

	for (int i = 0; i < locks->nelements; i++)
		if (locks->locks[i].pid == pid &&
			locks->locks[i].waitLockMode != NoLock &&
			locks->locks[i].waitStart != 0 &&
			TimestampDifferenceExceeds(locks->locks[i].waitStart, now, ms))
			return true;
	return false;
}

/*
 * A worker of a limited user, in any database, that has called itself slow or
 * has waited for a lock for so long; 0 if there is none.
 */
int
tsa_find_slow_worker(int waiting_ms)
{
	LockData   *locks = GetLockStatusData();
	int			found = 0;

	for (int i = 0; i < locks->nelements && found == 0; i++)
	{
		const LOCKTAG *tag = &locks->locks[i].locktag;
		int			pid = locks->locks[i].pid;

		if (tag->locktag_type != LOCKTAG_ADVISORY ||
			(tag->locktag_field4 != TSA_LOCK_CALL &&
			 tag->locktag_field4 != TSA_LOCK_HELPER))
			continue;
		CHECK_FOR_INTERRUPTS();
		/* sessions that call have the first lock, too, but not the second */
		if (process_holds(locks, pid, TSA_LOCK_BATCH, ShareLock) &&
			(process_holds(locks, pid, TSA_LOCK_SLOW, ExclusiveLock) ||
			 process_waits(locks, pid, waiting_ms)))
			found = pid;
	}
	pfree(locks->locks);
	pfree(locks);
	return found;
}

/*
 * Does a process, of others or this one, hold a lock of this class with these
 * keys in the mode, and with a role as third key that has all rights of the
 * asker?  Other roles' locks must not keep the asker from anything.
 */
bool
tsa_role_above_locks(uint32 field1, uint32 field2, TsaLockClass lock_class,
					 LOCKMODE mode, Oid asker)
{
	LockData   *locks = GetLockStatusData();
	bool		found = false;

	for (int i = 0; i < locks->nelements && !found; i++)
	{
		const LOCKTAG *tag = &locks->locks[i].locktag;

		found = tag->locktag_type == LOCKTAG_ADVISORY &&
			tag->locktag_field1 == field1 && tag->locktag_field2 == field2 &&
			tag->locktag_field4 == lock_class &&
			(locks->locks[i].holdMask & LOCKBIT_ON(mode)) != 0 &&
			has_privs_of_role(tag->locktag_field3, asker);
	}
	pfree(locks->locks);
	pfree(locks);
	return found;
}
