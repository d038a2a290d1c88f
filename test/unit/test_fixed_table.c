/*
 * test_fixed_table.c
 *	  Unit test of src/wait/fixed_table.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <stdlib.h>

#include "wait/fixed_table.c"

#include "tap.h"

typedef struct Entry
{
	uint32_t	key[2];
	uint64_t	value;
} Entry;

#define KEYS 500
#define MAX 300

static uint32_t random_state = 1;

static uint32_t
next_random(void)
{
	random_state = random_state * 1103515245 + 12345;
	return random_state >> 8;
}

/* How many entries a walk finds, and whether each has its value. */
static int
count(const TsaFixedTable *table, const uint64_t *expected, bool *right)
{
	uint32_t	position = 0;
	int			n = 0;
	Entry	   *entry;

	*right = true;
	while ((entry = tsa_fixed_table_next(table, &position)) != NULL)
	{
		n++;
		*right = *right && entry->value == expected[entry->key[0]];
	}
	return n;
}

/* Enters and removes at random, beside an array that knows better. */
static void
test_against_array(void)
{
	uint64_t	expected[KEYS] = {0};
	uint32_t	nslots = tsa_fixed_table_slots(MAX);
	void	   *memory = malloc(TSA_FIXED_TABLE_BYTES(nslots, sizeof(Entry)));
	TsaFixedTable table;
	uint32_t	n = 0;
	bool		agrees = true;
	bool		right;

	tsa_fixed_table_init(&table, memory, MAX, sizeof(uint32_t) * 2,
						 sizeof(Entry));
	for (int i = 0; i < 200000; i++)
	{
		uint32_t	key[2] = {next_random() % KEYS, 7};
		Entry	   *entry = tsa_fixed_table_find(&table, key);
		bool		found;

		agrees = agrees && (entry != NULL) == (expected[key[0]] != 0);
		if (entry != NULL && next_random() % 2 == 0)
		{
			tsa_fixed_table_remove(&table, entry);
			expected[key[0]] = 0;
			n--;
			continue;
		}
		entry = tsa_fixed_table_enter(&table, key, &found);
		if (entry == NULL)
		{
			agrees = agrees && n == MAX;
			continue;
		}
		agrees = agrees && found == (expected[key[0]] != 0) &&
			entry->value == expected[key[0]];
		n += found ? 0 : 1;
		entry->value = expected[key[0]] = (uint64_t) i + 1;
	}
	ok(agrees, "200 000 steps give what an array gives");
	is_int(table.nentries, n, "it knows how many entries it has");
	is_int(count(&table, expected, &right), n, "a walk finds each of them");
	ok(right, "with its value");
	tsa_fixed_table_clear(&table);
	is_int(count(&table, expected, &right), 0, "nothing is left after clearing");
	free(memory);
}

/* Removing while walking leaves nothing out. */
static void
test_remove_while_walking(void)
{
	uint32_t	nslots = tsa_fixed_table_slots(MAX);
	void	   *memory = malloc(TSA_FIXED_TABLE_BYTES(nslots, sizeof(Entry)));
	TsaFixedTable table;
	uint32_t	position = 0;
	uint32_t	kept = 0;
	Entry	   *entry;
	bool		found;

	tsa_fixed_table_init(&table, memory, MAX, sizeof(uint32_t) * 2,
						 sizeof(Entry));
	for (uint32_t i = 0; i < MAX; i++)
	{
		uint32_t	key[2] = {i, i % 3};

		(void) tsa_fixed_table_enter(&table, key, &found);
	}
	while ((entry = tsa_fixed_table_next(&table, &position)) != NULL)
	{
		if (entry->key[1] == 0)
			continue;
		tsa_fixed_table_remove(&table, entry);
		position--;
	}
	for (uint32_t i = 0; i < MAX; i++)
	{
		uint32_t	key[2] = {i, i % 3};

		if (tsa_fixed_table_find(&table, key) != NULL)
			kept += i % 3 == 0 ? 1 : 1000;
	}
	is_int(kept, MAX / 3, "a walk that removes two of three leaves the third");
	free(memory);
}

int
main(void)
{
	is_int(tsa_fixed_table_slots(1), 8, "slots for one entry");
	is_int(tsa_fixed_table_slots(384), 512, "three quarters of 512 slots");
	is_int(tsa_fixed_table_slots(385), 1024, "one more needs the double");
	test_against_array();
	test_remove_while_walking();
	return done_testing();
}
