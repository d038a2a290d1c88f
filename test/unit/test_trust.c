/* Copyright (c) 2026, The tablespace_advisor developers */

/* Caveats: each trap has its words, and a clean measurement has none. */
#include "probe/trust.c"

#include <string.h>

#include "tap.h"

static char text[2048];

static TsaEvidence
clean(void)
{
	TsaEvidence e = {0};

	e.device_share = 1;
	e.foreign_share = 0;
	e.region_ratio = 1;
	e.samples = 1000;
	return e;
}

/* A clean measurement but for the fields that are set. */
#define WITH(...) ((void) (e = clean(), __VA_ARGS__))

static void
expect(TsaEvidence e, const char *words, const char *name)
{
	const char *caveat = tsa_trust_caveat(&e, text, sizeof(text));

	if (words == NULL)
		ok(caveat == NULL, "%s", name);
	else
		ok(caveat != NULL && strstr(caveat, words) != NULL, "%s", name);
}

static void
expect_not(TsaEvidence e, const char *words, const char *name)
{
	const char *caveat = tsa_trust_caveat(&e, text, sizeof(text));

	ok(caveat != NULL && strstr(caveat, words) == NULL, "%s", name);
}

static void
expect_condition(TsaEvidence e, const char *words, const char *name)
{
	const char *conditions = tsa_trust_conditions(&e, text, sizeof(text));

	ok(conditions != NULL && strstr(conditions, words) != NULL, "%s", name);
	ok(tsa_trust_caveat(&e, text, sizeof(text)) == NULL,
	   "%s: the device answered all the same", name);
}

static void
add_fall(TsaEvidence *e, double before, double after, double at)
{
	TsaFall    *fall = &e->falls.falls[e->falls.n++];

	fall->before = before;
	fall->after = after;
	fall->at = at;
}

/* Where the file system leaves no way to the device. */
static void
file_systems(void)
{
	TsaEvidence e = clean();

	e.no_direct = 1;
	expect(e, "refuses O_DIRECT, so that the page cache may have answered: use mode 'scratch'",
		   "no O_DIRECT");
	expect_not(e, "track_io_timing", "no O_DIRECT, but another mode");
	e.uncached = 1;
	e.device_share = 0.5;
	expect(e, "refuses O_DIRECT, and the page cache answered though it was emptied; only 50 % of the bytes reached a device; with track_io_timing",
		   "a page cache that answers though emptied");
	e.device_share = -1;
	expect(e, "refuses O_DIRECT, and /proc/self/io", "no witness of the device");
	e.device_share = 1;
	expect(e, NULL, "a page cache that was emptied, and a device that answered");
	e = clean();
	e.in_memory = e.no_direct = e.uncached = 1;
	e.device_share = 0;
	expect(e, "in memory, where there is no device to measure: random_page_cost = seq_page_cost",
		   "memory file system");
	expect_not(e, "; ", "memory file system: one reason is enough");
	e = clean();
	e.untrusted_share = 0.5;
	expect(e, "50 % of the file", "holes and unwritten extents");
	e.device_share = 0.5;
	expect(e, "compressed extents); only 50 % of the bytes reached a device; with track_io_timing = on advice goes by the server's own timing instead",
		   "not from the device: what helps is said once");
}

/* Throughput that falls. */
static void
falls(void)
{
	TsaEvidence e = clean();

	add_fall(&e, 3000, 100, 12);
	expect_condition(e, "fell from 3000 to 100 requests per second after 12 s: the time after it counts",
					 "a fall");
	e = clean();
	add_fall(&e, 3000, 700, 12);
	add_fall(&e, 700, 246, 40);
	add_fall(&e, 246, 100, 90);
	expect_condition(e, "fell from 3000 to 700 requests per second after 12 s, then to 246 after 40 s, then to 100 after 90 s: the time",
					 "three falls");
	e = clean();
	e.fall_at_end.before = 3000;
	e.fall_at_end.after = 100;
	e.fall_at_end.at = 59;
	expect_condition(e, "fell from 3000 to 100 requests per second after 59 s, at the end: a longer duration",
					 "a fall at the end");
}

int
main(void)
{
	TsaEvidence e = clean();

	expect(e, NULL, "nothing suspicious");
	ok(tsa_trust_conditions(&e, text, sizeof(text)) == NULL, "nothing else going on");
	e.device_share = e.foreign_share = -1;
	expect(e, NULL, "nothing known");

	file_systems();
	falls();
	WITH(e.region_ratio = 27);
	expect(e, "a cache holds it", "part of the file in a cache");
	WITH(e.own_files_ratio = 3, e.own_files_low = 2.1);
	expect(e, "own relations are read 3.0 times as slowly", "all of the file in a cache");
	e.own_files_low = 1.9;
	expect(e, NULL, "what may be noise is no cache");
	WITH(e.foreign_share = 0.3, e.others.reads_per_s = 120, e.others.in_flight = 1.25);
	expect_condition(e, "others made 30 % of the device's requests: 120 reads/s, 0 writes/s, 1.2 in flight",
					 "foreign load");
	WITH(e.delayed_share = 0.2);
	expect_condition(e, "busy with others for 20 %", "processors busy");
	WITH(e.clock_share = 0.02);
	expect(e, "the clock takes 2 %", "slow clock");
	WITH(e.unsteady = 1);
	expect_condition(e, "kept changing", "drift");
	WITH(e.repeated = 1);
	expect(e, "used again", "repetition");
	WITH(e.short_reads = 1);
	expect(e, "shrank", "files that shrink");
	WITH(e.max_iops = 500);
	expect_condition(e, "limited to 500", "rate limit");
	WITH(e.samples = 9);
	expect(e, "only 9 samples, a longer duration gives more", "few samples");
	e.left_out = 1;
	expect(e, "only 9 samples, as relations are yet to be written",
		   "few samples, the rest left out");

	e = clean();
	e.cached_on_purpose = 1;
	e.device_share = 0;
	e.clock_share = 0.05;
	expect(e, NULL, "a cached read is from the cache, its clock taken off");
	e.device_share = 0.1;
	expect(e, "not in the page cache", "unless it is not");
	e.device_share = 0;
	e.clock_share = 0.2;
	expect(e, "the clock takes 20 %", "or the clock is most of it");

	WITH(e.in_memory = e.repeated = 1);
	expect(e, " is right there; the file is so small", "reasons are joined");
	ok(strlen(tsa_trust_caveat(&e, text, 20)) == 19, "and cut where they must");
	return done_testing();
}
