/*-------------------------------------------------------------------------
 *
 * relations.h
 *	  Which relation was read: by this session's own counters.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_RELATIONS_H
#define TSA_WAIT_RELATIONS_H

#include "compat.h"
#include "wait/frame.h"

extern TsaWaitCounters tsa_wait_counters(void);
extern void tsa_frame_charge_now(TsaFrame *frame, bool aborting);
extern void tsa_frame_skip(TsaFrame *frame);
extern void tsa_frame_absorb(TsaFrame *frame, bool all);
extern void tsa_frame_take_hits(TsaFrame *frame);

/*
 * Charges the reads since the last look to the node that is running.
 */
static inline void
tsa_frame_charge(TsaFrame *frame)
{
	if (unlikely(tsa_read_progress() != frame->progress))
		tsa_frame_charge_now(frame, false);
}

#endif							/* TSA_WAIT_RELATIONS_H */
