/*-------------------------------------------------------------------------
 *
 * waiting.h
 *	  Jobs that wait for their daily time window.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAITING_H
#define TSA_WAITING_H

#include "postgres.h"

#include "utils/timestamp.h"

/* [T] */
extern TimestampTz tsa_next_opening(void);
extern TimestampTz tsa_opening_of_batch(int64 batch_id);
extern TimestampTz tsa_tell_opening(int64 batch_id, TimestampTz told);
extern int	tsa_count_waiting_calls(Oid user, int64 but);

#endif							/* TSA_WAITING_H */
