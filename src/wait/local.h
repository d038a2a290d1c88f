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
#include "wait/now.h"

/* executions of those in tsa_now.seen */
extern uint64 tsa_local_measured;

extern bool tsa_local_set_up(void);
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
extern bool tsa_local_hand_in_soon(void);
extern void tsa_local_statement_measured(uint64 elapsed_ns);
extern void tsa_local_run_ended(void);
extern void tsa_local_at_exit(void (*before) (void));

/*
 * Does this process measure?
 */
static inline bool
tsa_wait_ready(void)
{
	return likely(tsa_now.is_set_up) ? tsa_now.track_waits : tsa_local_set_up();
}

/*
 * A top-level statement or a transaction has ended: hands in what is due.
 */
static inline void
tsa_local_statement_ended(void)
{
	if (unlikely(tsa_now.is_due))
		(void) tsa_local_hand_in();
}

#endif							/* TSA_WAIT_LOCAL_H */
