/*-------------------------------------------------------------------------
 *
 * savings_by_room.c
 *	  The worth of more room in a tablespace, as a SQL function:
 *	  assign_places.c finds the places.
 *
 * Relations are numbered from 1 in the order of the first arrays, places in
 * that of "rooms", rooms from 1 as "rooms" says.  A cell is a place that a
 * relation could move to; its saving there may be less than 0.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/tuplestore.h"

#include "advise/assignment.h"

/* The first arguments. */
typedef struct PlanArguments
{
	TsaAssignmentProblem problem;
	double	   *cost;			/* problem.cost, to be filled in */
	int		   *room_of;
	uint64_t   *room;
	int			ncells;
	Datum	   *cell_items;
	Datum	   *cell_places;
} PlanArguments;

PG_FUNCTION_INFO_V1(tsa_savings_by_room);

/*
 * Elements of an argument that is an array of bigint or float8 without nulls,
 * expected many, or any number if that is -1.
 */
static Datum *
list_argument(FunctionCallInfo fcinfo, int arg, Oid type, int expected, int *n)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(arg);
	Datum	   *elements;

	if (ARR_NDIM(array) > 1 || array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument %d must be a list without null elements",
						arg + 1)));
	deconstruct_array(array, type, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, NULL, n);
	if (expected >= 0 && *n != expected)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument %d must have %d elements, not %d",
						arg + 1, expected, *n)));
	return elements;
}

/* A number from 1 to "most" as one from 0. */
static int
index_of(Datum number, int most, int arg)
{
	int64		value = DatumGetInt64(number);

	if (value < 1 || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument %d must have numbers from 1 to %d",
						arg + 1, most)));
	return (int) value - 1;
}

/* A number of bytes.  Fails (22023) if it is negative. */
static uint64_t
size_of(Datum number, int arg)
{
	if (DatumGetInt64(number) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument %d must not have negative numbers",
						arg + 1)));
	return (uint64_t) DatumGetInt64(number);
}

/*
 * present, sizes, moved_sizes, cell_items, cell_places, cell_saved, rooms,
 * free
 */
static void
read_arguments(FunctionCallInfo fcinfo, PlanArguments *a)
{
	TsaAssignmentProblem *p = &a->problem;
	int			n;
	int			nrooms;
	Datum	   *present = list_argument(fcinfo, 0, INT8OID, -1, &n);
	Datum	   *sizes = list_argument(fcinfo, 1, INT8OID, n, &n);
	Datum	   *moved = list_argument(fcinfo, 2, INT8OID, n, &n);
	Datum	   *rooms = list_argument(fcinfo, 6, INT8OID, -1, &p->nplaces);
	Datum	   *room = list_argument(fcinfo, 7, INT8OID, -1, &nrooms);
	Datum	   *saved;
	Size		ncosts;

	if (nrooms > TSA_MAX_ROOMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot choose among more than %d tablespaces",
						TSA_MAX_ROOMS)));
	p->n = n;
	p->nrooms = nrooms;
	p->items = palloc_extended((n + 1) * sizeof(TsaAssignmentItem),
							   MCXT_ALLOC_HUGE);
	ncosts = (Size) n * p->nplaces + 1;
	a->cost = palloc_extended(ncosts * sizeof(double), MCXT_ALLOC_HUGE);
	a->room_of = palloc((p->nplaces + 1) * sizeof(int));
	a->room = palloc((nrooms + 1) * sizeof(uint64_t));
	for (int j = 0; j < p->nplaces; j++)
		a->room_of[j] = index_of(rooms[j], nrooms, 6);
	for (int k = 0; k < nrooms; k++)
		a->room[k] = size_of(room[k], 7);
	for (Size i = 0; i < ncosts; i++)
		a->cost[i] = INFINITY;
	for (int i = 0; i < n; i++)
	{
		p->items[i].present = index_of(present[i], p->nplaces, 0);
		p->items[i].size = size_of(sizes[i], 1);
		p->items[i].moved_size = size_of(moved[i], 2);
		a->cost[(Size) i * p->nplaces + p->items[i].present] = 0;
		a->room[a->room_of[p->items[i].present]] += p->items[i].size;
	}
	a->cell_items = list_argument(fcinfo, 3, INT8OID, -1, &a->ncells);
	a->cell_places = list_argument(fcinfo, 4, INT8OID, a->ncells, &a->ncells);
	saved = list_argument(fcinfo, 5, FLOAT8OID, a->ncells, &a->ncells);
	for (int c = 0; c < a->ncells; c++)
	{
		int			item = index_of(a->cell_items[c], n, 3);
		int			place = index_of(a->cell_places[c], p->nplaces, 4);

		if (place != p->items[item].present)
			a->cost[(Size) item * p->nplaces + place] =
				-DatumGetFloat8(saved[c]);
	}
	p->cost = a->cost;
	p->room_of = a->room_of;
	p->room = a->room;
	p->budget = TSA_NO_LIMIT;
}

/* Chooses a place for each relation.  Fails if there is not enough memory. */
static void
assign(const TsaAssignmentProblem *problem, TsaAssignment *result)
{
	if (!tsa_assign_places(problem, result))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to choose among %zu relations.",
						   problem->n)));
	CHECK_FOR_INTERRUPTS();
}

/* The present reads from each place, per second. */
static Datum
reads_of_places(const TsaAssignmentProblem *problem, const Datum *item_reads)
{
	Datum	   *reads = palloc((problem->nplaces + 1) * sizeof(Datum));
	double	   *sum = palloc0((problem->nplaces + 1) * sizeof(double));

	for (size_t i = 0; i < problem->n; i++)
		sum[problem->items[i].place] += DatumGetFloat8(item_reads[i]);
	for (int j = 0; j < problem->nplaces; j++)
		reads[j] = Float8GetDatum(sum[j]);
	return PointerGetDatum(construct_array(reads, problem->nplaces, FLOAT8OID,
										   8, FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/*
 * savings_by_room(present, sizes, moved_sizes, cell_items, cell_places,
 *	cell_saved, rooms, free, place, bytes, item_reads)
 */
Datum
tsa_savings_by_room(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	PlanArguments a;
	int			nsteps;
	int			nitems;
	int			place;
	Datum	   *bytes;
	Datum	   *item_reads;
	Datum		reads = (Datum) 0;
	double		best = -INFINITY;
	int64		inside = 0;

	InitMaterializedSRF(fcinfo, 0);
	read_arguments(fcinfo, &a);
	place = index_of(PG_GETARG_DATUM(8), a.problem.nplaces, 8);
	bytes = list_argument(fcinfo, 9, INT8OID, -1, &nsteps);
	item_reads = list_argument(fcinfo, 10, FLOAT8OID, (int) a.problem.n,
							   &nitems);
	for (int step = 0; step < nsteps; step++)
	{
		TsaAssignment result;
		int64		count = 0;
		Datum		values[4];
		bool		nulls[4] = {0};

		a.room[a.room_of[place]] = size_of(bytes[step], 9);
		assign(&a.problem, &result);
		for (size_t i = 0; i < a.problem.n; i++)
			count += a.problem.items[i].place == place;
		/* a set that fits into less fits into more */
		if (!result.too_full && -result.cost > best)
		{
			best = 0 - result.cost;
			inside = count;
			reads = reads_of_places(&a.problem, item_reads);
		}
		values[0] = bytes[step];
		nulls[1] = nulls[2] = nulls[3] = isinf(best);
		values[1] = Float8GetDatum(best);
		values[2] = Int64GetDatum(inside);
		values[3] = reads;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
