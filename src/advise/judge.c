/*-------------------------------------------------------------------------
 *
 * judge.c
 *	  Advice from facts, as a SQL function: the decision on each relation.
 *
 * It looks at nothing but its arguments, so that advice can be tested and
 * replayed on facts written down by hand.  Facts are read in read_facts.c; the
 * rules are in pure modules (placement.h), sentences in words.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "advise/assignment.h"
#include "advise/fact_rows.h"
#include "advise/words.h"

PG_FUNCTION_INFO_V1(tsa_decide_placement);
PG_FUNCTION_INFO_V1(tsa_is_bloated_index);

/* Of more relations, those that are not read come by OID. */
#define MAX_NAMES	5000

/* All that decide_placement() makes its rows of. */
typedef struct Decisions
{
	TsaFacts   *facts;
	const char **names;			/* of relations that are not read */
	bool		with_evidence;
	Oid			estimate_type;
	Oid			load_type;
} Decisions;

/* The action of a decision. */
static const char *
action_of(const TsaChoice *c)
{
	return c->is_move ? "move" : tsa_finding_action(c->finding);
}

/* Whether a decision is to probe first. */
static bool
asks_for_probe(const TsaChoice *c)
{
	return strcmp(action_of(c), "probe first") == 0;
}

/*
 * For qsort_arg(): moves by rank, then certain verdicts, long reads, indexes;
 * relations that are not read by name, or of many by OID.
 */
static int
compare_decisions(const void *a, const void *b, void *arg)
{
	const Decisions *d = arg;
	const TsaPlacement *p = &d->facts->placement;
	int			x = *(const int *) a;
	int			y = *(const int *) b;
	const TsaChoice *c = &p->choices[x];
	const TsaChoice *e = &p->choices[y];
	double		x_ms = p->here[x].read_ms;
	double		y_ms = p->here[y].read_ms;
	int			order;

	if (c->is_move != e->is_move)
		return c->is_move ? -1 : 1;
	if (c->is_move && c->rank != e->rank)
		return c->rank - e->rank;
	order = (int) tsa_finding_is_uncertain(c->finding) -
		(int) tsa_finding_is_uncertain(e->finding);
	if (order != 0)
		return order;
	if (isnan(x_ms) != isnan(y_ms))
		return isnan(x_ms) ? 1 : -1;
	if (x_ms > y_ms || y_ms > x_ms)
		return x_ms > y_ms ? -1 : 1;
	order = (int) p->relations[y].is_index - (int) p->relations[x].is_index;
	if (order == 0)
		order = strcmp(d->names[x], d->names[y]);
	if (order == 0)
		order = p->relations[x].id < p->relations[y].id ? -1 :
			p->relations[x].id > p->relations[y].id;
	return order;
}

/* The numbers of relations with a decision, in order. */
static int *
order_decisions(Decisions *d, int *n)
{
	const TsaPlacement *p = &d->facts->placement;
	int		   *order = palloc_extended((p->n + 1) * sizeof(int),
										MCXT_ALLOC_HUGE);

	d->names = palloc_extended((p->n + 1) * sizeof(char *), MCXT_ALLOC_HUGE);
	*n = 0;
	for (int i = 0; i < p->n; i++)
	{
		if (p->choices[i].finding == TSA_NO_FINDING)
			continue;
		order[(*n)++] = i;
		/* names take long to make, and of many relations nobody reads all */
		d->names[i] = p->here[i].read_ms > 0 || p->n > MAX_NAMES ? "" :
			tsa_regclass_text(p->relations[i].id);
	}
	qsort_arg(order, *n, sizeof(int), compare_decisions, d);
	return order;
}

/*
 * The tablespaces to probe: of all relations that ask for it, those of their
 * tables and those they could go to, lest each answer asks for another.  A
 * probe that was made and is not to be trusted is not asked for again.
 * Counters or the server's timing stand in for one, as far as they go.
 */
static bool *
wanted_probes(const TsaPlacement *p)
{
	bool	   *wanted = palloc0((p->nplaces + 1) * sizeof(bool));

	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];

		if (!asks_for_probe(&p->choices[i]))
			continue;
		wanted[r->place] = true;
		if (p->choices[i].destination >= 0)
			wanted[p->choices[i].destination] = true;
		for (int j = 0; j < p->nplaces; j++)
			wanted[j] |= p->not_probed[(Size) r->table * p->nplaces + j];
	}
	for (int j = 0; j < p->nplaces; j++)
	{
		const TsaPlaceFact *f = &p->places[j];
		bool		is_target = p->destination == TSA_NO_PLACE &&
		f->may_create == TSA_TRUE && f->is_volatile != TSA_TRUE;

		for (int k = 0; k < p->nplaces && is_target; k++)
			is_target = !(p->places[k].is_probed && f->shares_device[k]);
		wanted[j] = (wanted[j] || is_target) && f->caveat == NULL &&
			(isnan(f->random_read_us) ||
			 f->latency_from == TSA_FROM_COUNTERS ||
			 f->latency_from == TSA_FROM_TIMING);
	}
	return wanted;
}

/* The columns of placement_advice, but for the statement. */
static void
add_advice(TsaRow *row, const TsaPlacement *p, int relation,
		   const TsaMoveEstimate *e)
{
	const TsaRelationFact *r = &p->relations[relation];
	const TsaReadsHere *h = &p->here[relation];
	const TsaChoice *c = &p->choices[relation];
	const char *action = action_of(c);
	double		saved_ms = isnan(h->read_ms) ? NAN : 0;

	if (c->is_move)
		saved_ms = c->saved_ms;
	else if (asks_for_probe(c))
		saved_ms = NAN;
	tsa_add_int(row, c->is_move ? c->rank : 0);
	tsa_add_text(row, action);
	tsa_add_oid(row, r->id);
	tsa_add_name(row, tsa_place_name(p, r->place));
	tsa_add_name(row, c->is_move ? tsa_place_name(p, c->destination) :
				 strcmp(action, "drop candidate") == 0 ? NULL :
				 tsa_place_name(p, r->place));
	tsa_add_bytes(row, r->size_bytes);
	tsa_add_rounded(row, saved_ms);
	tsa_add_rounded(row, 100 * saved_ms / tsa_not_zero(p->all_read_ms));
	tsa_add_text(row, tsa_verdict_reason(p, relation, e));
	tsa_add_text(row, r->is_index ? "index" : "heap");
	tsa_add_rounded(row, r->reads_per_s);
	tsa_add_rounded(row, r->writes_per_s);
	tsa_add_rounded(row, (r->hits_per_s +
						  r->reads_per_s * (1 - h->device_share)) /
					tsa_not_zero(r->hits_per_s + r->reads_per_s));
	tsa_add_rounded(row, h->read_ms);
	tsa_add_rounded(row, c->destination < 0 ? NAN : e->move_seconds);
	tsa_add_truth(row, r->measured ? TSA_TRUE : TSA_FALSE);
	tsa_add_rounded(row, tsa_or(r->waiting_sessions, h->read_ms / 1000));
}

/* The grounds of a decision. */
static void
add_evidence(TsaRow *row, const Decisions *d, int relation,
			 const TsaMoveEstimate *e)
{
	const TsaPlacement *p = &d->facts->placement;
	const TsaRelationFact *r = &p->relations[relation];
	const TsaChoice *c = &p->choices[relation];
	int			place = c->is_move ? c->destination : r->place;
	TsaRow		inner;

	tsa_add_number(row, p->states[place].later_us);
	if (!d->with_evidence)
	{
		for (int i = 0; i < 5; i++)
			tsa_add_datum(row, (Datum) 0, true);
		return;
	}
	tsa_add_datum(row, d->facts->relations[relation], false);
	tsa_make_estimate_row(&inner, p, relation, c->destination, e);
	tsa_add_row(row, &inner, d->estimate_type);
	tsa_add_datum(row, d->facts->tablespaces[r->place], false);
	tsa_add_datum(row, c->destination < 0 ? (Datum) 0 :
				  d->facts->tablespaces[c->destination], c->destination < 0);
	tsa_make_load_row(&inner, p, r->place);
	tsa_add_row(row, &inner, d->load_type);
}

/* The decision on a relation, a row of placement_decision. */
static void
make_decision(TsaRow *row, const Decisions *d, int relation, const bool *probes)
{
	const TsaPlacement *p = &d->facts->placement;
	const TsaRelationFact *r = &p->relations[relation];
	const TsaChoice *c = &p->choices[relation];
	TsaMoveEstimate e = tsa_estimate_move(p, relation, c->destination);
	bool		has_statement = strcmp(action_of(c), "keep") != 0;

	if (c->is_move)
		has_statement =
			p->places[c->destination].latency_from != TSA_FROM_ASSUMPTION;
	else if (asks_for_probe(c))
		has_statement = probes != NULL;
	add_advice(row, p, relation, &e);
	tsa_add_text(row, tsa_finding_name(c->finding));
	tsa_add_truth(row, has_statement ? TSA_TRUE : TSA_FALSE);
	tsa_add_truth(row, tsa_is_bloated(r->rebuilt_bytes, r->size_bytes) ?
				  TSA_TRUE : TSA_FALSE);
	if (probes != NULL)
		tsa_add_places(row, p, probes);
	else
		tsa_add_datum(row, (Datum) 0, true);
	tsa_add_oid(row, r->table_id);
	tsa_add_name(row, r->column_name);
	tsa_add_text(row, r->expression);
	tsa_add_int(row, c->is_move ? c->bundle : 0);
	tsa_add_oid(row, c->is_move ? c->makes_room_for : InvalidOid);
	tsa_add_number(row, c->is_move ? c->ms_per_byte * 1073741824 : NAN);
	add_evidence(row, d, relation, &e);
}

/* Marks the relations of an array. */
static void
mark_considered(TsaPlacement *p, ArrayType *array)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(Oid),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *considered = hash_create("considered", 1024, &control,
										 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	Datum	   *oids;
	int			n;

	deconstruct_array(array, ARR_ELEMTYPE(array), sizeof(Oid), true,
					  TYPALIGN_INT, &oids, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		Oid			oid = DatumGetObjectId(oids[i]);

		(void) hash_search(considered, &oid, HASH_ENTER, NULL);
	}
	for (int i = 0; i < p->n; i++)
		p->relations[i].is_considered =
			hash_search(considered, &p->relations[i].id, HASH_FIND,
						NULL) != NULL;
	hash_destroy(considered);
}

/* Chooses.  Fails without enough memory (53200), or for too many devices. */
static void
choose(TsaPlacement *p)
{
	if (tsa_choose_placement(p))
		return;
	if (p->nplaces > TSA_MAX_ROOMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot choose among more than %d tablespaces",
						TSA_MAX_ROOMS)));
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("out of memory"),
			 errdetail("Failed to choose among %d relations.", p->n)));
}

/*
 * decide_placement(relations, tablespaces, load, considered, destination,
 *	budget_bytes, with_evictions, with_evidence, bottleneck)
 */
Datum
tsa_decide_placement(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TsaFacts	facts;
	TsaPlacement *p = &facts.placement;
	Decisions	decisions = {.facts = &facts};
	MemoryContext context;
	MemoryContext outer;
	bool	   *probes;
	int		   *order;
	int			n;
	TsaRow		row = {0};

	InitMaterializedSRF(fcinfo, 0);
	decisions.with_evidence = PG_GETARG_BOOL(7);
	decisions.load_type =
		TupleDescAttr(rsinfo->setDesc, rsinfo->setDesc->natts - 1)->atttypid;
	decisions.estimate_type =
		TupleDescAttr(rsinfo->setDesc, rsinfo->setDesc->natts - 4)->atttypid;
	tsa_estimate_all(fcinfo, &facts);
	if (!PG_ARGISNULL(3))
		mark_considered(p, PG_GETARG_ARRAYTYPE_P(3));
	if (!PG_ARGISNULL(4))
		p->destination = tsa_place_by_name(p, NameStr(*PG_GETARG_NAME(4)));
	p->with_all = !PG_ARGISNULL(4);
	if (!PG_ARGISNULL(5))
		p->budget_bytes = PG_GETARG_INT64(5);
	p->with_evictions = PG_GETARG_BOOL(6);
	if (!PG_ARGISNULL(8))
		p->load.bottleneck = text_to_cstring(PG_GETARG_TEXT_PP(8));
	choose(p);
	probes = wanted_probes(p);
	order = order_decisions(&decisions, &n);
	context = AllocSetContextCreate(CurrentMemoryContext, "decision",
									ALLOCSET_DEFAULT_SIZES);
	outer = MemoryContextSwitchTo(context);
	for (int i = 0; i < n; i++)
	{
		bool		asks = asks_for_probe(&p->choices[order[i]]);

		CHECK_FOR_INTERRUPTS();
		make_decision(&row, &decisions, order[i], asks ? probes : NULL);
		tsa_put_row(fcinfo, &row);
		/* one statement, in the first row that asks for it */
		if (asks)
			probes = NULL;
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(outer);
	return (Datum) 0;
}

/* is_bloated(rebuilt_bytes, size_bytes) */
Datum
tsa_is_bloated_index(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tsa_is_bloated((double) PG_GETARG_INT64(0),
								  (double) PG_GETARG_INT64(1)));
}
