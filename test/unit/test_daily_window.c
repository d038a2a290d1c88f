/* Copyright (c) 2026, The tablespace_advisor developers */

/* Daily time windows by wall clock. */
#include "journal/daily_window.c"

#include <string.h>

#include "tap.h"

#define HOUR	3600
#define MINUTE	60

/* A moment that a test's clocks are put at by so much, from one offset to another. */
typedef struct Clock
{
	int64_t		changes;
	long		before;
	long		after;
} Clock;

static long
offset_of(int64_t at, int64_t *until, void *arg)
{
	const Clock *clock = arg;

	*until = at < clock->changes ? clock->changes : TSA_NEVER;
	return at < clock->changes ? clock->before : clock->after;
}

static TsaTimeZone
zone_of(Clock *clock)
{
	return (TsaTimeZone)
	{
		offset_of, clock
	};
}

/* UTC; and a zone an hour ahead whose clocks are put forward or back, at 1 UTC on the third day. */
static Clock utc =
{
	TSA_NEVER, 0, 0
};
static Clock spring =
{
	2 * DAY + HOUR,
	HOUR,
	2 * HOUR
};
static Clock autumn =
{
	2 * DAY + HOUR,
	2 * HOUR,
	HOUR
};

static TsaDailyWindow
window_of(const char *text)
{
	TsaDailyWindow window = {0};

	if (tsa_parse_window(text, &window) != TSA_WINDOW_GOOD)
		fprintf(stderr, "bad window: %s\n", text);
	return window;
}

/* The same text, read and written. */
static const char *
again(const char *text)
{
	static char out[TSA_WINDOW_SIZE];
	TsaDailyWindow window = window_of(text);

	tsa_format_window(&window, out);
	return out;
}

static TsaWindowText
status_of(const char *text)
{
	TsaDailyWindow window;

	return tsa_parse_window(text, &window);
}

static void
test_texts(void)
{
	static const char *const bad[] = {
		"", "1", "01:00", "01:00-", "-05:00", "01-05", "01:00-05:00x",
		"x01:00-05:00", "01:0-05:00", "01:00--05:00", "24:00-05:00",
		"01:00-24:01", "25:00-26:00", "01:60-05:00", "01:00:60-05:00",
		"001:00-05:00", "01:00-05:00-06:00", "01:00/05:00", "1:00 pm-2:00 pm",
		"01:00:-05:00", "99:99-99:99"
	};

	ok(strcmp(again("01:00-05:00"), "01:00-05:00") == 0, "a window");
	ok(strcmp(again(" 1:00 - 5:07 "), "01:00-05:07") == 0, "spaces, one digit");
	ok(strcmp(again("22:00-24:00"), "22:00-24:00") == 0, "up to midnight");
	ok(strcmp(again("22:00:00-05:00:30"), "22:00:00-05:00:30") == 0, "seconds");
	ok(status_of("05:00-05:00:00") == TSA_WINDOW_EMPTY, "an empty one");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(status_of(bad[i]) == TSA_WINDOW_MALFORMED,
		   "not a window: %s", bad[i]);
}

static void
test_edges(void)
{
	TsaDailyWindow window = window_of("01:00-05:00");
	TsaTimeZone zone = zone_of(&utc);

	ok(!tsa_window_is_open(&window, &zone, DAY + HOUR - 1), "before it opens");
	ok(tsa_window_is_open(&window, &zone, DAY + HOUR), "when it opens");
	ok(tsa_window_is_open(&window, &zone, DAY + 5 * HOUR - 1), "before it closes");
	ok(!tsa_window_is_open(&window, &zone, DAY + 5 * HOUR), "when it closes");
	ok(tsa_window_next_change(&window, &zone, 0) == HOUR, "it opens");
	ok(tsa_window_next_change(&window, &zone, HOUR) == 5 * HOUR, "it closes");
	ok(tsa_window_next_change(&window, &zone, 5 * HOUR) == DAY + HOUR,
	   "it opens again the next day");
	ok(tsa_window_is_open(&window, &zone, HOUR - DAY), "before 1970");
	ok(tsa_window_next_change(&window, &zone, 5 * HOUR - DAY) == HOUR,
	   "and opens after it");
}

static void
test_midnight(void)
{
	TsaDailyWindow window = window_of("22:00-05:00");
	TsaDailyWindow all = window_of("00:00-24:00");
	TsaDailyWindow late = window_of("22:00-00:00");
	TsaTimeZone zone = zone_of(&utc);

	ok(tsa_window_is_open(&window, &zone, 0), "over midnight");
	ok(!tsa_window_is_open(&window, &zone, 21 * HOUR), "before that");
	ok(tsa_window_next_change(&window, &zone, 23 * HOUR) == DAY + 5 * HOUR,
	   "it closes the next day");
	ok(tsa_window_next_change(&window, &zone, 5 * HOUR) == 22 * HOUR,
	   "and opens in the evening");
	ok(!tsa_window_is_open(&late, &zone, 0), "up to midnight");
	ok(tsa_window_next_change(&late, &zone, 23 * HOUR) == DAY, "when it closes");
	ok(tsa_window_is_open(&all, &zone, 0), "all day");
	ok(tsa_window_next_change(&all, &zone, 0) == TSA_NEVER, "for ever");
}

static void
test_put_forward(void)
{
	TsaTimeZone zone = zone_of(&spring);	/* 02:00 becomes 03:00 */
	TsaDailyWindow half = window_of("01:30-02:30");
	TsaDailyWindow skipped = window_of("02:10-02:20");
	TsaDailyWindow cut = window_of("02:30-04:00");
	int64_t		day = 2 * DAY - HOUR;	/* midnight there */

	ok(tsa_window_next_change(&half, &zone, day + 90 * MINUTE) == spring.changes,
	   "it closes when the clocks are put forward over its end");
	ok(tsa_window_next_change(&cut, &zone, day) == spring.changes,
	   "it opens when they are put forward over its begin");
	is_close(tsa_window_seconds(&cut, &zone, day, day + 12 * HOUR), HOUR, 0,
			 "and is shorter");
	ok(tsa_window_next_change(&skipped, &zone, day) ==
	   day + DAY - HOUR + 130 * MINUTE, "one that they skip opens the next day");
}

static void
test_put_back(void)
{
	TsaTimeZone zone = zone_of(&autumn);	/* 03:00 becomes 02:00 */
	TsaDailyWindow twice = window_of("02:10-02:20");
	TsaDailyWindow longer = window_of("01:00-05:00");
	TsaDailyWindow half = window_of("02:30-03:30");
	int64_t		day = 2 * DAY - 2 * HOUR;

	ok(tsa_window_next_change(&twice, &zone, day + 140 * MINUTE) ==
	   autumn.changes + 10 * MINUTE, "it opens twice");
	is_close(tsa_window_seconds(&longer, &zone, day, day + DAY), 5 * HOUR, 0,
			 "it is longer");
	ok(tsa_window_next_change(&half, &zone, day + 150 * MINUTE) == autumn.changes,
	   "it closes when the clocks are put back before its begin");
	ok(tsa_window_next_change(&half, &zone, autumn.changes) ==
	   autumn.changes + 30 * MINUTE, "and opens again");
}

static void
test_sums(void)
{
	TsaTimeZone zone = zone_of(&utc);
	TsaDailyWindow window = window_of("01:00-05:00");
	TsaDailyWindow all = window_of("00:00-24:00");

	is_close(tsa_window_seconds(&window, &zone, 0, HOUR), 0, 0, "not open yet");
	is_close(tsa_window_seconds(&window, &zone, 2 * HOUR, DAY + 2 * HOUR),
			 4 * HOUR, 0, "the rest of one and a part of the next");
	is_close(tsa_window_seconds(&window, &zone, HOUR, HOUR), 0, 0, "no time");
	is_close(tsa_window_seconds(&window, &zone, 2 * HOUR, HOUR), 0, 0, "less");
	is_close(tsa_window_seconds(&window, &zone, 0, 4000 * (int64_t) DAY),
			 4000.0 * 4 * HOUR, 0, "ten years");
	is_close(tsa_window_seconds(&all, &zone, 0, DAY), DAY, 0, "all day long");

	is_close(tsa_window_after(&window, &zone, 0, 0.5 * HOUR), 1.5 * HOUR, 0,
			 "after the first half hour");
	is_close(tsa_window_after(&window, &zone, 2 * HOUR, 3 * HOUR), 5 * HOUR, 0,
			 "at the end of the present one");
	is_close(tsa_window_after(&window, &zone, 2 * HOUR, 4 * HOUR),
			 DAY + 2 * HOUR, 0, "in the next one");
	is_close(tsa_window_after(&window, &zone, 0, 1e12), 6e12, 1e-9,
			 "some day");
	is_close(tsa_window_after(&all, &zone, 0, 1.5), 1.5, 0, "soon");
	is_close(tsa_window_after(&all, &zone, 0, 50 * DAY), 50 * DAY, 0,
			 "one without an end");
}

/* Clocks that are put at so often that no edge is found. */
static long
restless_offset(int64_t at, int64_t *until, void *arg)
{
	(void) arg;
	*until = at + 1;
	return -(long) (at % DAY);
}

static void
test_no_edge(void)
{
	TsaTimeZone zone = {restless_offset, NULL};
	TsaDailyWindow window = window_of("01:00-05:00");

	ok(tsa_window_next_change(&window, &zone, 0) == TSA_NEVER,
	   "midnight without an end");
	ok(tsa_window_after(&window, &zone, 0, 1) >= (double) TSA_NEVER,
	   "a window that opens no more is waited for without an end");
}

int
main(void)
{
	test_texts();
	test_edges();
	test_midnight();
	test_put_forward();
	test_put_back();
	test_sums();
	test_no_edge();
	return done_testing();
}
