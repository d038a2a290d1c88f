/*-------------------------------------------------------------------------
 *
 * daily_window.c
 *	  A daily time window by wall clock.
 *
 * A moment is inside if a clock on the wall says so.  Clocks that are put
 * forward skip a part of a window, and may skip all of it; where they are put
 * back, a part comes twice.  Between two such changes local time runs evenly,
 * so the next edge is known; a change itself may be an edge.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "journal/daily_window.h"

#include <math.h>
#include <stdio.h>

#define DAY		86400

/* Times further away are estimated by the share of a day. */
#define HORIZON	((int64_t) 400 * DAY)

/* Changes of the clock that are looked through for an edge. */
#define MAX_CHANGES	1000

/*
 * Reads so many digits, at least one, unless there are none to be had.
 */
static bool
read_digits(const char **p, int least, int *number)
{
	int			n = 0;

	for (*number = 0; n < 2 && **p >= '0' && **p <= '9'; n++)
		*number = *number * 10 + *(*p)++ - '0';
	return n >= least;
}

/*
 * Reads a time of the day, as seconds.
 */
static bool
read_time(const char **p, int *seconds)
{
	int			hour;
	int			minute;
	int			second = 0;

	if (!read_digits(p, 1, &hour) || *(*p)++ != ':' ||
		!read_digits(p, 2, &minute))
		return false;
	if (**p == ':')
	{
		(*p)++;
		if (!read_digits(p, 2, &second))
			return false;
	}
	*seconds = hour * 3600 + minute * 60 + second;
	return minute < 60 && second < 60 && *seconds <= DAY;
}

/* Moves a position in a text to the next character that is no space. */
static void
skip_spaces(const char **p)
{
	while (**p == ' ')
		(*p)++;
}

/*
 * Reads a window such as "22:00-05:00".
 */
TsaWindowText
tsa_parse_window(const char *text, TsaDailyWindow *window)
{
	const char *p = text;
	int			opens;
	int			closes;

	skip_spaces(&p);
	if (!read_time(&p, &opens))
		return TSA_WINDOW_MALFORMED;
	skip_spaces(&p);
	if (*p++ != '-')
		return TSA_WINDOW_MALFORMED;
	skip_spaces(&p);
	if (!read_time(&p, &closes))
		return TSA_WINDOW_MALFORMED;
	skip_spaces(&p);
	if (*p != '\0' || opens == DAY)
		return TSA_WINDOW_MALFORMED;
	if (opens == closes)
		return TSA_WINDOW_EMPTY;
	window->opens = opens;
	window->closes = closes;
	return TSA_WINDOW_GOOD;
}

/*
 * Writes it as text, of TSA_WINDOW_SIZE bytes at most.
 */
void
tsa_format_window(const TsaDailyWindow *window, char *text)
{
	int			o = window->opens;
	int			c = window->closes;

	if (o % 60 == 0 && c % 60 == 0)
		snprintf(text, TSA_WINDOW_SIZE, "%02d:%02d-%02d:%02d",
				 o / 3600, o / 60 % 60, c / 3600, c / 60 % 60);
	else
		snprintf(text, TSA_WINDOW_SIZE, "%02d:%02d:%02d-%02d:%02d:%02d",
				 o / 3600, o / 60 % 60, o % 60, c / 3600, c / 60 % 60, c % 60);
}

/*
 * Seconds of a day for which the window is open.
 */
static int
length_of(const TsaDailyWindow *window)
{
	return window->closes - window->opens +
		(window->closes > window->opens ? 0 : DAY);
}

/*
 * Is the window open all the time?
 */
static bool
is_always_open(const TsaDailyWindow *window)
{
	return length_of(window) == DAY;
}

/*
 * Seconds since midnight on the wall.
 */
static int
second_of_day(int64_t at, long offset)
{
	return (int) (((at + offset) % DAY + DAY) % DAY);
}

/*
 * Is that moment inside?
 */
bool
tsa_window_is_open(const TsaDailyWindow *window, const TsaTimeZone *zone,
				   int64_t at)
{
	int64_t		until;
	int			second;

	if (is_always_open(window))
		return true;
	second = second_of_day(at, zone->offset(at, &until, zone->arg));
	if (window->opens < window->closes)
		return second >= window->opens && second < window->closes;
	return second >= window->opens || second < window->closes;
}

/*
 * When the window closes, if it is open at that moment, or opens.
 */
int64_t
tsa_window_next_change(const TsaDailyWindow *window, const TsaTimeZone *zone,
					   int64_t at)
{
	bool		is_open = tsa_window_is_open(window, zone, at);
	int			edge = (is_open ? window->closes : window->opens) % DAY;

	if (is_always_open(window))
		return TSA_NEVER;
	for (int i = 0; i < MAX_CHANGES; i++)
	{
		int64_t		until;
		long		offset = zone->offset(at, &until, zone->arg);
		int			left = edge - second_of_day(at, offset);

		if (left <= 0)
			left += DAY;
		if (until == TSA_NEVER || at + left < until)
			return at + left;
		if (tsa_window_is_open(window, zone, until) != is_open)
			return until;
		at = until;
	}
	return TSA_NEVER;
}

/*
 * Seconds between two moments for which the window is open.
 */
double
tsa_window_seconds(const TsaDailyWindow *window, const TsaTimeZone *zone,
				   int64_t from, int64_t until)
{
	double		seconds = 0;

	if (until - from > HORIZON)
		return (double) (until - from) * length_of(window) / DAY;
	while (from < until)
	{
		int64_t		change = tsa_window_next_change(window, zone, from);

		if (change > until)
			change = until;
		if (tsa_window_is_open(window, zone, from))
			seconds += (double) (change - from);
		from = change;
	}
	return seconds;
}

/*
 * The moment by which the window has been open for so many seconds; TSA_NEVER
 * if it opens no more.
 */
double
tsa_window_after(const TsaDailyWindow *window, const TsaTimeZone *zone,
				 int64_t from, double seconds)
{
	if (seconds * DAY / length_of(window) > (double) HORIZON)
		return (double) from + seconds * DAY / length_of(window);
	for (;;)
	{
		int64_t		change = tsa_window_next_change(window, zone, from);

		if (tsa_window_is_open(window, zone, from))
		{
			if (change == TSA_NEVER || seconds <= (double) (change - from))
				return (double) from + seconds;
			seconds -= (double) (change - from);
		}
		else if (change == TSA_NEVER)
			return (double) TSA_NEVER;
		from = change;
	}
}
