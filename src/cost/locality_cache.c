/*-------------------------------------------------------------------------
 *
 * locality_cache.c
 *	  What a session knows of the locality of indexes.
 *
 * The planner asks for the same indexes again and again, so the answers are
 * kept, also that there is none.  An entry is forgotten when the relation
 * cache forgets its index or its table: when either is rewritten, moved or
 * measured.  Where the table of localities cannot be locked at once, nothing
 * is kept and the next plan tries again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "cost/locality_store.h"

typedef struct CacheEntry
{
	Oid			index;			/* the key */
	bool		is_found;
	TsaLocalityRow row;
} CacheEntry;

static HTAB *cache = NULL;

/* Forget an index, the indexes of a table, or all. */
static void
forget(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	CacheEntry *entry;

	(void) arg;
	if (cache == NULL || hash_get_num_entries(cache) == 0)
		return;
	if (OidIsValid(relid) &&
		hash_search(cache, &relid, HASH_REMOVE, NULL) != NULL)
		return;
	hash_seq_init(&status, cache);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (!OidIsValid(relid) ||
			(entry->is_found && entry->row.relation == relid))
			(void) hash_search(cache, &entry->index, HASH_REMOVE, NULL);
}

/* Prepare the cache. */
void
tsa_locality_cache_init(void)
{
	CacheRegisterRelcacheCallback(forget, (Datum) 0);
}

/* Make the hash table. */
static void
make_cache(void)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(CacheEntry);
	control.hcxt = TopMemoryContext;
	cache = hash_create("localities of tablespace_advisor", 64, &control,
						HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * The locality of an index, or NULL where there is none that holds.  It may
 * be gone after anything that processes invalidations.
 */
const TsaLocalityRow *
tsa_locality_find(Oid index)
{
	CacheEntry *entry;
	TsaLocalityRow row = {0};
	bool		is_found;

	if (cache == NULL)
		make_cache();
	entry = hash_search(cache, &index, HASH_FIND, NULL);
	if (entry == NULL)
	{
		if (!tsa_locality_load(index, &row, &is_found))
			return NULL;
		entry = hash_search(cache, &index, HASH_ENTER, NULL);
		entry->is_found = is_found;
		entry->row = row;
	}
	return entry->is_found ? &entry->row : NULL;
}
