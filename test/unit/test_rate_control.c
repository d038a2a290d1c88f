/* Copyright (c) 2026, The tablespace_advisor developers */

/* The control of a copy, on simulated devices. */
#include "move/copy/burst.c"
#include "move/copy/rate_control.c"
#include "move/copy/turn.c"

#include "tap.h"

#define MB (1024.0 * 1024.0)
#define BATCH (128.0 * 1024)

/* A device as others see it, and what a copy costs there. */
typedef struct World
{
	double		clock;
	double		copied;
	double		others;			/* bytes read, or transactions, per second
								 * without the copy; 0: nobody */
	double		suffer;			/* part of that which is lost while it works */
	double		request;		/* seconds a request takes without the copy */
	double		speed;			/* of the copy at work, bytes per second */
	double		cpu_wait;		/* part of its working time */
	bool		blind;			/* no counters */
	TsaContention who;
} World;

/* Each test has a world, and the control of a copy in it. */
static World world;
static TsaRate control;

/* A copy begins, which has regard for others and no bound. */
static void
begin(World device, double others)
{
	world = device;
	world.others = others;
	tsa_init_rate(&control, true, 0);
}

/* A stretch of so many seconds, in which so many have been worked. */
static TsaRateSample
sample_of(double seconds, double worked, double bytes)
{
	TsaRateSample sample = {0};
	double		done = world.others *
	(seconds - worked + worked * (1 - world.suffer));

	sample.working = worked > 0;
	sample.seconds = seconds;
	sample.worked = worked;
	sample.bytes = bytes;
	sample.cpu_wait = world.cpu_wait * worked;
	if (world.blind)
	{
		sample.read_bytes = bytes;
		sample.read_seconds = bytes / world.speed;
		return sample;
	}
	sample.known[world.who] = true;
	sample.done[world.who] = done;
	sample.requests[world.who] = world.request > 0 ? done / 8192 : 0;
	sample.request_seconds[world.who] = done / 8192 * world.request;
	return sample;
}

/* Copies for so many seconds; bytes per second. */
static double
run(double seconds)
{
	double		end = world.clock + seconds;
	double		start = world.clock;
	double		copied = world.copied;

	while (world.clock < end)
	{
		double		bytes = 0;
		double		worked = 0;
		double		elapsed = 0;
		double		rest;
		TsaRateSample sample;

		do
		{
			bytes += BATCH;
			worked += BATCH / world.speed;
			elapsed += BATCH / world.speed;
			elapsed += tsa_rate_short_sleep(&control, bytes, worked, elapsed);
		} while (bytes < tsa_rate_unit_bytes(&control) &&
				 elapsed < tsa_rate_unit_seconds(&control));
		sample = sample_of(elapsed, worked, bytes);
		tsa_rate_note(&control, &sample);
		rest = tsa_rate_rest(&control, bytes, worked, elapsed);
		if (rest > 0)
		{
			sample = sample_of(rest, 0, 0);
			tsa_rate_note(&control, &sample);
		}
		world.clock += elapsed + rest;
		world.copied += bytes;
	}
	return (world.copied - copied) / (world.clock - start);
}

static World
disk(void)
{
	World		device = {.speed = 60 * MB,.who = TSA_CONTENTION_SOURCE,
	.request = 0.0105,.suffer = 0.9};

	return device;
}

static World
flash(void)
{
	World		device = {.speed = 400 * MB,.who = TSA_CONTENTION_SERVER,
	.suffer = 0.5};

	return device;
}

static void
test_idle(void)
{
	begin(disk(), 0);
	is_close(run(2), world.speed, 1e-9, "alone: full speed");
	ok(tsa_rate_reason(&control) == TSA_REASON_IDLE, "and says so");
	is_close(control.rate, world.speed, 1e-9, "with the rate");
}

static void
test_stray(void)
{
	TsaRateSample sample;

	begin(flash(), 0);
	sample = sample_of(0.06, 0.06, 24 * MB);
	sample.known[TSA_CONTENTION_SOURCE] = true;
	sample.done[TSA_CONTENTION_SOURCE] = 24 * 1024;
	sample.done[TSA_CONTENTION_SERVER] = 2;
	sample.cpu_wait = 0.01;
	tsa_rate_note(&control, &sample);
	ok(tsa_rate_is_full(&control), "a stray read and a commit are nobody");
	sample.done[TSA_CONTENTION_SOURCE] = sample.done[TSA_CONTENTION_SERVER] = 0;
	for (int i = 0; i < 30; i++)
		tsa_rate_note(&control, &sample);
	sample.seconds = 0.1;
	sample.done[TSA_CONTENTION_SOURCE] = 2 * MB;
	tsa_rate_note(&control, &sample);
	ok(tsa_rate_is_full(&control), "nor is a program that starts");
	sample.seconds = 0.06;
	sample.done[TSA_CONTENTION_SOURCE] = 0;
	for (int i = 0; i < 30; i++)
		tsa_rate_note(&control, &sample);
	for (int i = 0; i < 8; i++)
	{
		sample.done[TSA_CONTENTION_SOURCE] = 24 * 1024;
		tsa_rate_note(&control, &sample);
	}
	ok(!tsa_rate_is_full(&control), "one after the other is somebody");
}

/* Rests before the first read; seconds of that. */
static double
look(double opening)
{
	double		start = world.clock;
	double		rest = opening;

	for (;;)
	{
		TsaRateSample sample = sample_of(rest, 0, 0);

		tsa_rate_note(&control, &sample);
		rest = tsa_rate_first_rest(&control);
		if (rest == 0)
			break;
		world.clock += rest;
	}
	return world.clock - start;
}

static void
test_first_rest(void)
{
	TsaRateSample sample;

	begin(disk(), 0);
	is_close(look(0.002), 0, 1e-9, "nobody reads: no rest");
	ok(tsa_rate_is_full(&control), "and full speed");

	world.others = 1.5 * MB;
	tsa_init_rate(&control, true, 0);
	ok(look(0.002) <= 0.37, "somebody reads: a short one");
	ok(tsa_rate_reason(&control) == TSA_REASON_SOURCE &&
	   control.share <= SLOW_SHARE, "the first read has regard for him");
	ok(tsa_rate_unit_bytes(&control) == FIRST_TURN,
	   "in turns, as the device is known to be slow");

	world.others = 0;
	tsa_init_rate(&control, true, 0);
	sample = sample_of(0.002, 0, 0);
	sample.reads_waiting = true;
	tsa_rate_note(&control, &sample);
	ok(tsa_rate_first_rest(&control) > 0, "a read under way is looked into");
	is_close(look(0.1), 0, 1e-9, "once, if it was the only one");
	ok(tsa_rate_is_full(&control), "and is nobody");

	world.others = 0.2 * MB;
	world.request = 0.0003;
	tsa_init_rate(&control, true, 0);
	ok(look(0.002) <= 0.13, "who hardly waits for the device: one rest tells");
	ok(tsa_rate_is_full(&control), "and he is ignored");

	world = disk();
	world.others = 1.5 * MB;
	tsa_init_rate(&control, false, 0);
	is_close(look(0.002), 0, 1e-9, "unlimited: no rest");
	tsa_init_rate(&control, true, 0);
	control.copies = 2;
	is_close(look(0.002), 0, 1e-9,
			 "beside another copy: no rest, as it may be what reads");
}

static void
test_disk(void)
{
	double		rate;

	begin(disk(), 1.5 * MB);
	(void) run(1);
	rate = run(10);
	ok(rate > 4.9 * MB, "beside readers 196 MB take less than 40 s (%.1f MB/s)",
	   rate / MB);
	ok(tsa_rate_loss(&control, TSA_CONTENTION_SOURCE) < 0.15,
	   "and leave them 85 %%");
	ok(tsa_rate_reason(&control) == TSA_REASON_SOURCE, "because of the source");

	world.others = 0;
	(void) run(3);
	is_close(run(1), world.speed, 1e-9, "they go: full speed");
	ok(tsa_rate_reason(&control) == TSA_REASON_IDLE, "and says so");
	world.others = 1.5 * MB;
	(void) run(1);
	ok(run(2) < 0.2 * world.speed, "they come back: slow");
}

static void
test_seldom(void)
{
	begin(disk(), 0.2 * MB);
	world.suffer = 0;			/* they lose no throughput */
	(void) run(20);
	ok(control.share <= SLOW_SHARE + 1e-9,
	   "who comes seldom to a slow device does not wait often");
}

static void
test_long_units(void)
{
	begin(disk(), 1.5 * MB);
	world.speed = 1.3 * MB;
	tsa_init_rate(&control, true, 10 * MB);
	(void) run(10);
	ok(!tsa_rate_is_full(&control), "units of a second: others are seen");
}

static void
test_little(void)
{
	begin(disk(), 0.2 * MB);
	world.speed = 400 * MB;
	world.request = 0.0003;
	world.suffer = 0;
	(void) run(2);
	is_close(run(10), world.speed, 1e-9,
			 "a device that others use for a hundredth of the time: full speed");
	world.others = 20 * MB;
	world.suffer = 0.9;
	(void) run(1);
	ok(run(2) < 0.3 * world.speed, "they use it more: slow");
	ok(tsa_rate_reason(&control) == TSA_REASON_SOURCE, "because of the source");

	begin(disk(), 0.2 * MB);
	world.suffer = 0;
	(void) run(2);
	ok(run(10) <= SLOW_SHARE * world.speed * (1 + 1e-9),
	   "as many bytes keep a slow device busy");
}

static void
test_flash(void)
{
	double		rate;

	begin(flash(), 2000);
	(void) run(0.5);
	is_close(run(2), world.speed, 0.01,
			 "beside writers: full speed, once it is known what they do without");
	ok(tsa_rate_reason(&control) == TSA_REASON_BURST, "it says so");
	ok(tsa_rate_others_lost(&control) < 0, "what that costs them is not known before it ends");
	(void) run(2);
	ok(!tsa_rate_is_full(&control), "for some seconds");
	ok(tsa_rate_others_lost(&control) > 0.3, "and then counts what that has cost them (%.2f)",
	   tsa_rate_others_lost(&control));
	rate = run(3);
	ok(rate > 50 * MB, "beside writers (%.0f MB/s)", rate / MB);
	ok(tsa_rate_loss(&control, TSA_CONTENTION_SERVER) < 0.12, "90 %% are theirs");
	ok(tsa_rate_reason(&control) == TSA_REASON_SERVER, "because of transactions");

	world.suffer = 0;
	(void) run(20);
	ok(control.share >= MAX_SHARE - 1e-9, "who does not suffer is no hindrance");

	world.suffer = 1;
	world.others = 100;
	(void) run(5);
	ok(tsa_rate_loss(&control, TSA_CONTENTION_SERVER) < 0.15,
	   "a load that begins to suffer is noticed");
}

/* Bounds of a burst. */
static void
test_burst(void)
{
	begin(flash(), 2000);
	world.suffer = 0.9;
	(void) run(1);
	ok(!tsa_rate_is_full(&control), "who loses nine tenths: no burst");
	ok(tsa_rate_others_lost(&control) < 0.4, "but for a moment (%.2f)",
	   tsa_rate_others_lost(&control));

	world.suffer = 0.5;
	tsa_init_rate(&control, true, 0);
	(void) run(0.5);
	control.present[TSA_CONTENTION_TARGET] = true;
	ok(!bursts(&control), "nor where others read from the target");
	control.present[TSA_CONTENTION_TARGET] = false;
	ok(bursts(&control), "but where nobody does");

	tsa_init_rate(&control, true, 50 * MB);
	ok(run(3) < 51 * MB, "max_rate bounds a burst");
}

static void
test_processor(void)
{
	begin(flash(), 0);
	world.cpu_wait = 0.4;
	(void) run(5);
	is_close(control.share, CONTENDED_SHARE, 1e-9, "others wait for a processor");
	ok(tsa_rate_reason(&control) == TSA_REASON_PROCESSOR, "it says so");
}

static void
test_blind(void)
{
	begin(disk(), 0);
	world.blind = true;
	is_close(run(1), world.speed, 1e-9, "no counters, alone: full speed");
	world.speed /= 4;
	(void) run(1);
	ok(run(2) < world.speed / 4, "own reads take longer: slow");
	ok(tsa_rate_reason(&control) == TSA_REASON_OWN_TIMING, "it says so");
	world.speed *= 4;
	(void) run(3);
	is_close(run(1), world.speed, 1e-9, "they do not: fast");
}

static void
test_floor(void)
{
	begin(disk(), 1.5 * MB);
	world.speed = 4 * MB;
	world.suffer = 1;
	(void) run(20);
	ok(run(10) >= 0.75 * MB, "every move ends");
}

static void
test_max_rate(void)
{
	begin(disk(), 0);
	tsa_init_rate(&control, true, 10 * MB);
	is_close(run(5), 10 * MB, 0.02, "max_rate bounds");
	ok(tsa_rate_reason(&control) == TSA_REASON_BOUND, "it says so");
	world.speed = 2 * MB;
	(void) run(5);
	world.speed = 60 * MB;
	ok(run(1) <= 10.1 * MB, "and is not made up for");
	world.others = 1.5 * MB;
	(void) run(3);
	ok(run(3) < 9.5 * MB, "beside others it is less");
	ok(tsa_rate_reason(&control) == TSA_REASON_SOURCE, "because of them");

	world = flash();
	tsa_init_rate(&control, true, 10 * MB);
	control.sharers = 3;
	is_close(run(5), 10 * MB / 3, 0.02, "three share a bound");

	world = disk();
	tsa_init_rate(&control, true, 100 * 1024);
	ok(tsa_rate_unit_bytes(&control) <= MIN_UNIT, "a small rate has small units");
	is_close(run(20), 100 * 1024, 0.1, "and is kept");
}

/* What has to be kept up beside others who would rather have less. */
static void
test_min_rate(void)
{
	begin(disk(), 1.5 * MB);
	control.min_rate = 30 * MB;
	(void) run(3);
	is_close(run(10), 30 * MB, 0.05, "not throttled below min_rate");
	ok(tsa_rate_reason(&control) == TSA_REASON_MIN_RATE, "it says so");
	control.sharers = 2;
	is_close(run(10), 15 * MB, 0.1, "which a call's copies share");

	control.min_rate = 0;
	control.sharers = 1;
	(void) run(3);
	ok(run(10) < 10 * MB, "without it others come first again");
	ok(tsa_rate_reason(&control) == TSA_REASON_SOURCE, "and that is the reason");

	begin(flash(), 2000);
	world.suffer = 1;
	control.min_rate = 200 * MB;
	(void) run(3);
	ok(run(5) > 190 * MB, "short sleeps regard it, too");

	control.max_rate = 200 * MB;
	(void) run(3);
	is_close(run(5), 200 * MB, 0.05, "as much as max_rate");
}

static void
test_needed_rate(void)
{
	begin(disk(), 1.5 * MB);
	control.needed_rate = 25 * MB;
	(void) run(3);
	is_close(run(10), 25 * MB, 0.05, "the rate needed to end in time");
	ok(tsa_rate_reason(&control) == TSA_REASON_DEADLINE, "it says so");
	is_close(tsa_rate_speed(&control), world.speed, 0.01, "the speed at work");
	control.needed_rate = 1 * MB;
	(void) run(3);
	ok(run(5) > 2 * MB, "ahead of time it is as it would be");
	ok(tsa_rate_reason(&control) == TSA_REASON_SOURCE, "because of others");
	control.needed_rate = INFINITY;
	(void) tsa_rate_rest(&control, 1 * MB, 0.01, 10 / control.share);
	ok(tsa_rate_reason(&control) == TSA_REASON_DEADLINE,
	   "a unit that took too long to be followed by a sleep has the same reason");
	control.needed_rate = 1 * MB;
	control.late = true;
	is_close(run(3), world.speed, 0.05, "too late: full speed");
	ok(tsa_rate_reason(&control) == TSA_REASON_LATE, "it says so");
	control.max_rate = 10 * MB;
	(void) run(1);
	is_close(run(3), 10 * MB, 0.05, "but for max_rate");
}

static void
test_others_lost(void)
{
	begin(disk(), 0);
	(void) run(3);
	is_close(tsa_rate_others_lost(&control), 0, 1e-9, "nobody there: nothing lost");
	world.others = 1.5 * MB;
	(void) run(30);
	ok(tsa_rate_others_lost(&control) > 0.05 && tsa_rate_others_lost(&control) < 0.15,
	   "beside readers about a tenth (%.3f)", tsa_rate_others_lost(&control));
	control.min_rate = 40 * MB;
	(void) run(60);
	ok(tsa_rate_others_lost(&control) > 0.3, "more if it has to be fast (%.3f)",
	   tsa_rate_others_lost(&control));

	tsa_init_rate(&control, false, 0);
	(void) run(3);
	ok(tsa_rate_others_lost(&control) < 0, "unlimited: not known");
}

/*
 * Others that leave, or a copy that is over.  The tests above run for so long
 * that the figure of a single window, which can be anything, was not seen.
 */
static void
test_others_for_a_moment(void)
{
	double		lost;

	begin(disk(), 1.5 * MB);
	(void) run(1);
	ok(control.lost[TSA_CONTENTION_SOURCE].seen, "others are there");
	ok(tsa_rate_others_lost(&control) < 0, "for a second: their loss is not known");
	world.others = 0;
	(void) run(10);
	ok(tsa_rate_others_lost(&control) < 0, "nor is it if they leave then (%.2f)",
	   tsa_rate_others_lost(&control));
	world.others = 1.5 * MB;
	(void) run(20);
	ok(tsa_rate_others_lost(&control) > 0.05 && tsa_rate_others_lost(&control) < 0.2,
	   "they come back and stay: known (%.3f)", tsa_rate_others_lost(&control));
	lost = tsa_rate_others_lost(&control);
	world.others = 0;
	(void) run(10);
	ok(tsa_rate_others_lost(&control) < lost + 0.06,
	   "and about the same when they leave (%.3f)", tsa_rate_others_lost(&control));
}

/* A number from 0 to 1, the same ones in each run of the test. */
static double
by_chance(void)
{
	static unsigned int seed = 1;

	seed = seed * 1103515245 + 12345;
	return (seed >> 16) / 65536.0;
}

/*
 * Others that do not feel the copy at all, but read now and then, or do less
 * after a while, by themselves: a figure, if there is one, is not their change.
 * The tests above have loads that are the same all the time.
 */
static void
test_others_change(void)
{
	int			wrong = 0;

	for (int i = 0; i < 100; i++)
	{
		begin(flash(), 0);
		world.who = TSA_CONTENTION_SOURCE;
		world.suffer = 0;
		for (int j = 0; j < 100; j++)
		{
			world.others = by_chance() < 0.1 ? 100 * MB : by_chance() * MB;
			(void) run(0.05);
		}
		wrong += tsa_rate_others_lost(&control) > 0.25;
	}
	ok(wrong <= 5, "bursts of reads are not losses (%d of 100)", wrong);

	wrong = 0;
	for (int i = 0; i < 100; i++)
	{
		begin(flash(), 2000);
		world.suffer = 0.1;
		(void) run(0.4 + by_chance());
		world.others = 900;		/* a checkpoint, say */
		(void) run(2 + 2 * by_chance());
		wrong += tsa_rate_others_lost(&control) > 0.25;
	}
	ok(wrong == 0, "a load that halves by itself is no loss (%d of 100)", wrong);
}

/* What is shown as the rate is kept at each decision, not in the mean only. */
static void
test_rate_shown(void)
{
	double		most = 0;
	double		seen[2];

	begin(disk(), 0);
	tsa_rate_set_max_rate(&control, true, 4 * MB);
	for (int i = 0; i < 1000; i++)
	{
		(void) run(0.01 + 0.1 * by_chance());
		most = fmax(most, control.rate);
	}
	ok(most <= 4.1 * MB, "the shown rate does not exceed max_rate (%.1f MB/s)",
	   most / MB);

	/* one that the device does not reach is none */
	for (int i = 0; i < 2; i++)
	{
		begin(disk(), 5 * MB);
		tsa_rate_set_max_rate(&control, true, i * 100 * MB);
		while (control.share >= 1)
			(void) run(0.0001);
		seen[i] = world.clock;
	}
	is_close(seen[1], seen[0], 1e-9,
			 "others are seen as early with a max_rate that is not reached");
}

static void
test_altered(void)
{
	begin(disk(), 1.5 * MB);
	(void) run(5);
	tsa_rate_set_max_rate(&control, false, 0);
	is_close(run(2), world.speed, 1e-9, "unlimited from now on");
	ok(tsa_rate_reason(&control) == TSA_REASON_UNLIMITED, "it says so");
	tsa_rate_set_max_rate(&control, true, 0);
	(void) run(3);
	ok(run(3) < 10 * MB, "and with regard to others again");
	tsa_rate_set_max_rate(&control, true, 1 * MB);
	(void) run(3);
	ok(run(5) < 1.05 * MB, "a bound from now on");
}

/* Copies that are over before anything is known. */
static void
test_small(void)
{
	TsaRate		next;

	begin(disk(), 1.5 * MB);
	for (int i = 0; i < 100; i++)
	{
		(void) run(0.001);
		tsa_rate_go_on(&next, &control);
		control = next;
	}
	ok(tsa_rate_reason(&control) == TSA_REASON_SOURCE,
	   "a hundred small copies see others as a large one does");
	ok(tsa_rate_loss(&control, TSA_CONTENTION_SOURCE) < 0.15,
	   "and leave them 85 %%");
	is_close(tsa_rate_others_lost(&control), 0, 1e-9,
			 "each counts its own cost to them");
	is_close(look(0.002), 0, 1e-9, "who is known is not looked for");

	tsa_init_rate(&control, true, 10 * MB);
	world.others = 0;
	(void) run(1);
	control.best_read = 1;
	tsa_rate_go_on(&next, &control);
	tsa_rate_set_max_rate(&next, true, 0);
	ok(tsa_rate_reason(&next) == TSA_REASON_IDLE, "what bounded the last copy is not said of the next");
	ok(next.rate < 0, "whose rate is not known yet");
	is_close(next.best_read, 0, 1e-9, "nor how long its reads take");
}

static void
test_unlimited(void)
{
	begin(disk(), 1.5 * MB);
	tsa_init_rate(&control, false, 0);
	is_close(run(5), world.speed, 1e-9, "unlimited is");
	ok(tsa_rate_reason(&control) == TSA_REASON_UNLIMITED, "it says so");
}

static void
test_copies(void)
{
	double		alone;

	begin(disk(), 0.2 * MB);
	world.suffer = 0;
	(void) run(10);
	alone = run(5);
	control.copies = 2;
	(void) run(5);
	is_close(run(5), alone / 2, 0.2, "two copies share");
	begin(disk(), 1.5 * MB);
	control.copies = 2;
	(void) run(20);
	ok(tsa_rate_others_lost(&control) < 0,
	   "what readers lose beside two copies is not known");
}

/* What counts of a unit's work. */
static void
test_turn(void)
{
	begin(disk(), 1.5 * MB);
	(void) run(3);
	is_close(tsa_rate_turn(&control, 1, 0.1, 0.06), 0.06, 1e-9,
			 "on a disk that others read from: the reading");
	is_close(tsa_rate_turn(&control, 1, 0.1, 0), 0.1 * MIN_TURN, 1e-9,
			 "or a part, if nothing had to be read");

	is_close(tsa_rate_settling(&control, 1), 0.0105, 1e-9,
			 "of a sleep as long as a request tells nothing of others");
	is_close(tsa_rate_settling(&control, 0.01), 0.005, 1e-9, "half of it at most");
	control.present[TSA_CONTENTION_SERVER] = true;
	control.reason = TSA_REASON_SERVER;
	is_close(tsa_rate_turn(&control, 1, 0.1, 0.06), 0.1, 1e-9,
			 "where others write: all of it");
	ok(tsa_rate_settling(&control, 1) == 0, "and all of the sleep tells");
}

int
main(void)
{
	test_turn();
	test_idle();
	test_stray();
	test_first_rest();
	test_disk();
	test_seldom();
	test_long_units();
	test_little();
	test_flash();
	test_burst();
	test_processor();
	test_blind();
	test_floor();
	test_max_rate();
	test_min_rate();
	test_needed_rate();
	test_others_lost();
	test_others_change();
	test_rate_shown();
	test_others_for_a_moment();
	test_altered();
	test_small();
	test_unlimited();
	test_copies();
	return done_testing();
}
