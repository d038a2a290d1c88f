/*-------------------------------------------------------------------------
 *
 * prepare_guard.h
 *	  Refuses PREPARE TRANSACTION where locks of the extension are held.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PREPARE_GUARD_H
#define TSA_PREPARE_GUARD_H

extern void tsa_init_prepare_guard(void);
extern void tsa_refuse_prepare(void);

#endif							/* TSA_PREPARE_GUARD_H */
