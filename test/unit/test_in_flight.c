/* Copyright (c) 2026, The tablespace_advisor developers */

/* Which bytes are others'. */
#include "move/copy/in_flight.c"

#include <string.h>

#include "tap.h"

#define MB (1024.0 * 1024.0)

int
main(void)
{
	TsaInFlight in_flight = {0};
	double		seen = 0;
	const double window = 0.05;

	is_close(tsa_bytes_of_others(&in_flight, 8 * MB, 4 * MB, 1, 3 * MB, window), 0, 1e-9,
			 "more asked for than read: nobody else");
	is_close(tsa_bytes_of_others(&in_flight, 8 * MB, 1 * MB, 1, 2 * MB, window), 0, 1e-9,
			 "what was under way arrives: nobody else");
	is_close(tsa_bytes_of_others(&in_flight, 8 * MB, 1 * MB, 1, 3 * MB, window), 2 * MB,
			 1e-9, "the rest is others'");
	(void) tsa_bytes_of_others(&in_flight, 8 * MB, 1000 * MB, 1, 0, window);
	is_close(tsa_bytes_of_others(&in_flight, 8 * MB, 0, 1, 100 * MB, window), 92 * MB, 1e-9,
			 "so much is never under way: what the cache had does not count");

	/* two copies, the other of which reads elsewhere */
	memset(&in_flight, 0, sizeof(in_flight));
	(void) tsa_bytes_of_others(&in_flight, 8 * MB, 5 * MB, 2, 6 * MB, window);
	is_close(tsa_bytes_of_others(&in_flight, 8 * MB, 0, 2, 1 * MB, window), 1 * MB, 1e-9,
			 "what another copy was wrongly taken to read hides nobody later");

	/* what was read elsewhere, beside somebody who reads little */
	memset(&in_flight, 0, sizeof(in_flight));
	(void) tsa_bytes_of_others(&in_flight, 8 * MB, 6 * MB, 1, 0, window);
	for (int i = 0; i < 50; i++)
		seen += tsa_bytes_of_others(&in_flight, 8 * MB, 1 * MB, 1, 1 * MB + 12 * 1024, window);
	ok(seen > 6 * 12 * 1024, "hides him for two seconds at most (%.0f kB)", seen / 1024);

	/* what is always under way hides nothing and is nobody */
	memset(&in_flight, 0, sizeof(in_flight));
	seen = tsa_bytes_of_others(&in_flight, 8 * MB, 2 * MB, 1, 1 * MB, window);
	for (int i = 0; i < 100; i++)
		seen += tsa_bytes_of_others(&in_flight, 8 * MB, 1 * MB, 1, 1 * MB, window);
	is_close(seen, 0, 1e-9, "a queue that is never empty is ours");
	return done_testing();
}
