/*-------------------------------------------------------------------------
 *
 * numbers.c
 *	  Numbers and times as people read them.
 *
 * Digits are those of the type numeric, so that halves are rounded as people
 * do.  NAN, not known, is an empty text.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "advise/numbers.h"
#include "state/written.h"

PG_FUNCTION_INFO_V1(tsa_two_digits);
PG_FUNCTION_INFO_V1(tsa_pretty_seconds);
PG_FUNCTION_INFO_V1(tsa_waiting_sessions);

/*
 * A number with so many places at most, without zeros at the end; fewer than
 * 0: with all of its own.
 */
char *
tsa_rounded_decimal(double number, int places)
{
	Datum		decimal;

	if (isnan(number))
		return "";
	decimal = DirectFunctionCall1(float8_numeric, Float8GetDatum(number));
	if (places >= 0)
		decimal = DirectFunctionCall2(numeric_round, decimal,
									  Int32GetDatum(places));
	decimal = DirectFunctionCall1(numeric_trim_scale, decimal);
	return DatumGetCString(DirectFunctionCall1(numeric_out, decimal));
}

/* A number as the server prints it. */
char *
tsa_float_text(double number)
{
	return isnan(number) ? "" :
		DatumGetCString(DirectFunctionCall1(float8out,
											Float8GetDatum(number)));
}

/*
 * With two significant digits, or all before the point: shares and numbers of
 * sessions are not known any better.
 */
char *
tsa_two_digits_text(double number)
{
	if (number == 0)
		return "0";
	return tsa_rounded_decimal(number, isfinite(number) ?
							   Max(0, 1 - (int) floor(log10(fabs(number)))) :
							   0);
}

/* With three significant digits, without exponent. */
static char *
three_digits(double number)
{
	return tsa_rounded_decimal(tsa_three_digits(number), -1);
}

/* A time in the unit that suits it. */
char *
tsa_pretty_seconds_text(double seconds)
{
	if (isnan(seconds))
		return "";
	if (seconds < 1)
		return psprintf("%s ms", three_digits(1000 * seconds));
	if (seconds < 120)
		return psprintf("%s s", three_digits(seconds));
	if (seconds < 7200)
		return psprintf("%s min", tsa_float_text(rint(seconds / 60)));
	if (seconds < 172800)
		return psprintf("%s h", tsa_float_text(rint(seconds / 3600)));
	return psprintf("%s days", tsa_float_text(rint(seconds / 86400)));
}

/*
 * How many sessions wait, on average, for work of these milliseconds in each
 * second, which add up over sessions and say little to a person.
 */
char *
tsa_waiting_sessions_text(double ms_per_s, const char *what)
{
	char	   *sessions;

	if (isnan(ms_per_s))
		return psprintf("how long %s take is not known", what);
	if (ms_per_s < 0.05)
		return psprintf("no session waits for %s", what);
	if (ms_per_s < 100)
		return psprintf("a session waits for %s %s %% of the time", what,
						tsa_two_digits_text(ms_per_s / 10));
	sessions = tsa_two_digits_text(ms_per_s / 1000);
	if (strcmp(sessions, "1") == 0)
		return psprintf("one session waits for %s", what);
	return psprintf("%s sessions wait for %s", sessions, what);
}

/* two_digits(number) */
Datum
tsa_two_digits(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(tsa_two_digits_text(PG_GETARG_FLOAT8(0))));
}

/* pretty_seconds(seconds) */
Datum
tsa_pretty_seconds(PG_FUNCTION_ARGS)
{
	char	   *pretty = tsa_pretty_seconds_text(PG_GETARG_FLOAT8(0));

	PG_RETURN_TEXT_P(cstring_to_text(pretty));
}

/* waiting_sessions(ms_per_s, what) */
Datum
tsa_waiting_sessions(PG_FUNCTION_ARGS)
{
	double		ms_per_s = PG_ARGISNULL(0) ? NAN : PG_GETARG_FLOAT8(0);
	char	   *waiting;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	waiting = tsa_waiting_sessions_text(ms_per_s,
										text_to_cstring(PG_GETARG_TEXT_PP(1)));

	PG_RETURN_TEXT_P(cstring_to_text(waiting));
}
