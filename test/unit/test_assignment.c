/*
 * test_assignment.c
 *	  Unit test of src/advise/assign_places.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <time.h>

#include "advise/knapsack.c"
#include "advise/assignment_prices.c"
#include "advise/assign_places.c"

#include "assignment_instances.h"
#include "tap.h"

#define STEPS 500000
#define MANY 100000

static void
test_random(void)
{
	TsaAssignmentItem items[12];
	double		cost[12 * 3];
	uint64_t	room[3];
	int			feasible = 0;
	int			exact = 0;
	int			wrong = 0;
	int			bounds = 0;
	double		worst = 1;

	for (int run = 0; run < 1000; run++)
	{
		/* three to the twelfth is much for each of a thousand */
		int			nplaces = 2 + run % 2;
		TsaAssignmentProblem p = {.nplaces = nplaces,.nrooms = nplaces};
		TsaAssignment result;
		TsaAssignmentStatus status;
		double		best;
		double		got;
		int			place[12];

		p.n = 1 + below(nplaces == 2 ? 12 : run % 20 == 1 ? 12 : 8);
		make_instance(&p, items, cost, room);
		status = tsa_assign_places(&p, STEPS, &result);
		best = best_of_all(&p);
		for (size_t i = 0; i < p.n; i++)
			place[i] = items[i].place;
		if (isinf(best))
		{
			wrong += !result.too_full;
			continue;
		}
		feasible++;
		exact += status == TSA_ASSIGNMENT_EXACT;
		if (result.too_full || !price_of(&p, place, &got) ||
			fabs(got - result.cost) > 1e-9 * got)
		{
			wrong++;
			continue;
		}
		bounds += result.bound > best * (1 + 1e-9);
		if (result.present_cost > best)
			worst = fmin(worst, (result.present_cost - got) /
						 (result.present_cost - best));
		else if (got > best * (1 + 1e-9))
			worst = fmin(worst, best / got);
	}
	ok(feasible > 800, "%d of 1000 instances can be solved", feasible);
	is_int(wrong, 0, "each answer fits, costs what it says, and is there");
	is_int(bounds, 0, "no bound is above the best of all assignments");
	ok(worst >= 0.98, "the worst answer saves %.1f %% of the best", 100 * worst);
	is_int(exact, feasible, "all are solved exactly");
}

static void
test_without_search(void)
{
	TsaAssignmentItem items[12];
	double		cost[12 * 3];
	uint64_t	room[3];
	double		sum = 0;
	int			n = 0;

	for (int run = 0; run < 300; run++)
	{
		TsaAssignmentProblem p = {.n = 8,.nplaces = 3,.nrooms = 3};
		TsaAssignment result;
		double		best;

		make_instance(&p, items, cost, room);
		tsa_assign_places(&p, 0, &result);
		best = best_of_all(&p);
		if (result.too_full || isinf(best) || result.present_cost <= best)
			continue;
		sum += (result.present_cost - result.cost) /
			(result.present_cost - best);
		n++;
	}
	ok(sum / n > 0.95, "without search %.1f %% of the best saving on average",
	   100 * sum / n);
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

	is_int(tsa_assign_places(&p, STEPS, &result), TSA_ASSIGNMENT_EXACT,
		   "a full place is solved");
	ok(items[0].place == 1 && items[1].place == 0 && items[2].place == 0,
	   "what is not read goes down for what is read");
	is_close(result.present_cost - result.cost, 10, 1e-12, "what that saves");
	ok(result.price[0] > 0 && result.price[1] == 0,
	   "bytes of the full place have a price, others have none");

	room[0] = 15;
	tsa_assign_places(&p, STEPS, &result);
	ok(!result.too_full && items[2].place == 0 && items[1].place == 1,
	   "a place that is over its limit is relieved");
	room[0] = room[1] = 5;
	tsa_assign_places(&p, STEPS, &result);
	ok(result.too_full, "no room anywhere is said");
	ok(result.cost <= result.present_cost, "and nothing gets worse");

	room[0] = 20;
	room[1] = 1000;
	p.budget = 9;
	tsa_assign_places(&p, STEPS, &result);
	is_int(items[2].place, 1, "what exceeds the budget stays");
	p.budget = 0;
	p.n = 0;
	is_int(tsa_assign_places(&p, STEPS, &result), TSA_ASSIGNMENT_EXACT,
		   "nothing to assign");
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

	is_int(tsa_assign_places(&p, STEPS, &result), TSA_ASSIGNMENT_EXACT,
		   "a shared room is solved");
	ok(items[0].place == 0 && items[1].place == 2, "it is filled once");
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

	make_instance(&p, items, cost, room);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	tsa_assign_places(&p, STEPS, &result);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	seconds = (double) (end.tv_sec - begin.tv_sec) +
		(double) (end.tv_nsec - begin.tv_nsec) / 1e9;
	ok(result.present_cost - result.cost >=
	   0.99 * (result.present_cost - result.bound),
	   "%d relations, %d places: %.4f %% of what the bound allows is saved",
	   MANY, nplaces, 100 * (result.present_cost - result.cost) /
	   (result.present_cost - result.bound));
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
	test_without_search();
	for (int nplaces = 2; nplaces <= 3; nplaces++)
		test_many(nplaces);
	return done_testing();
}
