/*-------------------------------------------------------------------------
 *
 * draw.h
 *	  Drawing one of n executions, each independently of the others.  Pure.
 *
 * The distance to the next one that is drawn has a geometric distribution, so
 * that an execution that is not drawn costs one subtraction.  Every n-th would
 * not do: a transaction of five statements would always show the same one.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DRAW_H
#define TSA_DRAW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct TsaDraw
{
	int			sample;			/* 1 in so many; 0: nothing drawn yet */
	uint64_t	state;			/* of the generator, not 0 */
	double		scale;			/* of the distances, by sample */
	uint64_t	left;			/* executions until the next one drawn */
} TsaDraw;

/* A number in (0, 1]: xorshift64*, which is good enough for samples. */
static inline double
tsa_draw_uniform(TsaDraw *draw)
{
	draw->state ^= draw->state >> 12;
	draw->state ^= draw->state << 25;
	draw->state ^= draw->state >> 27;
	return (double) ((draw->state * UINT64_C(0x2545f4914f6cdd1d) >> 11) + 1) /
		9007199254740992.0;
}

/* How many executions to pass over. */
static inline uint64_t
tsa_draw_gap(TsaDraw *draw)
{
	return (uint64_t) (log(tsa_draw_uniform(draw)) * draw->scale);
}

/* Is this execution passed over?  If not, it is not known yet: tsa_draw(). */
static inline bool
tsa_draw_passes(TsaDraw *draw, int sample)
{
	if (draw->left == 0 || draw->sample != sample)
		return false;
	draw->left--;
	return true;
}

/* Is this execution one of those drawn?  sample is 1 or more. */
static inline bool
tsa_draw(TsaDraw *draw, int sample)
{
	if (sample == 1)
		return true;
	if (draw->sample != sample)
	{
		draw->sample = sample;
		draw->scale = 1.0 / log(1.0 - 1.0 / sample);
		draw->left = tsa_draw_gap(draw);
	}
	if (tsa_draw_passes(draw, sample))
		return false;
	draw->left = tsa_draw_gap(draw);
	return true;
}

#endif							/* TSA_DRAW_H */
