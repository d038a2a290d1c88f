/* Copyright (c) 2026, The tablespace_advisor developers */

/* Moves that have to end in time beside a load that changes, on simulated devices. */
#include "move/copy/deadline.c"
#include "move/copy/burst.c"
#include "move/copy/rate_control.c"
#include "move/copy/turn.c"

#include "tap.h"

#include <math.h>

#define MB (1024.0 * 1024.0)
#define BATCH (128.0 * 1024)
#define PARTS 5					/* of the window, each with a load of its own */
#define CASES 20

/* One move. */
typedef struct Case
{
	bool		is_disk;
	double		window;
	double		bytes;
	double		load[PARTS];	/* what others get done a second, undisturbed */
} Case;

/* What has become of it. */
typedef struct Outcome
{
	double		seconds;
	double		told;			/* when it said that it cannot be in time; <
								 * 0: never */
	double		share;			/* that others got of what they could, in the
								 * window */
} Outcome;

static uint32_t seed;

static double
between(double least, double most)
{
	seed = seed * 1664525 + 1013904223;
	return least + (most - least) * (seed >> 8) / (double) (1 << 24);
}

static double
load_at(const Case *c, double clock)
{
	int			part = (int) (clock / c->window * PARTS);

	return c->load[part < PARTS ? part : PARTS - 1];
}

/* Of a copy at work: others are in its way, too. */
static double
speed_at(const Case *c, double clock)
{
	double		alone = c->is_disk ? 60 * MB : 400 * MB;

	return load_at(c, clock) > 0 ? 0.7 * alone : alone;
}

/*
 * What others lose while it works.  What is left to them is enough to be seen,
 * as of two readers of the emulated disk.
 */
static double
suffering(const Case *c)
{
	return c->is_disk ? 0.8 : 0.5;
}

/* How long it would take without any regard. */
static double
unlimited_seconds(const Case *c)
{
	double		clock = 0;
	double		bytes = c->bytes;

	for (int part = 0; part < PARTS - 1; part++)
	{
		double		time = c->window / PARTS;
		double		copied = fmin(bytes, speed_at(c, clock) * time);

		if (copied == bytes)
			break;
		bytes -= copied;
		clock += time;
	}
	clock += bytes / speed_at(c, clock);
	return clock;
}

/*
 * A move of so many seconds without any regard, in a window.  What cannot be in
 * time could not even if the others went.
 */
static Case
case_of(bool is_disk, double window, double part)
{
	Case		c = {.is_disk = is_disk,.window = window};
	double		most = 4 * window * 400 * MB;

	for (int i = 0; i < PARTS; i++)
		c.load[i] = between(0, 1) < 0.3 ? 0 : is_disk ?
			between(1.1, 1.6) * MB : between(300, 3000);
	for (double step = most / 2; step > BATCH; step /= 2)
	{
		c.bytes += step;
		if (unlimited_seconds(&c) > part * window)
			c.bytes -= step;
	}
	return c;
}

static TsaRateSample
sample_of(const Case *c, double clock, double seconds, double worked,
		  double bytes)
{
	TsaRateSample sample = {0};
	TsaContention who = c->is_disk ? TSA_CONTENTION_SOURCE : TSA_CONTENTION_SERVER;
	double		done = load_at(c, clock) * (seconds - worked * suffering(c));

	sample.working = worked > 0;
	sample.seconds = seconds;
	sample.worked = worked;
	sample.bytes = bytes;
	sample.known[who] = true;
	sample.done[who] = done;
	if (c->is_disk)
	{
		sample.requests[who] = done / 8192;
		sample.request_seconds[who] = done / 8192 * 0.0105;
	}
	return sample;
}

static void
aim(TsaRate *control, const Case *c, double clock, double bytes, Outcome *outcome)
{
	TsaDeadline deadline = {.window = c->window,.seconds = c->window - clock,
	.bytes = c->bytes - bytes,.sharers = 1};

	control->needed_rate = tsa_deadline_rate(&deadline);
	control->late = tsa_deadline_is_missed(&deadline, tsa_rate_speed(control),
										   control->late);
	if (control->late && outcome->told < 0)
		outcome->told = clock;
}

static Outcome
move(const Case *c)
{
	Outcome		outcome = {.told = -1};
	TsaRate		control;
	double		clock = 0;
	double		copied = 0;
	double		could = 0;
	double		have = 0;

	tsa_init_rate(&control, true, 0);
	while (copied < c->bytes)
	{
		double		bytes = 0;
		double		worked = 0;
		double		elapsed = 0;
		double		rest;
		TsaRateSample sample;

		do
		{
			double		time = BATCH / speed_at(c, clock);

			aim(&control, c, clock + elapsed, copied + bytes, &outcome);
			bytes += BATCH;
			worked += time;
			elapsed += time;
			elapsed += tsa_rate_short_sleep(&control, bytes, worked, elapsed);
		} while (bytes < tsa_rate_unit_bytes(&control) &&
				 elapsed < tsa_rate_unit_seconds(&control));
		sample = sample_of(c, clock, elapsed, worked, bytes);
		tsa_rate_note(&control, &sample);
		rest = tsa_rate_rest(&control, bytes, worked, elapsed);
		could += load_at(c, clock) * (elapsed + rest);
		have += load_at(c, clock) * (elapsed + rest - worked * suffering(c));
		clock += elapsed;
		if (rest > 0)
		{
			sample = sample_of(c, clock, rest, 0, 0);
			tsa_rate_note(&control, &sample);
		}
		clock += rest;
		copied += bytes;
	}
	outcome.seconds = clock;
	for (double step = c->window / 1000; clock < c->window; clock += step)
	{
		could += load_at(c, clock) * step;
		have += load_at(c, clock) * step;
	}
	outcome.share = could > 0 ? have / could : 1;
	return outcome;
}

/* What others would get beside the constant rate that just meets the time. */
static double
constant_share(const Case *c)
{
	double		could = 0;
	double		have = 0;
	double		rate = c->bytes / c->window;

	for (int i = 0; i < PARTS; i++)
	{
		double		duty = rate / speed_at(c, (i + 0.5) * c->window / PARTS);

		could += c->load[i];
		have += c->load[i] * (1 - fmin(duty, 1) * suffering(c));
	}
	return could > 0 ? have / could : 1;
}

int
main(void)
{
	int			kept = 0;
	int			gentle = 0;
	int			told = 0;

	for (int i = 0; i < CASES; i++)
	{
		Case		c;
		Outcome		outcome;

		seed = (uint32_t) i + 1;
		c = case_of(i % 2 == 0, between(20, 300), between(0.05, 0.7));
		outcome = move(&c);
		kept += outcome.seconds <= c.window;
		gentle += outcome.share >= 0.9 * constant_share(&c);
		printf("# %s, %3.0f s, %6.0f MB: %3.0f s, share %.2f, constant %.2f\n",
			   c.is_disk ? "disk " : "flash", c.window, c.bytes / MB,
			   outcome.seconds, outcome.share, constant_share(&c));

		c = case_of(i % 2 == 0, between(20, 300), between(1.9, 3));
		outcome = move(&c);
		told += outcome.told >= 0 && outcome.told <= 0.1 * c.window;
	}
	ok(kept == CASES, "%d of %d that can be in time are", kept, CASES);
	ok(gentle == CASES,
	   "%d of %d leave others 0.9 of what a constant rate would have", gentle,
	   CASES);
	ok(told == CASES, "%d of %d that cannot be say so at the start", told,
	   CASES);
	return done_testing();
}
