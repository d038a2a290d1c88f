/*-------------------------------------------------------------------------
 *
 * copy_state.c
 *	  The states of a live copy; see copy_state.h.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "move/copy/copy_state.h"

#define TO(state) (1U << (state))

/* Which states may follow which. */
static const uint32 next_states[] = {
	[TSA_COPY_PREPARING] = TO(TSA_COPY_COPYING) | TO(TSA_COPY_SUSPENDED),
	[TSA_COPY_COPYING] = TO(TSA_COPY_SWITCHED) | TO(TSA_COPY_REWRITTEN) |
	TO(TSA_COPY_SUSPENDED),
	[TSA_COPY_SWITCHED] = 0,
	[TSA_COPY_REWRITTEN] = TO(TSA_COPY_SUSPENDED),
	[TSA_COPY_SUSPENDED] = 0
};

/* Which session-level locks may be held after which. */
static const uint32 next_locks[] = {
	[TSA_LOCKS_NONE] = TO(TSA_LOCKS_ALL),
	[TSA_LOCKS_ALL] = TO(TSA_LOCKS_NONE) | TO(TSA_LOCKS_ALL_BUT_FIRST),
	[TSA_LOCKS_ALL_BUT_FIRST] = TO(TSA_LOCKS_NONE)
};

/*
 * Goes over to the next state, or stays.
 */
void
tsa_set_copy_state(TsaCopyState *state, TsaCopyState next)
{
	if (next != *state && (next_states[*state] & TO(next)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("unexpected state %d of a live copy after %d",
								 (int) next, (int) *state)));
	*state = next;
}

/*
 * Notes which session-level locks are held from now on.
 */
void
tsa_set_copy_locks(TsaCopyLocks *locks, TsaCopyLocks next)
{
	if ((next_locks[*locks] & TO(next)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("unexpected locks %d of a live copy after %d",
								 (int) next, (int) *locks)));
	*locks = next;
}
