/*-------------------------------------------------------------------------
 *
 * prepare_guard.h
 *	  Refuses PREPARE TRANSACTION where locks of the extension are held.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PREPARE_GUARD_H
#define TSA_PREPARE_GUARD_H

/* Advisory locks of all stages are of classes in this range. */
#define TSA_FIRST_LOCK_CLASS	0x7340
#define TSA_LAST_LOCK_CLASS		0x734F

extern void tsa_init_prepare_guard(void);

#endif							/* TSA_PREPARE_GUARD_H */
