/*-------------------------------------------------------------------------
 *
 * assign_places.c
 *	  The generalized assignment problem: which relation belongs into which
 *	  tablespace, so that all together cost least and each room suffices.
 *
 * Pure: includes no postgres.h, is unit-tested without a server, and frees
 * all memory before it returns.
 *
 * Greedy by density: every relation goes to its cheapest place; relations over
 * a limit move to where that costs least per byte; others that still fit are
 * filled in, most per byte first; then pairs are exchanged while that helps.
 * A few relations can fit badly, so this is repeated with densities that are
 * changed at random (by the same numbers in each call), more often where there
 * is less to choose, and the best assignment is taken.  The unit test compares
 * it with all assignments: it saves at least 99.9 % of the best saving.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/assignment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of repairing and of exchanging. */
#define MAX_ROUNDS		3

/* Relations among which pairs are exchanged. */
#define MAX_EXCHANGED	100

/* Repetitions, and the relations of all repetitions together. */
#define MAX_RUNS		200
#define MAX_RELATIONS	10000

/* An item with its gain or loss per byte, to sort by. */
typedef struct Candidate
{
	double		value;
	size_t		item;
	int			place;
} Candidate;

/* One run. */
typedef struct Assigner
{
	const TsaAssignmentProblem *p;
	int			nlimits;		/* rooms, and the budget as the last one */
	uint64_t	limit[TSA_MAX_ROOMS + 1];
	uint64_t	used[TSA_MAX_ROOMS + 1];	/* by "place" */
	int		   *place;			/* the assignment at hand */
	int		   *best_place;
	double		best;			/* its cost, INFINITY without one */
	Candidate  *candidates;		/* n * nplaces */
	size_t		ncandidates;
	double	   *weight;			/* of the density of each item */
	uint64_t	random;
} Assigner;

/* From 0 to 1, without 1; the same numbers in each call. */
static double
next_random(Assigner *s)
{
	s->random = s->random * 6364136223846793005 + 1442695040888963407;
	return (double) (s->random >> 33) / (double) (UINT64_C(1) << 31);
}

/* The cost of a relation in a place. */
static double
cost_in(const Assigner *s, size_t item, int place)
{
	return s->p->cost[item * (size_t) s->p->nplaces + (size_t) place];
}

/* The room that it takes there. */
static uint64_t
size_in(const Assigner *s, size_t item, int place)
{
	const TsaAssignmentItem *i = &s->p->items[item];

	return place == i->present ? i->size : i->moved_size;
}

/*
 * Does it take of the budget to have the relation there?  It does if it has
 * moved and gains by that.
 */
static bool
takes_budget(const Assigner *s, size_t item, int place)
{
	int			present = s->p->items[item].present;

	return place != present &&
		cost_in(s, item, place) < cost_in(s, item, present);
}

/* Puts a relation into a place, and counts the room that it takes. */
static void
put_in(Assigner *s, size_t item, int place)
{
	s->used[s->p->room_of[place]] += size_in(s, item, place);
	if (takes_budget(s, item, place))
		s->used[s->nlimits - 1] += size_in(s, item, place);
	s->place[item] = place;
}

/* Takes it out of its place again. */
static void
take_out(Assigner *s, size_t item)
{
	int			place = s->place[item];

	s->used[s->p->room_of[place]] -= size_in(s, item, place);
	if (takes_budget(s, item, place))
		s->used[s->nlimits - 1] -= size_in(s, item, place);
}

/* Is there room, and a budget, for a relation in a place? */
static bool
has_room(const Assigner *s, size_t item, int place)
{
	int			room = s->p->room_of[place];
	int			budget = s->nlimits - 1;
	uint64_t	size = size_in(s, item, place);

	if (s->used[room] > s->limit[room] || size > s->limit[room] - s->used[room])
		return false;
	return !takes_budget(s, item, place) ||
		(s->used[budget] <= s->limit[budget] &&
		 size <= s->limit[budget] - s->used[budget]);
}

/* Is no limit exceeded? */
static bool
everything_fits(const Assigner *s)
{
	for (int k = 0; k < s->nlimits; k++)
	{
		if (s->used[k] > s->limit[k])
			return false;
	}
	return true;
}

/* The cost of all relations, each in its place. */
static double
sum_costs(const Assigner *s, const int *place)
{
	double		cost = 0;

	for (size_t i = 0; i < s->p->n; i++)
		cost += cost_in(s, i, place[i]);
	return cost;
}

/* Notes the assignment at hand if it fits and is the best so far. */
static void
keep_best(Assigner *s)
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

/* The place of an item that costs least; of equals the present one. */
static int
cheapest_place(const Assigner *s, size_t item)
{
	int			best = s->p->items[item].present;

	for (int j = 0; j < s->p->nplaces; j++)
	{
		if (cost_in(s, item, j) < cost_in(s, item, best))
			best = j;
	}
	return best;
}

/* By rising value; of equals by number, so that the order is one. */
static int
compare_candidates(const void *a, const void *b)
{
	const Candidate *x = a;
	const Candidate *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	if (x->item != y->item)
		return x->item < y->item ? -1 : 1;
	return x->place - y->place;
}

/*
 * Adds a relation and a place to those to choose from, by value for each byte.
 */
static void
add_candidate(Assigner *s, size_t item, int place, uint64_t size)
{
	Candidate  *c = &s->candidates[s->ncandidates++];

	c->value = (cost_in(s, item, place) - cost_in(s, item, s->place[item])) *
		s->weight[item] / fmax((double) size, 1);
	c->item = item;
	c->place = place;
}

/* Sorts them, best first. */
static void
sort_candidates(Assigner *s)
{
	if (s->ncandidates > 1)
		qsort(s->candidates, s->ncandidates, sizeof(Candidate),
			  compare_candidates);
}

/* All where they are, or, if shuffled, some of them anywhere. */
static void
assign_present(Assigner *s, bool is_shuffled)
{
	memset(s->used, 0, sizeof(s->used));
	for (size_t i = 0; i < s->p->n; i++)
	{
		int			present = s->p->items[i].present;
		int			place = present;

		if (is_shuffled && next_random(s) < 0.25)
			place = (int) (next_random(s) * s->p->nplaces);
		put_in(s, i, isinf(cost_in(s, i, place)) ? present : place);
	}
}

/*
 * One after the other, those first for which the place makes most per byte,
 * compared with the worst place or with the present one (which a budget counts
 * from): each where it costs least and there is room.  Items that fit nowhere
 * stay.
 */
static void
assign_densest(Assigner *s, bool from_present)
{
	memset(s->used, 0, sizeof(s->used));
	s->ncandidates = 0;
	for (size_t i = 0; i < s->p->n; i++)
	{
		int			best = cheapest_place(s, i);
		int			worst = s->p->items[i].present;
		int			nplaces = 0;

		for (int j = 0; j < s->p->nplaces; j++)
		{
			if (isinf(cost_in(s, i, j)))
				continue;
			nplaces++;
			if (!from_present && cost_in(s, i, j) > cost_in(s, i, worst))
				worst = j;
		}
		s->place[i] = worst;
		add_candidate(s, i, best, size_in(s, i, best));
		if (nplaces == 1)
			s->candidates[s->ncandidates - 1].value = -INFINITY;
	}
	sort_candidates(s);
	for (size_t c = 0; c < s->ncandidates; c++)
	{
		size_t		item = s->candidates[c].item;
		int			best = -1;

		for (int j = 0; j < s->p->nplaces; j++)
		{
			if (!isinf(cost_in(s, item, j)) && has_room(s, item, j) &&
				(best < 0 || cost_in(s, item, j) < cost_in(s, item, best)))
				best = j;
		}
		put_in(s, item, best < 0 ? s->p->items[item].present : best);
	}
}

/* Whether an item takes something of a limit that is exceeded. */
static bool
takes_of_full(const Assigner *s, size_t item, int place)
{
	int			budget = s->nlimits - 1;
	int			room = s->p->room_of[place];

	return s->used[room] > s->limit[room] ||
		(s->used[budget] > s->limit[budget] && takes_budget(s, item, place));
}

/* Moves items over a limit to where that costs least per byte. */
static void
repair(Assigner *s)
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
				if (j != s->place[i] && !isinf(cost_in(s, i, j)))
					add_candidate(s, i, j, size_in(s, i, s->place[i]));
			}
		}
		sort_candidates(s);
		for (size_t c = 0; c < s->ncandidates; c++)
		{
			Candidate  *this = &s->candidates[c];
			int			from = s->place[this->item];

			if (!takes_of_full(s, this->item, from))
				continue;
			take_out(s, this->item);
			put_in(s, this->item, has_room(s, this->item, this->place) ?
				   this->place : from);
		}
	}
}

/*
 * Moves items that cost less elsewhere and fit there, largest gain per byte
 * first.
 */
static bool
fill_in(Assigner *s)
{
	bool		found = false;

	s->ncandidates = 0;
	for (size_t i = 0; i < s->p->n; i++)
	{
		for (int j = 0; j < s->p->nplaces; j++)
		{
			if (cost_in(s, i, j) < cost_in(s, i, s->place[i]))
				add_candidate(s, i, j, size_in(s, i, j));
		}
	}
	sort_candidates(s);
	for (size_t c = 0; c < s->ncandidates; c++)
	{
		Candidate  *this = &s->candidates[c];
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
exchange(Assigner *s, size_t a, size_t b, int place_a, int place_b)
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

/*
 * Items that an exchange could help: those that are not where they cost least,
 * the largest loss first, and as many that are, the largest gain per byte
 * last.  Returns how many are in "core".
 */
static size_t
list_core(Assigner *s, size_t *core)
{
	size_t		n = 0;

	for (int pass = 0; pass < 2; pass++)
	{
		s->ncandidates = 0;
		for (size_t i = 0; i < s->p->n; i++)
		{
			int			cheapest = cheapest_place(s, i);
			int			other = s->p->items[i].present;

			if (pass == 0 && cheapest != s->place[i])
				add_candidate(s, i, cheapest, 1);
			if (pass == 1 && cheapest == s->place[i])
				add_candidate(s, i, other, size_in(s, i, cheapest));
		}
		sort_candidates(s);
		for (size_t c = 0; c < s->ncandidates && c < MAX_EXCHANGED / 2; c++)
			core[n++] = s->candidates[c].item;
	}
	return n;
}

/* Exchanges pairs while that helps. */
static void
exchange_pairs(Assigner *s)
{
	size_t		core[MAX_EXCHANGED];
	size_t		n = list_core(s, core);
	bool		again = true;

	for (int round = 0; round < MAX_ROUNDS && again; round++)
	{
		again = false;
		for (size_t a = 0; a < n; a++)
		{
			for (size_t b = 0; b < n; b++)
			{
				size_t		x = core[a];
				size_t		y = core[b];

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

/* The weights of a repetition: 1 at first, then from a tenth to ten. */
static void
set_weights(Assigner *s, size_t run)
{
	for (size_t i = 0; i < s->p->n; i++)
		s->weight[i] = run < 3 ? 1 : pow(10, 2 * next_random(s) - 1);
}

/* Ever better assignments; s->best is INFINITY if none is found. */
static void
solve(Assigner *s)
{
	size_t		runs = MAX_RELATIONS / (s->p->n + 1);

	s->best = INFINITY;
	runs = runs > MAX_RUNS ? MAX_RUNS : runs < 3 ? 3 : runs;
	for (size_t run = 0; run < runs; run++)
	{
		set_weights(s, run);
		if (run % 4 == 1)
			assign_present(s, run > 1);
		else
			assign_densest(s, run % 4 == 2);
		repair(s);
		if (!everything_fits(s))
			continue;
		fill_in(s);
		exchange_pairs(s);
		keep_best(s);
	}
}

/*
 * The limits as given, or, if nothing fits, at least the room that is taken
 * now.
 */
static void
set_limits(Assigner *s, bool as_full)
{
	s->nlimits = s->p->nrooms + 1;
	for (int k = 0; k < s->p->nrooms; k++)
		s->limit[k] = s->p->room[k];
	s->limit[s->nlimits - 1] = s->p->budget;
	if (!as_full)
		return;
	assign_present(s, false);
	for (int k = 0; k < s->nlimits; k++)
	{
		if (s->used[k] > s->limit[k])
			s->limit[k] = s->used[k];
	}
}

/* The saving of one more byte of each room, by the items that wait for it. */
static void
set_prices(Assigner *s, TsaAssignment *result)
{
	memset(s->used, 0, sizeof(s->used));
	for (size_t i = 0; i < s->p->n; i++)
		put_in(s, i, s->best_place[i]);
	for (size_t i = 0; i < s->p->n; i++)
	{
		for (int j = 0; j < s->p->nplaces; j++)
		{
			double		saved = cost_in(s, i, s->place[i]) - cost_in(s, i, j);
			double	   *price = &result->price[s->p->room_of[j]];

			if (saved > 0)
				*price = fmax(*price, saved /
							  fmax((double) size_in(s, i, j), 1));
		}
	}
}

/*
 * Assigns each item a place so that all together cost little.  False if there
 * is no memory: then nothing is assigned.
 */
bool
tsa_assign_places(const TsaAssignmentProblem *problem, TsaAssignment *result)
{
	Assigner	s = {.p = problem};
	size_t		n = problem->n + 1;

	memset(result, 0, sizeof(*result));
	s.place = malloc(n * sizeof(int));
	s.best_place = malloc(n * sizeof(int));
	s.weight = malloc(n * sizeof(double));
	s.candidates = malloc(n * (size_t) problem->nplaces * sizeof(Candidate));
	if (s.place && s.best_place && s.weight && s.candidates)
	{
		set_limits(&s, false);
		solve(&s);
		if (isinf(s.best))
		{
			result->too_full = true;
			set_limits(&s, true);
			solve(&s);
		}
		for (size_t i = 0; i < problem->n; i++)
		{
			problem->items[i].place = s.best_place[i];
			result->present_cost += cost_in(&s, i, problem->items[i].present);
		}
		result->cost = sum_costs(&s, s.best_place);
		set_prices(&s, result);
	}
	else
		problem = NULL;
	free(s.place);
	free(s.best_place);
	free(s.weight);
	free(s.candidates);
	return problem != NULL;
}
