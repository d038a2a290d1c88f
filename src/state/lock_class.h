/*-------------------------------------------------------------------------
 *
 * lock_class.h
 *	  Key classes of the extension's advisory locks.
 *
 * No SQL function can name them.  Each one's purpose stands where it is taken.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOCK_CLASS_H
#define TSA_LOCK_CLASS_H

typedef enum TsaLockClass
{
	TSA_LOCK_BATCH = 0x7341,	/* move/job/batch_lock.h */
	TSA_LOCK_GATE,
	TSA_LOCK_QUEUE,
	TSA_LOCK_COPY,				/* move/copy/contention.c: all copies, */
	TSA_LOCK_COPY_OF_CALL,		/* those of one call */
	TSA_LOCK_EVACUATION,		/* tier/evacuate.c */
	TSA_LOCK_DIRECTION,			/* move/job/batch_lock.h */
	TSA_LOCK_CALL,
	TSA_LOCK_HELPER,
	TSA_LOCK_LIMIT,
	TSA_LOCK_SLOW,
	TSA_LOCK_ROUND,				/* apply/apply.c */
	TSA_LOCK_JOURNAL_TURN,		/* move/worker/journal_turn.c */
	TSA_LOCK_LOOK				/* tier/look.c */
} TsaLockClass;

#define TSA_FIRST_LOCK_CLASS	TSA_LOCK_BATCH
#define TSA_LAST_LOCK_CLASS		TSA_LOCK_LOOK

#endif							/* TSA_LOCK_CLASS_H */
