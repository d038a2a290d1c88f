/*-------------------------------------------------------------------------
 *
 * progress_times.h
 *	  When a waiting caller prints progress: pure, see test/unit.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PROGRESS_TIMES_H
#define TSA_PROGRESS_TIMES_H

#include <stdbool.h>
#include <stdint.h>

extern bool tsa_progress_is_due(int64_t waited_ms, int64_t printed_ms);

#endif							/* TSA_PROGRESS_TIMES_H */
