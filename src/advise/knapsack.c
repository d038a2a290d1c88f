/*-------------------------------------------------------------------------
 *
 * knapsack.c
 *	  The 0/1 knapsack: which relations to move when not all of them fit.
 *
 * Pure: includes no postgres.h, is unit-tested without a server, and frees
 * all memory before it returns.
 *
 * The exact answer comes from dynamic programming over undominated states
 * (Nemhauser and Ullmann, 1969): a state is what some choice among the first
 * items takes and is worth, and is dropped when another one takes no more and
 * is worth no less.  States are exact in bytes; a table over megabytes would
 * not be.  Items come by falling value per byte, so that a state can also be
 * dropped when even filling the rest of the room with fractions of the items
 * to come (the upper bound of Dantzig, 1957) would leave it behind the best
 * choice known.  That keeps a few hundred states where there could be 2^n.
 *
 * Where states exceed the limit, the greedy choice stands: by value per byte,
 * passing over what does not fit, or the single most valuable item if that is
 * worth more.  It is worth at least half of the best, and the bound says how
 * far from it this one may be.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/knapsack.h"

#include <stdlib.h>
#include <string.h>

/* Steps per state allowed, so that the time is bounded, too. */
#define MAX_STEPS_PER_STATE	64

/* "No state": the choice of nothing has no predecessor. */
#define NO_STATE	SIZE_MAX

/* What a choice takes and is worth, and how it came to be. */
typedef struct State
{
	uint64_t	size;
	double		value;
	size_t		previous;		/* state that the item was added to */
	size_t		item;			/* position in the order */
} State;

/* One run of the algorithm. */
typedef struct Solver
{
	TsaKnapsackItem **order;	/* what can be chosen, by value per byte */
	size_t		n;
	uint64_t	capacity;
	uint64_t   *size_before;	/* sums over the items before each position */
	double	   *value_before;
	State	   *states;			/* all states ever made */
	size_t		nstates;
	size_t		max_states;
	size_t		steps_left;
	size_t	   *front;			/* the undominated ones, by size */
	size_t	   *merged;			/* the next front, while it is made */
	size_t		nfront;
	double		best;			/* value of the best choice known */
	size_t		best_state;		/* NO_STATE: the greedy one */
} Solver;

/* By falling value per byte; of equals the larger, then the earlier one. */
static int
compare_items(const void *a, const void *b)
{
	const TsaKnapsackItem *x = *(TsaKnapsackItem *const *) a;
	const TsaKnapsackItem *y = *(TsaKnapsackItem *const *) b;
	double		left = x->value * (double) y->size;
	double		right = y->value * (double) x->size;

	if (left != right)
		return left > right ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x < y ? -1 : 1;
}

/*
 * The most that items from position "first" on could be worth in "room",
 * fractions of items allowed.
 */
static double
fractional_bound(const Solver *s, size_t first, uint64_t room)
{
	uint64_t	end = s->size_before[first] + room;
	size_t		low = first;
	size_t		high = s->n;
	double		bound;

	/* the last position whose items before it all fit */
	while (low < high)
	{
		size_t		middle = low + (high - low + 1) / 2;

		if (s->size_before[middle] <= end)
			low = middle;
		else
			high = middle - 1;
	}
	bound = s->value_before[low] - s->value_before[first];
	if (low < s->n)
	{
		const TsaKnapsackItem *part = s->order[low];

		bound += part->value *
			((double) (end - s->size_before[low]) / (double) part->size);
	}
	return bound;
}

/* Chooses greedily and notes the value as the best known. */
static void
choose_greedily(Solver *s)
{
	uint64_t	room = s->capacity;
	TsaKnapsackItem *single = NULL;

	s->best = 0;
	for (size_t i = 0; i < s->n; i++)
	{
		TsaKnapsackItem *item = s->order[i];

		if (single == NULL || item->value > single->value)
			single = item;
		if (item->size > room)
			continue;
		item->chosen = true;
		room -= item->size;
		s->best += item->value;
	}
	if (single != NULL && single->value > s->best)
	{
		for (size_t i = 0; i < s->n; i++)
			s->order[i]->chosen = s->order[i] == single;
		s->best = single->value;
	}
	s->best_state = NO_STATE;
}

/*
 * Appends a state to the next front unless it is dominated or hopeless.
 * States come by rising size, so only a larger value is worth keeping.
 */
static void
keep_state(Solver *s, size_t state, size_t next, size_t *nmerged)
{
	State	   *this = &s->states[state];

	if (*nmerged > 0)
	{
		State	   *last = &s->states[s->merged[*nmerged - 1]];

		if (this->value <= last->value)
			return;
		if (this->size == last->size)
			(*nmerged)--;
	}
	if (this->value > s->best)
	{
		s->best = this->value;
		s->best_state = state;
	}
	if (this->value +
		fractional_bound(s, next, s->capacity - this->size) <= s->best &&
		state != s->best_state)
		return;
	s->merged[(*nmerged)++] = state;
}

/*
 * Makes the front after item i: each state without it, and with it where it
 * fits.  False if there would be too many states, or steps.
 */
static bool
add_item(Solver *s, size_t i)
{
	const TsaKnapsackItem *item = s->order[i];
	size_t		first = s->nstates;
	size_t		with;
	size_t		nmerged = 0;
	size_t	   *front;

	if (s->steps_left < s->nfront)
		return false;
	s->steps_left -= s->nfront;
	for (size_t f = 0; f < s->nfront; f++)
	{
		State	   *base = &s->states[s->front[f]];
		State	   *next;

		if (item->size > s->capacity - base->size)
			break;
		if (s->nstates == s->max_states)
			return false;
		next = &s->states[s->nstates++];
		next->size = base->size + item->size;
		next->value = base->value + item->value;
		next->previous = s->front[f];
		next->item = i;
	}
	with = first;
	for (size_t f = 0; f < s->nfront || with < s->nstates;)
	{
		if (with == s->nstates ||
			(f < s->nfront &&
			 (s->states[s->front[f]].size < s->states[with].size ||
			  (s->states[s->front[f]].size == s->states[with].size &&
			   s->states[s->front[f]].value >= s->states[with].value))))
			keep_state(s, s->front[f++], i + 1, &nmerged);
		else
			keep_state(s, with++, i + 1, &nmerged);
	}
	front = s->front;
	s->front = s->merged;
	s->merged = front;
	s->nfront = nmerged;
	return true;
}

/* Runs the dynamic programming; false if it had to be given up. */
static bool
choose_exactly(Solver *s)
{
	memset(&s->states[0], 0, sizeof(State));
	s->states[0].previous = NO_STATE;
	s->nstates = 1;
	s->front[0] = 0;
	s->nfront = 1;
	for (size_t i = 0; i < s->n && s->nfront > 0; i++)
	{
		if (!add_item(s, i))
			return false;
	}
	if (s->best_state != NO_STATE)
	{
		for (size_t i = 0; i < s->n; i++)
			s->order[i]->chosen = false;
		for (size_t state = s->best_state; state != 0;
			 state = s->states[state].previous)
			s->order[s->states[state].item]->chosen = true;
	}
	return true;
}

/* Puts what can be chosen into order, and sums it up. */
static void
sort_items(Solver *s, TsaKnapsackItem *items, size_t n)
{
	s->n = 0;
	for (size_t i = 0; i < n; i++)
	{
		items[i].chosen = false;
		if (items[i].value > 0 && items[i].size <= s->capacity)
			s->order[s->n++] = &items[i];
	}
	if (s->n > 0)
		qsort(s->order, s->n, sizeof(TsaKnapsackItem *), compare_items);
	s->size_before[0] = 0;
	s->value_before[0] = 0;
	for (size_t i = 0; i < s->n; i++)
	{
		s->size_before[i + 1] = s->size_before[i] + s->order[i]->size;
		s->value_before[i + 1] = s->value_before[i] + s->order[i]->value;
	}
}

/*
 * Chooses among n items so that their sizes fit into capacity and their value
 * is the largest, or near to it where that would take more than max_states
 * states (48 bytes each).  Items without a positive value are never chosen.
 * Sizes must add up to less than 2^64.
 */
TsaKnapsackStatus
tsa_solve_knapsack(TsaKnapsackItem *items, size_t n, uint64_t capacity,
				   size_t max_states, TsaKnapsackChoice *choice)
{
	Solver		s = {.capacity = capacity};
	TsaKnapsackStatus status = TSA_KNAPSACK_NO_MEMORY;

	memset(choice, 0, sizeof(*choice));
	s.max_states = max_states > 0 ? max_states : 1;
	s.steps_left = MAX_STEPS_PER_STATE * s.max_states;
	s.order = malloc((n + 1) * sizeof(TsaKnapsackItem *));
	s.size_before = malloc((n + 1) * sizeof(*s.size_before));
	s.value_before = malloc((n + 1) * sizeof(*s.value_before));
	s.states = malloc(s.max_states * sizeof(*s.states));
	s.front = malloc(s.max_states * sizeof(*s.front));
	s.merged = malloc(s.max_states * sizeof(*s.merged));
	if (s.order && s.size_before && s.value_before && s.states && s.front &&
		s.merged)
	{
		sort_items(&s, items, n);
		choose_greedily(&s);
		choice->bound = fractional_bound(&s, 0, capacity);
		status = choose_exactly(&s) ? TSA_KNAPSACK_EXACT : TSA_KNAPSACK_BOUNDED;
		for (size_t i = 0; i < s.n; i++)
		{
			if (!s.order[i]->chosen)
				continue;
			choice->size += s.order[i]->size;
			choice->value += s.order[i]->value;
		}
		if (status == TSA_KNAPSACK_EXACT)
			choice->bound = choice->value;
	}
	free(s.order);
	free(s.size_before);
	free(s.value_before);
	free(s.states);
	free(s.front);
	free(s.merged);
	return status;
}
