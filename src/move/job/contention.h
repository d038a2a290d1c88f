/*-------------------------------------------------------------------------
 *
 * contention.h
 *	  Moves that transactions which have not ended are queueing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CONTENTION_H
#define TSA_CONTENTION_H

#include "postgres.h"

#include "nodes/pg_list.h"

extern List *tsa_list_contended(List *moves, TransactionId *xid);

#endif							/* TSA_CONTENTION_H */
