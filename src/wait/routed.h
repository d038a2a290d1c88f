/*-------------------------------------------------------------------------
 *
 * routed.h
 *	  Partitions that rows were routed to lately.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_ROUTED_H
#define TSA_WAIT_ROUTED_H

#include "wait/frame.h"

extern void tsa_remember_routed(Oid root, Oid relid, bool is_index);
extern void tsa_frame_routed(TsaFrame *frame, Oid root);

#endif							/* TSA_WAIT_ROUTED_H */
