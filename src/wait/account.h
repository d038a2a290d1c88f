/*-------------------------------------------------------------------------
 *
 * account.h
 *	  Reads of a relation by an execution, by one kind of access.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_ACCOUNT_H
#define TSA_WAIT_ACCOUNT_H

#include "wait/frame.h"

extern int32 tsa_find_account(TsaFrame *frame, int32 slot, Oid relid,
							  TsaWaitAccess access);
extern void tsa_add_reads(TsaFrame *frame, int32 number, uint64 reads,
						  uint64 ns, bool is_single);

#endif							/* TSA_WAIT_ACCOUNT_H */
