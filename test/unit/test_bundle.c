/*
 * test_bundle.c
 *	  Unit test of src/advise/bundle.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "advise/bundle.c"

#include "tap.h"

/* the results of a move come later */
#define RESULTS 0, 0, TSA_BUNDLE_MADE, TSA_NO_MOVE, false

#define WEEK (7 * 86400.0)
#define MANY 20000

static uint64_t seed = 42;

/* a number below n, the same in each run */
static uint64_t
below(uint64_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % n;
}

static TsaBundleProblem
problem_of(TsaBundleMove *moves, size_t n, double read_ms, double read_bytes,
		   const int64_t *free, int nrooms)
{
	TsaBundleProblem p = {
		moves, n, read_ms, read_bytes, free, nrooms, 5, 1, WEEK
	};

	return p;
}

/* whether each move fits when its turn comes, in the order of ranks */
static bool
is_feasible(const TsaBundleProblem *p)
{
	int64_t		room[8];
	size_t		made = 0;

	memcpy(room, p->free, (size_t) p->nrooms * sizeof(int64_t));
	for (size_t i = 0; i < p->n; i++)
		made += p->moves[i].rank > 0;
	for (size_t rank = 1; rank <= made; rank++)
	{
		const TsaBundleMove *m = NULL;

		for (size_t i = 0; i < p->n; i++)
		{
			if (p->moves[i].rank == (int) rank)
				m = &p->moves[i];
		}
		if (m == NULL || room[m->to_room] < (int64_t) m->size)
			return false;
		room[m->to_room] -= (int64_t) m->size;
		room[m->from_room] += (int64_t) m->freed;
	}
	return true;
}

static void
test_free_room(void)
{
	/* 0 is fast and has room for both */
	int64_t		room[] = {100, 100};
	TsaBundleMove moves[] = {
		{1, 0, 50, 50, 20, 1, RESULTS}, {1, 0, 40, 40, 30, 1, RESULTS}
	};
	TsaBundleProblem p = problem_of(moves, 2, 100, 1000, room, 2);

	ok(tsa_bundle_moves(&p), "two moves into free room");
	ok(moves[0].bundle == 2 && moves[1].bundle == 1,
	   "each is a bundle, what saves most per byte first");
	ok(moves[0].rank == 2 && moves[1].rank == 1, "and ranked alike");
	ok(moves[0].makes_room_for == TSA_NO_MOVE, "none makes room");
}

static void
test_exchange(void)
{
	int64_t		room[] = {5, 100};
	TsaBundleMove moves[] = {
		{1, 0, 50, 50, 20, 1, RESULTS}, {0, 1, 60, 60, -2, 1, RESULTS},
		{1, 0, 10, 10, 3, 1, RESULTS}
	};
	TsaBundleProblem p = problem_of(moves, 3, 100, 1000, room, 2);

	tsa_bundle_moves(&p);
	ok(moves[1].rank == 1 && moves[0].rank == 2,
	   "what goes down goes before what comes up");
	ok(moves[0].bundle == 1 && moves[1].bundle == 1, "as one bundle");
	is_int((long long) moves[1].makes_room_for, 0, "and says for what");
	ok(is_feasible(&p), "each fits when its turn comes");

	moves[1].saved = -30;
	tsa_bundle_moves(&p);
	ok(moves[0].rank == 0 && moves[1].rank == 0,
	   "a bundle that loses is not made");
	is_int(moves[1].verdict, TSA_BUNDLE_TOO_LITTLE, "for it saves too little");

	moves[1].saved = -19;
	tsa_bundle_moves(&p);
	is_int(moves[0].verdict, TSA_BUNDLE_TOO_LITTLE,
		   "nor one that saves too small a share of all");
	moves[1].saved = -2;
	moves[1].seconds = 2 * WEEK;
	tsa_bundle_moves(&p);
	is_int(moves[0].verdict, TSA_BUNDLE_NOT_REPAID,
		   "nor one that a week does not repay");
}

static void
test_cycle(void)
{
	int64_t		room[] = {0, 0, 0};
	TsaBundleMove moves[] = {
		{1, 0, 50, 50, 60, 1, RESULTS}, {0, 1, 50, 50, -2, 1, RESULTS},
		{2, 0, 0, 50, 10, 1, RESULTS}
	};
	TsaBundleProblem p = problem_of(moves, 2, 100, 1000, room, 3);

	tsa_bundle_moves(&p);
	is_int(moves[0].verdict, TSA_BUNDLE_NO_ROOM, "an exchange without room");
	ok(moves[0].rank == 0 && moves[1].rank == 0, "is not made");
	room[1] = 50;
	tsa_bundle_moves(&p);
	ok(moves[1].rank == 1 && moves[0].rank == 2 && is_feasible(&p),
	   "with room for one copy it is");
}

static void
test_too_full(void)
{
	int64_t		room[] = {-40, 500};
	TsaBundleMove moves[] = {
		{0, 1, 50, 50, -30, 1e9, RESULTS}, {0, 1, 20, 20, -1, 1, RESULTS}
	};
	TsaBundleProblem p = problem_of(moves, 2, 100, 1000, room, 2);

	tsa_bundle_moves(&p);
	ok(moves[0].is_relief && moves[1].is_relief && moves[0].rank > 0,
	   "a tablespace that is too full is relieved at a loss");
}

static void
test_random(void)
{
	TsaBundleMove moves[40];
	int			infeasible = 0;
	int			split = 0;
	int			made = 0;

	for (int run = 0; run < 2000; run++)
	{
		int64_t		room[3];
		TsaBundleProblem p = problem_of(moves, 1 + below(40), 100, 1000, room, 3);

		for (int k = 0; k < 3; k++)
			room[k] = (int64_t) below(400) - (below(10) == 0 ? 200 : 0);
		p.read_ms = (double) below(100);
		for (size_t i = 0; i < p.n; i++)
		{
			moves[i].from_room = (int) below(3);
			moves[i].to_room = (moves[i].from_room + 1 + (int) below(2)) % 3;
			moves[i].freed = below(100);
			moves[i].size = below(4) ? moves[i].freed : moves[i].freed / 2;
			moves[i].saved = (double) below(30) *
				(moves[i].to_room < moves[i].from_room ? 1 : -0.3);
			moves[i].seconds = (double) below(1000);
		}
		tsa_bundle_moves(&p);
		infeasible += !is_feasible(&p);
		for (size_t i = 0; i < p.n; i++)
		{
			size_t		other = moves[i].makes_room_for;

			made += moves[i].rank > 0;
			split += (moves[i].rank > 0) != (moves[i].bundle > 0) ||
				(other != TSA_NO_MOVE &&
				 moves[other].bundle != moves[i].bundle);
		}
	}
	is_int(infeasible, 0, "in each of 2000 runs all moves fit in their turn");
	is_int(split, 0, "no bundle is made in part");
	ok(made > 10000, "%d moves were made", made);
}

static void
test_many(void)
{
	TsaBundleMove *moves = calloc(2 * MANY, sizeof(*moves));
	int64_t		room[] = {1000, 1000000000};
	TsaBundleProblem p = problem_of(moves, 2 * MANY, 1e9, 1e9, room, 2);
	int			bundles = 0;
	int			made = 0;

	p.min_percent = p.min_dense_percent = 0;
	for (size_t i = 0; i < p.n; i++)
	{
		int			up = i < MANY;

		moves[i] = (TsaBundleMove)
		{
			up, !up, 100 + below(100), 0, 0, 1, RESULTS
		};
		moves[i].freed = moves[i].size += up ? 0 : 20;
		moves[i].saved = up ? (double) (10 + below(90)) : -(double) below(5);
	}
	tsa_bundle_moves(&p);
	for (size_t i = 0; i < p.n; i++)
	{
		if (moves[i].bundle > bundles)
			bundles = moves[i].bundle;
		made += moves[i].rank > 0;
	}
	ok(made > MANY, "of %d moves %d are made", 2 * MANY, made);
	ok(bundles > MANY / 10, "in %d bundles", bundles);
	free(moves);
}

int
main(void)
{
	test_free_room();
	test_exchange();
	test_cycle();
	test_too_full();
	test_random();
	test_many();
	return done_testing();
}
