/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  The executor's hooks.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_HOOKS_H
#define TSA_WAIT_HOOKS_H

extern void tsa_init_wait_hooks(void);

#endif							/* TSA_WAIT_HOOKS_H */
