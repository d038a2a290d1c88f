/*-------------------------------------------------------------------------
 *
 * slot.h
 *	  The relations that an execution reads.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_SLOT_H
#define TSA_WAIT_SLOT_H

#include "pgstat.h"

#include "wait/frame.h"

/* after an error: nothing is looked up that would need memory */
extern bool tsa_wait_aborting;

extern const PgStat_TableStatus *tsa_find_status(Relation relation,
												 Oid relid);
extern void tsa_absorb(TsaWaitSlot *slot);
extern int32 tsa_enter_slot(TsaFrame *frame, Oid relid, bool *found);
extern int32 tsa_frame_slot(TsaFrame *frame, Relation relation,
							TsaWaitAccess access, bool is_index);
extern int32 tsa_frame_slot_of(TsaFrame *frame, Oid relid,
							   TsaWaitAccess access, bool is_index);
extern void tsa_frame_toast(TsaFrame *frame, int32 number);

#endif							/* TSA_WAIT_SLOT_H */
