/*-------------------------------------------------------------------------
 *
 * curve.h
 *	  A device's read latency by queue depth, as probed.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CURVE_H
#define TSA_CURVE_H

/* Mean latencies at rising depths; n may be 0: nothing was probed. */
typedef struct TsaCurve
{
	const double *depth;
	const double *us;
	int			n;
} TsaCurve;

extern double tsa_curve_latency(const TsaCurve *curve, double depth);
extern double tsa_curve_max_rate(const TsaCurve *curve);
extern double tsa_curve_depth(const TsaCurve *curve, double rate);
extern double tsa_curve_loop_depth(const TsaCurve *curve, double sessions,
								   double other_us);

#endif							/* TSA_CURVE_H */
