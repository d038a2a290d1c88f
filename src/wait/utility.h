/*-------------------------------------------------------------------------
 *
 * utility.h
 *	  Reads outside of the executor: utility commands, the planner, and
 *	  processes that do not use it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_UTILITY_H
#define TSA_WAIT_UTILITY_H

extern void tsa_wait_end_transaction(void);
extern void tsa_init_wait_utility(void);

#endif							/* TSA_WAIT_UTILITY_H */
