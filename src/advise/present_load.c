/*-------------------------------------------------------------------------
 *
 * present_load.c
 *	  The time of a read in each tablespace under the present load.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/placement.h"

/*
 * Of a relation that is half in the cache, at most 15 of 16 reads come from
 * there.
 */
#define MAX_EXPONENT	4

/* Looks at sessions that give the depth to about a fifth */
#define MIN_LOOKS		5

/* The part of the database's reads that the server's timing must cover */
#define MIN_COVERAGE	0.8

/* Means per read of all that is known, and of those that were timed. */
typedef struct Expected
{
	double		reads;
	double		all_cached_us;	/* if all came from the system's cache */
	double		cached_us;
	double		device_us;
	double		more_us;
	double		coverage;
	double		timed_us;		/* without the reads of no relation */
} Expected;

/* The share of a relation's reads that sequential scans make. */
double
tsa_scanned_part(const TsaRelationFact *a)
{
	return a->scan_reads_per_s > 0 ?
		fmin(1, a->scan_reads_per_s / a->reads_per_s) : 0;
}

/*
 * The share of the time of a random read that a block of a sequential scan
 * does not take; 0 where not known.  Without measured waits a block that a scan
 * reads is taken to take the time of a sequential page: read-ahead asks for
 * many at once.
 */
double
tsa_read_ahead_gain(const TsaPlaceFact *f)
{
	return f == NULL ? 0 :
		1 - fmin(1, f->sequential_page_us / f->random_read_us);
}

/* The latency of a curve; NAN where the depth is not known. */
static double
latency(const TsaCurve *curve, double depth)
{
	return isnan(depth) ? NAN : tsa_curve_latency(curve, depth);
}

/* The least time of a read from the system's cache that was measured. */
static double
least_cached_us(const TsaPlacement *p)
{
	double		least = NAN;

	for (int i = 0; i < p->nplaces; i++)
		least = fmin(least, p->places[i].cached_read_us);
	return least;
}

/*
 * Where waits were measured, the time that a relation's reads take is known,
 * and how long one takes on average, but neither how many of them reach the
 * device.  The latency at the depth that sessions make (they wait for so many
 * reads at once) tells that: a mean below it is taken as reads that the
 * system's cache serves, a mean above it as a device that is slower than when
 * it was probed.
 *
 * A sequential scan waits for blocks that the system did not read ahead in
 * time, once the time is off that it takes to get pages from the system's
 * cache.  It is taken for as many random reads as take as long.  One that
 * waits for a page less than a tenth of the device's time has them from that
 * cache, busy as the machine may be.
 *
 * Sets, of reads that are not of sequential scans, the microseconds of one and
 * how many a second reach a device on which one takes device_us; scan_ms:
 * milliseconds per second that scans wait longer than for the system's cache.
 */
void
tsa_measured_reads(const TsaRelationFact *a, double device_us,
				   double cached_us, double page_us, double *random_us,
				   double *random_reads, double *scan_ms)
{
	double		scan_reads = tsa_or(a->scan_reads_per_s, 0);
	double		scan_sessions = tsa_or(a->scan_sessions, 0);
	double		reads = fmax(0, a->reads_per_s - scan_reads);
	double		sessions = fmax(0, a->waiting_sessions - scan_sessions);

	*random_us = sessions * 1e6 / tsa_not_zero(reads);
	*random_reads = reads;
	if (!(*random_us >= device_us) && device_us > cached_us)
		*random_reads *= fmax(0, (*random_us - cached_us) /
							  (device_us - cached_us));
	if (1e6 * a->scan_sessions < 0.1 * page_us * a->scan_reads_per_s)
		*scan_ms = 0;
	else
		*scan_ms = fmax(0, 1000 * scan_sessions -
						2 * scan_reads * tsa_or(cached_us, 0) / 1000);
}

/* Where the time of a read is known from. */
static TsaLatencyFrom
source_of_latency(const TsaPlaceFact *f, const TsaLoadFact *load)
{
	if (isnan(f->random_read_us))
		return TSA_FROM_NOTHING;
	if (!isnan(f->present_read_us) &&
		(f->latency_from == TSA_FROM_COUNTERS || isnan(load->timed_read_us)))
		return TSA_FROM_COUNTERS;
	return f->latency_from == TSA_FROM_NOTHING ||
		f->latency_from == TSA_FROM_ASSUMPTION ?
		TSA_FROM_PROBE : f->latency_from;
}

/*
 * The time of a read now is its time in the window by the device's own
 * counters, where there is no probe or the server timed nothing; with a probe
 * and timing it is the probed latency at the depth that reads meet.
 *
 * The depth a read meets is the number of sessions seen reading while any
 * was, divided by "share", the place's part of the time.  Five looks give it to
 * about a fifth (the number varies by less than half of itself); without, it
 * is the one with which the device serves the rate, which cannot tell queues
 * of a device that is busy all the time apart.
 */
static void
read_as_probed(const TsaPlacement *p, int place, double share)
{
	const TsaPlaceFact *f = &p->places[place];
	TsaPlaceState *s = &p->states[place];

	s->read_from = source_of_latency(f, &p->load);
	if (p->load.reading_snapshots >= MIN_LOOKS)
		s->depth = fmax(1, p->load.reading_sessions * tsa_or(share, 0));
	else
		s->depth = tsa_curve_depth(&f->curve, tsa_or(s->device_reads, 0));
	if (s->read_from == TSA_FROM_PROBE)
		s->probed_us = latency(&f->curve, s->depth);
	else if (s->read_from == TSA_FROM_TIMING)
		s->probed_us = f->random_read_us;
	else
		s->probed_us = f->present_read_us;
	if (s->read_from == TSA_FROM_COUNTERS)
	{
		s->device_low_us = f->present_read_low_us / f->present_read_us;
		s->device_high_us = f->present_read_high_us / f->present_read_us;
	}
	else
	{
		s->device_low_us = f->random_read_low_us / f->random_read_us;
		s->device_high_us = f->random_read_high_us / f->random_read_us;
	}
	s->cached_us = f->cached_read_us;
	if (isnan(s->cached_us))
		s->cached_us = f->latency_from == TSA_FROM_COUNTERS ||
			f->latency_from == TSA_FROM_TIMING ?
			tsa_or(least_cached_us(p), 0) : 0;
}

/*
 * Reads of each place, those that reach the device, and their time before the
 * server's timing corrects it; ends of intervals are factors yet.
 */
static void
read_places(const TsaPlacement *p)
{
	double		all_us = NAN;

	for (int i = 0; i < p->nplaces; i++)
		p->states[i].reads = p->states[i].device_reads = NAN;
	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];
		TsaPlaceState *s;

		if (r->place < 0)
			continue;
		s = &p->states[r->place];
		tsa_add(&s->reads, r->reads_per_s);
		tsa_add(&s->device_reads, r->reads_per_s *
				fmax(0, 1 - tsa_or(r->system_cached, 0)) *
				(1 - tsa_scanned_part(r) *
				 tsa_read_ahead_gain(&p->places[r->place])));
	}
	for (int i = 0; i < p->nplaces; i++)
		tsa_add(&all_us, p->states[i].device_reads *
				p->places[i].random_read_us);
	for (int i = 0; i < p->nplaces; i++)
		read_as_probed(p, i, p->states[i].device_reads *
					   p->places[i].random_read_us / tsa_not_zero(all_us));
}

/*
 * The mean that the server's timing is compared with.  Reads of the database
 * that are no relation's here are those of catalogs and of samples, which the
 * system's cache has as a rule.  Other reads, in tablespaces without probe, are
 * taken to take as long as the rest.
 */
static Expected
expect_reads(const TsaPlacement *p)
{
	Expected	e = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	double		all_reads = NAN;
	double		other_reads;

	for (int i = 0; i < p->nplaces; i++)
	{
		const TsaPlaceState *s = &p->states[i];

		tsa_add(&all_reads, s->reads);
		if (!(s->reads > 0) || isnan(s->probed_us))
			continue;
		tsa_add(&e.reads, s->reads);
		tsa_add(&e.all_cached_us, s->reads * s->cached_us);
		tsa_add(&e.cached_us, (s->reads - s->device_reads) * s->cached_us);
		tsa_add(&e.device_us, s->device_reads * s->probed_us);
		tsa_add(&e.more_us, s->device_reads * (s->probed_us - s->cached_us));
	}
	e.all_cached_us /= e.reads;
	e.cached_us /= e.reads;
	e.device_us /= e.reads;
	e.more_us /= e.reads;
	e.coverage = fmin(1, e.reads / tsa_not_zero(p->load.reads_per_s));
	other_reads = fmax(0, p->load.reads_per_s / tsa_not_zero(all_reads) - 1);
	e.timed_us = p->load.timed_read_us + other_reads *
		fmax(0, p->load.timed_read_us - e.all_cached_us);
	return e;
}

/* The time of reads from devices if shares are raised to an exponent. */
static double
sum_with_exponent(const TsaPlacement *p, double exponent)
{
	double		sum = NAN;

	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];
		const TsaPlaceState *s;

		if (r->place < 0 || !(r->reads_per_s > 0))
			continue;
		s = &p->states[r->place];
		if (!(s->probed_us > s->cached_us))
			continue;
		tsa_add(&sum, r->reads_per_s * (s->probed_us - s->cached_us) *
				(1 - tsa_scanned_part(r) *
				 tsa_read_ahead_gain(&p->places[r->place])) *
				pow(fmax(0, 1 - tsa_or(r->system_cached, 0)), exponent));
	}
	return sum;
}

/*
 * The exponent, 1 to MAX_EXPONENT, that brings the time down to target; 1 or
 * MAX_EXPONENT where none does.
 */
static double
cache_exponent(const TsaPlacement *p, double target)
{
	double		low = 1;
	double		high = MAX_EXPONENT;

	if (!(sum_with_exponent(p, low) > target))
		return low;
	if (sum_with_exponent(p, high) > target)
		return high;
	/* the sum falls with the exponent */
	for (int step = 0; step < 40; step++)
	{
		double		middle = (low + high) / 2;

		if (sum_with_exponent(p, middle) > target)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Where the server timed its reads (track_io_timing), their mean is known to
 * be (1 - d) * cached + d * device, d being the share that reaches the device.
 * Less time than estimated means that the cache serves more than the pages it
 * holds would tell, hot pages being likelier to be there; more means that the
 * device is slower than it was when it was probed.  The cache serves more of
 * relations of which it holds much, not of one of which it holds nothing:
 * hence an exponent, and a factor only for the rest left beyond it.  Without
 * timing no more sessions wait than there are, by any chance in the looks at
 * them.
 */
static void
estimate_from_counters(const TsaPlacement *p)
{
	Expected	e;
	double		exponent = 1;
	double		correction = 1;
	double		slower = 1;

	read_places(p);
	e = expect_reads(p);
	if (e.coverage >= MIN_COVERAGE && e.more_us > 0 &&
		e.timed_us < e.cached_us + e.device_us)
	{
		double		target = fmax(0, e.timed_us - e.all_cached_us) * e.reads;

		exponent = cache_exponent(p, target);
		correction = fmin(1, target /
						  tsa_not_zero(sum_with_exponent(p, exponent)));
	}
	if (e.coverage >= MIN_COVERAGE && e.device_us > 0 &&
		e.timed_us > e.cached_us + e.device_us)
		slower = (e.timed_us - e.cached_us) / e.device_us;
	else if (isnan(e.timed_us) && p->load.snapshots >= MIN_LOOKS &&
			 e.device_us > 0)
		slower = fmin(1, (p->load.active_sessions + 3.0 / p->load.snapshots) *
					  1e6 / e.reads / (e.cached_us + e.device_us));
	for (int i = 0; i < p->nplaces; i++)
	{
		TsaPlaceState *s = &p->states[i];

		s->device_reads = tsa_or(s->device_reads, 0);
		s->device_us = s->probed_us * slower;
		s->device_low_us *= s->device_us;
		s->device_high_us *= s->device_us;
		s->cache_correction = correction;
		s->time_correction = slower;
		s->coverage = e.coverage;
		s->cache_exponent = exponent;
	}
}

/*
 * For each table the slowest latency where it, or an index, is read; NAN: none.
 */
static double *
slowest_parts(const TsaPlacement *p)
{
	double	   *slowest = p->alloc(p->ntables * sizeof(double) + 1);

	for (int i = 0; i < p->ntables; i++)
		slowest[i] = NAN;
	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];

		if (r->place >= 0 && r->reads_per_s > 0)
			slowest[r->table] = fmax(slowest[r->table],
									 p->states[r->place].probed_us);
	}
	return slowest;
}

/*
 * A device whose reads take longer on average than it was probed with is
 * slower than it was then.  The time of an index scan is divided between index
 * and table by blocks: where the other one lies on a slower device, part of
 * its time seems to be spent here.
 */
static void
measure_devices(const TsaPlacement *p, double *us)
{
	double	   *reads = p->alloc(p->nplaces * sizeof(double) + 1);
	double	   *slowest = slowest_parts(p);

	for (int i = 0; i < p->nplaces; i++)
		reads[i] = us[i] = NAN;
	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];
		const TsaPlaceState *s;
		double		random_us;
		double		random_reads;
		double		scan_ms;

		if (r->place < 0)
			continue;
		s = &p->states[r->place];
		if (s->probed_us < slowest[r->table])
			continue;
		tsa_measured_reads(r, s->probed_us, s->cached_us,
						   p->places[r->place].sequential_page_us,
						   &random_us, &random_reads, &scan_ms);
		if (!(random_us > s->probed_us))
			continue;
		tsa_add(&us[r->place], random_us * random_reads);
		tsa_add(&reads[r->place], random_reads);
	}
	for (int i = 0; i < p->nplaces; i++)
	{
		us[i] /= tsa_not_zero(reads[i]);
		us[i] = isnan(p->states[i].probed_us) ? NAN :
			fmax(p->states[i].probed_us, us[i]);
	}
}

/* The same where waits of relations, all that are read, were measured. */
static void
estimate_from_waits(const TsaPlacement *p)
{
	double	   *device_us = p->alloc(p->nplaces * sizeof(double) + 1);
	double		least = least_cached_us(p);

	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];

		if (r->place >= 0)
			p->states[r->place].depth += tsa_or(r->waiting_sessions, 0);
	}
	for (int i = 0; i < p->nplaces; i++)
	{
		const TsaPlaceFact *f = &p->places[i];
		TsaPlaceState *s = &p->states[i];

		s->depth = fmax(1, s->depth);
		s->cached_us = tsa_or(f->cached_read_us, tsa_or(least, 0));
		s->probed_us = latency(&f->curve, s->depth);
		s->cache_correction = s->coverage = s->cache_exponent = 1;
		s->read_from = f->latency_from == TSA_FROM_NOTHING ||
			f->latency_from == TSA_FROM_ASSUMPTION ?
			TSA_FROM_PROBE : f->latency_from;
	}
	measure_devices(p, device_us);
	for (int i = 0; i < p->nplaces; i++)
	{
		const TsaPlaceFact *f = &p->places[i];
		TsaPlaceState *s = &p->states[i];

		s->device_us = device_us[i];
		s->time_correction = s->device_us / s->probed_us;
		s->device_low_us = s->device_us * f->random_read_low_us /
			f->random_read_us;
		s->device_high_us = s->device_us * f->random_read_high_us /
			f->random_read_us;
	}
	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *r = &p->relations[i];
		TsaPlaceState *s;
		double		random_us;
		double		random_reads;
		double		scan_ms;

		if (r->place < 0)
			continue;
		s = &p->states[r->place];
		tsa_measured_reads(r, s->device_us, s->cached_us,
						   p->places[r->place].sequential_page_us,
						   &random_us, &random_reads, &scan_ms);
		s->device_reads += tsa_or(tsa_or(random_reads, 0) +
								  scan_ms * 1000 / s->device_us, 0);
	}
}

/*
 * Makes p->states: the time of a read in each place.  Relations must be all
 * that are read.
 */
void
tsa_estimate_load(TsaPlacement *p)
{
	bool		measured = false;

	p->states = p->alloc(p->nplaces * sizeof(TsaPlaceState) + 1);
	for (int i = 0; i < p->n && !measured; i++)
		measured = p->relations[i].measured;
	if (measured)
		estimate_from_waits(p);
	else
		estimate_from_counters(p);
}
