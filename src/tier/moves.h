/*-------------------------------------------------------------------------
 *
 * moves.h
 *	  The moves of this database, one row of text each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TIER_MOVES_H
#define TSA_TIER_MOVES_H

#include "postgres.h"

#include "datatype/timestamp.h"

#include "tier/relations.h"

/* Columns of tablespace_advisor.moves_of(). */
#define TSA_MOVE_ROW_COLUMNS 18

extern void tsa_find_moves(TimestampTz since, TsaRowReceiver receive,
						   void *arg);

#endif							/* TSA_TIER_MOVES_H */
