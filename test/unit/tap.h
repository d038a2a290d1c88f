/*-------------------------------------------------------------------------
 *
 * tap.h
 *	  Minimal TAP output for unit tests of pure modules.
 *
 * A test is one program, test/unit/test_NAME.c, that includes the modules it
 * tests (#include "size/pgbench_size.c"), calls these functions and returns
 * done_testing().  "make unit" builds it with the address and undefined
 * behaviour sanitizers and runs it under prove.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int	tap_tests = 0;
static int	tap_failures = 0;

/* one test: passed says how it went, format and what follows what was tested */
static bool
__attribute__((unused, format(printf, 2, 3)))
ok(bool passed, const char *format,...)
{
	va_list		args;

	tap_tests++;
	if (!passed)
		tap_failures++;
	printf("%sok %d - ", passed ? "" : "not ", tap_tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	return passed;
}

/* two integers that should be equal */
static bool
__attribute__((unused))
is_int(long long got, long long expected, const char *name)
{
	bool		passed = ok(got == expected, "%s", name);

	if (!passed)
		printf("#   Failed: got %lld, expected %lld\n", got, expected);
	return passed;
}

/* two numbers that should agree within a relative error */
static bool
__attribute__((unused))
is_close(double got, double expected, double relative, const char *name)
{
	bool		passed = ok(fabs(got - expected) <= relative * fabs(expected),
							"%s", name);

	if (!passed)
		printf("#   Failed: got %.17g, expected %.17g\n", got, expected);
	return passed;
}

/* prints the plan; to be returned by main() */
static int
__attribute__((unused))
done_testing(void)
{
	printf("1..%d\n", tap_tests);
	return tap_failures > 0;
}

#endif							/* TAP_H */
