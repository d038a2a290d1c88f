/*-------------------------------------------------------------------------
 *
 * ledger.c
 *	  Reads and waits: adding to a ledger, and merging the one of a backend
 *	  into the one in shared memory.
 *
 * How memory stays bounded.  Three tables of fixed size:
 *
 * - Relations are kept.  If their table is full, entries that have not changed
 *	 for an hour are given up, the oldest first: they belong to relations that
 *	 were dropped or that nobody reads, and samples have seen them.  If there
 *	 are none, those with the least waits are added to relation 0 of their
 *	 database, class and access, for which some entries are reserved, a tenth
 *	 of all every ten seconds; and so are new ones meanwhile.  So totals per
 *	 database and kind remain exact, and a session that reads a little of ten
 *	 thousand tables of its own keeps no busy relation out for long.
 * - Statements with the least recent waits are evicted, a tenth at a time, and
 *	 their shares with them.  An execution that read nothing makes no entry.
 *	 A statement has at most a sixteenth of the shares; the rest of it goes to
 *	 its share of relation 0.  If shares are missing, those statements go that
 *	 have the least recent waits for each share.  So neither one that reads
 *	 twenty thousand partitions evicts all others, nor do twenty that read
 *	 a thousand.
 *
 * The ledger of a backend gives up nothing: makes_room is false.  Entries that
 * do not fit go to relation 0, and statements and shares are left out.
 *
 * Pure, see test/unit/test_ledger.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "wait/ledger.h"

/* entries of the relations' table that only relation 0 may take, at most */
#define RESERVED 64

/* microseconds; int64 timestamps as the server's */
#define RECLAIM_AGE (INT64_C(3600) * 1000000)
#define RECLAIM_EVERY (INT64_C(10) * 1000000)

/* the part of the shares that one statement may have */
#define STATEMENT_PART 16

/* The factor of recent waits at an eviction. */
#define DECAY 0.95

#define EXPONENTS 64

/* Bytes of a table for so many entries of entry_size bytes. */
static size_t
table_bytes(uint32_t max_entries, size_t entry_size)
{
	return TSA_FIXED_TABLE_BYTES(tsa_fixed_table_slots(max_entries),
								 entry_size);
}

/*
 * How much memory a ledger needs.
 */
size_t
tsa_ledger_bytes(TsaLedgerSize size)
{
	return table_bytes(size.relations, sizeof(TsaRelationEntry)) +
		table_bytes(size.statements, sizeof(TsaStatementEntry)) +
		table_bytes(size.shares, sizeof(TsaShareEntry));
}

/*
 * Sets up an empty ledger in memory of tsa_ledger_bytes(), aligned to eight.
 */
void
tsa_ledger_init(TsaLedger *ledger, void *memory, TsaLedgerSize size,
				bool makes_room, int64_t now)
{
	char	   *next = memory;

	memset(ledger, 0, sizeof(*ledger));
	ledger->makes_room = makes_room;
	ledger->since = now;
	tsa_fixed_table_init(&ledger->relations, next, size.relations,
						 sizeof(TsaRelationKey), sizeof(TsaRelationEntry));
	next += table_bytes(size.relations, sizeof(TsaRelationEntry));
	tsa_fixed_table_init(&ledger->statements, next, size.statements,
						 sizeof(TsaStatementKey), sizeof(TsaStatementEntry));
	next += table_bytes(size.statements, sizeof(TsaStatementEntry));
	tsa_fixed_table_init(&ledger->shares, next, size.shares,
						 sizeof(TsaShareKey), sizeof(TsaShareEntry));
}

/* Adds figures to others. */
static void
add_figures(TsaWaitFigures *to, const TsaWaitFigures *more)
{
	to->calls += more->calls;
	to->hits += more->hits;
	to->reads += more->reads;
	to->waited_ns += more->waited_ns;
}

/* Powers of two, so that the least can be found without sorting. */
static int
exponent_of(double recent)
{
	int			exponent = 0;

	while (recent >= 1 && exponent < EXPONENTS - 1)
	{
		recent /= 2;
		exponent++;
	}
	return exponent;
}

/* The weight of a relation, if some have to go. */
static int
weight_of(const TsaRelationEntry *entry)
{
	return exponent_of((double) entry->figures.waited_ns +
					   (double) entry->figures.reads);
}

/* Adds a tenth of the relations, those with the least waits, to relation 0. */
static void
fold_relations(TsaLedger *ledger, int64_t now)
{
	TsaFixedTable *table = &ledger->relations;
	uint32_t	with[EXPONENTS] = {0};
	uint32_t	left = table->max_entries / 10 + 1;
	uint32_t	below = 0;
	uint32_t	position = 0;
	int			cut = 0;
	TsaRelationEntry *entry;

	while ((entry = tsa_fixed_table_next(table, &position)) != NULL)
		if (entry->key.relid != 0)
			with[weight_of(entry)]++;
	while (cut < EXPONENTS - 1 && below + with[cut] < left)
		below += with[cut++];
	position = 0;
	while (left > 0 && (entry = tsa_fixed_table_next(table, &position)) != NULL)
	{
		TsaRelationEntry folded = *entry;

		if (folded.key.relid == 0 || weight_of(entry) > cut)
			continue;
		tsa_fixed_table_remove(table, entry);
		folded.key.relid = 0;
		tsa_ledger_add_relation(ledger, &folded.key, &folded.figures,
								folded.histogram, now);
		ledger->overflowed++;
		position--;
		left--;
	}
}

/*
 * Gives up a tenth of the relations at most, of those long unchanged.  If there
 * are none, adds those with the least waits to relation 0.
 */
static void
reclaim_relations(TsaLedger *ledger, int64_t now)
{
	TsaFixedTable *table = &ledger->relations;
	uint32_t	left = table->max_entries / 10 + 1;
	uint32_t	position = 0;
	uint32_t	before = table->nentries;
	int64_t		age = RECLAIM_AGE;
	TsaRelationEntry *entry;

	if (!ledger->makes_room || now - ledger->reclaimed_at < RECLAIM_EVERY)
		return;
	ledger->reclaimed_at = now;
	/* the oldest first: half of the age of the oldest, if that is more */
	while ((entry = tsa_fixed_table_next(table, &position)) != NULL)
		if ((now - entry->changed) / 2 > age)
			age = (now - entry->changed) / 2;
	position = 0;
	while (left > 0 && (entry = tsa_fixed_table_next(table, &position)) != NULL)
	{
		if (now - entry->changed < age || entry->key.relid == 0)
			continue;
		tsa_fixed_table_remove(table, entry);
		ledger->reclaimed++;
		position--;
		left--;
	}
	if (table->nentries == before)
		fold_relations(ledger, now);
}

/* Entries of the table that only relation 0 may take. */
static uint32_t
reserved(const TsaFixedTable *table)
{
	uint32_t	share = table->max_entries / 8;

	return share < RESERVED ? share : RESERVED;
}

/* The entry for a key, or for relation 0 instead, or NULL. */
static TsaRelationEntry *
enter_relation(TsaLedger *ledger, TsaRelationKey key, int64_t now)
{
	TsaFixedTable *table = &ledger->relations;
	TsaRelationEntry *entry = tsa_fixed_table_find(table, &key);
	bool		found;

	if (entry != NULL)
		return entry;
	if (key.relid != 0)
	{
		if (table->nentries + reserved(table) >= table->max_entries)
			reclaim_relations(ledger, now);
		if (table->nentries + reserved(table) >= table->max_entries)
		{
			ledger->overflowed++;
			key.relid = 0;
		}
	}
	entry = tsa_fixed_table_enter(table, &key, &found);
	if (entry != NULL && !found)
		entry->since = now;
	return entry;
}

/*
 * Adds to a relation.  histogram may be NULL.
 */
void
tsa_ledger_add_relation(TsaLedger *ledger, const TsaRelationKey *key,
						const TsaWaitFigures *figures,
						const uint64_t *histogram, int64_t now)
{
	TsaRelationEntry *entry = enter_relation(ledger, *key, now);

	if (entry == NULL)
	{
		ledger->lost_reads += figures->reads;
		return;
	}
	add_figures(&entry->figures, figures);
	entry->changed = now;
	for (int i = 0; histogram != NULL && i < TSA_HISTOGRAM_BUCKETS; i++)
		entry->histogram[i] += histogram[i];
}

/* Removes the shares of statements that are gone. */
static void
remove_orphans(TsaLedger *ledger)
{
	uint32_t	position = 0;
	TsaShareEntry *share;

	while ((share = tsa_fixed_table_next(&ledger->shares, &position)) != NULL)
	{
		if (tsa_fixed_table_find(&ledger->statements,
								 &share->key.statement) != NULL)
			continue;
		tsa_fixed_table_remove(&ledger->shares, share);
		position--;
	}
}

/* What a statement takes of what is full: its shares, or one entry. */
static uint32_t
room_taken(const TsaStatementEntry *entry, bool for_shares)
{
	return for_shares ? (uint32_t) entry->nshares : 1;
}

/* Its recent waits for each of these. */
static int
use_of(const TsaStatementEntry *entry, bool for_shares)
{
	return exponent_of(entry->recent / room_taken(entry, for_shares));
}

/*
 * Evicts a tenth of the statements, or statements with a tenth of the shares:
 * those with the least recent waits, for each share then.
 */
static void
evict_statements(TsaLedger *ledger, bool for_shares)
{
	TsaFixedTable *table = &ledger->statements;
	uint32_t	with[EXPONENTS] = {0};
	uint32_t	left;
	uint32_t	below = 0;
	uint32_t	position = 0;
	int			cut = 0;
	TsaStatementEntry *entry;

	left = (for_shares ? &ledger->shares : table)->nentries / 10 + 1;
	while ((entry = tsa_fixed_table_next(table, &position)) != NULL)
	{
		uint32_t	room = room_taken(entry, for_shares);

		entry->recent *= DECAY;
		if (room > 0)
			with[use_of(entry, for_shares)] += room;
	}
	while (cut < EXPONENTS - 1 && below + with[cut] < left)
		below += with[cut++];
	/* all below the cut, and as many at the cut as are missing */
	left -= below;
	position = 0;
	while ((entry = tsa_fixed_table_next(table, &position)) != NULL)
	{
		uint32_t	room = room_taken(entry, for_shares);
		int			use = room > 0 ? use_of(entry, for_shares) : EXPONENTS;

		if (use > cut || (use == cut && left == 0))
			continue;
		if (use == cut)
			left -= room < left ? room : left;
		tsa_fixed_table_remove(table, entry);
		ledger->evicted++;
		position--;
	}
	remove_orphans(ledger);
}

/*
 * Adds to a statement.  The ledger in shared memory makes no entry for one
 * that read nothing.
 */
void
tsa_ledger_add_statement(TsaLedger *ledger, const TsaStatementKey *key,
						 const TsaWaitFigures *figures, uint64_t total_ns,
						 int64_t now)
{
	TsaStatementEntry *entry = tsa_fixed_table_find(&ledger->statements, key);
	bool		found = true;

	if (entry == NULL && ledger->makes_room)
	{
		if (figures->reads == 0 && figures->waited_ns == 0)
			return;
		if (ledger->statements.nentries >= ledger->statements.max_entries)
			evict_statements(ledger, false);
	}
	if (entry == NULL)
		entry = tsa_fixed_table_enter(&ledger->statements, key, &found);
	if (entry == NULL)
	{
		ledger->evicted++;
		return;
	}
	if (!found)
		entry->since = now;
	add_figures(&entry->figures, figures);
	entry->total_ns += total_ns;
	entry->recent += (double) figures->waited_ns + (double) figures->reads;
}

/*
 * The entry of a share in shared memory, made if there is none.  NULL if its
 * statement is not there.
 */
static TsaShareEntry *
enter_share(TsaLedger *ledger, TsaShareKey key, bool *found)
{
	TsaFixedTable *shares = &ledger->shares;
	TsaStatementEntry *statement = tsa_fixed_table_find(&ledger->statements,
														&key.statement);
	TsaShareEntry *entry = tsa_fixed_table_find(shares, &key);

	*found = true;
	if (statement == NULL || entry != NULL)
		return entry;
	if (statement->nshares >= shares->max_entries / STATEMENT_PART)
	{
		key.relid = 0;
		entry = tsa_fixed_table_find(shares, &key);
		if (entry != NULL)
			return entry;
	}
	if (shares->nentries >= shares->max_entries)
	{
		evict_statements(ledger, true);
		statement = tsa_fixed_table_find(&ledger->statements, &key.statement);
		if (statement == NULL)
			return NULL;
	}
	entry = tsa_fixed_table_enter(shares, &key, found);
	if (entry != NULL)
		statement->nshares++;
	return entry;
}

/*
 * Adds to a statement's reads of a relation.  In shared memory the statement
 * has to be there.
 */
void
tsa_ledger_add_share(TsaLedger *ledger, const TsaShareKey *key,
					 const TsaWaitFigures *figures, int64_t now)
{
	bool		found;
	TsaShareEntry *entry = ledger->makes_room ?
	enter_share(ledger, *key, &found) :
	tsa_fixed_table_enter(&ledger->shares, key, &found);

	if (entry == NULL)
		return;
	if (!found)
		entry->since = now;
	add_figures(&entry->figures, figures);
}

/*
 * Adds all of one ledger to another one, and empties it.
 */
void
tsa_ledger_merge(TsaLedger *into, TsaLedger *from, int64_t now)
{
	TsaRelationEntry *relation;
	TsaStatementEntry *statement;
	TsaShareEntry *share;
	uint32_t	position = 0;

	while ((relation = tsa_fixed_table_next(&from->relations,
											&position)) != NULL)
		tsa_ledger_add_relation(into, &relation->key, &relation->figures,
								relation->histogram, now);
	position = 0;
	while ((statement = tsa_fixed_table_next(&from->statements,
											 &position)) != NULL)
		tsa_ledger_add_statement(into, &statement->key, &statement->figures,
								 statement->total_ns, now);
	position = 0;
	while ((share = tsa_fixed_table_next(&from->shares, &position)) != NULL)
		tsa_ledger_add_share(into, &share->key, &share->figures, now);
	into->seen += from->seen;
	into->measured += from->measured;
	into->overflowed += from->overflowed;
	into->lost_reads += from->lost_reads;
	into->evicted += from->evicted;
	tsa_fixed_table_clear(&from->relations);
	tsa_fixed_table_clear(&from->statements);
	tsa_fixed_table_clear(&from->shares);
	from->seen = from->measured = from->overflowed = 0;
	from->lost_reads = from->evicted = 0;
}
