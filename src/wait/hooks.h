/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  The executor's hooks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_HOOKS_H
#define TSA_WAIT_HOOKS_H

extern void tsa_init_wait_hooks(void);

#endif							/* TSA_WAIT_HOOKS_H */
