/*-------------------------------------------------------------------------
 *
 * journal_turn.h
 *	  Moves of the tables that every worker keeps locked, one at a time.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOURNAL_TURN_H
#define TSA_JOURNAL_TURN_H

#include "postgres.h"

#include "move/common/session.h"
#include "move/job/job.h"
#include "move/job/live_progress.h"
#include "move/worker/pending_drops.h"

extern void tsa_take_journal_turn(TsaSession *session, const TsaJob *job,
								  TsaPendingDrops *drops,
								  TsaLiveProgress *live);
extern void tsa_end_journal_turn(void);

#endif							/* TSA_JOURNAL_TURN_H */
