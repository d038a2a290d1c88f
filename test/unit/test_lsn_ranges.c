/*
 * test_lsn_ranges.c
 *	  Unit test of src/move/common/lsn_ranges.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "../../src/move/common/lsn_ranges.c"

#include <stdio.h>

static int	ntests;
static int	nfailed;

static void
ok(bool passed, const char *name)
{
	printf("%sok %d - %s\n", passed ? "" : "not ", ++ntests, name);
	if (!passed)
		nfailed++;
}

int
main(void)
{
	TsaLsnRanges ranges = {0};
	bool		kept = true;

	ok(!tsa_lsn_ranges_have(&ranges, 0) && !tsa_lsn_ranges_have(&ranges, 1),
	   "no range has nothing");
	tsa_lsn_ranges_add(&ranges, 0, 1000);
	ok(tsa_lsn_ranges_have(&ranges, 1) && tsa_lsn_ranges_have(&ranges, 1000) &&
	   !tsa_lsn_ranges_have(&ranges, 0) && !tsa_lsn_ranges_have(&ranges, 1001),
	   "a range has its end, and not its begin");
	tsa_lsn_ranges_add(&ranges, 1200, 1300);
	ok(tsa_lsn_ranges_have(&ranges, 900) && tsa_lsn_ranges_have(&ranges, 1250) &&
	   !tsa_lsn_ranges_have(&ranges, 1100) && !tsa_lsn_ranges_have(&ranges, 1200),
	   "what is between two ranges is in none");
	tsa_lsn_ranges_add(&ranges, 2000, 2000);
	tsa_lsn_ranges_add(&ranges, 2000, 1999);
	ok(ranges.n == 2, "an empty range is left out");

	/* the 2nd is the narrowest but for one that is added in the middle */
	for (int i = 2; i < TSA_LSN_RANGES; i++)
		tsa_lsn_ranges_add(&ranges, 10000 * (uint64_t) i,
						   10000 * (uint64_t) i + (i == 30 ? 50 : 200));
	ok(ranges.n == TSA_LSN_RANGES && tsa_lsn_ranges_have(&ranges, 300001),
	   "there is room for all");
	tsa_lsn_ranges_add(&ranges, UINT64_MAX - 1, UINT64_MAX);
	ok(ranges.n == TSA_LSN_RANGES && !tsa_lsn_ranges_have(&ranges, 300001) &&
	   tsa_lsn_ranges_have(&ranges, UINT64_MAX),
	   "the narrowest goes for a new one, however narrow that is");
	for (int i = 2; i < TSA_LSN_RANGES; i++)
		kept &= i == 30 || tsa_lsn_ranges_have(&ranges,
											   10000 * (uint64_t) i + 200);
	ok(kept && tsa_lsn_ranges_have(&ranges, 1) &&
	   tsa_lsn_ranges_have(&ranges, 1300), "all others stay");
	printf("1..%d\n", ntests);
	return nfailed > 0;
}
