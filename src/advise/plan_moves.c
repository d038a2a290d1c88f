/*-------------------------------------------------------------------------
 *
 * plan_moves.c
 *	  Where relations belong, and the moves that lead there, as SQL functions:
 *	  assign_places.c finds the places, bundle.c orders the moves.
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
#include "advise/bundle.h"

#define PLAN_COLUMNS 7

/* The arguments that both functions begin with. */
typedef struct PlanArguments
{
	TsaAssignmentProblem problem;
	double	   *cost;			/* problem.cost, to be filled in */
	int		   *room_of;
	uint64_t   *room;
	int64_t    *free;			/* of each room */
	int			ncells;
	Datum	   *cell_items;
	Datum	   *cell_places;
} PlanArguments;

PG_FUNCTION_INFO_V1(tsa_plan_bundles);
PG_FUNCTION_INFO_V1(tsa_savings_by_room);
PG_FUNCTION_INFO_V1(tsa_is_too_little);
PG_FUNCTION_INFO_V1(tsa_is_repaid);

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
	a->free = palloc((nrooms + 1) * sizeof(int64_t));
	for (int j = 0; j < p->nplaces; j++)
		a->room_of[j] = index_of(rooms[j], nrooms, 6);
	for (int k = 0; k < nrooms; k++)
	{
		a->free[k] = DatumGetInt64(room[k]);
		a->room[k] = size_of(room[k], 7);
	}
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

/* The moves that an assignment needs; "cell" is where each is found. */
static TsaBundleMove *
list_moves(FunctionCallInfo fcinfo, PlanArguments *a, size_t *n, int **cell)
{
	TsaAssignmentProblem *p = &a->problem;
	TsaBundleMove *moves = palloc0((p->n + 1) * sizeof(TsaBundleMove));
	int			ncells;
	Datum	   *seconds = list_argument(fcinfo, 9, FLOAT8OID, a->ncells,
										&ncells);

	*cell = palloc((p->n + 1) * sizeof(int));
	*n = 0;
	for (int c = 0; c < ncells; c++)
	{
		int			item = (int) DatumGetInt64(a->cell_items[c]) - 1;
		int			place = (int) DatumGetInt64(a->cell_places[c]) - 1;
		TsaAssignmentItem *i = &p->items[item];
		TsaBundleMove *m;

		if (place != i->place || place == i->present)
			continue;
		m = &moves[*n];
		m->from_room = a->room_of[i->present];
		m->to_room = a->room_of[place];
		m->size = i->moved_size;
		m->freed = i->size;
		m->saved = -a->cost[(Size) item * p->nplaces + place];
		m->seconds = DatumGetFloat8(seconds[c]);
		(*cell)[(*n)++] = c;
	}
	return moves;
}

/*
 * plan_moves(present, sizes, moved_sizes, cell_items, cell_places, cell_saved,
 *	rooms, free, budget, cell_seconds, read_ms, read_bytes)
 */
Datum
tsa_plan_bundles(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	PlanArguments a;
	TsaAssignment result;
	TsaBundleProblem bundles = {0};
	int		   *cell;

	InitMaterializedSRF(fcinfo, 0);
	read_arguments(fcinfo, &a);
	a.problem.budget = size_of(PG_GETARG_DATUM(8), 8);
	assign(&a.problem, &result);
	bundles.moves = list_moves(fcinfo, &a, &bundles.n, &cell);
	bundles.read_ms = PG_GETARG_FLOAT8(10);
	bundles.read_bytes = PG_GETARG_FLOAT8(11);
	bundles.free = a.free;
	bundles.nrooms = a.problem.nrooms;
	bundles.min_percent = TSA_MIN_PERCENT;
	bundles.min_dense_percent = TSA_MIN_DENSE_PERCENT;
	bundles.repaid_s = TSA_REPAID_S;
	if (!tsa_bundle_moves(&bundles))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to order %zu moves.", bundles.n)));
	for (size_t i = 0; i < bundles.n; i++)
	{
		TsaBundleMove *m = &bundles.moves[i];
		Datum		values[PLAN_COLUMNS];
		bool		nulls[PLAN_COLUMNS] = {0};

		values[0] = a.cell_items[cell[i]];
		values[1] = a.cell_places[cell[i]];
		values[2] = Int32GetDatum(m->rank);
		values[3] = Int32GetDatum(m->bundle);
		values[4] = Int32GetDatum(m->verdict);
		nulls[5] = m->makes_room_for == TSA_NO_MOVE;
		values[5] = nulls[5] ? (Datum) 0 :
			a.cell_items[cell[m->makes_room_for]];
		values[6] = Float8GetDatum(result.price[m->to_room]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
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

/* saves_too_little(saved, bytes, read_ms, read_bytes) */
Datum
tsa_is_too_little(PG_FUNCTION_ARGS)
{
	double		read_bytes = PG_ARGISNULL(3) ? 0 : PG_GETARG_FLOAT8(3);

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(tsa_gains_too_little(PG_GETARG_FLOAT8(0),
										(double) PG_GETARG_INT64(1),
										PG_GETARG_FLOAT8(2), read_bytes,
										TSA_MIN_PERCENT,
										TSA_MIN_DENSE_PERCENT));
}

/* is_repaid(saved, seconds) */
Datum
tsa_is_repaid(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(PG_GETARG_FLOAT8(0) / 1000 * TSA_REPAID_S >=
				   PG_GETARG_FLOAT8(1));
}
