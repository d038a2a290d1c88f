/*-------------------------------------------------------------------------
 *
 * copy_state.h
 *	  The states of a live copy, and its locks in each.
 *
 *		PREPARING --> COPYING --> SWITCHED
 *					  COPYING --> REWRITTEN
 *		PREPARING, COPYING, REWRITTEN --> SUSPENDED
 *
 * A copy that is REWRITTEN is given up, and another one is begun.  One that is
 * SUSPENDED, as its time window has closed, is kept for another process, which
 * compares what is there: so what has been truncated makes no difference.
 *
 * Session-level locks: none while PREPARING; then all of them but for the
 * moments in which the copy yields to waiters (none) or asks for the
 * exclusive lock on a table (all but the table's).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COPY_STATE_H
#define TSA_COPY_STATE_H

#include "postgres.h"

typedef enum TsaCopyState
{
	TSA_COPY_PREPARING,			/* relations to be copied are being found out */
	TSA_COPY_COPYING,			/* up to the switch */
	TSA_COPY_SWITCHED,			/* the copy is the relations' storage */
	TSA_COPY_REWRITTEN,			/* of no use: a source has been rewritten or
								 * truncated */
	TSA_COPY_SUSPENDED			/* to be gone on with later */
} TsaCopyState;

typedef enum TsaCopyLocks
{
	TSA_LOCKS_NONE,
	TSA_LOCKS_ALL,
	TSA_LOCKS_ALL_BUT_FIRST
} TsaCopyLocks;

extern void tsa_set_copy_state(TsaCopyState *state, TsaCopyState next);
extern void tsa_set_copy_locks(TsaCopyLocks *locks, TsaCopyLocks next);

#endif							/* TSA_COPY_STATE_H */
