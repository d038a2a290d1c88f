/*
 * test_assignment.c
 *	  Unit test of src/advise/assign_places.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <time.h>

#include "advise/assign_places.c"

#include "tap.h"

#define MANY 100000

static uint64_t seed = 42;

/* a number below n, the same in each run */
static uint64_t
below(uint64_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % n;
}

static const int own_rooms[] = {0, 1, 2, 3};

/* whether an assignment fits, and what it costs */
static bool
price_of(const TsaAssignmentProblem *p, const int *place, double *cost)
{
	uint64_t	used[TSA_MAX_ROOMS] = {0};
	uint64_t	moved = 0;

	*cost = 0;
	for (size_t i = 0; i < p->n; i++)
	{
		const TsaAssignmentItem *item = &p->items[i];
		const double *costs = p->cost + i * p->nplaces;
		uint64_t	size = place[i] == item->present ?
		item->size : item->moved_size;

		if (isinf(costs[place[i]]))
			return false;
		used[p->room_of[place[i]]] += size;
		if (place[i] != item->present &&
			costs[place[i]] < costs[item->present])
			moved += size;
		*cost += costs[place[i]];
	}
	for (int k = 0; k < p->nrooms; k++)
	{
		if (used[k] > p->room[k])
			return false;
	}
	return moved <= p->budget;
}

/* the best of all assignments; INFINITY if none fits */
static double
best_of_all(const TsaAssignmentProblem *p)
{
	double		best = INFINITY;
	int			place[16] = {0};

	for (;;)
	{
		double		cost;
		size_t		i = 0;

		if (price_of(p, place, &cost))
			best = fmin(best, cost);
		while (i < p->n && ++place[i] == p->nplaces)
			place[i++] = 0;
		if (i == p->n)
			return best;
	}
}

/*
 * An instance: read rates over four orders of magnitude, the first place the
 * fastest, rooms that hold a part of all, some relations that cannot move.
 */
static void
make_instance(TsaAssignmentProblem *p, TsaAssignmentItem *items, double *cost,
			  uint64_t *room)
{
	uint64_t	total = 0;
	uint64_t	present[4] = {0};

	for (size_t i = 0; i < p->n; i++)
	{
		double		rate = pow(10, (double) below(4000) / 1000);
		bool		pinned = below(10) == 0;

		items[i].size = 1 + below(1000) * (1 + below(20));
		items[i].moved_size = below(5) ? items[i].size : items[i].size / 2;
		items[i].present = (int) below((uint64_t) p->nplaces);
		total += items[i].size;
		present[items[i].present] += items[i].size;
		for (int j = 0; j < p->nplaces; j++)
		{
			cost[i * p->nplaces + j] = rate * pow(6, j) *
				(0.8 + (double) below(400) / 1000);
			if (j != items[i].present && (pinned || below(15) == 0))
				cost[i * p->nplaces + j] = INFINITY;
		}
	}
	for (int k = 0; k < p->nrooms; k++)
	{
		/* mostly what is there fits */
		room[k] = total * (5 + below(50)) / 100;
		if (k == p->nrooms - 1)
			room[k] = total * (50 + below(100)) / 100;
		if (below(10) && room[k] < present[k])
			room[k] = present[k] + below(total / 20 + 1);
	}
	p->budget = below(4) ? TSA_NO_LIMIT : total * below(60) / 100;
	p->items = items;
	p->cost = cost;
	p->room = room;
	p->room_of = own_rooms;
}

static void
test_random(void)
{
	TsaAssignmentItem items[12];
	double		cost[12 * 3];
	uint64_t	room[3];
	int			feasible = 0;
	int			wrong = 0;
	int			gains = 0;
	double		sum = 0;
	double		worst = 1;

	for (int run = 0; run < 1000; run++)
	{
		/* three to the twelfth is much for each of a thousand */
		int			nplaces = 2 + run % 2;
		TsaAssignmentProblem p = {.nplaces = nplaces,.nrooms = nplaces};
		TsaAssignment result;
		double		best;
		double		got;
		int			place[12];

		p.n = 1 + below(nplaces == 2 ? 12 : run % 20 == 1 ? 12 : 8);
		make_instance(&p, items, cost, room);
		tsa_assign_places(&p, &result);
		best = best_of_all(&p);
		for (size_t i = 0; i < p.n; i++)
			place[i] = items[i].place;
		if (isinf(best))
		{
			wrong += !result.too_full;
			continue;
		}
		feasible++;
		if (result.too_full || !price_of(&p, place, &got) ||
			fabs(got - result.cost) > 1e-9 * got)
		{
			wrong++;
			continue;
		}
		if (result.present_cost > best)
		{
			double		share = (result.present_cost - got) /
			(result.present_cost - best);

			worst = fmin(worst, share);
			sum += share;
			gains++;
		}
		else if (got > best * (1 + 1e-9))
			worst = fmin(worst, best / got);
	}
	ok(feasible > 800, "%d of 1000 instances can be solved", feasible);
	is_int(wrong, 0, "each answer fits, costs what it says, and is there");
	ok(worst >= 0.999, "the worst answer saves %.2f %% of the best", 100 * worst);
	ok(sum >= 0.9999 * gains, "on average it is %.2f %%", 100 * sum / gains);
}

static void
test_exchange(void)
{
	/* the fast place is full of what is not read; the hot one comes up */
	TsaAssignmentItem items[] = {
		{10, 10, 0, -1}, {10, 10, 0, -1}, {10, 10, 1, -1}
	};
	double		cost[] = {0, 0, 1, 5, 2, 12};
	uint64_t	room[] = {20, 1000};
	TsaAssignmentProblem p = {
		items, 3, cost, 2, own_rooms, room, 2, TSA_NO_LIMIT
	};
	TsaAssignment result;

	ok(tsa_assign_places(&p, &result), "a full place is solved");
	ok(items[0].place == 1 && items[1].place == 0 && items[2].place == 0,
	   "what is not read goes down for what is read");
	is_close(result.present_cost - result.cost, 10, 1e-12, "what that saves");
	ok(result.price[0] == 0 && result.price[1] == 0,
	   "nothing that would save waits for room");

	room[0] = 15;
	tsa_assign_places(&p, &result);
	ok(!result.too_full && items[2].place == 0 && items[1].place == 1,
	   "a place that is over its limit is relieved");
	is_close(result.price[0], 0.4, 1e-12, "what a byte more of it would save");
	room[0] = room[1] = 5;
	tsa_assign_places(&p, &result);
	ok(result.too_full, "no room anywhere is said");
	ok(result.cost <= result.present_cost, "and nothing gets worse");

	room[0] = 20;
	room[1] = 1000;
	p.budget = 9;
	tsa_assign_places(&p, &result);
	is_int(items[2].place, 1, "what exceeds the budget stays");
	p.budget = 0;
	p.n = 0;
	ok(tsa_assign_places(&p, &result), "nothing to assign");
}

/* two tablespaces on one device */
static void
test_shared_room(void)
{
	const int	room_of[] = {0, 0, 1};
	TsaAssignmentItem items[] = {{10, 10, 2, -1}, {10, 10, 2, -1}};
	double		cost[] = {1, 2, 9, 2, 1, 8};
	uint64_t	room[] = {10, 100};
	TsaAssignmentProblem p = {
		items, 2, cost, 3, room_of, room, 2, TSA_NO_LIMIT
	};
	TsaAssignment result;

	ok(tsa_assign_places(&p, &result), "a shared room is solved");
	ok(items[0].place == 0 && items[1].place == 2, "it is filled once");
}

/*
 * What no assignment costs less than, whatever the prices of bytes: each item
 * where it is cheapest with them, less what the rooms are worth.
 */
static double
bound_at(const TsaAssignmentProblem *p, const double *price)
{
	double		bound = 0;

	for (size_t i = 0; i < p->n; i++)
	{
		double		least = INFINITY;

		for (int j = 0; j < p->nplaces; j++)
			least = fmin(least, p->cost[i * (size_t) p->nplaces + (size_t) j] +
						 price[j] * (double) (j == p->items[i].present ?
											  p->items[i].size :
											  p->items[i].moved_size));
		bound += least;
	}
	for (int k = 0; k < p->nrooms; k++)
		bound -= price[k] * (double) p->room[k];
	return bound;
}

/* The best bound by prices that are changed one after the other. */
static double
find_bound(const TsaAssignmentProblem *p)
{
	double		price[4] = {1e-3, 1e-3, 1e-3, 1e-3};
	double		best = bound_at(p, price);

	for (double step = 10; step > 1.002; step = sqrt(step))
	{
		for (int tries = 0; tries < 4 * p->nrooms; tries++)
		{
			double	   *one = &price[tries % p->nrooms];
			double		old = *one;

			*one = old * step;
			if (bound_at(p, price) < best)
				*one = old / step;
			if (bound_at(p, price) < best)
				*one = old;
			best = bound_at(p, price);
		}
	}
	return best;
}

static void
test_many(int nplaces)
{
	TsaAssignmentProblem p = {.n = MANY,.nplaces = nplaces,.nrooms = nplaces};
	TsaAssignmentItem *items = malloc(MANY * sizeof(*items));
	double	   *cost = malloc(MANY * sizeof(double) * (size_t) nplaces);
	uint64_t	room[4];
	TsaAssignment result;
	struct timespec begin;
	struct timespec end;
	double		seconds;
	double		possible;

	make_instance(&p, items, cost, room);
	p.budget = TSA_NO_LIMIT;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	tsa_assign_places(&p, &result);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	seconds = (double) (end.tv_sec - begin.tv_sec) +
		(double) (end.tv_nsec - begin.tv_nsec) / 1e9;
	possible = result.present_cost - find_bound(&p);
	ok(result.present_cost - result.cost >= 0.99 * possible,
	   "%d relations, %d places: %.4f %% of what the bound allows is saved",
	   MANY, nplaces, 100 * (result.present_cost - result.cost) / possible);
	printf("# %.2f s of processor time\n", seconds);
	free(items);
	free(cost);
}

int
main(void)
{
	test_exchange();
	test_shared_room();
	test_random();
	for (int nplaces = 2; nplaces <= 3; nplaces++)
		test_many(nplaces);
	return done_testing();
}
