/*-------------------------------------------------------------------------
 *
 * backoff.h
 *	  How long to wait between attempts to cut over.
 *
 * Pure: no server headers, no clock, no memory.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BACKOFF_H
#define TSA_BACKOFF_H

#include <stdbool.h>

extern double tsa_backoff_ms(int tries, double cost_ms);
extern bool tsa_backoff_gives_up(int attempts, double ms);

#endif							/* TSA_BACKOFF_H */
