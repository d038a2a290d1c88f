/*-------------------------------------------------------------------------
 *
 * assignment_prices.c
 *	  What a byte of each tablespace is worth: see assign_places.c.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/assignment_state.h"

#include <string.h>

#define BISECTIONS		30
#define MAX_PASSES		3
#define SUBGRADIENTS	30

/* Of sums of the same numbers in another order. */
#define PRICE_ROUNDING	1e-9

/* Assigns all to the cheapest places at the prices; returns the bound. */
double
tsa_assign_at_prices(TsaAssigner *s)
{
	double		bound = 0;

	memset(s->used, 0, sizeof(s->used));
	s->cost = 0;
	for (size_t i = 0; i < s->p->n; i++)
	{
		double		cost;

		put_in(s, i, cheapest_place(s, i, &cost));
		bound += cost;
	}
	for (int k = 0; k < s->nlimits; k++)
	{
		if (s->price[k] > 0)
			bound -= s->price[k] * (double) s->limit[k];
	}
	return bound;
}

/* Notes the bound at the present prices; best[] are the prices of the best. */
static void
note_bound(TsaAssigner *s, double bound, double *best)
{
	if (bound <= s->bound)
		return;
	s->bound = bound;
	memcpy(best, s->price, sizeof(s->price));
}

/* A price at which nothing that costs less elsewhere would take a byte. */
static double
highest_price(const TsaAssigner *s)
{
	double		highest = 0;

	for (size_t i = 0; i < s->p->n; i++)
	{
		double		low = INFINITY;
		double		high = -INFINITY;
		uint64_t	size = s->p->items[i].moved_size;

		if (size == 0 || s->p->items[i].size < size)
			size = s->p->items[i].size;
		for (int j = 0; j < s->p->nplaces; j++)
		{
			if (isinf(cost_in(s, i, j)))
				continue;
			low = fmin(low, cost_in(s, i, j));
			high = fmax(high, cost_in(s, i, j));
		}
		if (size > 0 && high > low)
			highest = fmax(highest, (high - low) / (double) size);
	}
	return 2 * highest;
}

/*
 * The least price of one room, those of the others as they are, at which it is
 * not over its limit; by halving the exponent's range, since what relations
 * save per byte differs by orders of magnitude.
 */
static void
price_room(TsaAssigner *s, int k, double highest, double *best)
{
	double		high = highest;
	double		low = 0;

	s->price[k] = 0;
	note_bound(s, tsa_assign_at_prices(s), best);
	if (s->used[k] <= s->limit[k])
		return;
	for (int step = 0; step < BISECTIONS; step++)
	{
		double		middle = low > 0 ? sqrt(low * high) : high / 1000;

		s->price[k] = middle;
		note_bound(s, tsa_assign_at_prices(s), best);
		if (s->used[k] > s->limit[k])
			low = middle;
		else
			high = middle;
		if (high < 1e-15 * highest || high - low < 1e-3 * high)
			break;
	}
	s->price[k] = high;
}

/*
 * Where several rooms are scarce: steps along the subgradient, which is what
 * each room is over or under its limit, as long as Polyak's rule says.
 */
static void
follow_subgradient(TsaAssigner *s, double *best)
{
	double		share = 1;

	memcpy(s->price, best, sizeof(s->price));
	for (int step = 0; step < SUBGRADIENTS; step++)
	{
		double		bound = tsa_assign_at_prices(s);
		double		aim = s->best;
		double		norm = 0;
		double		length;

		if (isinf(aim))
			aim = bound + 0.05 * fabs(bound);
		note_bound(s, bound, best);
		for (int k = 0; k < s->nlimits; k++)
		{
			double		over = (double) s->used[k] - (double) s->limit[k];

			if (s->limit[k] != TSA_NO_LIMIT && (over > 0 || s->price[k] > 0))
				norm += over * over;
		}
		if (norm == 0 || aim <= bound)
			break;
		length = share * (aim - bound) / norm;
		for (int k = 0; k < s->nlimits; k++)
		{
			double		over = (double) s->used[k] - (double) s->limit[k];

			if (s->limit[k] != TSA_NO_LIMIT)
				s->price[k] = fmax(0, s->price[k] + length * over);
		}
		share *= 0.95;
	}
}

static int
count_prices(const TsaAssigner *s)
{
	int			n = 0;

	for (int k = 0; k < s->nlimits; k++)
		n += s->price[k] > 0;
	return n;
}

/* Finds prices, and leaves the assignment that they lead to. */
void
tsa_find_prices(TsaAssigner *s)
{
	double		best[TSA_MAX_ROOMS + 1] = {0};
	double		highest = highest_price(s);

	memset(s->price, 0, sizeof(s->price));
	s->bound = -INFINITY;
	note_bound(s, tsa_assign_at_prices(s), best);
	if (!everything_fits(s))
	{
		for (int round = 0; round < MAX_PASSES; round++)
		{
			double		before = s->bound;

			for (int k = 0; k < s->nlimits; k++)
			{
				if (s->limit[k] != TSA_NO_LIMIT)
					price_room(s, k, highest, best);
			}
			if (count_prices(s) < 2 ||
				s->bound - before <= PRICE_ROUNDING * fabs(s->bound))
				break;
		}
		if (count_prices(s) > 1)
			follow_subgradient(s, best);
	}
	memcpy(s->price, best, sizeof(s->price));
	tsa_assign_at_prices(s);
}
