/*
 * test_knapsack.c
 *	  Unit test of src/advise/knapsack.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "advise/knapsack.c"

#include "tap.h"

#define MANY 20000
#define STATES 100000

static uint64_t seed = 42;

/* a number below n, the same in each run */
static uint64_t
below(uint64_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % n;
}

/* the best of all subsets */
static double
best_of_all(const TsaKnapsackItem *items, size_t n, uint64_t capacity)
{
	double		best = 0;

	for (uint32_t set = 0; set < (uint32_t) 1 << n; set++)
	{
		uint64_t	size = 0;
		double		value = 0;

		for (size_t i = 0; i < n; i++)
		{
			if (set & (uint32_t) 1 << i)
			{
				size += items[i].size;
				value += items[i].value;
			}
		}
		if (size <= capacity && value > best)
			best = value;
	}
	return best;
}

/* whether the result is what the chosen items make it */
static bool
is_consistent(const TsaKnapsackItem *items, size_t n, uint64_t capacity,
			  const TsaKnapsackChoice *choice)
{
	uint64_t	size = 0;
	double		value = 0;

	for (size_t i = 0; i < n; i++)
	{
		if (items[i].chosen)
		{
			size += items[i].size;
			value += items[i].value;
		}
	}
	return size == choice->size && size <= capacity &&
		fabs(value - choice->value) < 1e-9 * (1 + value) &&
		choice->bound >= choice->value;
}

static void
test_small(void)
{
	/* greedy by value per byte takes the first and has no room for the rest */
	TsaKnapsackItem items[] = {{6, 7, false}, {5, 5, false}, {5, 5, false}};
	TsaKnapsackItem nothing[] = {{1, 0, false}, {1, -1, false}, {11, 9, false}};
	TsaKnapsackItem empty[] = {{0, 3, false}, {10, 1, false}};
	TsaKnapsackChoice choice;

	is_int(tsa_solve_knapsack(items, 3, 10, STATES, &choice),
		   TSA_KNAPSACK_EXACT, "three items are solved exactly");
	is_close(choice.value, 10, 0, "two of ten rather than one of seven");
	ok(!items[0].chosen && items[1].chosen && items[2].chosen,
	   "and they are marked");
	is_close(choice.bound, 10, 0, "an exact value is its own bound");

	is_int(tsa_solve_knapsack(items, 3, 10, 1, &choice),
		   TSA_KNAPSACK_BOUNDED, "not with a single state");
	is_close(choice.value, 7, 0, "greedy takes the best per byte");
	is_close(choice.bound, 11, 0, "and at most four fifths of the next more");

	is_int(tsa_solve_knapsack(nothing, 3, 10, STATES, &choice),
		   TSA_KNAPSACK_EXACT, "nothing worth choosing is an exact answer");
	ok(choice.value == 0 && choice.size == 0 && choice.bound == 0,
	   "which is nothing");
	tsa_solve_knapsack(NULL, 0, 10, STATES, &choice);
	ok(choice.value == 0 && choice.bound == 0, "no items, no value");

	tsa_solve_knapsack(empty, 2, 10, STATES, &choice);
	is_close(choice.value, 4, 0, "an item of no size does not count");
	tsa_solve_knapsack(empty, 2, 0, STATES, &choice);
	is_close(choice.value, 3, 0, "and fits into no room");
	items[0].size = UINT64_MAX / 4;
	items[1].size = items[2].size = UINT64_MAX / 4 - 1;
	tsa_solve_knapsack(items, 3, UINT64_MAX / 2 - 1, STATES, &choice);
	is_close(choice.value, 12, 0, "sizes near the limit of the type");
}

static void
test_against_all_subsets(void)
{
	int			wrong = 0;
	int			inconsistent = 0;
	int			greedy_wrong = 0;

	for (int round = 0; round < 300; round++)
	{
		TsaKnapsackItem items[14];
		size_t		n = 1 + below(14);
		uint64_t	total = 0;
		uint64_t	capacity;
		TsaKnapsackChoice choice;
		double		best;

		for (size_t i = 0; i < n; i++)
		{
			items[i].size = 1 + below(round % 2 ? 20 : 1000000);
			/* every third round value follows size, which is the hard case */
			items[i].value = round % 3 ? (double) (1 + below(1000))
				: (double) items[i].size + (double) below(3);
			total += items[i].size;
		}
		capacity = below(total + 1);
		best = best_of_all(items, n, capacity);
		if (tsa_solve_knapsack(items, n, capacity, STATES, &choice) !=
			TSA_KNAPSACK_EXACT || fabs(choice.value - best) > 1e-6)
			wrong++;
		if (!is_consistent(items, n, capacity, &choice))
			inconsistent++;
		tsa_solve_knapsack(items, n, capacity, 1, &choice);
		if (!is_consistent(items, n, capacity, &choice) ||
			choice.value < best / 2 || choice.bound < best - 1e-6)
			greedy_wrong++;
	}
	is_int(wrong, 0, "300 random cases are as good as the best subset");
	is_int(inconsistent, 0, "and their sums are those of the items");
	is_int(greedy_wrong, 0,
		   "greedy has at least half of it, and a bound that holds");
}

static void
test_many(void)
{
	static TsaKnapsackItem items[MANY];
	TsaKnapsackChoice choice;
	TsaKnapsackStatus status;
	uint64_t	total = 0;

	for (size_t i = 0; i < MANY; i++)
	{
		items[i].size = 8192 * (1 + below(1000000));
		items[i].value = (double) (1 + below(1000000)) / 1000;
		total += items[i].size;
	}
	status = tsa_solve_knapsack(items, MANY, total / 4, STATES, &choice);
	ok(status != TSA_KNAPSACK_NO_MEMORY &&
	   is_consistent(items, MANY, total / 4, &choice),
	   "20 000 items: a choice that fits");
	ok(choice.value >= 0.999 * choice.bound,
	   "within a thousandth of the bound");
	is_int(tsa_solve_knapsack(items, 60, total, STATES, &choice),
		   TSA_KNAPSACK_EXACT, "room for all is exact");
	is_int(tsa_solve_knapsack(items, 60, 8192 * (uint64_t) 10000000, STATES,
							  &choice),
		   TSA_KNAPSACK_EXACT, "60 relations, room for a third: exact");
}

int
main(void)
{
	test_small();
	test_against_all_subsets();
	test_many();
	return done_testing();
}
