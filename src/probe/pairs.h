/*-------------------------------------------------------------------------
 *
 * pairs.h
 *	  By how much one of two files is slower, from readings taken in pairs.
 *
 * Pure: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PAIRS_H
#define TSA_PAIRS_H

/* Sums over pairs of the logarithm of their ratio. */
typedef struct TsaPairs
{
	int			n;
	double		sum;
	double		square;
} TsaPairs;

extern void tsa_pairs_add(TsaPairs *pairs, double a, double b);
extern double tsa_pairs_ratio(const TsaPairs *pairs);
extern double tsa_pairs_ratio_low(const TsaPairs *pairs);

#endif							/* TSA_PAIRS_H */
