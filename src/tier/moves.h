/*-------------------------------------------------------------------------
 *
 * moves.h
 *	  The moves of this database, one row of text each.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TIER_MOVES_H
#define TSA_TIER_MOVES_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "tier/rows.h"

extern void tsa_find_moves(TimestampTz since, TsaRowReceiver receive,
						   void *arg);

#endif							/* TSA_TIER_MOVES_H */
