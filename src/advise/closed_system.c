/*-------------------------------------------------------------------------
 *
 * closed_system.c
 *	  What reads take after some of them have gone elsewhere: those that stay
 *	  wait less, those that went are among more.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * A number of sessions does the same work over and over: reads from devices,
 * and in between what is called thinking here (processor, locks, WAL, the
 * client).  Thinking takes what it takes now: the sessions less those that
 * read, by Little's law.  A read meets itself, what the other sessions have in
 * flight on that device on average (Schweitzer's approximation of mean value
 * analysis), and what others have there, who go on as before; and it takes what
 * the curve says at that depth.  The curve is scaled so that this is what reads
 * take now.
 *
 *-------------------------------------------------------------------------
 */
#include "advise/closed_system.h"

#include <math.h>

#define US_PER_S 1e6
#define MOST_STEPS 2000

/* What a read takes with so many in flight on average, by the scaled curve. */
static double
latency(const TsaStation *station, double scale, double others_share,
		double in_flight)
{
	return scale * tsa_curve_latency(&station->curve,
									 1 + others_share * in_flight +
									 station->others);
}

/* The factor with which the curve gives what reads take now. */
static double
scale_of(const TsaStation *station, double others_share)
{
	if (!(station->reads > 0))
		return 1;
	return station->us / latency(station, 1, others_share,
								 station->reads * station->us / US_PER_S);
}

/*
 * Fills in later_us.  "pace" is how much faster the work is done then; it and
 * the latencies are found by iteration, each step going half of the way, lest
 * it swing between two states.
 */
static void
solve(TsaStation *stations, int n, double sessions, double thinking)
{
	double		others_share = fmax(0, sessions - 1) / sessions;
	double		pace = 1;

	for (int i = 0; i < n; i++)
		stations[i].later_us = stations[i].reads > 0 ? stations[i].us :
			tsa_curve_latency(&stations[i].curve, 1);
	for (int step = 0; step < MOST_STEPS; step++)
	{
		double		cycle = thinking;
		double		change;

		for (int i = 0; i < n; i++)
			cycle += stations[i].later_reads * stations[i].later_us / US_PER_S;
		if (!(cycle > 0))
			break;				/* nothing is read, and nothing else done */
		change = fabs(sessions / cycle / pace - 1);
		pace = (pace + sessions / cycle) / 2;
		for (int i = 0; i < n; i++)
		{
			TsaStation *s = &stations[i];
			double		reading = s->later_reads * s->later_us / US_PER_S;
			double		in_flight = fmin(sessions, pace * reading);
			double		us = latency(s, scale_of(s, others_share), others_share,
									 in_flight);

			change = fmax(change, fabs(us / s->later_us - 1));
			s->later_us = (s->later_us + us) / 2;
		}
		if (change < 1e-9)
			break;
	}
}

/*
 * Microseconds of reading per second, at the present rate of work, that the
 * change saves; less than 0 if it costs.  later_us of each station is set to
 * what a read takes then.  Each station has a curve.
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
