/*-------------------------------------------------------------------------
 *
 * estimate.c
 *	  The estimates that advice rests on, as SQL functions.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"

#include "advise/fact_rows.h"

PG_FUNCTION_INFO_V1(tsa_present_load);
PG_FUNCTION_INFO_V1(tsa_estimate_placement);
PG_FUNCTION_INFO_V1(tsa_place_loads);

/* present_load(relations, tablespaces, load) */
Datum
tsa_present_load(PG_FUNCTION_ARGS)
{
	TsaFacts	facts;
	TsaRow		row = {0};

	InitMaterializedSRF(fcinfo, 0);
	tsa_read_facts(fcinfo, 0, 1, 2, &facts);
	tsa_estimate_load(&facts.placement);
	for (int i = 0; i < facts.placement.nplaces; i++)
	{
		tsa_make_load_row(&row, &facts.placement, i);
		tsa_put_row(fcinfo, &row);
	}
	return (Datum) 0;
}

/* estimate_placement(relations, tablespaces, load, with_all, named) */
Datum
tsa_estimate_placement(PG_FUNCTION_ARGS)
{
	TsaFacts	facts;
	TsaPlacement *p = &facts.placement;
	TsaRow		row = {0};

	InitMaterializedSRF(fcinfo, 0);
	tsa_estimate_all(fcinfo, &facts);
	p->with_all = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
	if (!PG_ARGISNULL(4))
		p->named = tsa_place_by_name(p, NameStr(*PG_GETARG_NAME(4)));
	for (int i = 0; i < p->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int d = TSA_NO_PLACE; d < p->nplaces; d++)
		{
			TsaMoveEstimate e;

			if (d != TSA_NO_PLACE && !tsa_is_way(p, p->relations[i].place, d))
				continue;
			e = tsa_estimate_move(p, i, d);
			tsa_make_estimate_row(&row, p, i, d, &e);
			tsa_put_row(fcinfo, &row);
		}
	}
	return (Datum) 0;
}

/* place_loads(relations, tablespaces, load) */
Datum
tsa_place_loads(PG_FUNCTION_ARGS)
{
	TsaFacts	facts;
	TsaRow		row = {0};

	InitMaterializedSRF(fcinfo, 0);
	tsa_estimate_all(fcinfo, &facts);
	for (int i = 0; i < facts.placement.nplaces; i++)
	{
		const TsaPlaceState *s = &facts.placement.states[i];
		const TsaStation *t = &s->station;

		if (!s->is_known)
			continue;
		tsa_add_name(&row, tsa_place_name(&facts.placement, i));
		tsa_add_number(&row, t->reads);
		tsa_add_number(&row, t->us);
		tsa_add_numbers(&row, t->curve.depth, t->curve.n);
		tsa_add_numbers(&row, t->curve.us, t->curve.n);
		tsa_add_number(&row, NAN);
		tsa_add_number(&row, NAN);
		tsa_add_number(&row, t->others_in_flight);
		tsa_put_row(fcinfo, &row);
	}
	return (Datum) 0;
}
