/*-------------------------------------------------------------------------
 *
 * estimate_move.c
 *	  The time of a relation's reads where it is, and elsewhere.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/placement.h"

/* Reads of one relation that meet no others. */
static void
read_alone(const TsaPlacement *p, int relation)
{
	static const TsaPlaceState nowhere = {
		.device_us = NAN,.device_low_us = NAN,.device_high_us = NAN,
		.cached_us = NAN,.depth = NAN,.cache_exponent = 1,
		.cache_correction = 1
	};
	const TsaRelationFact *r = &p->relations[relation];
	const TsaPlaceFact *f = r->place < 0 ? NULL : &p->places[r->place];
	const TsaPlaceState *s = f == NULL ? &nowhere : &p->states[r->place];
	TsaReadsHere *h = &p->here[relation];
	double		gain = tsa_read_ahead_gain(f);
	double		scanned = tsa_scanned_part(r);
	double		reached = fmin(1, pow(fmax(0, 1 - tsa_or(r->system_cached, 0)),
									  s->cache_exponent) * s->cache_correction);
	double		slower = 1;
	double		random_us;
	double		random_reads = 0;

	if (r->measured)
	{
		tsa_measured_reads(r, s->device_us, s->cached_us,
						   f ? f->sequential_page_us : NAN,
						   &random_us, &random_reads, &h->scan_ms);
		slower = fmax(1, random_us / s->device_us);
	}
	h->pages = r->size_bytes / p->block_bytes;
	h->device_us = s->device_us * slower;
	h->device_low_us = s->device_low_us * slower;
	h->device_high_us = s->device_high_us * slower;
	h->cached_us = s->cached_us;
	h->depth = s->depth;
	h->read_from = s->read_from;
	if (r->measured && r->reads_per_s > 0)
		h->device_share = fmin(1, (random_reads + h->scan_ms * 1000 /
								   h->device_us) / r->reads_per_s);
	else
		h->device_share = reached * (1 - scanned * gain);
	h->device_reads = r->reads_per_s * h->device_share;
	if (r->reads_per_s == 0)
		h->read_ms = 0;
	else if (r->measured)
		h->read_ms = 1000 * r->waiting_sessions;
	else
		h->read_ms = r->reads_per_s *
			(h->device_share * s->device_us +
			 (1 - h->device_share) * s->cached_us) / 1000;
	if (!r->measured)
		h->scan_ms = tsa_or(r->reads_per_s * reached * scanned * (1 - gain) *
							s->device_us / 1000, 0);
}

/* Adds the reads of a relation to those of its table and its place. */
static void
add_reads(TsaPlacement *p, int relation)
{
	const TsaRelationFact *r = &p->relations[relation];
	TsaReadsHere *h = &p->here[relation];
	TsaTableReads *t = &p->tables[r->table];
	double		reads = fmax(0, h->device_reads -
							 h->scan_ms * 1000 / h->device_us);

	tsa_add(&t->read_ms, h->read_ms);
	t->is_part |= isnan(h->read_ms);
	tsa_add(&t->device_reads, h->device_reads);
	tsa_add(&t->device_us, h->device_reads * h->device_us);

	/*
	 * Pages of a relation are written at most as often as its rows, and at
	 * most once per checkpoint and once per read that evicted them.  Nobody
	 * waits for that but where a device cannot write so much.
	 */
	tsa_add(&t->pages_written,
			fmin(r->writes_per_s, r->reads_per_s +
				 h->pages / tsa_not_zero(p->load.checkpoint_s)));
	h->demand_ms = h->wait_ms = NAN;
	if (r->place < 0)
		return;
	h->demand_ms = reads * p->places[r->place].random_read_us / 1000 +
		h->scan_ms;
	h->wait_ms = reads * h->device_us / 1000 + h->scan_ms;
	p->not_probed[(size_t) r->table * p->nplaces + r->place] |=
		isnan(h->read_ms) && isnan(h->device_us);
	tsa_add(&p->states[r->place].demand_ms, h->demand_ms);
	tsa_add(&p->states[r->place].wait_ms, h->wait_ms);
}

/*
 * Makes p->here, p->tables and p->not_probed.
 *
 * Sessions with reads that meet on a device take, for the same work, as long
 * less as the device has less to do.  A relation for which it works longer than
 * its own share of the waits keeps others waiting, as a table that is scanned
 * does.
 */
void
tsa_estimate_reads_here(TsaPlacement *p)
{
	p->here = p->alloc(p->n * sizeof(TsaReadsHere) + 1);
	p->tables = p->alloc(p->ntables * sizeof(TsaTableReads) + 1);
	p->not_probed = p->alloc((size_t) p->ntables * p->nplaces + 1);
	for (int i = 0; i < p->ntables; i++)
		p->tables[i] = (TsaTableReads)
	{
		false, NAN, NAN, NAN, NAN
	};
	for (int i = 0; i < p->nplaces; i++)
		p->states[i].demand_ms = p->states[i].wait_ms = NAN;
	p->all_read_ms = p->all_read_bytes = NAN;
	for (int i = 0; i < p->n; i++)
	{
		read_alone(p, i);
		add_reads(p, i);
	}
	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];
		TsaReadsHere *h = &p->here[i];
		const TsaPlaceState *s;

		if (r->place < 0 || !r->measured)
			continue;
		s = &p->states[r->place];
		h->relief_ms = fmax(0, s->wait_ms * h->demand_ms /
							tsa_not_zero(s->demand_ms) - h->wait_ms);
	}
}

/* The time that reads of all relations take, and the bytes of those. */
static void
sum_reads(TsaPlacement *p)
{
	bool		is_part = false;
	bool		measured = false;

	p->all_read_ms = p->all_read_bytes = NAN;
	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];

		tsa_add(&p->all_read_ms, p->here[i].read_ms);
		is_part |= isnan(p->here[i].read_ms);
		measured |= r->measured;
		if (r->reads_per_s > 0)
			tsa_add(&p->all_read_bytes, r->size_bytes);
	}
	if (is_part && !measured)
		p->all_read_ms = fmax(p->all_read_ms, p->load.read_ms_per_s);
}

/*
 * The device under a place as a station of the closed system.  "reads": all
 * that reach it.
 *
 * Reads of others are in the way as long as they go on, and if reads of a
 * target take longer than it was probed with so many in flight, its latencies
 * are.  So are writes on one rotating disk: a session that reads faster writes
 * more, so there are not less of them.
 *
 * Where only the present latency is known, nothing says how much of it is
 * waiting for other reads.  One rotating disk serves them one after the other,
 * but where others have more under way than this database they take the time
 * that becomes free.  Else, and there, the latency is taken to be the same
 * with fewer under way.
 */
static void
make_station(const TsaPlacement *p, int place, double reads)
{
	const TsaPlaceFact *f = &p->places[place];
	TsaPlaceState *s = &p->states[place];
	TsaStation *t = &s->station;
	double	   *depth = p->alloc(f->curve.n * sizeof(double));
	double	   *us = p->alloc(f->curve.n * sizeof(double));
	double		own = tsa_or(reads * s->device_us / 1e6, 0);
	double		slower = tsa_or(s->time_correction, 1);

	t->reads = tsa_or(reads, 0);
	t->us = reads > 0 ? s->device_us : NAN;
	t->others_in_flight = fmax(0, tsa_or(f->present_in_flight, 0) - own);
	t->curve = (TsaCurve)
	{
		depth, us, f->curve.n
	};
	if (t->reads == 0)
		slower *= fmax(1, f->present_read_low_us /
					   tsa_curve_latency(&f->curve,
										 fmax(1, f->present_in_flight)));
	for (int i = 0; i < f->curve.n; i++)
	{
		depth[i] = f->curve.depth[i];
		us[i] = f->curve.us[i] * slower;
	}
	if (reads > 0 && (f->latency_from == TSA_FROM_COUNTERS ||
					  f->latency_from == TSA_FROM_TIMING))
	{
		t->curve.n = 1;
		depth[0] = f->is_serial && t->others_in_flight < own ? 1 :
			fmax(1, own + t->others_in_flight);
	}
}

/*
 * Whether advice on the contents of "source" leaves a place out, unless it is
 * named.  A tablespace known by its counters only is for callers that name it,
 * or a last resort; so is one that was not probed, where another was.
 */
static bool
is_passed_over(const TsaPlacement *p, int source, int destination)
{
	const TsaPlaceFact *d = &p->places[destination];

	for (int i = 0; i < p->nplaces; i++)
	{
		const TsaPlaceFact *f = &p->places[i];

		if (isnan(f->random_read_us) || i == source ||
			f->latency_from == TSA_FROM_COUNTERS ||
			f->latency_from == TSA_FROM_TIMING ||
			f->shares_device[source])
			continue;
		if (isnan(d->random_read_us) ?
			tsa_destination_order(p, source, i) == 1 :
			d->latency_from == TSA_FROM_COUNTERS ||
			d->latency_from == TSA_FROM_TIMING)
			return true;
	}
	return false;
}

/*
 * Fills in the facts on each place as the target of moves, and the time of
 * all reads.
 */
void
tsa_estimate_places(TsaPlacement *p)
{
	double	   *reads = p->alloc(p->nplaces * sizeof(double) + 1);

	sum_reads(p);
	p->passed_over = p->alloc((size_t) p->nplaces * p->nplaces + 1);
	for (int i = 0; i < p->nplaces; i++)
		reads[i] = NAN;
	for (int i = 0; i < p->n; i++)
	{
		if (p->relations[i].place >= 0)
			tsa_add(&reads[p->relations[i].place], p->here[i].device_reads);
	}
	for (int i = 0; i < p->nplaces; i++)
	{
		const TsaPlaceFact *f = &p->places[i];
		TsaPlaceState *s = &p->states[i];

		s->max_rate = tsa_curve_max_rate(&f->curve);
		s->others = fmax(0, f->present_in_flight -
						 tsa_or(s->device_reads * s->device_us, 0) / 1e6);
		s->later_us = NAN;
		s->is_known = !isnan(f->random_read_us) && f->curve.n > 0;
		if (s->is_known)
			make_station(p, i, reads[i]);
		for (int j = 0; j < p->nplaces; j++)
			p->passed_over[(size_t) i * p->nplaces + j] =
				is_passed_over(p, i, j);
	}
}

/* Whether advice on the contents of a place takes another into account. */
bool
tsa_is_way(const TsaPlacement *p, int source, int destination)
{
	return source >= 0 && source != destination &&
		(p->with_all || destination == p->named ||
		 !p->passed_over[(size_t) source * p->nplaces + destination]);
}

/*
 * The requests in flight in a destination that gets all that is read of a
 * table, since the parts of a table that are worth moving mostly move together.
 * Sessions that have been watched are taken to read as soon as they can: their
 * work between two reads stays, the reads take the time there with as many in
 * flight as that leads to.
 */
static double
depth_there(const TsaPlacement *p, const TsaReadsHere *h,
			const TsaTableReads *t, int destination)
{
	const TsaCurve *curve = &p->places[destination].curve;
	const TsaPlaceState *s = &p->states[destination];
	double		reads = s->device_reads + t->device_reads;
	double		sessions = p->load.active_sessions;

	if (p->load.snapshots > 0 && t->device_reads > 0)
		return isnan(sessions) ? NAN :
			tsa_curve_loop_depth(curve, sessions,
								 fmax(0, sessions * 1e6 - t->device_us -
									  s->device_reads * s->device_us) / reads);
	return fmin(fmax(1, h->depth),
				isnan(reads) ? NAN : tsa_curve_depth(curve, reads));
}

/*
 * Times of a read in a destination, and the factors from there to the ends of
 * its interval.  Causes that slow reads down here beyond the probe, such as
 * pages written in between, move along: they do so there. Reads of others in
 * flight there are in the way; and if reads there take longer by its counters
 * than the probe says of so many in flight, a new read takes as long.
 */
static void
time_there(const TsaPlacement *p, int destination, TsaMoveEstimate *e,
		   double *low, double *high)
{
	const TsaPlaceFact *f = &p->places[destination];
	const TsaPlaceState *s = &p->states[destination];

	e->alone_us = e->read_us = NAN;
	if (!isnan(e->depth))
	{
		e->alone_us = s->time_correction *
			tsa_curve_latency(&f->curve, e->depth);
		e->read_us = s->time_correction *
			tsa_curve_latency(&f->curve, e->depth + tsa_or(s->others, 0));
	}
	if (e->read_us < f->present_read_low_us)
	{
		e->read_us = f->present_read_us;
		*low = f->present_read_low_us / f->present_read_us;
		*high = f->present_read_high_us / f->present_read_us;
	}
	else
	{
		*low = f->random_read_low_us / f->random_read_us;
		*high = f->random_read_high_us / f->random_read_us;
	}
}

/* Seconds of a move to a destination, or TSA_NO_PLACE. */
static double
time_of_move(const TsaPlacement *p, int relation, int destination)
{
	const TsaRelationFact *r = &p->relations[relation];
	double		page_us = r->place < 0 ? NAN :
	tsa_or(p->places[r->place].sequential_page_us,
		   p->places[r->place].random_read_us);
	double		write_us = 0;

	if (destination >= 0)
	{
		double		rate = p->places[destination].copy_rates[r->place];

		if (!isnan(rate))
			return r->size_bytes / rate;
		write_us = tsa_or(p->places[destination].sequential_write_page_us, 0);
	}
	return p->here[relation].pages * (page_us + write_us) / 1e6;
}

/*
 * The relation in a place that tsa_is_way() leads to; TSA_NO_PLACE: nothing but
 * the seconds of a move is known.
 */
TsaMoveEstimate
tsa_estimate_move(const TsaPlacement *p, int relation, int destination)
{
	const TsaRelationFact *r = &p->relations[relation];
	const TsaReadsHere *h = &p->here[relation];
	const TsaTableReads *t = &p->tables[r->table];
	TsaMoveEstimate e = {NAN, NAN, NAN, TSA_NOT_KNOWN, false, NAN, NAN, NAN,
	NAN, NAN};
	const TsaPlaceFact *f;
	const TsaPlaceState *s;
	double		low;
	double		high;
	double		page_us;
	double		reads;
	double		gain_ms;

	e.move_seconds = time_of_move(p, relation, destination);
	if (destination < 0)
		return e;
	f = &p->places[destination];
	s = &p->states[destination];
	e.depth = depth_there(p, h, t, destination);
	time_there(p, destination, &e, &low, &high);
	if (!isnan(s->device_reads + t->device_reads))
		e.is_saturated = s->device_reads + t->device_reads > s->max_rate;
	e.is_faster = e.read_us * high < h->device_low_us &&
		(f->random_read_high_us < p->places[r->place].random_read_low_us ||
		 h->depth >= 2 || (h->read_from != TSA_FROM_PROBE &&
						   h->read_from != TSA_FROM_NOTHING));
	/* where a page of one of them is not known, scans count as random reads */
	page_us = p->places[r->place].sequential_page_us;
	reads = h->device_reads;
	gain_ms = h->relief_ms;
	if (!isnan(page_us + f->sequential_page_us))
	{
		reads -= h->scan_ms * 1000 / h->device_us;
		gain_ms += h->scan_ms * (1 - fmin(1, f->sequential_page_us / page_us));
	}
	e.saved_ms = reads * (h->device_us - e.read_us) / 1000 + gain_ms;
	e.saved_low_ms = reads * (h->device_low_us - e.read_us * high) / 1000 +
		gain_ms;
	e.saved_high_ms = reads * (h->device_high_us - e.read_us * low) / 1000 +
		gain_ms;
	if (!t->is_part)
		e.saved_percent = 100 * e.saved_ms / tsa_not_zero(t->read_ms);
	return e;
}
