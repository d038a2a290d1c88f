/*-------------------------------------------------------------------------
 *
 * launcher_calls.h
 *	  Has the launcher look into a database at some time.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LAUNCHER_CALLS_H
#define TSA_LAUNCHER_CALLS_H

#include "postgres.h"

#include "utils/timestamp.h"

extern void tsa_init_launcher_calls(void);
extern void tsa_call_launcher(Oid database, int64 ms);

/* by the launcher */
extern void tsa_receive_launcher_calls(void);
extern TimestampTz tsa_next_launcher_call(void);
extern bool tsa_take_launcher_call(Oid *database);

#endif							/* TSA_LAUNCHER_CALLS_H */
