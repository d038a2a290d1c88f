/*-------------------------------------------------------------------------
 *
 * window_clock.h
 *	  Daily time windows by the server's clock.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WINDOW_CLOCK_H
#define TSA_WINDOW_CLOCK_H

#include "postgres.h"

#include "utils/timestamp.h"

#include "journal/daily_window.h"

extern bool tsa_is_outside_window(const TsaDailyWindow *window);
extern double tsa_window_seconds_until(const TsaDailyWindow *window,
									   TimestampTz until);

#endif							/* TSA_WINDOW_CLOCK_H */
