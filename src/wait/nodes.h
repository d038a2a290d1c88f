/*-------------------------------------------------------------------------
 *
 * nodes.h
 *	  Which node of a plan was reading.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_NODES_H
#define TSA_WAIT_NODES_H

#include "wait/frame.h"

extern void tsa_frame_watch(TsaFrame *frame, const QueryDesc *query);
extern void tsa_frame_unwatch(TsaFrame *frame);

#endif							/* TSA_WAIT_NODES_H */
