/*-------------------------------------------------------------------------
 *
 * fixed_table.h
 *	  A hash table in memory that the caller hands in.
 *
 * Pure: no server header.  The table never allocates and never fails, so it
 * serves shared memory and code that runs during aborts.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_FIXED_TABLE_H
#define TSA_FIXED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Entries begin with their key, which must have no padding.  Sizes are
 * multiples of eight.
 */
typedef struct TsaFixedTable
{
	uint32_t	nslots;			/* a power of two, > max_entries */
	uint32_t	max_entries;
	uint32_t	nentries;
	uint32_t	key_size;
	uint32_t	entry_size;
	uint8_t    *used;			/* one per slot */
	char	   *slots;
} TsaFixedTable;

/* slots and bytes that a table of so many entries needs */
#define TSA_FIXED_TABLE_BYTES(nslots, entry_size) \
	((size_t) (nslots) * ((entry_size) + 1))

extern uint32_t tsa_fixed_table_slots(uint32_t max_entries);
extern void tsa_fixed_table_init(TsaFixedTable *table, void *memory,
								 uint32_t max_entries, uint32_t key_size,
								 uint32_t entry_size);
extern void tsa_fixed_table_clear(TsaFixedTable *table);
extern void *tsa_fixed_table_find(const TsaFixedTable *table,
								  const void *key);
extern void *tsa_fixed_table_enter(TsaFixedTable *table, const void *key,
								   bool *found);
extern void *tsa_fixed_table_next(const TsaFixedTable *table,
								  uint32_t *position);
extern void tsa_fixed_table_remove(TsaFixedTable *table, void *entry);

#endif							/* TSA_FIXED_TABLE_H */
