/*-------------------------------------------------------------------------
 *
 * slow.c
 *	  Statements that waited long for reads when this process measured them:
 *	  all of their executions are measured, with weight 1.
 *
 * One execution in ten would do for a statement that is executed a million
 * times an hour.  Of one that waits for half a second a few hundred times,
 * it leaves an error of tens of per cent.
 *
 * The estimate stays unbiased.  Whether an execution is drawn (weight n, with
 * probability 1/n) or measured in any case (weight 1) depends on executions
 * that have ended before it begins, never on itself: in each case its expected
 * contribution is its own wait.  test/unit/test_slow.c shows it.
 *
 * Only waits beyond FREE_NS per block count.  Measuring costs 0.3 us an
 * execution and 0.06 us a read: less than 1 % of these limits, which reads
 * that the page cache serves do not reach.
 *
 * A table of fixed size, by a hash of the key, without chains.  It has slow
 * statements only; fast ones need no entry.  Pure.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "wait/now.h"
#include "wait/slow.h"

#define ENTRIES_LOG2 9
#define FREE_NS UINT64_C(10000)
#define LIMIT_NS UINT64_C(100000)

/* The mean is moved by one part in so many towards the last execution. */
#define MEMORY 8

typedef struct Entry
{
	uint64_t	key;			/* 0: none */
	uint64_t	mean_ns;		/* waited beyond FREE_NS per block, lately */
} Entry;

static Entry entries[1 << ENTRIES_LOG2];

/* The one entry that the statement shares with others of the same hash. */
static Entry *
entry_of(uint64_t key)
{
	return &entries[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ENTRIES_LOG2)];
}

/*
 * Did the statement with this key wait long lately?  0 is no statement.
 */
bool
tsa_is_slow(uint64_t key)
{
	return key != 0 && entry_of(key)->key == key;
}

/*
 * An execution of the statement was measured: it has waited so long for so
 * many blocks.  An entry that others want fades away unless it is used.
 */
void
tsa_learn_waits(uint64_t key, uint64_t reads, uint64_t waited_ns)
{
	Entry	   *entry = entry_of(key);
	uint64_t	ns = waited_ns > reads * FREE_NS ?
	waited_ns - reads * FREE_NS : 0;

	if (key == 0)
		return;
	if (entry->key == key)
	{
		entry->mean_ns = entry->mean_ns - entry->mean_ns / MEMORY + ns / MEMORY;
		if (entry->mean_ns < LIMIT_NS)
		{
			entry->key = 0;
			tsa_now.slow_statements--;
		}
	}
	else if (ns >= LIMIT_NS)
	{
		if (entry->key == 0 || entry->mean_ns <= ns)
		{
			tsa_now.slow_statements += entry->key == 0;
			entry->key = key;
			entry->mean_ns = ns;
		}
		else
			entry->mean_ns -= entry->mean_ns / MEMORY;
	}
}
