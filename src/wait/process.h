/*-------------------------------------------------------------------------
 *
 * process.h
 *	  Reads of processes that call no hooks.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_PROCESS_H
#define TSA_WAIT_PROCESS_H

extern void tsa_wait_before_commit(void);
extern void tsa_wait_end_transaction(void);

#endif							/* TSA_WAIT_PROCESS_H */
