/*-------------------------------------------------------------------------
 *
 * wait.h
 *	  Registration of the stage that measures read waits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_H
#define TSA_WAIT_H

extern void tsa_init_waits(void);

#endif							/* TSA_WAIT_H */
