/*-------------------------------------------------------------------------
 *
 * local.h
 *	  The figures that this backend has not handed in yet.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_LOCAL_H
#define TSA_WAIT_LOCAL_H

#include "postgres.h"

#include "wait/ledger.h"

extern bool tsa_wait_ready(void);
extern void tsa_local_count(bool measured);
extern void tsa_local_add_relation(Oid relid, TsaWaitClass class,
								   TsaWaitAccess access,
								   const TsaWaitFigures *figures,
								   const uint64 *histogram);
extern void tsa_local_add_statement(const TsaStatementKey *key,
									const TsaWaitFigures *figures,
									uint64 total_ns);
extern void tsa_local_add_share(const TsaStatementKey *key, Oid relid,
								TsaWaitAccess access,
								const TsaWaitFigures *figures);
extern bool tsa_local_hand_in(void);
extern void tsa_local_at_exit(void (*before) (void));

#endif							/* TSA_WAIT_LOCAL_H */
