/*-------------------------------------------------------------------------
 *
 * advice.h
 *	  Lets the advice choose the moves of a call and their targets.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PLAN_ADVICE_H
#define TSA_PLAN_ADVICE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "move/job/planned_move.h"

extern List *tsa_restrict_to_advice(List *moves,
									const TsaMoveOptions *options);
extern void tsa_note_forecasts(List *moves, const TsaMoveOptions *options);

#endif							/* TSA_PLAN_ADVICE_H */
