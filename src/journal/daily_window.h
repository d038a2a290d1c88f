/*-------------------------------------------------------------------------
 *
 * daily_window.h
 *	  A daily time window by wall clock, such as '22:00-05:00'.
 *
 * Pure: no server headers, no clock, no memory.  Times are seconds since 1970
 * in UTC.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DAILY_WINDOW_H
#define TSA_DAILY_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds of the day; both 0: there is no window, all times are inside. */
typedef struct TsaDailyWindow
{
	int			opens;
	int			closes;			/* not inside any more; 86400: midnight */
} TsaDailyWindow;

/* Of a change that never comes. */
#define TSA_NEVER INT64_MAX

/* A time zone. */
typedef struct TsaTimeZone
{
	/* seconds by which local time is ahead of UTC, and until when */
	long		(*offset) (int64_t at, int64_t *until, void *arg);
	void	   *arg;
} TsaTimeZone;

typedef enum TsaWindowText
{
	TSA_WINDOW_GOOD,
	TSA_WINDOW_MALFORMED,
	TSA_WINDOW_EMPTY			/* closes when it opens */
} TsaWindowText;

/* Room for a window as text. */
#define TSA_WINDOW_SIZE 48

static inline bool
tsa_has_window(const TsaDailyWindow *window)
{
	return window->closes != window->opens;
}

extern TsaWindowText tsa_parse_window(const char *text,
									  TsaDailyWindow *window);
extern void tsa_format_window(const TsaDailyWindow *window, char *text);
extern bool tsa_window_is_open(const TsaDailyWindow *window,
							   const TsaTimeZone *zone, int64_t at);
extern int64_t tsa_window_next_change(const TsaDailyWindow *window,
									  const TsaTimeZone *zone, int64_t at);
extern double tsa_window_seconds(const TsaDailyWindow *window,
								 const TsaTimeZone *zone, int64_t from,
								 int64_t until);
extern double tsa_window_after(const TsaDailyWindow *window,
							   const TsaTimeZone *zone, int64_t from,
							   double seconds);

#endif							/* TSA_DAILY_WINDOW_H */
