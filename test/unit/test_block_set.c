/*
 * test_block_set.c
 *	  Unit test of src/move/copy/block_set.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "../../src/move/copy/block_set.c"

#include <stdio.h>
#include <stdlib.h>

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
	TsaBlockSet set = {0};
	uint64_t   *words;
	uint64_t	b;
	int			n = 0;
	bool		in_order = true;
	static const uint32_t members[] = {0, 1, 63, 64, 127, 128, 191};

	ok(tsa_block_set_words(0) == 0 && tsa_block_set_words(1) == 1 &&
	   tsa_block_set_words(64) == 1 && tsa_block_set_words(65) == 2,
	   "words for a number of blocks");
	ok(!tsa_block_set_fits(&set, 0) && !tsa_block_set_has(&set, 0) &&
	   tsa_block_set_next(&set, 0) == TSA_NO_BLOCK,
	   "an empty set without memory holds nothing");
	tsa_block_set_clear(&set);

	words = malloc(2 * sizeof(uint64_t));
	tsa_block_set_use(&set, words, 2);
	ok(tsa_block_set_fits(&set, 127) && !tsa_block_set_fits(&set, 128),
	   "two words hold blocks 0 to 127");
	for (int i = 0; i < 5; i++)
		tsa_block_set_add(&set, members[i]);
	tsa_block_set_add(&set, members[2]);
	ok(set.count == 5, "a block added twice counts once");

	words = realloc(words, 3 * sizeof(uint64_t));
	words[2] = UINT64_MAX;
	tsa_block_set_use(&set, words, 3);
	ok(set.count == 5 && !tsa_block_set_has(&set, 128),
	   "growing keeps the members and clears the new memory");
	tsa_block_set_add(&set, members[5]);
	tsa_block_set_add(&set, members[6]);

	for (b = tsa_block_set_next(&set, 0); b != TSA_NO_BLOCK;
		 b = tsa_block_set_next(&set, b + 1))
	{
		if (n >= 7 || b != members[n])
			in_order = false;
		n++;
	}
	ok(in_order && n == 7, "members come in ascending order");
	ok(tsa_block_set_next(&set, 2) == 63 && tsa_block_set_next(&set, 192) ==
	   TSA_NO_BLOCK, "the search starts where it is told to");

	tsa_block_set_remove(&set, 64);
	tsa_block_set_remove(&set, 64);
	tsa_block_set_remove(&set, 4000000000u);
	ok(set.count == 6 && !tsa_block_set_has(&set, 64), "removal");
	tsa_block_set_clear(&set);
	ok(set.count == 0 && tsa_block_set_next(&set, 0) == TSA_NO_BLOCK,
	   "clear");

	free(words);
	printf("1..%d\n", ntests);
	return nfailed != 0;
}
