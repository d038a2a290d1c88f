/*-------------------------------------------------------------------------
 *
 * sleep.h
 *	  Waiting for time to pass.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SLEEP_H
#define TSA_SLEEP_H

#include "postgres.h"

extern void tsa_sleep(double ms);

#endif							/* TSA_SLEEP_H */
