/*-------------------------------------------------------------------------
 *
 * uncommitted.h
 *	  Moves that transactions which have not ended are queueing.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_UNCOMMITTED_H
#define TSA_UNCOMMITTED_H

#include "postgres.h"

#include "nodes/pg_list.h"

extern List *tsa_list_contended(List *moves, TransactionId *xid);

#endif							/* TSA_UNCOMMITTED_H */
