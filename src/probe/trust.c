/*-------------------------------------------------------------------------
 *
 * trust.c
 *	  Whether the device answered, and other activity meanwhile.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "probe/trust.h"

#define MIN_SAMPLES		10		/* below it there is no interval either */
#define MIN_DEVICE_SHARE	0.95
#define MAX_CACHE_MISSES	0.01
#define MAX_FOREIGN		0.10
#define MAX_DELAYED		0.10
#define MAX_UNTRUSTED	0.01
#define MAX_REGION_RATIO	2.0
#define MAX_OWN_RATIO		2.0
#define MAX_CLOCK_SHARE	0.01
#define MAX_CLOCK_TAKEN_OFF 0.10

typedef struct Text
{
	char	   *words;
	size_t		size;
	size_t		used;
} Text;

/* Add one reason. */
__attribute__((format(printf, 2, 3)))
/*
 * Adds a reason to those that are there, after a semicolon, as far as there is
 * room.
 */
static void
add_reason(Text *to, const char *format,...)
{
	va_list		args;
	int			n;

	if (to->used > 0 && to->used + 2 < to->size)
		to->used += (size_t) snprintf(to->words + to->used,
									  to->size - to->used, "; ");
	va_start(args, format);
	n = vsnprintf(to->words + to->used, to->size - to->used, format, args);
	va_end(args);
	if (n > 0)
		to->used += (size_t) n;
	if (to->used >= to->size)
		to->used = to->size - 1;
}

/*
 * Reasons that lie in the file system, which no other probe would mend: the
 * remedy is said once.
 */
static void
add_file_system(Text *to, const TsaEvidence *e)
{
	int			reached = e->device_share >= MIN_DEVICE_SHARE;
	int			other_mode = e->no_direct && !e->uncached;

	if (e->in_memory)
	{
		add_reason(to, "the file system is in memory, where there is no device to measure: random_page_cost = seq_page_cost is right there");
		return;
	}
	if (other_mode)
		add_reason(to, "the file system refuses O_DIRECT, so that the page cache may have answered: use mode 'scratch'");
	else if (e->no_direct && e->device_share < 0)
		add_reason(to, "the file system refuses O_DIRECT, and /proc/self/io, which would show whether the page cache answered, cannot be read");
	else if (e->no_direct && !reached)
		add_reason(to, "the file system refuses O_DIRECT, and the page cache answered though it was emptied");
	if (e->untrusted_share > MAX_UNTRUSTED)
		add_reason(to, "%.2g %% of the file are not plain data on the device (holes, unwritten, inline or compressed extents)",
				   e->untrusted_share * 100);
	if (e->device_share >= 0 && !reached)
		add_reason(to, "only %.0f %% of the bytes reached a device",
				   e->device_share * 100);
	if (to->used > 0 && !other_mode)
		add_reason(to, "with track_io_timing = on advice goes by the server's own timing instead");
}

/* Reasons that lie in the file and in the source of the data. */
static void
add_answerer(Text *to, const TsaEvidence *e)
{
	if (e->cached_on_purpose)
	{
		if (e->device_share > MAX_CACHE_MISSES)
			add_reason(to, "%.0f %% of the bytes were not in the page cache",
					   e->device_share * 100);
		return;
	}
	add_file_system(to, e);
	if (e->region_ratio > MAX_REGION_RATIO)
		add_reason(to, "part of the file is %.1f times as fast as the rest: a cache holds it, use a larger file_size",
				   e->region_ratio);
	if (e->own_files_low > MAX_OWN_RATIO)
		add_reason(to, "the tablespace's own relations are read %.1f times as slowly: the file is in a cache or covers too little of the device, use a larger file_size or mode 'existing'",
				   e->own_files_ratio);
}

/* Reasons that lie in how it was measured. */
static void
add_method(Text *to, const TsaEvidence *e)
{
	double		clock_limit = e->cached_on_purpose || e->clock_taken_off ?
	MAX_CLOCK_TAKEN_OFF : MAX_CLOCK_SHARE;

	if (e->clock_share > clock_limit)
		add_reason(to, "reading the clock takes %.0f %% of the mean",
				   e->clock_share * 100);
	if (e->repeated)
		add_reason(to, "the file is so small that offsets were used again");
	if (e->short_reads)
		add_reason(to, "files shrank while they were read");
	if (e->samples < MIN_SAMPLES)
		add_reason(to, "only %llu sample%s%s", (unsigned long long) e->samples,
				   e->samples == 1 ? "" : "s", e->left_out ?
				   ", as relations are yet to be written: CHECKPOINT and sync first" :
				   ", a longer duration gives more");
}

/* Why a measurement is not about the device, or NULL. */
const char *
tsa_trust_caveat(const TsaEvidence *e, char *words, size_t size)
{
	Text		to = {words, size, 0};

	words[0] = '\0';
	add_answerer(&to, e);
	add_method(&to, e);
	return to.used > 0 ? words : NULL;
}

/* The sum of the device's requests by others. */
static void
add_others(Text *to, const TsaEvidence *e)
{
	const TsaConditions *others = &e->others;

	if (isnan(others->reads_per_s) || isnan(others->writes_per_s))
		add_reason(to, "others made %.0f %% of the device's requests",
				   e->foreign_share * 100);
	else
		add_reason(to, "others made %.0f %% of the device's requests: %.0f reads/s, %.0f writes/s, %.1f in flight",
				   e->foreign_share * 100, others->reads_per_s,
				   others->writes_per_s,
				   isnan(others->in_flight) ? 0 : others->in_flight);
}

/* To which levels throughput fell. */
static void
add_falls(Text *to, const TsaFalls *falls)
{
	char		later[TSA_MAX_FALLS * 48] = "";
	size_t		used = 0;
	int			i;

	if (falls->n == 0)
		return;
	for (i = 1; i < falls->n && used < sizeof(later); i++)
		used += (size_t) snprintf(later + used, sizeof(later) - used,
								  ", then to %.0f after %.0f s",
								  falls->falls[i].after, falls->falls[i].at);
	add_reason(to, "throughput fell from %.0f to %.0f requests per second after %.0f s%s: the time after it counts",
			   falls->falls[0].before, falls->falls[0].after,
			   falls->falls[0].at, later);
}

/* Other activity, as far as it matters, or NULL. */
const char *
tsa_trust_conditions(const TsaEvidence *e, char *words, size_t size)
{
	Text		to = {words, size, 0};

	words[0] = '\0';
	add_falls(&to, &e->falls);
	if (e->fall_at_end.before > 0)
		add_reason(&to, "throughput fell from %.0f to %.0f requests per second after %.0f s, at the end: a longer duration shows whether it stays there",
				   e->fall_at_end.before, e->fall_at_end.after,
				   e->fall_at_end.at);
	if (e->foreign_share > MAX_FOREIGN)
		add_others(&to, e);
	if (e->delayed_share > MAX_DELAYED)
		add_reason(&to, "processors were busy with others for %.0f %% of the time",
				   e->delayed_share * 100);
	if (e->no_direct && e->uncached && !e->cached_on_purpose)
		add_reason(&to, "through the page cache, emptied before, as the file system refuses O_DIRECT");
	if (e->made_single)
		add_reason(&to, "one request at a time");
	if (e->max_iops > 0)
		add_reason(&to, "limited to %llu I/O per second by tablespace_advisor.probe_max_iops",
				   (unsigned long long) e->max_iops);
	if (e->unsteady)
		add_reason(&to, "latency kept changing after the warm-up");
	return to.used > 0 ? words : NULL;
}
