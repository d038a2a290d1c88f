/*-------------------------------------------------------------------------
 *
 * growth.h
 *	  The present pace of an amount, and when it reaches zero.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_GROWTH_H
#define TSA_GROWTH_H

/* more points are refused */
#define TSA_MAX_GROWTH_POINTS	512

/* Unknown figures are NAN.  Amounts per day, days from the first point. */
typedef struct TsaGrowth
{
	double		slope;			/* median of the slopes of the present regime */
	double		slope_low;		/* its 95 % interval */
	double		slope_high;
	double		begun;			/* when the present regime began */
	double		slope_before;	/* of the regime before, if there was one */
	double		step_at;		/* the latest step in the amount */
	double		step;			/* its height */
	double		period;			/* days between rises that recur */
	double		until_zero;		/* days from the last point; NAN: never */
	double		until_zero_low; /* its interval */
	double		until_zero_high;
	double		load;			/* the latest of loads that recur */
	double		load_period;	/* days between them; NAN: not known yet */
} TsaGrowth;

extern int	tsa_find_growth(const double *days, const double *amounts, int n,
							TsaGrowth *growth);

#endif							/* TSA_GROWTH_H */
