/*-------------------------------------------------------------------------
 *
 * lsn_ranges.c
 *	  Ranges of the write-ahead log: see copy/resume.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/common/lsn_ranges.h"

#include <string.h>

/* Is a record that ends there in one of the ranges? */
bool
tsa_lsn_ranges_have(const TsaLsnRanges *ranges, uint64_t lsn)
{
	for (int i = 0; i < ranges->n; i++)
		if (lsn > ranges->range[i].from && lsn <= ranges->range[i].to)
			return true;
	return false;
}

/* Takes the narrowest range out; there is one. */
static void
remove_narrowest(TsaLsnRanges *ranges)
{
	int			least = 0;

	for (int i = 1; i < ranges->n; i++)
		if (ranges->range[i].to - ranges->range[i].from <
			ranges->range[least].to - ranges->range[least].from)
			least = i;
	ranges->n--;
	memmove(&ranges->range[least], &ranges->range[least + 1],
			sizeof(TsaLsnRange) * (size_t) (ranges->n - least));
}

/* Adds a range; an empty one is left out. */
void
tsa_lsn_ranges_add(TsaLsnRanges *ranges, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	if (ranges->n == TSA_LSN_RANGES)
		remove_narrowest(ranges);
	ranges->range[ranges->n].from = from;
	ranges->range[ranges->n].to = to;
	ranges->n++;
}
