/*-------------------------------------------------------------------------
 *
 * user_limits.c
 *	  How many workers move relations for users who are not superusers.
 *
 * Parallel queries, replication and superusers' moves need slots, too, and a
 * move that pauses keeps its own.  So each of these users has a limit, and all
 * of them together have one, the last place of which is for somebody who has
 * none.  A user is who has logged in: roles that the user may take on do not
 * count apart.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/guc.h"

#include "move/job/batch_lock.h"
#include "move/worker/user_limits.h"

/* tablespace_advisor.max_calls_per_role */
static int	max_calls_per_role = 4;

/* tablespace_advisor.max_user_workers */
static int	max_user_workers = -1;

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
}

/*
 * Whose call counts: the user who has logged in; nobody's, InvalidOid, if that
 * or the role at the call is a superuser.
 */
Oid
tsa_limited_user(Oid user, Oid role)
{
	return superuser_arg(role) || superuser_arg(user) ? InvalidOid : user;
}

/* Workers for all who are not superusers. */
static int
places_of_users(void)
{
	return max_user_workers >= 0 ? max_user_workers :
		Max(max_worker_processes / 2, 1);
}

/*
 * Refuses a user who has too many calls under way, or one for whom there is no
 * place left.
 */
static void
check_limits(Oid user, const TsaCallCount *count)
{
	int			workers = count->of_all + count->helpers;
	int			places = places_of_users();

	if (max_calls_per_role > 0 && count->of_user >= max_calls_per_role)
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

/*
 * Takes a place for a call of the present user, until the transaction ends;
 * the worker has taken it over by then.  Returns the user, or InvalidOid for
 * one without a limit.  Calls are counted in all databases, by the locks of
 * the living.  The user's other sessions wait meanwhile; two users who both
 * take the last place at the same moment are both refused.
 */
Oid
tsa_take_user_place(int64 batch_id)
{
	Oid			user = tsa_limited_user(GetSessionUserId(), GetUserId());
	LOCKTAG		limit;
	LOCKTAG		call;
	TsaCallCount count;

	if (!OidIsValid(user))
		return InvalidOid;
	SET_LOCKTAG_ADVISORY(limit, InvalidOid, user, 0, TSA_LOCK_LIMIT);
	(void) LockAcquire(&limit, ExclusiveLock, false, false);
	count = tsa_count_calls(user);
	check_limits(user, &count);
	tsa_set_user_tag(&call, TSA_LOCK_CALL, user, (uint32) batch_id);
	(void) LockAcquire(&call, ShareLock, false, false);
	count = tsa_count_calls(user);
	count.of_all--;
	count.of_user--;
	check_limits(user, &count);
	(void) LockRelease(&limit, ExclusiveLock, false);
	return user;
}

/*
 * Takes a place for a call of that user again, whose worker has died, until the
 * transaction ends.  False if there is none.  Nobody has a limit if user is
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
	if (count.of_all + count.helpers >= places_of_users())
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
