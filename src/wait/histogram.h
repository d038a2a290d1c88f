/*-------------------------------------------------------------------------
 *
 * histogram.h
 *	  Times of reads of one block, in powers of two.  Pure.
 *
 * Bucket 0 counts waits below 1 us, bucket i those from 2^(i-1) to less than
 * 2^i us, the last one everything longer.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_HISTOGRAM_H
#define TSA_HISTOGRAM_H

#include <stdint.h>

#define TSA_HISTOGRAM_BUCKETS 20

/* The bucket of a time in nanoseconds. */
static inline int
tsa_histogram_bucket(uint64_t ns)
{
	uint64_t	us = ns / 1000;
	int			bucket = 0;

	while (us > 0 && bucket < TSA_HISTOGRAM_BUCKETS - 1)
	{
		us >>= 1;
		bucket++;
	}
	return bucket;
}

#endif							/* TSA_HISTOGRAM_H */
