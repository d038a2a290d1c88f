/*-------------------------------------------------------------------------
 *
 * drop_guard.h
 *	  Keeps the extension from being dropped while its journal names files.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DROP_GUARD_H
#define TSA_DROP_GUARD_H

extern void tsa_init_drop_guard(void);

#endif							/* TSA_DROP_GUARD_H */
