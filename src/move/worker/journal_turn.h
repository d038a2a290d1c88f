/*-------------------------------------------------------------------------
 *
 * journal_turn.h
 *	  Moves of the tables that every worker keeps locked, one at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOURNAL_TURN_H
#define TSA_JOURNAL_TURN_H

#include "postgres.h"

#include "move/job/job.h"
#include "move/worker/worker.h"

extern void tsa_take_journal_turn(TsaWorker *worker, const TsaJob *job);
extern void tsa_end_journal_turn(void);

#endif							/* TSA_JOURNAL_TURN_H */
