/*
 * assignments.c
 *	  Who finds the best placement?  Random instances (as in the unit test:
 *	  reads over four orders of magnitude, up to twelve relations, two or three
 *	  tablespaces, some of them full, some budgets), solved
 *	  - by trying all assignments,
 *	  - as the advice does (assign_places.c),
 *	  - as 0.4 did: into what is free in the fastest tablespace the set that
 *	    saves most, of the rest likewise into the next one,
 *	  - by moving the largest, or what is scanned most, to the fastest one that
 *	    has room for it, one after the other.
 *
 *	cc -O2 -Isrc -Itest/unit -o build/assignments bench/assignments.c -lm
 *	build/assignments [INSTANCES]
 *
 *	  A scan of a relation makes between 1 and 1000 reads, so that what is scanned
 *	  most need not be what is read most.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <stdio.h>
#include <stdlib.h>

#include "advise/assign_places.c"

#include "assignment_instances.h"

#define MOST 12

typedef enum
{
	EXHAUSTIVE, OURS, OLD, LARGEST, SCANNED, CHOOSERS
} Chooser;

static const char *const names[CHOOSERS] = {
	"all assignments tried", "ours", "as 0.4: best set into free room",
	"largest first", "most scanned first"
};

/* What is left to fill. */
typedef struct
{
	uint64_t	free[TSA_MAX_ROOMS];
	uint64_t	budget;
	int			place[MOST];
} Filling;

static double
cost_of(const TsaAssignmentProblem *p, size_t item, int place)
{
	return p->cost[item * (size_t) p->nplaces + (size_t) place];
}

static void
begin(const TsaAssignmentProblem *p, Filling *s)
{
	for (int k = 0; k < p->nrooms; k++)
		s->free[k] = p->room[k];
	s->budget = p->budget;
	for (size_t i = 0; i < p->n; i++)
	{
		s->place[i] = p->items[i].present;
		s->free[s->place[i]] -= p->items[i].size;
	}
}

/* Would it be read faster there, and is it where it was? */
static bool
gains(const TsaAssignmentProblem *p, const Filling *s, size_t i, int to)
{
	return s->place[i] == p->items[i].present &&
		cost_of(p, i, to) < cost_of(p, i, s->place[i]);
}

/* Copies take room until the old one is gone; what leaves makes none. */
static void
move(const TsaAssignmentProblem *p, Filling *s, size_t i, int to)
{
	s->free[to] -= p->items[i].moved_size;
	s->budget -= p->budget == TSA_NO_LIMIT ? 0 : p->items[i].moved_size;
	s->place[i] = to;
}

/* Of all sets of what gains there and fits the one that saves most. */
static void
choose_like_old(const TsaAssignmentProblem *p, Filling *s)
{
	for (int to = 0; to < p->nplaces; to++)
	{
		uint64_t	room = s->free[to] < s->budget ? s->free[to] : s->budget;
		double		most = 0;
		unsigned	chosen = 0;

		for (unsigned set = 0; set < 1u << p->n; set++)
		{
			double		saves = 0;
			uint64_t	size = 0;

			for (size_t i = 0; i < p->n; i++)
			{
				if (!(set >> i & 1))
					continue;
				size += gains(p, s, i, to) ? p->items[i].moved_size : room + 1;
				saves += cost_of(p, i, s->place[i]) - cost_of(p, i, to);
			}
			if (size <= room && saves > most)
			{
				most = saves;
				chosen = set;
			}
		}
		for (size_t i = 0; i < p->n; i++)
			if (chosen >> i & 1)
				move(p, s, i, to);
	}
}

static void
choose_by_rank(const TsaAssignmentProblem *p, Filling *s, const double *rank)
{
	bool		done[MOST] = {false};

	for (size_t step = 0; step < p->n; step++)
	{
		size_t		next = p->n;

		for (size_t i = 0; i < p->n; i++)
			if (!done[i] && (next == p->n || rank[i] > rank[next]))
				next = i;
		done[next] = true;
		for (int to = 0; to < p->nplaces; to++)
		{
			uint64_t	size = p->items[next].moved_size;

			if (gains(p, s, next, to) && size <= s->free[to] &&
				size <= s->budget)
				move(p, s, next, to);
		}
	}
}

/* What an answer saves; negative if it does not fit. */
static double
saved_by(const TsaAssignmentProblem *p, const int *place, double present)
{
	double		cost;

	return price_of(p, place, &cost) ? present - cost : -1;
}

static double
saved(const TsaAssignmentProblem *p, Chooser chooser, double present)
{
	Filling		s;
	double		rank[MOST];
	TsaAssignment result;

	begin(p, &s);
	if (chooser == EXHAUSTIVE)
		return present - best_of_all(p);
	for (size_t i = 0; i < p->n; i++)
		rank[i] = chooser == LARGEST ? (double) p->items[i].size :
			cost_of(p, i, p->items[i].present) / pow(10, (double) below(3000) / 1000);
	switch (chooser)
	{
		case OURS:
			tsa_assign_places(p, &result);
			for (size_t i = 0; i < p->n; i++)
				s.place[i] = p->items[i].place;
			break;
		case OLD:
			choose_like_old(p, &s);
			break;
		default:
			choose_by_rank(p, &s, rank);
	}
	return saved_by(p, s.place, present);
}

static int
by_value(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
	int			wanted = argc > 1 ? atoi(argv[1]) : 1000;
	double	   *share[CHOOSERS];
	double		sum[CHOOSERS] = {0};
	int			reached[CHOOSERS] = {0};
	int			n = 0;

	for (int c = 0; c < CHOOSERS; c++)
		share[c] = calloc((size_t) wanted + 1, sizeof(double));
	for (int run = 0; n < wanted; run++)
	{
		TsaAssignmentItem items[MOST];
		double		cost[MOST * 3];
		uint64_t	room[3];
		int			present[MOST];
		double		present_cost;
		double		best;
		int			nplaces = 2 + run % 2;
		TsaAssignmentProblem p = {.nplaces = nplaces,.nrooms = nplaces};

		p.n = 1 + below(nplaces == 2 ? 12 : run % 20 == 1 ? 12 : 8);
		make_instance(&p, items, cost, room);
		for (size_t i = 0; i < p.n; i++)
			present[i] = items[i].present;

		/* that are not over their limits, and of which something can be saved */
		if (!price_of(&p, present, &present_cost))
			continue;
		best = saved(&p, EXHAUSTIVE, present_cost);
		if (!(best > 0))
			continue;
		for (int c = 0; c < CHOOSERS; c++)
		{
			share[c][n] = saved(&p, (Chooser) c, present_cost) / best;
			sum[c] += share[c][n];
			reached[c] += share[c][n] >= 0.98;
		}
		n++;
	}
	printf("| %d instances | least | 5th percentile | median | mean | 98 %% of the best in |\n"
		   "|---|---|---|---|---|---|\n", n);
	for (int c = 0; c < CHOOSERS; c++)
	{
		qsort(share[c], (size_t) n, sizeof(double), by_value);
		printf("| %s | %.1f %% | %.1f %% | %.1f %% | %.2f %% | %d |\n", names[c],
			   100 * share[c][0], 100 * share[c][n / 20], 100 * share[c][n / 2],
			   100 * sum[c] / n, reached[c]);
	}
	return 0;
}
