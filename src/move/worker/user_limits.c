/*-------------------------------------------------------------------------
 *
 * user_limits.c
 *	  How many workers move relations for users without superuser rights.
 *
 * Parallel queries, replication and superusers' moves need slots, too, and a
 * move that pauses keeps its own.  So each of these users has a limit, and all
 * of them together have one, the last place of which is for a user without
 * any.  A user is the role that has logged in: roles that the user may take on
 * do not count apart.
 *
 * A role with CREATEROLE has as many users as it likes, and these may move at
 * a rate of 1 kB/s, pause, or wait for a lock of their own.  So nobody keeps a
 * place for long without using it: if all places are taken, a user without any
 * gets one of a worker that has been slow for max_slow_time.  A copy counts
 * its bytes, over all jobs of its batch, and shows by a lock that it is slow
 * (TSA_LOCK_SLOW).  A rebuild cannot be slow by request, but waits for locks,
 * which the lock manager knows the beginning of.  The worker is terminated,
 * which interrupts its present job; that job and the queued ones wait, since a
 * takeover leaves the last place free.  No names or numbers of roles, which
 * attackers choose, and no owner or creator of one, which they can drop, have
 * a part in it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/guc.h"

#include "move/common/session.h"
#include "move/common/sleep.h"
#include "move/job/batch_lock.h"
#include "move/job/waiting.h"
#include "move/worker/user_limits.h"

/* tablespace_advisor.max_calls_per_role */
static int	max_calls_per_role = 4;

/* tablespace_advisor.max_user_workers */
static int	max_user_workers = -1;

/* tablespace_advisor.max_slow_time, seconds */
static int	max_slow_time = 3600;

/* A worker that copies less per second is slow. */
#define SLOW_BYTES	(1024.0 * 1024)

/* How long a worker that is terminated is waited for. */
#define DISPLACE_MS		10000
#define DISPLACE_LOOK_MS	20

/*
 * Registers the configuration parameters.
 */
void
tsa_init_user_limits(void)
{
	DefineCustomIntVariable("tablespace_advisor.max_calls_per_role",
							"Sets how many calls of one user may have moves that have not ended.",
							"In all databases of the server, whichever roles the user takes on. Each has a worker slot, also while its move pauses. 0 means no limit; there is none for superusers.",
							&max_calls_per_role, 4, 0, 1000,
							PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("tablespace_advisor.max_user_workers",
							"Sets how many workers may move relations for users who are not superusers.",
							"In all databases of the server. A user who has a call under way leaves the last one to others. -1 means half of max_worker_processes.",
							&max_user_workers, -1, -1, 1000,
							PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("tablespace_advisor.max_slow_time",
							"Sets how long a move of a user who is not a superuser may pause, wait for a lock or copy less than 1 MB/s if others need its worker.",
							"After that a user who has no worker gets its worker if none is left. 0 means no limit.",
							&max_slow_time, 3600, 0, INT_MAX / 1000,
							PGC_SUSET, GUC_UNIT_S, NULL, NULL, NULL);
}

/*
 * The user that a call counts for: the one that has logged in; InvalidOid,
 * nobody, if that or the role at the call is a superuser.
 */
Oid
tsa_limited_user(Oid user, Oid role)
{
	return superuser_arg(role) || superuser_arg(user) ? InvalidOid : user;
}

/* Workers for all users but superusers. */
static int
places_of_users(void)
{
	return max_user_workers >= 0 ? max_user_workers :
		Max(max_worker_processes / 2, 1);
}

/*
 * Refuses a user with too many calls under way, or waiting for their time
 * windows, or if there is no place left for the user.
 */
static void
check_limits(Oid user, const TsaCallCount *count, int nwaiting)
{
	int			workers = count->of_all + count->helpers;
	int			places = places_of_users();

	if (max_calls_per_role > 0 &&
		count->of_user + nwaiting >= max_calls_per_role)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many moves for role \"%s\"",
						GetUserNameFromId(user, false)),
				 errdetail("The limit is %d calls at a time.",
						   max_calls_per_role),
				 errhint("Wait until one has ended, or move several relations by one call; a superuser can raise \"tablespace_advisor.max_calls_per_role\".")));
	if (workers >= places - (count->of_user > 0 ? 1 : 0))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many moves on this server"),
				 errdetail("Users who are not superusers have %d workers under way; the limit is %d, the last place is for a user without any.",
						   workers, places),
				 errhint("Wait until a move has ended; a superuser can raise \"tablespace_advisor.max_user_workers\".")));
}

/* Are all places taken? */
static bool
all_are_taken(void)
{
	TsaCallCount count = tsa_count_calls(InvalidOid);

	return count.of_all + count.helpers >= places_of_users();
}

/*
 * For a user without a place, if all are taken: ends a worker that has been
 * slow for long, if there is one, and waits until it has ended.
 */
static void
displace_slow_worker(void)
{
	int			pid;

	if (max_slow_time == 0 || !all_are_taken())
		return;
	pid = tsa_find_slow_worker(max_slow_time * 1000);
	if (pid == 0 || kill(pid, SIGTERM) != 0)
		return;
	ereport(LOG,
			(errmsg("terminated the worker of a move with PID %d for a user who has none",
					pid),
			 errdetail("It has paused, waited for a lock or copied less than 1 MB per second for %d s.",
					   max_slow_time)));
	for (int ms = 0; ms < DISPLACE_MS && all_are_taken();
		 ms += DISPLACE_LOOK_MS)
		tsa_sleep(DISPLACE_LOOK_MS);
}

/*
 * Takes a place for a call of the present user, until the transaction ends;
 * the worker has taken it over by then.  Returns the user, or InvalidOid for
 * one without a limit.  Calls are counted in all databases, by the locks of
 * the living.  The user's other sessions wait meanwhile; two users that both
 * take the last place at the same moment are both refused.
 */
Oid
tsa_take_user_place(int64 batch_id)
{
	Oid			user = tsa_limited_user(GetSessionUserId(), GetUserId());
	LOCKTAG		limit;
	LOCKTAG		call;
	TsaCallCount count;
	int			nwaiting;

	if (!OidIsValid(user))
		return InvalidOid;
	SET_LOCKTAG_ADVISORY(limit, InvalidOid, user, 0, TSA_LOCK_LIMIT);
	(void) LockAcquire(&limit, ExclusiveLock, false, false);
	count = tsa_count_calls(user);
	if (count.of_user == 0)
		displace_slow_worker();
	count = tsa_count_calls(user);
	nwaiting = tsa_count_waiting_calls(user, batch_id);
	check_limits(user, &count, nwaiting);
	tsa_set_user_tag(&call, TSA_LOCK_CALL, user, (uint32) batch_id);
	(void) LockAcquire(&call, ShareLock, false, false);
	count = tsa_count_calls(user);
	count.of_all--;
	count.of_user--;
	check_limits(user, &count, nwaiting);
	(void) LockRelease(&limit, ExclusiveLock, false);
	return user;
}

/*
 * Takes a place again for a call of that user after its worker has died, until
 * the transaction ends.  False if there is none, or only the last of several:
 * others may have ended the worker to get it.  Nobody has a limit if user is
 * InvalidOid.
 */
bool
tsa_try_user_place(Oid user, int64 batch_id)
{
	LOCKTAG		call;
	TsaCallCount count;

	if (!OidIsValid(user))
		return true;
	count = tsa_count_calls(user);
	if (count.of_all + count.helpers >= Max(places_of_users() - 1, 1))
		return false;
	tsa_set_user_tag(&call, TSA_LOCK_CALL, user, (uint32) batch_id);
	(void) LockAcquire(&call, ShareLock, false, false);
	return true;
}

/*
 * How many of these further workers may help the first one of a call for which
 * tsa_take_user_place() has returned this?
 */
int
tsa_cap_helpers(Oid user, int helpers)
{
	if (OidIsValid(user))
	{
		TsaCallCount count = tsa_count_calls(user);

		helpers = Min(helpers, places_of_users() - 1 -
					  count.of_all - count.helpers);
	}
	return helpers;
}

/*
 * A worker begins; user is InvalidOid if it has no limit.
 */
void
tsa_begin_user_place(TsaUserPlace *place, Oid user)
{
	memset(place, 0, sizeof(*place));
	place->user = user;
	INSTR_TIME_SET_CURRENT(place->since);
}

/* Shows others that the worker is slow, or that it is not any more. */
static void
show_slowness(TsaUserPlace *place, bool is_slow)
{
	MemoryContext context = CurrentMemoryContext;
	bool		begins = !IsTransactionState();
	LOCKTAG		tag;

	tsa_set_user_tag(&tag, TSA_LOCK_SLOW, place->user, (uint32) MyProcPid);
	if (begins)
		tsa_begin();
	if (is_slow)
		(void) LockAcquire(&tag, ExclusiveLock, true, false);
	else
		(void) LockRelease(&tag, ExclusiveLock, true);
	if (begins)
		CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	place->is_slow = is_slow;
}

/*
 * A worker's copy is so far, in its present job: looks whether it is slow.
 */
void
tsa_watch_user_place(TsaUserPlace *place, int64 bytes_done)
{
	instr_time	time;
	double		seconds;
	bool		is_slow;

	if (!OidIsValid(place->user) || max_slow_time == 0)
		return;
	place->bytes += Max(bytes_done - place->last_done, 0);
	place->last_done = bytes_done;
	INSTR_TIME_SET_CURRENT(time);
	INSTR_TIME_SUBTRACT(time, place->since);
	seconds = INSTR_TIME_GET_DOUBLE(time);
	if (seconds < max_slow_time)
		return;
	is_slow = (double) place->bytes < seconds * SLOW_BYTES;
	if (is_slow != place->is_slow)
		show_slowness(place, is_slow);
	INSTR_TIME_SET_CURRENT(place->since);
	place->bytes = 0;
}
