/*-------------------------------------------------------------------------
 *
 * fixed_table.c
 *	  A hash table in memory that the caller hands in: open addressing with
 *	  linear probing, at most three quarters full.  Removal shifts entries
 *	  back, so that no tombstones are left.
 *
 * Pure, see test/unit/test_fixed_table.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "wait/fixed_table.h"

/* The entry of a slot, which may be free. */
static void *
slot_at(const TsaFixedTable *table, uint32_t slot)
{
	return table->slots + (size_t) slot * table->entry_size;
}

/* FNV-1a over words of four bytes, then mixed: low bits are used. */
static uint32_t
hash_key(const void *key, uint32_t size)
{
	uint64_t	hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < size; i += 4)
	{
		uint32_t	word;

		memcpy(&word, (const char *) key + i, 4);
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
	}
	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t) (hash >> 32);
}

/*
 * How many slots a table of max_entries has.
 */
uint32_t
tsa_fixed_table_slots(uint32_t max_entries)
{
	uint32_t	nslots = 8;

	while (nslots / 4 * 3 < max_entries)
		nslots *= 2;
	return nslots;
}

/*
 * Sets up an empty table.  memory has
 * TSA_FIXED_TABLE_BYTES(tsa_fixed_table_slots(max_entries), entry_size) bytes,
 * aligned to eight.
 */
void
tsa_fixed_table_init(TsaFixedTable *table, void *memory, uint32_t max_entries,
					 uint32_t key_size, uint32_t entry_size)
{
	table->nslots = tsa_fixed_table_slots(max_entries);
	table->max_entries = max_entries;
	table->key_size = key_size;
	table->entry_size = entry_size;
	table->slots = memory;
	table->used = (uint8_t *) memory + (size_t) table->nslots * entry_size;
	table->nentries = 0;
	memset(table->used, 0, table->nslots);
}

/*
 * Forgets all entries.
 */
void
tsa_fixed_table_clear(TsaFixedTable *table)
{
	if (table->nentries > 0)
		memset(table->used, 0, table->nslots);
	table->nentries = 0;
}

/* The slot of a key: its own, or the free one where it would go. */
static uint32_t
find_slot(const TsaFixedTable *table, const void *key)
{
	uint32_t	slot = hash_key(key, table->key_size) & (table->nslots - 1);

	while (table->used[slot] &&
		   memcmp(slot_at(table, slot), key, table->key_size) != 0)
		slot = (slot + 1) & (table->nslots - 1);
	return slot;
}

/*
 * The entry of a key, or NULL.
 */
void *
tsa_fixed_table_find(const TsaFixedTable *table, const void *key)
{
	uint32_t	slot = find_slot(table, key);

	return table->used[slot] ? slot_at(table, slot) : NULL;
}

/*
 * The entry of a key, made if there is none: zeros behind the key.  NULL if the
 * table is full.  *found says whether the entry was there.
 */
void *
tsa_fixed_table_enter(TsaFixedTable *table, const void *key, bool *found)
{
	uint32_t	slot = find_slot(table, key);
	char	   *entry = slot_at(table, slot);

	*found = table->used[slot];
	if (*found)
		return entry;
	if (table->nentries >= table->max_entries)
		return NULL;
	table->used[slot] = 1;
	table->nentries++;
	memcpy(entry, key, table->key_size);
	memset(entry + table->key_size, 0, table->entry_size - table->key_size);
	return entry;
}

/*
 * The entries one after the other.  *position begins at 0; NULL at the end.
 * After an entry was removed, set *position back by one: another one may have
 * taken its place.
 */
void *
tsa_fixed_table_next(const TsaFixedTable *table, uint32_t *position)
{
	while (table->nentries > 0 && *position < table->nslots)
	{
		uint32_t	slot = *position;
		uint64_t	eight = 1;

		if (slot % 8 == 0)
			memcpy(&eight, table->used + slot, sizeof(eight));
		*position += eight == 0 ? 8 : 1;
		if (table->used[slot])
			return slot_at(table, slot);
	}
	return NULL;
}

/*
 * Removes an entry.  Pointers to other entries become invalid.
 */
void
tsa_fixed_table_remove(TsaFixedTable *table, void *entry)
{
	uint32_t	mask = table->nslots - 1;
	uint32_t	hole = (uint32_t) (((char *) entry - table->slots) /
								   table->entry_size);

	table->nentries--;
	for (uint32_t next = (hole + 1) & mask; table->used[next];
		 next = (next + 1) & mask)
	{
		uint32_t	home = mask &
		hash_key(slot_at(table, next), table->key_size);

		/* does the hole lie between its home and where it is? */
		if (((next - home) & mask) < ((next - hole) & mask))
			continue;
		memcpy(slot_at(table, hole), slot_at(table, next), table->entry_size);
		hole = next;
	}
	table->used[hole] = 0;
}
