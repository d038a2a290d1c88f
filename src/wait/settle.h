/*-------------------------------------------------------------------------
 *
 * settle.h
 *	  The end of an execution: its entries in the backend's ledger.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_SETTLE_H
#define TSA_WAIT_SETTLE_H

#include "wait/frame.h"

extern void tsa_frame_close(TsaFrame *frame, bool completed);
extern bool tsa_frame_ends_with(EState *estate);
extern void tsa_frames_drop(void);

#endif							/* TSA_WAIT_SETTLE_H */
