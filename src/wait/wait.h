/*-------------------------------------------------------------------------
 *
 * wait.h
 *	  Registration of the stage that measures read waits.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_H
#define TSA_WAIT_H

extern void tsa_init_waits(void);

#endif							/* TSA_WAIT_H */
