/*-------------------------------------------------------------------------
 *
 * closed_system.c
 *	  Times of reads after some of them have gone elsewhere: those that stay
 *	  wait less, those that went are among more.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * A closed queueing network, solved by approximate mean value analysis.  Its
 * population are sessions that do the same work over and over, its stations
 * devices that they read from, each as often as that work takes, its think
 * time all their work in between (processor, locks, WAL, the client): the rest
 * of their time now, by Little's law.  The work that is done in a
 * second now is the unit, so that the present throughput is 1.
 *
 * An arriving read meets itself, the mean reads in flight of the other
 * sessions there (Schweitzer's approximation), and those of others, which go
 * on as before; its residence time is the curve's at that depth.  The curve is
 * scaled to the present time of reads.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/closed_system.h"

#include <math.h>

#define US_PER_S 1e6
#define MAX_ITERATIONS 2000
#define TOLERANCE 1e-9

/*
 * Residence time of a read with so many in flight on average, by the scaled
 * curve; met: the share of those that an arriving read meets.
 */
static double
residence_us(const TsaStation *station, double scale, double met,
			 double in_flight)
{
	return scale * tsa_curve_latency(&station->curve,
									 1 + met * in_flight +
									 station->others_in_flight);
}

/* The factor with which the curve gives the present time of reads. */
static double
scale_of(const TsaStation *station, double met)
{
	if (!(station->reads > 0))
		return 1;
	return station->us / residence_us(station, 1, met,
									  station->reads * station->us / US_PER_S);
}

/* Seconds that the reads of one unit of work spend at a station then. */
static double
residence_per_work(const TsaStation *station)
{
	return station->later_reads * station->later_us / US_PER_S;
}

/*
 * Fills in later_us.  Throughput and residence times are found by iteration,
 * each going half of the way, lest it swing between two states.
 */
static void
solve(TsaStation *stations, int n, double sessions, double think_time)
{
	double		met = fmax(0, sessions - 1) / sessions;
	double		throughput = 1;

	for (int i = 0; i < n; i++)
		stations[i].later_us = stations[i].reads > 0 ? stations[i].us :
			tsa_curve_latency(&stations[i].curve, 1);
	for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++)
	{
		double		cycle_time = think_time;
		double		change;

		for (int i = 0; i < n; i++)
			cycle_time += residence_per_work(&stations[i]);
		if (!(cycle_time > 0))
			break;				/* nothing is read, and nothing else done */
		change = fabs(sessions / cycle_time / throughput - 1);
		throughput = (throughput + sessions / cycle_time) / 2;
		for (int i = 0; i < n; i++)
		{
			TsaStation *s = &stations[i];
			double		in_flight = fmin(sessions,
										 throughput * residence_per_work(s));
			double		us = residence_us(s, scale_of(s, met), met, in_flight);

			change = fmax(change, fabs(us / s->later_us - 1));
			s->later_us = (s->later_us + us) / 2;
		}
		if (change < TOLERANCE)
			break;
	}
}

/*
 * Microseconds of reading per second, at the present rate of work, that the
 * change saves; less than 0 if it costs.  later_us of each station is set to
 * the time of a read then.  Each station has a curve.
 */
double
tsa_closed_system_saves(TsaStation *stations, int n, double sessions)
{
	double		reading = 0;
	double		later = 0;

	for (int i = 0; i < n; i++)
		if (stations[i].reads > 0)
			reading += stations[i].reads * stations[i].us;
	/* sessions that were not seen read, too, if reads took so long */
	sessions = fmax(sessions, reading / US_PER_S);
	if (!(sessions > 0))
		return 0;
	solve(stations, n, sessions, sessions - reading / US_PER_S);
	for (int i = 0; i < n; i++)
		later += stations[i].later_reads * stations[i].later_us;
	return reading - later;
}
