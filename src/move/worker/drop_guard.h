/*-------------------------------------------------------------------------
 *
 * drop_guard.h
 *	  Keeps the extension from being dropped while its journal names files.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DROP_GUARD_H
#define TSA_DROP_GUARD_H

extern void tsa_init_drop_guard(void);

#endif							/* TSA_DROP_GUARD_H */
