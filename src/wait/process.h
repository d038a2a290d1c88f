/*-------------------------------------------------------------------------
 *
 * process.h
 *	  Reads of processes that call no hooks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_PROCESS_H
#define TSA_WAIT_PROCESS_H

extern void tsa_wait_before_commit(void);
extern void tsa_wait_end_transaction(void);

#endif							/* TSA_WAIT_PROCESS_H */
