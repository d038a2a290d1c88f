/*-------------------------------------------------------------------------
 *
 * fact_rows.c
 *	  Rows that functions on facts return, filled column by column.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#include "advise/fact_rows.h"
#include "state/written.h"

/* Adds a column; isnull: it is NULL. */
void
tsa_add_datum(TsaRow *row, Datum value, bool isnull)
{
	Assert(row->n < TSA_MAX_COLUMNS);
	row->values[row->n] = value;
	row->nulls[row->n++] = isnull;
}

/* Adds a number; NAN: NULL. */
void
tsa_add_number(TsaRow *row, double number)
{
	tsa_add_datum(row, Float8GetDatum(number), isnan(number));
}

/* Adds a number with three significant digits. */
void
tsa_add_rounded(TsaRow *row, double number)
{
	tsa_add_number(row, isnan(number) ? NAN : tsa_three_digits(number));
}

/* Adds a bigint; NAN: NULL. */
void
tsa_add_bytes(TsaRow *row, double bytes)
{
	tsa_add_datum(row, Int64GetDatum(isnan(bytes) ? 0 : (int64) bytes),
				  isnan(bytes));
}

/* Adds a text; NULL: NULL. */
void
tsa_add_text(TsaRow *row, const char *text)
{
	tsa_add_datum(row, text ? CStringGetTextDatum(text) : (Datum) 0,
				  text == NULL);
}

/* A name of SQL's. */
static Datum
make_name(const char *name)
{
	return DirectFunctionCall1(namein, CStringGetDatum(name));
}

/* Adds a name; NULL: NULL. */
void
tsa_add_name(TsaRow *row, const char *name)
{
	tsa_add_datum(row, name ? make_name(name) : (Datum) 0, name == NULL);
}

/* Adds an OID; 0: NULL. */
void
tsa_add_oid(TsaRow *row, Oid oid)
{
	tsa_add_datum(row, ObjectIdGetDatum(oid), !OidIsValid(oid));
}

/* Adds an int; 0: NULL. */
void
tsa_add_int(TsaRow *row, int number)
{
	tsa_add_datum(row, Int32GetDatum(number), number == 0);
}

/* Adds a Boolean. */
void
tsa_add_truth(TsaRow *row, TsaTruth truth)
{
	tsa_add_datum(row, BoolGetDatum(truth == TSA_TRUE), truth == TSA_NOT_KNOWN);
}

/* The name of a place; NULL: none. */
const char *
tsa_place_name(const TsaPlacement *p, int place)
{
	return place < 0 ? NULL : p->places[place].name;
}

/* Adds the names of the places that are in a set, as name[]. */
void
tsa_add_places(TsaRow *row, const TsaPlacement *p, const bool *set)
{
	Datum	   *elements = palloc((p->nplaces + 1) * sizeof(Datum));
	int			n = 0;

	for (int i = 0; i < p->nplaces; i++)
	{
		if (set[i])
			elements[n++] = make_name(p->places[i].name);
	}
	tsa_add_datum(row,
				  PointerGetDatum(construct_array(elements, n, NAMEOID,
												  NAMEDATALEN, false,
												  TYPALIGN_CHAR)), n == 0);
}

/* Returns a row of a function that returns many. */
void
tsa_put_row(FunctionCallInfo fcinfo, TsaRow *row)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	if (rsinfo->setDesc->natts != row->n)
		elog(ERROR, "function returns %d columns, not %d",
			 rsinfo->setDesc->natts, row->n);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row->values,
						 row->nulls);
	row->n = 0;
}

/* Adds a row as a column of a composite type. */
void
tsa_add_row(TsaRow *row, const TsaRow *inner, Oid type)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	HeapTuple	tuple;

	if (desc->natts != inner->n)
		elog(ERROR, "type has %d columns, not %d", desc->natts, inner->n);
	tuple = heap_form_tuple(desc, (Datum *) inner->values,
							(bool *) inner->nulls);
	ReleaseTupleDesc(desc);
	tsa_add_datum(row, HeapTupleGetDatum(tuple), false);
}

/* The source of latencies, as SQL has it. */
static const char *
source_name(TsaLatencyFrom from)
{
	static const char *const names[] = {
		NULL, "probe", "counters", "timing", "assumed"
	};

	return names[from];
}

/* A place_state as load_estimate. */
void
tsa_make_load_row(TsaRow *row, const TsaPlacement *p, int place)
{
	const TsaPlaceState *s = &p->states[place];

	row->n = 0;
	tsa_add_name(row, tsa_place_name(p, place));
	tsa_add_number(row, s->device_reads);
	tsa_add_number(row, s->depth);
	tsa_add_number(row, s->probed_us);
	tsa_add_number(row, s->device_us);
	tsa_add_number(row, s->cached_us);
	tsa_add_number(row, s->cache_correction);
	tsa_add_number(row, s->time_correction);
	tsa_add_number(row, s->coverage);
	tsa_add_number(row, s->cache_exponent);
	tsa_add_text(row, source_name(s->read_from));
	tsa_add_number(row, s->device_low_us);
	tsa_add_number(row, s->device_high_us);
}

/* An estimate as placement_estimate. */
void
tsa_make_estimate_row(TsaRow *row, const TsaPlacement *p, int relation,
					  int destination, const TsaMoveEstimate *e)
{
	const TsaRelationFact *r = &p->relations[relation];
	const TsaReadsHere *h = &p->here[relation];
	const TsaTableReads *t = &p->tables[r->table];

	row->n = 0;
	tsa_add_oid(row, r->id);
	tsa_add_name(row, tsa_place_name(p, destination));
	tsa_add_number(row, h->device_share);
	tsa_add_number(row, h->device_us);
	tsa_add_number(row, h->cached_us);
	tsa_add_number(row, h->read_ms);
	tsa_add_number(row, t->is_part ? NAN : t->read_ms);
	tsa_add_number(row, e->depth);
	tsa_add_number(row, e->read_us);
	tsa_add_number(row, e->alone_us);
	tsa_add_number(row, destination < 0 ? NAN :
				   p->states[destination].max_rate);
	tsa_add_truth(row, e->is_saturated);
	tsa_add_truth(row, e->is_faster ? TSA_TRUE : TSA_FALSE);
	tsa_add_number(row, t->pages_written);
	tsa_add_number(row, destination < 0 ? NAN :
				   p->places[destination].max_writes_per_s);
	tsa_add_number(row, e->saved_ms);
	tsa_add_number(row, e->saved_percent);
	tsa_add_bytes(row, r->size_bytes);
	tsa_add_number(row, e->move_seconds);
	tsa_add_places(row, p, p->not_probed + (Size) r->table * p->nplaces);
	tsa_add_number(row, e->saved_low_ms);
	tsa_add_number(row, e->saved_high_ms);
	tsa_add_truth(row, r->measured ? TSA_TRUE : TSA_FALSE);
	tsa_add_number(row, h->relief_ms);
}
