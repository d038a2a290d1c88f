/*-------------------------------------------------------------------------
 *
 * lsn_ranges.h
 *	  Ranges of the write-ahead log, in the order in which they were added.
 *
 * Pure module: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LSN_RANGES_H
#define TSA_LSN_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* At most so many; if there are more, the narrowest go. */
#define TSA_LSN_RANGES	64

/* Records that end behind the first place, and not behind the second. */
typedef struct TsaLsnRange
{
	uint64_t	from;
	uint64_t	to;
} TsaLsnRange;

typedef struct TsaLsnRanges
{
	int			n;
	TsaLsnRange range[TSA_LSN_RANGES];
} TsaLsnRanges;

extern bool tsa_lsn_ranges_have(const TsaLsnRanges *ranges, uint64_t lsn);
extern void tsa_lsn_ranges_add(TsaLsnRanges *ranges, uint64_t from,
							   uint64_t to);

#endif							/* TSA_LSN_RANGES_H */
