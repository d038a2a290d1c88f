/*-------------------------------------------------------------------------
 *
 * window_clock.c
 *	  Daily time windows by the server's clock.
 *
 * The time zone is log_timezone: it is the server's, the same in all sessions
 * and workers.  TimeZone is everybody's own, and a role or a database may have
 * another one.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "pgtime.h"
#include "utils/builtins.h"

#include "journal/window_clock.h"

PG_FUNCTION_INFO_V1(tsa_window_opens);
PG_FUNCTION_INFO_V1(tsa_window_end);

/* Changes that are further away than these seconds do not matter. */
#define TOO_LONG	1e10

/*
 * Callback of a TsaTimeZone: seconds east of UTC at that time, in the zone of
 * the server's log; *until: when that changes next.
 */
static long
server_offset(int64_t at, int64_t *until, void *arg pg_attribute_unused())
{
	pg_time_t	time = at;
	pg_time_t	boundary;
	long		before = 0;
	long		after;
	int			before_isdst;
	int			after_isdst;
	bool		changes;

	changes = pg_next_dst_boundary(&time, &before, &before_isdst, &boundary,
								   &after, &after_isdst, log_timezone) == 1;
	*until = changes ? boundary : TSA_NEVER;
	return before;
}

static const TsaTimeZone server_zone = {server_offset, NULL};

/*
 * Is the window closed now?
 */
bool
tsa_is_outside_window(const TsaDailyWindow *window)
{
	return tsa_has_window(window) &&
		!tsa_window_is_open(window, &server_zone,
							timestamptz_to_time_t(GetCurrentTimestamp()));
}

/*
 * Seconds until a time for which the window is open; negative if it has passed.
 */
double
tsa_window_seconds_until(const TsaDailyWindow *window, TimestampTz until)
{
	TimestampTz now = GetCurrentTimestamp();

	if (!tsa_has_window(window) || until <= now)
		return ((double) until - (double) now) / USECS_PER_SEC;
	if (TIMESTAMP_IS_NOEND(until))
		return INFINITY;
	return tsa_window_seconds(window, &server_zone, timestamptz_to_time_t(now),
							  timestamptz_to_time_t(until));
}

/*
 * The window of a text, of the journal or of a caller of the functions below.
 */
static TsaDailyWindow
window_of_text(const text *during)
{
	TsaDailyWindow window = {0};

	if (tsa_parse_window(text_to_cstring(during), &window) != TSA_WINDOW_GOOD)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_DATETIME_FORMAT),
				 errmsg_internal("invalid time window")));
	return window;
}

/*
 * window_opens(during, at): when the window opens; NULL if it is open then;
 * infinity if it opens no more.
 */
Datum
tsa_window_opens(PG_FUNCTION_ARGS)
{
	TsaDailyWindow window = window_of_text(PG_GETARG_TEXT_PP(0));
	pg_time_t	at = timestamptz_to_time_t(PG_GETARG_TIMESTAMPTZ(1));

	if (tsa_window_is_open(&window, &server_zone, at))
		PG_RETURN_NULL();
	at = tsa_window_next_change(&window, &server_zone, at);
	if (at == TSA_NEVER)
		PG_RETURN_TIMESTAMPTZ(DT_NOEND);
	PG_RETURN_TIMESTAMPTZ(time_t_to_timestamptz(at));
}

/*
 * window_end(during, since, seconds): when the window will have been open for
 * so many seconds; NULL if nobody will see that.
 */
Datum
tsa_window_end(PG_FUNCTION_ARGS)
{
	TimestampTz since;
	double		seconds;
	TsaDailyWindow window = {0};

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	since = PG_GETARG_TIMESTAMPTZ(1);
	seconds = PG_GETARG_FLOAT8(2);
	if (isnan(seconds) || fabs(seconds) > TOO_LONG)
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(0))
		window = window_of_text(PG_GETARG_TEXT_PP(0));
	if (tsa_has_window(&window))
	{
		pg_time_t	from = timestamptz_to_time_t(since);

		seconds = tsa_window_after(&window, &server_zone, from, seconds) -
			(double) from;
		if (seconds > TOO_LONG)
			PG_RETURN_NULL();
	}
	PG_RETURN_TIMESTAMPTZ(since + (TimestampTz) (seconds * USECS_PER_SEC));
}
