/*-------------------------------------------------------------------------
 *
 * assign_places.c
 *	  The generalized assignment problem: which relation belongs into which
 *	  tablespace, so that all together cost least and each room suffices.
 *
 * Pure: includes no postgres.h, is unit-tested without a server, and frees
 * all memory before it returns.
 *
 * Bytes of each room get a price (a Lagrange multiplier), and each relation
 * the place that is cheapest at those prices.  Whatever the prices, the sum of
 * these minima less the value of the rooms is a bound: no assignment costs
 * less.  The prices that make it largest are found by bisection, one room
 * after the other, and where several rooms are scarce by subgradients
 * (assignment_prices.c).
 *
 * What is cheapest at these prices hardly fits as it is.  So what is over is
 * moved to where that costs least per byte, what still fits is filled in, and
 * single relations and pairs are exchanged while that helps.  Then a search
 * (branch and bound, depth first) looks at all that could still be better: by
 * how much a place costs more than the cheapest one at these prices, the bound
 * rises, so that for most relations one place is left.  Within max_steps it
 * ends with a proof that nothing is better; else the bound says by how much.
 *
 * Where one room alone is scarce, the question is a knapsack, and knapsack.c
 * answers it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/assignment_state.h"

#include <stdlib.h>
#include <string.h>

#include "advise/knapsack.h"

/* Of repairing and of exchanging. */
#define MAX_ROUNDS		3

/* Relations among which pairs are exchanged, those that matter least first. */
#define MAX_EXCHANGED	300

#define KNAPSACK_STATES 200000

/* Of sums of the same numbers in another order. */
#define ROUNDING		1e-9

/* What an assignment costs, summed up in the order of the items. */
static double
sum_costs(const TsaAssigner *s, const int *place)
{
	double		cost = 0;

	for (size_t i = 0; i < s->p->n; i++)
		cost += cost_in(s, i, place[i]);
	return cost;
}

/* Notes the assignment at hand if it fits and is the best so far. */
static void
keep_best(TsaAssigner *s)
{
	double		cost;

	if (!everything_fits(s))
		return;
	cost = sum_costs(s, s->place);
	if (cost >= s->best)
		return;
	s->best = cost;
	memcpy(s->best_place, s->place, s->p->n * sizeof(int));
}

static void
assign_all(TsaAssigner *s, const int *place)
{
	memset(s->used, 0, sizeof(s->used));
	s->cost = 0;
	for (size_t i = 0; i < s->p->n; i++)
		put_in(s, i, place ? place[i] : s->p->items[i].present);
}

/* By rising value; of equals the later item, so that the order is one. */
static int
compare_candidates(const void *a, const void *b)
{
	const TsaCandidate *x = a;
	const TsaCandidate *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->item != y->item)
		return x->item < y->item ? -1 : 1;
	return x->place - y->place;
}

static void
add_candidate(TsaAssigner *s, size_t item, int place, double value)
{
	TsaCandidate *c = &s->candidates[s->ncandidates++];

	c->value = value;
	c->item = item;
	c->place = place;
}

static void
sort_candidates(TsaAssigner *s)
{
	if (s->ncandidates > 1)
		qsort(s->candidates, s->ncandidates, sizeof(TsaCandidate),
			  compare_candidates);
}

/* Whether an item takes something of what is over its limit. */
static bool
takes_of_full(const TsaAssigner *s, size_t item, int place)
{
	int			budget = s->nlimits - 1;
	int			room = s->p->room_of[place];

	return s->used[room] > s->limit[room] ||
		(s->used[budget] > s->limit[budget] && takes_budget(s, item, place));
}

/* Moves what is over its limit to where that costs least per byte. */
static void
repair(TsaAssigner *s)
{
	for (int round = 0; round < MAX_ROUNDS && !everything_fits(s); round++)
	{
		s->ncandidates = 0;
		for (size_t i = 0; i < s->p->n; i++)
		{
			if (!takes_of_full(s, i, s->place[i]))
				continue;
			for (int j = 0; j < s->p->nplaces; j++)
			{
				double		size = (double) size_in(s, i, s->place[i]);

				if (j != s->place[i] && !isinf(cost_in(s, i, j)))
					add_candidate(s, i, j,
								  (priced_cost(s, i, j) -
								   priced_cost(s, i, s->place[i])) /
								  fmax(size, 1));
			}
		}
		sort_candidates(s);
		for (size_t c = 0; c < s->ncandidates; c++)
		{
			TsaCandidate *this = &s->candidates[c];
			int			from = s->place[this->item];

			if (!takes_of_full(s, this->item, from))
				continue;
			take_out(s, this->item);
			put_in(s, this->item, has_room(s, this->item, this->place) ?
				   this->place : from);
		}
	}
}

/* Moves what costs less elsewhere and fits there, most per byte first. */
static bool
fill_in(TsaAssigner *s)
{
	bool		found = false;

	s->ncandidates = 0;
	for (size_t i = 0; i < s->p->n; i++)
	{
		double		here = cost_in(s, i, s->place[i]);

		for (int j = 0; j < s->p->nplaces; j++)
		{
			if (cost_in(s, i, j) < here)
				add_candidate(s, i, j, (cost_in(s, i, j) - here) /
							  fmax((double) size_in(s, i, j), 1));
		}
	}
	sort_candidates(s);
	for (size_t c = 0; c < s->ncandidates; c++)
	{
		TsaCandidate *this = &s->candidates[c];
		int			from = s->place[this->item];

		if (cost_in(s, this->item, this->place) >= cost_in(s, this->item, from))
			continue;
		take_out(s, this->item);
		if (has_room(s, this->item, this->place))
			found = true;
		else
		{
			put_in(s, this->item, from);
			continue;
		}
		put_in(s, this->item, this->place);
	}
	return found;
}

/* Tries two items in other places; keeps them there if that costs less. */
static bool
exchange(TsaAssigner *s, size_t a, size_t b, int place_a, int place_b)
{
	int			old_a = s->place[a];
	int			old_b = s->place[b];

	if (cost_in(s, a, place_a) + cost_in(s, b, place_b) >=
		cost_in(s, a, old_a) + cost_in(s, b, old_b))
		return false;
	take_out(s, a);
	take_out(s, b);
	if (has_room(s, a, place_a))
	{
		put_in(s, a, place_a);
		if (has_room(s, b, place_b))
		{
			put_in(s, b, place_b);
			return true;
		}
		take_out(s, a);
	}
	put_in(s, a, old_a);
	put_in(s, b, old_b);
	return false;
}

/* Exchanges pairs of those relations that the prices are least sure about. */
static void
exchange_pairs(TsaAssigner *s, const TsaCandidate *core, size_t ncore)
{
	size_t		n = ncore < MAX_EXCHANGED ? ncore : MAX_EXCHANGED;
	bool		again = true;

	for (int round = 0; round < MAX_ROUNDS && again; round++)
	{
		again = false;
		for (size_t a = 0; a < n; a++)
		{
			for (size_t b = 0; b < n; b++)
			{
				size_t		x = core[a].item;
				size_t		y = core[b].item;

				if (a == b || s->place[x] == s->place[y])
					continue;
				for (int j = 0; j < s->p->nplaces; j++)
				{
					if (!isinf(cost_in(s, x, s->place[y])) &&
						!isinf(cost_in(s, y, j)) &&
						exchange(s, x, y, s->place[y], j))
						again = true;
					if (s->place[x] == s->place[y])
						break;
				}
			}
		}
		if (fill_in(s))
			again = true;
	}
}

/*
 * Items that more than one place is left for: those in which another place
 * than the cheapest raises the bound by less than what the best assignment
 * is above it.  By rising value of the second choice.
 */
static size_t
list_core(TsaAssigner *s, TsaCandidate *core)
{
	double		gap = s->best - s->bound;
	size_t		n = 0;

	s->ncandidates = 0;
	for (size_t i = 0; i < s->p->n; i++)
	{
		double		least;
		double		second = INFINITY;
		int			cheapest = cheapest_place(s, i, &least);

		for (int j = 0; j < s->p->nplaces; j++)
		{
			if (j != cheapest && !isinf(cost_in(s, i, j)))
				second = fmin(second, priced_cost(s, i, j) - least);
		}
		if (second < gap || isinf(gap))
			add_candidate(s, i, cheapest, isinf(second) ? gap : second);
	}
	sort_candidates(s);
	for (size_t c = 0; c < s->ncandidates; c++)
		core[n++] = s->candidates[c];
	return n;
}

/* The places of one item in the order in which the search tries them. */
static int
order_places(const TsaAssigner *s, size_t item, int *places, double *rises)
{
	double		least;
	int			n = 0;

	cheapest_place(s, item, &least);
	for (int j = 0; j < s->p->nplaces; j++)
	{
		double		rise;
		int			at = n;

		if (isinf(cost_in(s, item, j)))
			continue;
		rise = priced_cost(s, item, j) - least;
		while (at > 0 && rises[at - 1] > rise)
		{
			rises[at] = rises[at - 1];
			places[at] = places[at - 1];
			at--;
		}
		rises[at] = rise;
		places[at] = j;
		n++;
	}
	return n;
}

/*
 * Branch and bound over the core, what matters most first; what is not in the
 * core is in its cheapest place.  True if all was looked at.  tried, places,
 * rises and count are of ncore items, with nplaces each.
 */
static bool
search(TsaAssigner *s, const TsaCandidate *core, size_t ncore,
	   int *places, double *rises, int *count, int *tried)
{
	int			width = s->p->nplaces;
	double		bound = s->bound;
	bool		all_kept = false;
	size_t		depth = 0;

	tsa_assign_at_prices(s);
	for (size_t c = 0; c < ncore; c++)
	{
		size_t		item = core[ncore - 1 - c].item;

		take_out(s, item);
		count[c] = order_places(s, item, places + c * width, rises + c * width);
		tried[c] = 0;
	}
	for (;;)
	{
		size_t		item;
		double		rise;
		int			place;

		if (depth == ncore && s->cost < s->best)
		{
			s->best = s->cost;
			if (!all_kept)
				memcpy(s->best_place, s->place, s->p->n * sizeof(int));
			for (size_t c = 0; c < ncore; c++)
				s->best_place[core[c].item] = s->place[core[c].item];
			all_kept = true;
		}
		if (depth == ncore || tried[depth] == count[depth] ||
			bound + rises[depth * width + tried[depth]] >=
			s->best - ROUNDING * fabs(s->best))
		{
			/* nothing more here: back to the item before */
			if (depth < ncore)
				tried[depth] = 0;
			if (depth == 0)
				return true;
			depth--;
			take_out(s, core[ncore - 1 - depth].item);
			bound -= rises[depth * width + tried[depth] - 1];
			continue;
		}
		if (s->steps_left-- == 0)
		{
			s->steps_left = 0;
			return false;
		}
		item = core[ncore - 1 - depth].item;
		rise = rises[depth * width + tried[depth]];
		place = places[depth * width + tried[depth]];
		tried[depth]++;
		if (!has_room(s, item, place))
			continue;
		put_in(s, item, place);
		bound += rise;
		depth++;
	}
}

/*
 * If one limit alone is priced, and what takes of it could as well be
 * elsewhere: the best choice of what takes of it, by knapsack.c.
 * True if that fits everywhere, and so is the best of all.
 */
static bool
solve_as_knapsack(TsaAssigner *s)
{
	TsaKnapsackItem *items;
	TsaKnapsackChoice choice;
	TsaKnapsackStatus status;
	int			scarce = -1;
	int		   *inside = (int *) s->candidates;
	uint64_t	limit;
	bool		solved = false;

	for (int k = 0; k < s->nlimits - 1; k++)
	{
		if (s->price[k] > 0)
			scarce = scarce == -1 ? k : -2;
	}
	if (scarce < 0 || s->price[s->nlimits - 1] > 0)
		return false;
	items = calloc(s->p->n + 1, sizeof(TsaKnapsackItem));
	if (items == NULL)
		return false;
	limit = s->limit[scarce];
	for (size_t i = 0; i < s->p->n; i++)
	{
		int			in = -1;
		int			out = -1;

		for (int j = 0; j < s->p->nplaces; j++)
		{
			int		   *place = s->p->room_of[j] == scarce ? &in : &out;

			if (!isinf(cost_in(s, i, j)) &&
				(*place < 0 || cost_in(s, i, j) < cost_in(s, i, *place)))
				*place = j;
		}
		inside[i] = in;
		s->place[i] = out >= 0 ? out : in;
		if (out < 0)
		{
			if (size_in(s, i, in) > limit)
				goto done;
			limit -= size_in(s, i, in);
		}
		else if (in >= 0)
		{
			items[i].size = size_in(s, i, in);
			items[i].value = cost_in(s, i, out) - cost_in(s, i, in);
		}
	}
	status = tsa_solve_knapsack(items, s->p->n, limit, KNAPSACK_STATES,
								&choice);
	for (size_t i = 0; i < s->p->n; i++)
	{
		if (items[i].chosen)
			s->place[i] = inside[i];
	}
	assign_all(s, s->place);
	solved = status == TSA_KNAPSACK_EXACT && everything_fits(s);
	keep_best(s);
done:
	free(items);
	return solved;
}

/* Prices, then ever better assignments; true if the best is proven. */
static bool
solve(TsaAssigner *s)
{
	size_t		n = s->p->n + 1;
	int			width = s->p->nplaces;
	TsaCandidate *core = malloc(n * sizeof(TsaCandidate));
	int		   *places = malloc(n * width * sizeof(int));
	double	   *rises = malloc(n * width * sizeof(double));
	int		   *count = malloc(n * sizeof(int));
	int		   *tried = malloc(n * sizeof(int));
	bool		exact = false;

	s->best = INFINITY;
	assign_all(s, NULL);
	if (everything_fits(s))
	{
		fill_in(s);
		keep_best(s);
	}
	tsa_find_prices(s);
	repair(s);
	if (everything_fits(s))
		fill_in(s);
	keep_best(s);
	if (core && places && rises && count && tried)
	{
		size_t		ncore;

		exact = s->best <= s->bound + ROUNDING * fabs(s->bound) ||
			solve_as_knapsack(s);
		if (!exact && !isinf(s->best))
		{
			ncore = list_core(s, core);
			assign_all(s, s->best_place);
			exchange_pairs(s, core, ncore);
			keep_best(s);
		}
		if (!exact)
		{
			ncore = list_core(s, core);
			exact = search(s, core, ncore, places, rises, count, tried);
		}
	}
	free(core);
	free(places);
	free(rises);
	free(count);
	free(tried);
	return exact;
}

/* The limits as given, or, if nothing fits, at least what is taken now. */
static void
set_limits(TsaAssigner *s, bool as_full)
{
	s->nlimits = s->p->nrooms + 1;
	for (int k = 0; k < s->p->nrooms; k++)
		s->limit[k] = s->p->room[k];
	s->limit[s->nlimits - 1] = s->p->budget;
	if (!as_full)
		return;
	assign_all(s, NULL);
	for (int k = 0; k < s->nlimits; k++)
	{
		if (s->used[k] > s->limit[k])
			s->limit[k] = s->used[k];
	}
}

/*
 * Assigns each item the place in which all together cost least, or near to it
 * where finding that would take more than max_steps steps of the search.
 */
TsaAssignmentStatus
tsa_assign_places(const TsaAssignmentProblem *problem, size_t max_steps,
				  TsaAssignment *result)
{
	TsaAssigner s = {.p = problem,.steps_left = max_steps};
	size_t		n = problem->n + 1;
	bool		exact;

	memset(result, 0, sizeof(*result));
	s.place = malloc(n * sizeof(int));
	s.best_place = malloc(n * sizeof(int));
	s.candidates = malloc(n * problem->nplaces * sizeof(TsaCandidate));
	if (!s.place || !s.best_place || !s.candidates)
	{
		free(s.place);
		free(s.best_place);
		free(s.candidates);
		return TSA_ASSIGNMENT_NO_MEMORY;
	}
	set_limits(&s, false);
	exact = solve(&s);
	if (isinf(s.best))
	{
		result->too_full = true;
		set_limits(&s, true);
		s.steps_left = max_steps;
		exact = solve(&s);
	}
	for (size_t i = 0; i < problem->n; i++)
	{
		problem->items[i].place = s.best_place[i];
		result->present_cost += cost_in(&s, i, problem->items[i].present);
	}
	result->cost = sum_costs(&s, s.best_place);
	result->bound = exact ? result->cost : fmin(s.bound, result->cost);
	memcpy(result->price, s.price, sizeof(result->price));
	free(s.place);
	free(s.best_place);
	free(s.candidates);
	return exact ? TSA_ASSIGNMENT_EXACT : TSA_ASSIGNMENT_BOUNDED;
}
