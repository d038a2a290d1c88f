/*-------------------------------------------------------------------------
 *
 * utility.h
 *	  Reads outside of the executor: utility commands and the planner.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_UTILITY_H
#define TSA_WAIT_UTILITY_H

extern void tsa_command_before_commit(void);
extern void tsa_init_wait_utility(void);

#endif							/* TSA_WAIT_UTILITY_H */
