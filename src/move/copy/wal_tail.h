/*-------------------------------------------------------------------------
 *
 * wal_tail.h
 *	  Follows the write-ahead log from a point in time to its end.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAL_TAIL_H
#define TSA_WAL_TAIL_H

#include "postgres.h"

#include "access/xlogreader.h"

typedef struct TsaWalTail TsaWalTail;

/* called for each record, in order */
typedef void (*TsaWalVisitor) (XLogReaderState *record, void *arg);

extern TsaWalTail *tsa_wal_tail_open(MemoryContext cxt);
extern void tsa_wal_tail_restart(TsaWalTail *tail);
extern bool tsa_wal_tail_is_left_behind(const TsaWalTail *tail);
extern bool tsa_wal_tail_lost(const TsaWalTail *tail);
extern uint64 tsa_wal_tail_behind(const TsaWalTail *tail);
extern void tsa_wal_tail_note_own(TsaWalTail *tail, XLogRecPtr start,
								  XLogRecPtr end);
extern XLogRecPtr tsa_wal_tail_follow(TsaWalTail *tail, TsaWalVisitor visit,
									  void *arg);
extern void tsa_wal_tail_close(TsaWalTail *tail);

#endif							/* TSA_WAL_TAIL_H */
