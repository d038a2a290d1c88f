/*-------------------------------------------------------------------------
 *
 * locality_cache.c
 *	  A session's copy of the locality of indexes.
 *
 * The planner asks for the same indexes again and again, so the answers are
 * kept, also that there is none.  An answer is forgotten when the relation
 * cache forgets its index or its table: when either is rewritten, moved or
 * measured.  It is forgotten, too, when ANALYZE has written statistics of the
 * index's first column, since these may say that it is stale: the relation
 * cache hears nothing of ANALYZE where pages and rows are as many as before.
 * One that is there is read again after a while, because it comes with the
 * part of the table in caches.  Where the table of localities cannot be locked
 * at once, the present copy is used, and the next plan tries again.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "cost/locality_store.h"

#define READ_AGAIN_MS	INT64CONST(300000)

typedef struct CacheEntry
{
	Oid			index;			/* the key */
	char		status;			/* of simplehash.h */
	bool		is_known;
	uint32		statistics;		/* as in the row, stale or not; 0: none */
	TimestampTz read_again;		/* from then on, if there is a row */
	TsaLocalityRow *row;		/* NULL: there is none that holds */
} CacheEntry;

#define SH_PREFIX cache
#define SH_ELEMENT_TYPE CacheEntry
#define SH_KEY_TYPE Oid
#define SH_KEY index
#define SH_HASH_KEY(tb, key) murmurhash32(key)
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static cache_hash *cache = NULL;

/* Forget the locality of one index. */
static void
forget_entry(CacheEntry *entry)
{
	entry->is_known = false;
	if (entry->row != NULL)
		pfree(entry->row);
	entry->row = NULL;
}

/* Forget an index, the indexes of a table, or all. */
static void
forget(Datum arg, Oid relid)
{
	cache_iterator iterator;
	CacheEntry *entry;

	(void) arg;
	if (cache == NULL)
		return;
	entry = OidIsValid(relid) ? cache_lookup(cache, relid) : NULL;
	if (entry != NULL)
	{
		forget_entry(entry);
		return;
	}
	cache_start_iterate(cache, &iterator);
	while ((entry = cache_iterate(cache, &iterator)) != NULL)
		if (!OidIsValid(relid) ||
			(entry->row != NULL && entry->row->relation == relid))
			forget_entry(entry);
}

/* Forget the indexes on a column with new statistics; 0: all. */
static void
forget_statistics(Datum arg, TSA_SYSCACHE_ID cache_id, uint32 key)
{
	cache_iterator iterator;
	CacheEntry *entry;

	(void) arg;
	(void) cache_id;
	if (cache == NULL)
		return;
	cache_start_iterate(cache, &iterator);
	while ((entry = cache_iterate(cache, &iterator)) != NULL)
		if (entry->statistics != 0 && (key == 0 || entry->statistics == key))
			forget_entry(entry);
}

/* Prepare the cache. */
void
tsa_init_locality_cache(void)
{
	CacheRegisterRelcacheCallback(forget, (Datum) 0);
	CacheRegisterSyscacheCallback(STATRELATTINH, forget_statistics, (Datum) 0);
}

/* Look an index up in the table of localities. */
static const TsaLocalityRow *
load(Oid index)
{
	CacheEntry *entry;
	TsaLocalityRow row = {0};
	bool		is_found;
	bool		is_there;

	if (!tsa_locality_load(index, &row, &is_found))
	{
		entry = cache_lookup(cache, index);
		return entry != NULL ? entry->row : NULL;
	}
	entry = cache_insert(cache, index, &is_there);
	if (!is_there)
		entry->row = NULL;
	forget_entry(entry);
	entry->statistics = row.statistics;
	if (is_found)
	{
		entry->row = MemoryContextAlloc(TopMemoryContext, sizeof(row));
		*entry->row = row;
	}
	entry->read_again =
		TimestampTzPlusMilliseconds(GetCurrentStatementStartTimestamp(),
									READ_AGAIN_MS);
	entry->is_known = true;
	return entry->row;
}

/*
 * The locality of an index, or NULL where there is none that holds.  It may
 * be gone after anything that processes invalidations.
 */
const TsaLocalityRow *
tsa_locality_find(Oid index)
{
	const CacheEntry *entry;

	if (cache == NULL)
		cache = cache_create(TopMemoryContext, 64, NULL);
	entry = cache_lookup(cache, index);
	if (entry == NULL || !entry->is_known ||
		(entry->row != NULL &&
		 GetCurrentStatementStartTimestamp() >= entry->read_again))
		return load(index);
	return entry->row;
}
