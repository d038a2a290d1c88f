/*
 * test_assignment.c
 *	  Unit test of src/advise/assign_places.c.
 */
#include <time.h>

#include "advise/knapsack.c"
#include "advise/assignment_prices.c"
#include "advise/assign_places.c"

#include "tap.h"

#define STEPS 500000
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
