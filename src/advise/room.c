/*-------------------------------------------------------------------------
 *
 * room.c
 *	  The worth of more room in a tablespace, as a SQL function.
 *
 * For each amount of room the best placement is chosen, each move taken alone
 * (assign_places.c); then its saving is that of all moves together, with the
 * queues they leave and find (closed_system.c), where sessions were watched.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "advise/assignment.h"
#include "advise/fact_rows.h"

PG_FUNCTION_INFO_V1(tsa_curve_of);

/* Relations that could be moved, and reads in the best placement. */
typedef struct Curve
{
	TsaPlacement *p;
	TsaAssignmentProblem problem;
	double	   *cost;			/* problem.cost, problem.room */
	uint64_t   *room;
	double	   *item_reads;		/* from the device */
	double	   *present_reads;	/* of the items of each place */
	double	   *best_reads;		/* likewise, in the best placement; NAN: none */
	double		best;			/* it saves this, each move alone; NAN: none */
	double		relations;		/* in the tablespace then */
} Curve;

/* For qsort(): by OID. */
static int
compare_relations(const void *a, const void *b)
{
	Oid			x = (*(TsaRelationFact *const *) a)->id;
	Oid			y = (*(TsaRelationFact *const *) b)->id;

	return (x > y) - (x < y);
}

/* Whether a relation could be anywhere else. */
static bool
is_item(const TsaPlacement *p, const TsaRelationFact *a)
{
	return a->obstacle == NULL && a->unusable == NULL &&
		!isnan(a->size_bytes) && a->place >= 0 &&
		!isnan(p->places[a->place].random_read_us);
}

/* The cost of a relation in a place, INFINITY: it cannot be there. */
static double
cost_of(const TsaPlacement *p, const TsaRelationFact *a, int place)
{
	const TsaPlaceFact *d = &p->places[place];
	TsaMoveEstimate e;

	if (place == a->place)
		return 0;
	if (!tsa_is_way(p, a->place, place) || isnan(d->random_read_us) ||
		d->is_volatile == TSA_TRUE ||
		p->places[a->place].shares_device[place])
		return INFINITY;
	e = tsa_estimate_move(p, (int) (a - p->relations), place);
	if (isnan(e.saved_ms) && tsa_or(a->reads_per_s, 0) != 0)
		return INFINITY;
	return e.is_faster ? 0 - tsa_or(e.saved_ms, 0) :
		fmax(0, 0 - tsa_or(e.saved_ms, 0));
}

/* Lists relations that could be moved, by OID; returns their bytes. */
static double
list_items(Curve *c)
{
	TsaPlacement *p = c->p;
	TsaAssignmentProblem *problem = &c->problem;
	TsaRelationFact **items = p->alloc((p->n + 1) * sizeof(TsaRelationFact *));
	double		bytes = 0;

	for (int i = 0; i < p->n; i++)
	{
		if (is_item(p, &p->relations[i]))
			items[problem->n++] = &p->relations[i];
	}
	qsort(items, problem->n, sizeof(TsaRelationFact *), compare_relations);
	problem->items = p->alloc((problem->n + 1) * sizeof(TsaAssignmentItem));
	c->cost = p->alloc((problem->n * p->nplaces + 1) * sizeof(double));
	c->item_reads = p->alloc((problem->n + 1) * sizeof(double));
	for (size_t i = 0; i < problem->n; i++)
	{
		const TsaRelationFact *a = items[i];
		TsaAssignmentItem *item = &problem->items[i];

		CHECK_FOR_INTERRUPTS();
		item->size = item->moved_size = (uint64_t) a->size_bytes;
		item->present = a->place;
		c->item_reads[i] = tsa_or(a->reads_per_s *
								  p->here[a - p->relations].device_share, 0);
		c->present_reads[a->place] += c->item_reads[i];
		for (int j = 0; j < p->nplaces; j++)
			c->cost[i * p->nplaces + j] = cost_of(p, a, j);
		bytes += a->size_bytes;
	}
	return bytes;
}

/*
 * Makes the problem; returns the bytes that could be moved.  Fails for too many
 * devices (54000).
 */
static double
make_problem(Curve *c)
{
	TsaPlacement *p = c->p;
	int		   *room_of = palloc((p->nplaces + 1) * sizeof(int));
	int64_t    *free = palloc((p->nplaces + 1) * sizeof(int64_t));
	double		bytes;

	c->best = NAN;
	c->present_reads = palloc0((p->nplaces + 1) * sizeof(double));
	c->best_reads = palloc((p->nplaces + 1) * sizeof(double));
	bytes = list_items(c);
	tsa_list_rooms(p, room_of, free, &c->problem.nrooms);
	if (c->problem.nrooms > TSA_MAX_ROOMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot choose among more than %d tablespaces",
						TSA_MAX_ROOMS)));
	c->room = palloc((p->nplaces + 1) * sizeof(uint64_t));
	for (int k = 0; k < c->problem.nrooms; k++)
		c->room[k] = (uint64_t) free[k];
	for (size_t i = 0; i < c->problem.n; i++)
		c->room[room_of[c->problem.items[i].present]] +=
			c->problem.items[i].size;
	c->problem.cost = c->cost;
	c->problem.nplaces = p->nplaces;
	c->problem.room_of = room_of;
	c->problem.room = c->room;
	c->problem.budget = TSA_NO_LIMIT;
	return bytes;
}

/*
 * The best placement with so many bytes in a tablespace: a set that fits into
 * less fits into more.  Fails without enough memory (53200).
 */
static void
place_all(Curve *c, int place, double bytes)
{
	TsaAssignment result;

	c->room[c->problem.room_of[place]] = (uint64_t) bytes;
	if (!tsa_assign_places(&c->problem, &result))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to choose among %zu relations.",
						   c->problem.n)));
	CHECK_FOR_INTERRUPTS();
	if (result.too_full || -result.cost <= c->best)
		return;
	c->best = 0 - result.cost;
	c->relations = 0;
	memset(c->best_reads, 0, c->problem.nplaces * sizeof(double));
	for (size_t i = 0; i < c->problem.n; i++)
	{
		c->best_reads[c->problem.items[i].place] += c->item_reads[i];
		c->relations += c->problem.items[i].place == place;
	}
}

/* Milliseconds per second that the best placement saves with its queues. */
static double
saved_by_all(const Curve *c)
{
	const TsaPlacement *p = c->p;
	TsaStation *stations;
	double		saved_us = 0;
	int			n = 0;

	if (!(p->load.snapshots > 0))
		return c->best;
	stations = palloc((p->nplaces + 1) * sizeof(TsaStation));
	for (int i = 0; i < p->nplaces; i++)
	{
		TsaStation *s = &stations[n];

		if (!p->states[i].is_known)
			continue;
		n++;
		*s = p->states[i].station;
		s->us = tsa_or(s->us, 0);
		/* relations that stay are read where they are */
		s->later_reads = fmax(0, s->reads + (isnan(c->best) ? 0 :
											 c->best_reads[i] -
											 c->present_reads[i]));
		saved_us += s->reads * s->us;
		if (s->us == 0)
			s->reads = 0;
	}
	tsa_closed_system_saves(stations, n,
							fmin(tsa_or(p->load.active_sessions, 0), 1e6));
	for (int i = 0; i < n; i++)
		saved_us -= stations[i].later_reads * stations[i].later_us;
	pfree(stations);
	return tsa_or(saved_us / 1000, c->best);
}

/*
 * curve_of(relations, tablespaces, load, of_tablespace, steps).  Percent are of
 * the time of reading now or then, whichever is more.
 */
Datum
tsa_curve_of(PG_FUNCTION_ARGS)
{
	TsaFacts	facts;
	TsaPlacement *p = &facts.placement;
	Curve		c = {.p = p};
	int			steps = PG_GETARG_INT32(4);
	double		all_bytes;
	double		all_ms = NAN;
	double		bytes_before = NAN;
	double		saved_before = NAN;
	TsaRow		row = {0};

	InitMaterializedSRF(fcinfo, 0);
	tsa_estimate_all(fcinfo, &facts);
	p->named = tsa_place_by_name(p, NameStr(*PG_GETARG_NAME(3)));
	if (p->named < 0)
		return (Datum) 0;
	all_bytes = make_problem(&c);
	for (int i = 0; i < p->n; i++)
		tsa_add(&all_ms, p->here[i].read_ms);
	for (int step = 0; step <= steps; step++)
	{
		double		bytes = floor(all_bytes * step / steps + 0.5);
		double		saved;

		place_all(&c, p->named, bytes);
		saved = fmax(saved_before, saved_by_all(&c));
		tsa_add_bytes(&row, bytes);
		tsa_add_rounded(&row, saved);
		tsa_add_rounded(&row, 100 * saved /
						tsa_not_zero(fmax(fmax(all_ms, saved),
										  all_ms - saved)));
		tsa_add_rounded(&row, (saved - saved_before) * 1073741824 /
						tsa_not_zero(bytes - bytes_before));
		tsa_add_bytes(&row, isnan(c.best) ? NAN : c.relations);
		tsa_put_row(fcinfo, &row);
		bytes_before = bytes;
		saved_before = saved;
	}
	return (Datum) 0;
}
