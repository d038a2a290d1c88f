/*
 * A copy beside two readers, on simulated disks: how long it takes, what the
 * readers keep, and how long the unlucky ones of them wait.  The worlds of
 * test_rate_control.c have no queue: there others lose a part of the time that
 * the copy works, and requests take what they take.  So they did not show that
 * turns got short where their reads had to wait, nor that the loss is measured
 * too small just after a turn.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "move/copy/burst.c"
#include "move/copy/rate_control.c"
#include "move/copy/turn.c"

#include <stdlib.h>

#include "tap.h"

#define MB (1024.0 * 1024.0)
#define READERS 2
#define SIZE (197.0 * MB)
#define MAX_QUEUE 64
#define MAX_WAITS 200000

typedef struct Disk
{
	const char *name;
	double		seek;			/* seconds, of the readers */
	double		far;			/* more, to the copy's file and back */
	double		rate;			/* bytes per second */
	double		piece;			/* bytes of a request of the copy */
	bool		buffered;		/* pieces that others interrupt go on for free */
	int			arms;
	double		work;			/* seconds a byte, of the copy after its reads */
} Disk;

/* A request: of a reader, or of the copy. */
typedef struct Request
{
	int			who;			/* reader, or -1 */
	double		at;
	double		bytes;
} Request;

typedef struct Arm
{
	bool		busy;
	double		until;
	Request		request;
	bool		at_copy;		/* the head is there */
} Arm;

typedef struct Sim
{
	const Disk *disk;
	double		clock;
	Arm			arms[2];
	Request		queue[MAX_QUEUE];
	int			queued;
	double		done;			/* by the readers */
	double		requests;
	double		request_seconds;
	double		copied;
	double		waits[MAX_WAITS];
	int			nwaits;
	unsigned	seed;
} Sim;

/* A seek, half as long to one and a half times as long. */
static double
seek(Sim *sim)
{
	sim->seed = sim->seed * 1103515245 + 12345;
	return sim->disk->seek * (0.5 + (sim->seed >> 8) % 65536 / 65536.0);
}

static void
ask(Sim *sim, int who, double bytes)
{
	Request		request = {who, sim->clock, bytes};

	if (sim->queued == MAX_QUEUE)
		abort();
	sim->queue[sim->queued++] = request;
}

static void
serve(Sim *sim)
{
	for (int i = 0; i < sim->disk->arms; i++)
	{
		Arm		   *arm = &sim->arms[i];
		bool		goes_on;
		double		takes;

		if (arm->busy || sim->queued == 0)
			continue;
		arm->request = sim->queue[0];
		memmove(sim->queue, sim->queue + 1, --sim->queued * sizeof(Request));
		goes_on = arm->request.who < 0 && arm->at_copy;
		takes = goes_on ? 0 : seek(sim);
		if (arm->at_copy != (arm->request.who < 0))
			takes += sim->disk->far;
		arm->at_copy = arm->request.who < 0;
		arm->busy = true;
		arm->until = sim->clock + takes + arm->request.bytes / sim->disk->rate;
	}
}

/* Goes on until a moment, or until the copy has read so many bytes in all. */
static void
go(Sim *sim, double until, double copied)
{
	for (;;)
	{
		Arm		   *next = NULL;

		serve(sim);
		for (int i = 0; i < sim->disk->arms; i++)
			if (sim->arms[i].busy &&
				(next == NULL || sim->arms[i].until < next->until))
				next = &sim->arms[i];
		if (sim->copied >= copied || next->until > until)
			break;
		sim->clock = next->until;
		next->busy = false;
		sim->requests++;
		sim->request_seconds += sim->clock - next->request.at;
		if (next->request.who < 0)
		{
			sim->copied += next->request.bytes;
			continue;
		}
		sim->done += next->request.bytes;
		if (sim->nwaits < MAX_WAITS)
			sim->waits[sim->nwaits++] = sim->clock - next->request.at;
		ask(sim, next->request.who, 8192);
	}
	if (sim->copied < copied)
		sim->clock = until;
}

static TsaRateSample
sample_since(Sim *sim, double start, bool working)
{
	TsaRateSample sample = {0};

	sample.working = working;
	sample.seconds = sim->clock - start;
	sample.known[TSA_CONTENTION_SOURCE] = true;
	sample.done[TSA_CONTENTION_SOURCE] = sim->done;
	sample.requests[TSA_CONTENTION_SOURCE] = sim->requests;
	sample.request_seconds[TSA_CONTENTION_SOURCE] = sim->request_seconds;
	sim->done = sim->requests = sim->request_seconds = 0;
	return sample;
}

/* A unit, and the sleep after it. */
static void
work(Sim *sim, TsaRate *control)
{
	double		start = sim->clock;
	double		bytes = tsa_rate_unit_bytes(control);
	double		reading;
	double		turn;
	double		rest;
	double		settled;
	double		asked = 0;
	double		target = sim->copied + bytes;
	TsaRateSample sample;

	while (asked < bytes)
	{
		double		piece = fmin(sim->disk->piece, bytes - asked);

		ask(sim, -1, piece);
		asked += piece;
	}
	go(sim, INFINITY, target);
	reading = sim->clock - start;
	go(sim, sim->clock + bytes * sim->disk->work, INFINITY);
	turn = tsa_rate_turn(control, bytes, sim->clock - start, reading);
	sample = sample_since(sim, start, true);
	sample.worked = sample.seconds;
	sample.bytes = bytes;
	sample.read_seconds = reading;
	tsa_rate_note(control, &sample);
	rest = tsa_rate_rest(control, bytes, turn, sample.seconds);
	if (rest <= 0)
		return;
	start = sim->clock;
	settled = start + tsa_rate_settling(control, rest);
	go(sim, settled, INFINITY);
	sample = sample_since(sim, start, true);
	tsa_rate_note(control, &sample);
	go(sim, start + rest, INFINITY);
	sample = sample_since(sim, settled, false);
	tsa_rate_note(control, &sample);
}

static int
compare(const void *a, const void *b)
{
	double		left = *(const double *) a;
	double		right = *(const double *) b;

	return (left > right) - (left < right);
}

/* The wait of one in a hundred. */
static double
p99(Sim *sim)
{
	qsort(sim->waits, sim->nwaits, sizeof(double), compare);
	return sim->waits[(int) (sim->nwaits * 0.99)];
}

typedef struct Outcome
{
	double		seconds;
	double		share;
	double		times;			/* p99 to p99 */
	double		measured;		/* loss, at the end */
} Outcome;

static Sim	sim;

static Outcome
copy_beside_readers(const Disk *disk)
{
	TsaRate		control;
	Outcome		outcome;
	double		alone;
	double		start;
	double		usual;
	TsaRateSample sample;

	memset(&sim, 0, sizeof(sim));
	sim.disk = disk;
	for (int i = 0; i < READERS; i++)
		ask(&sim, i, 8192);
	go(&sim, 20, INFINITY);
	alone = sim.nwaits / 20.0;
	usual = p99(&sim);
	sim.nwaits = 0;
	(void) sample_since(&sim, 0, false);

	tsa_init_rate(&control, true, 0);
	start = sim.clock;
	go(&sim, start + 0.002, INFINITY);
	for (;;)
	{
		double		rest;
		double		from = sim.clock;

		sample = sample_since(&sim, sim.clock - 0.002, false);
		tsa_rate_note(&control, &sample);
		rest = tsa_rate_first_rest(&control);
		if (rest == 0)
			break;
		go(&sim, from + rest, INFINITY);
	}
	while (sim.copied < SIZE)
		work(&sim, &control);
	outcome.seconds = sim.clock - start;
	outcome.share = sim.nwaits / outcome.seconds / alone;
	outcome.times = p99(&sim) / usual;
	outcome.measured = tsa_rate_loss(&control, TSA_CONTENTION_SOURCE);
	return outcome;
}

static void
test_disks(void)
{
	/* 30 s for 197 MB: a tenth of the disk has the time for that, or not */
	static const struct
	{
		Disk		disk;
		double		seconds;
		double		times;
	}			cases[] = {
		{{"150 MB/s", 0.0057, 0, 150 * MB, 512 * 1024, true, 1, 2e-9}, 30, 2},
		{{"150 MB/s, 8 ms", 0.008, 0, 150 * MB, 512 * 1024, true, 1, 2e-9}, 30, 2},
		{{"90 MB/s, 8 ms", 0.008, 0, 90 * MB, 512 * 1024, true, 1, 2e-9}, 40, 2},
		{{"no buffer", 0.0056, 0, 150 * MB, 256 * 1024, false, 1, 2e-9}, 30, 2},
		{{"no buffer, 8 ms", 0.008, 0, 150 * MB, 512 * 1024, false, 1, 2e-9}, 30, 2},
		{{"a slow processor", 0.0056, 0, 150 * MB, 512 * 1024, true, 1, 20e-9}, 30, 2},
		{{"two arms", 0.0057, 0, 150 * MB, 512 * 1024, true, 2, 2e-9}, 30, 2},
		{{"far to go", 0.004, 0.004, 150 * MB, 512 * 1024, true, 1, 2e-9}, 60, 2.5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		Outcome		outcome = copy_beside_readers(&cases[i].disk);

		ok(outcome.share >= 0.88, "%s: readers keep %.3f",
		   cases[i].disk.name, outcome.share);
		ok(outcome.seconds <= cases[i].seconds, "in %.1f s", outcome.seconds);
		ok(outcome.times <= cases[i].times,
		   "one in a hundred waits %.2f times as long", outcome.times);
		ok(fabs(1 - outcome.share - outcome.measured) < 0.025,
		   "the loss is measured as it is (%.3f)", outcome.measured);
	}
}

/* Turns whose length the reading tells, not what others lose. */
static void
test_fit(void)
{
	TsaTurnsOthers others = {.request = 0.008,.waiting = 0.1,.lost = 0};
	TsaTurns	turns;

	tsa_turns_init(&turns);
	for (int i = 0; i < 50; i++)
		tsa_turns_fit(&turns, &others, turns.bytes, 0.004 + turns.bytes / (100 * MB));
	is_close(turns.bytes, 0.8 * MB, 0.1,
			 "who comes seldom loses nothing: the reading takes 1.5 requests");
	for (int i = 0; i < 50; i++)
	{
		tsa_turns_fit(&turns, &others, turns.bytes, 0);
		tsa_turns_fit(&turns, &others, 0.2 * MB, 0.0001);
	}
	is_close(turns.bytes, 0.8 * MB, 0.1, "nothing read, or a part of a turn, says nothing");

	others.waiting = 2;
	others.lost = -1;
	tsa_turns_fit(&turns, &others, turns.bytes, 0.1);
	is_close(turns.bytes, 0.8 * MB, 0.1, "nor does a loss that is not known");
	tsa_turns_init(&turns);
	others.lost = 1;
	tsa_turns_fit(&turns, &others, turns.bytes, 0.1);
	is_close(turns.bytes, FIRST_TURN, 1e-9, "nor one turn");
	for (int i = 0; i < 50; i++)
		tsa_turns_fit(&turns, &others, turns.bytes, 0.1);
	others.lost = 100;
	tsa_turns_fit(&turns, &others, turns.bytes, 0.1);
	ok(turns.bytes >= LEAST_TURN, "half a MB at least");
	others.lost = 0;
	for (int i = 0; i < 50; i++)
	{
		tsa_turns_fade(&turns, 0.5);
		for (int n = 0; n < 4; n++)
			tsa_turns_fit(&turns, &others, turns.bytes, 0.1);
	}
	is_close(turns.bytes, MOST_TURN, 1e-9, "two at most");
}

int
main(void)
{
	test_disks();
	test_fit();
	return done_testing();
}
