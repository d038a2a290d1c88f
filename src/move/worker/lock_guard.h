/*-------------------------------------------------------------------------
 *
 * lock_guard.h
 *	  Keeps code of others in a worker from giving the worker's locks back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOCK_GUARD_H
#define TSA_LOCK_GUARD_H

extern void tsa_guard_locks(void);

#endif							/* TSA_LOCK_GUARD_H */
