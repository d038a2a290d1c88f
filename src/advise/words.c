/*-------------------------------------------------------------------------
 *
 * words.c
 *	  The verdict on a relation as a sentence, in one line of at most 80
 *	  characters.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "advise/numbers.h"
#include "advise/words.h"
#include "state/written.h"

#define MAX_REASON	80

/* A name as a regclass, with its schema. */
char *
tsa_regclass_text(uint32_t relation)
{
	return DatumGetCString(DirectFunctionCall1(regclassout,
											   ObjectIdGetDatum(relation)));
}

/* Bytes as pg_size_pretty() writes them. */
static char *
pretty_bytes(double bytes)
{
	return isnan(bytes) ? "" :
		TextDatumGetCString(DirectFunctionCall1(pg_size_pretty,
												Int64GetDatum((int64) bytes)));
}

/* With three significant digits, as the server prints it. */
static char *
three_digits(double number)
{
	return tsa_float_text(tsa_three_digits(number));
}

/* Percent of a whole. */
static char *
percent_of(double part, double whole)
{
	return tsa_two_digits_text(100 * part / whole);
}

/* Microseconds as a time. */
static char *
pretty_us(double us)
{
	return tsa_pretty_seconds_text(us / 1e6);
}

/* Percent of the time in which a relation's table is read. */
static char *
percent_of_table(const TsaPlacement *p, const TsaRelationFact *a,
				 double ms, double most)
{
	const TsaTableReads *t = &p->tables[a->table];
	double		read_ms = t->is_part ? NAN : t->read_ms;

	return tsa_two_digits_text(fmin(most, 100 * ms / read_ms));
}

/* A finding of tsa_index_finding(), or bloat; NULL: another. */
static char *
index_reason(TsaFinding finding, const TsaRelationFact *a)
{
	switch (finding)
	{
		case TSA_UNDER_WAY:
			return psprintf("move " INT64_FORMAT " of it is under way",
							a->moving_job);
		case TSA_BEING_BUILT:
			return "an index of this table is being built: ask again when that is done";
		case TSA_INVALID:
			return "invalid, no query can use it: rebuild it, or drop it if a build failed";
		case TSA_DUPLICATE:
			return psprintf("exact duplicate of %s",
							tsa_regclass_text(a->duplicate_of));
		case TSA_UNUSED:
			return psprintf("not scanned in %s days, only written; scans on standbys are not counted",
							tsa_float_text(floor(a->counted_days)));
		case TSA_UNUSED_EXPRESSION:
			return "never scanned; if only estimates need it, CREATE STATISTICS is enough";
		case TSA_BRIN:
			return psprintf("scanned for ranges in table order: BRIN would be %s times smaller",
							three_digits(a->size_bytes / a->brin_bytes));
		case TSA_BLOATED:
			return psprintf("bloated: %s, about %s after a rebuild",
							pretty_bytes(a->size_bytes),
							pretty_bytes(a->rebuilt_bytes));
		default:
			return NULL;
	}
}

/* The share of reads that the system's cache serves, in percent. */
static char *
percent_cached(double device_share)
{
	Datum		share = DirectFunctionCall1(float8_numeric,
											Float8GetDatum(device_share));
	Datum		one = DirectFunctionCall1(int4_numeric, Int32GetDatum(1));
	Datum		hundred = DirectFunctionCall1(int4_numeric,
											  Int32GetDatum(100));
	Datum		percent = DirectFunctionCall2(numeric_mul, hundred,
											  DirectFunctionCall2(numeric_sub,
																  one, share));

	percent = DirectFunctionCall2(numeric_round, percent, Int32GetDatum(1));
	return DatumGetCString(DirectFunctionCall1(numeric_out, percent));
}

/* Why a relation moves that others wait for. */
static char *
faster_reason(const TsaRelationFact *a, const TsaReadsHere *h,
			  const TsaMoveEstimate *e)
{
	char	   *waiting;

	if (!a->measured)
		return psprintf("uncertain: reads take %s here, %s there",
						pretty_us(h->device_us), pretty_us(e->read_us));
	waiting = tsa_waiting_sessions_text(h->read_ms, "its reads");
	return h->device_share < 0.5 ? waiting :
		psprintf("%s, %s each; %s there", waiting, pretty_us(h->device_us),
				 pretty_us(e->read_us));
}

/* A finding that rests on the saving of a move; NULL: another. */
static char *
gain_reason(const TsaPlacement *p, TsaFinding finding,
			const TsaRelationFact *a, const TsaReadsHere *h, int destination,
			const TsaMoveEstimate *e)
{
	switch (finding)
	{
		case TSA_IN_SYSTEM_CACHE:
			return a->measured ?
				"already in memory: its reads wait for no device" :
				psprintf("probably in memory: the system's cache seems to serve %s %% of its reads",
						 percent_cached(h->device_share));
		case TSA_WITHIN_NOISE:
			return psprintf("within noise: saves between %s and %s %% of the table's read time",
							percent_of_table(p, a, e->saved_low_ms, NAN),
							percent_of_table(p, a, e->saved_high_ms, 100));
		case TSA_NOT_FASTER:
			return psprintf("%s: %s a read there, %s here",
							p->destination == TSA_NO_PLACE ?
							"no tablespace is measurably faster" :
							"not measurably faster",
							pretty_us(e->read_us), pretty_us(h->device_us));
		case TSA_BUSY_TARGET:
			return psprintf("busy: %s a read there now, %s as probed; %s here",
							pretty_us(e->read_us), pretty_us(e->alone_us),
							pretty_us(h->device_us));
		case TSA_SATURATED:
			return psprintf("the tablespace can serve only %s reads/s, too few for this table",
							three_digits(p->states[destination].max_rate));
		case TSA_TOO_MANY_WRITES:
			return psprintf("the tablespace can write only %s pages/s; its table may need %s",
							three_digits(p->places[destination]
										 .max_writes_per_s),
							three_digits(p->tables[a->table].pages_written));
		case TSA_TOO_LITTLE:
			return psprintf("too little: %s %s %% of all reading",
							e->saved_ms < 0 ? "would cost" : "saves",
							percent_of(fabs(e->saved_ms), p->all_read_ms));
		case TSA_NOT_REPAID:
			return psprintf("not repaid within a week: saves %s %% of the table's read time",
							tsa_two_digits_text(e->saved_percent));
		case TSA_NO_ROOM:
			return psprintf("no room for its %s in the budget or the tablespace; would save %s %%",
							pretty_bytes(a->size_bytes),
							tsa_two_digits_text(e->saved_percent));
		case TSA_FASTER:
			return faster_reason(a, h, e);
		default:
			return NULL;
	}
}

/*
 * Of which of these places there is no probe to rest on, and why; NULL: of
 * none.
 */
static char *
probe_reason(const TsaPlacement *p, const int *places, int n)
{
	StringInfoData names;
	bool		is_caveat = false;

	initStringInfo(&names);
	for (int i = 0; i < n; i++)
	{
		const TsaPlaceFact *f = &p->places[places[i]];

		if (!isnan(f->random_read_us) && f->latency_from != TSA_FROM_TIMING)
			continue;
		appendStringInfo(&names, "%s%s", names.len > 0 ? " and " : "",
						 quote_identifier(f->name));
		if (f->caveat != NULL)
			appendStringInfo(&names, " (%s)", f->caveat);
		is_caveat |= f->caveat != NULL;
	}
	return names.len == 0 ? NULL :
		psprintf("no %sprobe of %s", is_caveat ? "trustworthy " : "",
				 names.data);
}

/* No probe of the places where the rest of its table is. */
static char *
table_reason(const TsaPlacement *p, const TsaRelationFact *a)
{
	int		   *places = palloc((p->nplaces + 1) * sizeof(int));
	int			n = 0;
	char	   *reason;

	for (int i = 0; i < p->nplaces; i++)
	{
		if (p->not_probed[(size_t) a->table * p->nplaces + i])
			places[n++] = i;
	}
	reason = probe_reason(p, places, n);
	return reason == NULL ?
		"how long reads of the rest of its table take is not known" :
		psprintf("the rest of its table: %s", reason);
}

/* A finding that does not rest on the saving of a move; NULL: another. */
static char *
plain_reason(const TsaPlacement *p, TsaFinding finding,
			 const TsaRelationFact *a, int destination)
{
	int			both[] = {a->place, destination};

	switch (finding)
	{
		case TSA_OBSTACLE:
			return pstrdup(a->obstacle);
		case TSA_ALREADY_THERE:
			return "already there";
		case TSA_NO_OTHER_TABLESPACE:
			return "there is no other tablespace to move it to";
		case TSA_SAME_DEVICE:
			return psprintf("%s and %s are on the same device",
							quote_identifier(p->places[a->place].name),
							quote_identifier(p->places[destination].name));
		case TSA_VOLATILE:
			return "the tablespace is on volatile storage: a reboot would lose it";
		case TSA_NO_CREATE:
			return "neither you nor its owner has CREATE on the tablespace";
		case TSA_NOT_PROBED:
			return probe_reason(p, both, 2);
		case TSA_TABLE_NOT_PROBED:
			return table_reason(p, a);
		case TSA_NO_WINDOW:
			return "statistics start time is unknown: pass observe, or CALL sample_activity()";
		case TSA_IN_SHARED_BUFFERS:
			return "already in memory: shared buffers serve all of its reads";
		case TSA_MAINTENANCE_ONLY:
			return "not read in the window but by VACUUM and ANALYZE";
		case TSA_NOT_READ:
			return "not read in the window";
		case TSA_NOT_STORAGE_BOUND:
			return psprintf("not storage-bound: %s", p->load.bottleneck);
		case TSA_LEFT_LATELY:
			return "it was moved away from there less than a week ago";
		case TSA_NO_ORDER:
			return "no order of moves has room for both copies: make room, or use a third tablespace";
		case TSA_BUNDLE_SAVES_TOO_LITTLE:
			return "too little, with what would have to make room for it";
		case TSA_BUNDLE_IS_NOT_REPAID:
			return "not repaid within a week, with what would have to make room for it";
		case TSA_BUNDLE_WITHIN_NOISE:
			return "within noise, with what would have to make room for it";
		default:
			return NULL;
	}
}

/* Why a relation moves for the sake of others; NULL: it does not. */
static char *
choice_reason(const TsaPlacement *p, const TsaChoice *c,
			  const TsaRelationFact *a)
{
	char	   *others = "others of its bundle";

	if (c->finding == TSA_TOO_FULL)
		return psprintf("its tablespace is too full by %s: moving this away costs least",
						pretty_bytes(-p->places[a->place].available_bytes));
	if (c->finding != TSA_MAKES_ROOM)
		return NULL;
	if (c->makes_room_for != 0)
		others = tsa_regclass_text(c->makes_room_for);
	return p->load.standbys == NULL ?
		psprintf("makes room for %s", others) :
		psprintf("makes room for %s; reads on %s are not counted", others,
				 p->load.standbys);
}

/*
 * The reason of the decision on a relation, "e" being its estimate in the
 * destination.
 */
char *
tsa_verdict_reason(const TsaPlacement *p, int relation,
				   const TsaMoveEstimate *e)
{
	const TsaRelationFact *a = &p->relations[relation];
	const TsaChoice *c = &p->choices[relation];
	TsaFinding	finding = c->finding;
	char	   *reason = choice_reason(p, c, a);

	if (finding == TSA_FASTER &&
		tsa_is_bloated(a->rebuilt_bytes, a->size_bytes))
		finding = TSA_BLOATED;
	if (reason == NULL)
		reason = plain_reason(p, finding, a, c->destination);
	if (reason == NULL)
		reason = index_reason(finding, a);
	if (reason == NULL)
		reason = gain_reason(p, finding, a, &p->here[relation],
							 c->destination, e);
	if (reason == NULL)
		return NULL;
	if (c->is_move &&
		p->places[c->destination].latency_from == TSA_FROM_ASSUMPTION)
		reason = psprintf("%s; it is only assumed", reason);
	if (c->is_move && a->policy != NULL)
		reason = psprintf("%s; policy: %s", reason, a->policy);
	return tsa_cut_line(reason, MAX_REASON);
}
