/*-------------------------------------------------------------------------
 *
 * lock_guard.h
 *	  Keeps code of others in a worker from giving the worker's locks back.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOCK_GUARD_H
#define TSA_LOCK_GUARD_H

extern void tsa_guard_locks(void);

#endif							/* TSA_LOCK_GUARD_H */
