/*-------------------------------------------------------------------------
 *
 * assume_tablespace.h
 *	  Advice as if there were other tablespaces.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ASSUME_TABLESPACE_H
#define TSA_ASSUME_TABLESPACE_H

extern void tsa_forget_tablespaces(void);

#endif							/* TSA_ASSUME_TABLESPACE_H */
