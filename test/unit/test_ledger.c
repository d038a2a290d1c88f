/*
 * test_ledger.c
 *	  Unit test of src/wait/ledger.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <stdlib.h>

#include "wait/fixed_table.c"
#include "wait/ledger.c"

#include "tap.h"

#define HOUR (INT64_C(3600) * 1000000)

static TsaLedger *
make_ledger(TsaLedgerSize size, bool makes_room)
{
	TsaLedger  *ledger = malloc(sizeof(TsaLedger));

	tsa_ledger_init(ledger, malloc(tsa_ledger_bytes(size)), size, makes_room,
					1);
	return ledger;
}

static void
free_ledger(TsaLedger *ledger)
{
	free(ledger->relations.slots);
	free(ledger);
}

static void
read_relation(TsaLedger *ledger, uint32_t dbid, uint32_t relid,
			  uint64_t reads, int64_t now)
{
	TsaRelationKey key = {dbid, relid, TSA_WAIT_APPLICATION, TSA_ACCESS_INDEX};
	TsaWaitFigures figures = {1, 2, reads, reads * 1000};
	uint64_t	histogram[TSA_HISTOGRAM_BUCKETS] = {[3] = reads};

	tsa_ledger_add_relation(ledger, &key, &figures, histogram, now);
}

static const TsaRelationEntry *
find_relation(const TsaLedger *ledger, uint32_t dbid, uint32_t relid)
{
	TsaRelationKey key = {dbid, relid, TSA_WAIT_APPLICATION, TSA_ACCESS_INDEX};

	return tsa_fixed_table_find(&ledger->relations, &key);
}

static uint64_t
sum_of_reads(const TsaLedger *ledger)
{
	uint32_t	position = 0;
	uint64_t	sum = 0;
	TsaRelationEntry *entry;

	while ((entry = tsa_fixed_table_next(&ledger->relations, &position)) != NULL)
		sum += entry->figures.reads;
	return sum;
}

static void
run_statement(TsaLedger *ledger, uint64_t queryid, uint64_t reads)
{
	TsaStatementKey key = {.queryid = queryid,.dbid = 1};
	TsaWaitFigures figures = {1, 0, reads, reads * 1000};
	TsaShareKey share = {key, 77, TSA_ACCESS_INDEX};

	tsa_ledger_add_statement(ledger, &key, &figures, 5000, 1);
	tsa_ledger_add_share(ledger, &share, &figures, 1);
}

static const TsaStatementEntry *
find_statement(const TsaLedger *ledger, uint64_t queryid)
{
	TsaStatementKey key = {.queryid = queryid,.dbid = 1};

	return tsa_fixed_table_find(&ledger->statements, &key);
}

/* Adding, and merging a backend's ledger. */
static void
test_merge(void)
{
	TsaLedgerSize size = {100, 20, 50};
	TsaLedger  *shared = make_ledger(size, true);
	TsaLedger  *local = make_ledger(size, false);

	for (int i = 0; i < 3; i++)
	{
		read_relation(local, 1, 77, 10, 0);
		run_statement(local, 5, 10);
		run_statement(local, 6, 0);
		local->seen += 10;
		tsa_ledger_merge(shared, local, 100 + i);
	}
	is_int(find_relation(shared, 1, 77)->figures.reads, 30, "reads add up");
	is_int(find_relation(shared, 1, 77)->figures.calls, 3, "as do calls");
	is_int(find_relation(shared, 1, 77)->histogram[3], 30, "and histograms");
	is_int(find_relation(shared, 1, 77)->since, 100, "since the first of them");
	is_int(find_statement(shared, 5)->figures.reads, 30, "as for statements");
	is_int(find_statement(shared, 5)->total_ns, 15000, "and their time");
	ok(find_statement(shared, 6) == NULL,
	   "a statement that read nothing makes no entry");
	is_int(shared->shares.nentries, 1, "and its shares do not");
	is_int(shared->seen, 30, "executions add up");
	is_int(local->relations.nentries + local->statements.nentries +
		   local->shares.nentries, 0, "nothing is left in the backend");
	run_statement(shared, 6, 1);
	run_statement(shared, 6, 0);
	is_int(find_statement(shared, 6)->figures.calls, 2,
		   "a statement that is there counts calls without reads");
	free_ledger(local);
	free_ledger(shared);
}

/* A full table of relations. */
static void
test_relations_overflow(void)
{
	TsaLedgerSize size = {80, 20, 50};
	TsaLedger  *ledger = make_ledger(size, true);

	for (uint32_t i = 1; i <= 200; i++)
		read_relation(ledger, 1, i, i <= 60 ? 2 : 1, HOUR);
	is_int(sum_of_reads(ledger), 260, "no read is lost");
	is_int(find_relation(ledger, 1, 0)->figures.reads, 131,
		   "what does not fit is of relation 0");
	read_relation(ledger, 2, 5, 1, HOUR);
	ok(find_relation(ledger, 2, 0) != NULL, "of each database");
	is_int(ledger->reclaimed, 0, "entries in use are kept");
	for (uint32_t i = 1; i <= 60; i++)
		read_relation(ledger, 1, i, 1, HOUR * 3);
	read_relation(ledger, 1, 1000, 1, HOUR * 3);
	ok(find_relation(ledger, 1, 1000) != NULL,
	   "one that was idle for an hour makes room");
	ok(find_relation(ledger, 1, 60) != NULL, "those in use remain");
	ok(ledger->reclaimed > 0 && ledger->reclaimed <= 9, "a tenth at most goes");
	for (uint32_t i = 0; i < 30; i++)
		read_relation(ledger, 100 + i, 5, 1, HOUR * 3);
	ok(ledger->lost_reads > 0, "too many databases: reads are lost, and counted");
	is_int(sum_of_reads(ledger) + ledger->lost_reads + ledger->reclaimed,
		   260 + 1 + 60 + 1 + 30, "all of them");
	free_ledger(ledger);
}

/*
 * Somebody reads a block of each of very many tables, all the time.  What others
 * read much, and begin to read later, is told apart all the same.
 */
static void
test_many_small_relations(void)
{
	TsaLedgerSize size = {80, 20, 50};
	TsaLedger  *ledger = make_ledger(size, true);
	int64_t		now = HOUR;
	uint64_t	total = 0;

	for (uint32_t round = 0; round < 20; round++, now += HOUR / 60)
	{
		if (round >= 10)
		{
			read_relation(ledger, 1, 1000, 5000, now);
			total += 5000;
		}
		for (uint32_t i = 1; i <= 200; i++, total++)
			read_relation(ledger, 1, i, 1, now);
	}
	ok(find_relation(ledger, 1, 1000) != NULL, "a new relation is told apart");
	is_int(find_relation(ledger, 1, 1000)->figures.reads, 50000,
		   "and keeps its entry");
	is_int(sum_of_reads(ledger) + ledger->lost_reads, total,
		   "no read is lost beside small ones");
	is_int(ledger->lost_reads, 0, "nothing was lost");
	free_ledger(ledger);
}

/* More statements than there is room for. */
static void
test_eviction(void)
{
	TsaLedgerSize size = {100, 100, 400};
	TsaLedger  *ledger = make_ledger(size, true);
	uint32_t	position = 0;
	uint32_t	orphans = 0;
	TsaShareEntry *share;

	for (uint64_t i = 1; i <= 50; i++)
		run_statement(ledger, i, 1000000);
	for (uint64_t i = 1000; i < 101000; i++)
		run_statement(ledger, i, 1);
	ok(find_statement(ledger, 100999) != NULL, "the last one is there");
	ok(ledger->statements.nentries <= 100, "memory is bounded");
	ok(ledger->evicted >= 99900, "others were evicted");
	while ((share = tsa_fixed_table_next(&ledger->shares, &position)) != NULL)
		orphans += tsa_fixed_table_find(&ledger->statements,
										&share->key.statement) == NULL;
	is_int(orphans, 0, "their shares went with them");
	free_ledger(ledger);
}

/* A statement that reads very many relations evicts no others. */
static void
test_many_shares(void)
{
	TsaLedgerSize size = {100, 100, 400};
	TsaLedger  *ledger = make_ledger(size, true);
	TsaStatementKey key = {.queryid = 7,.dbid = 1};
	TsaShareKey rest = {key, 0, TSA_ACCESS_INDEX};
	TsaWaitFigures figures = {1, 0, 10, 10000};

	for (uint64_t i = 100; i < 150; i++)
		run_statement(ledger, i, 1);
	tsa_ledger_add_statement(ledger, &key, &figures, 5000, 1);
	for (uint32_t relid = 1; relid <= 1000; relid++)
	{
		TsaShareKey share = {key, relid, TSA_ACCESS_INDEX};

		tsa_ledger_add_share(ledger, &share, &figures, 1);
	}
	is_int(ledger->evicted, 0, "one statement evicts no others");
	is_int(ledger->shares.nentries, 50 + 400 / STATEMENT_PART + 1,
		   "it has a part of the shares");
	is_int(((TsaShareEntry *) tsa_fixed_table_find(&ledger->shares,
												   &rest))->figures.reads,
		   10 * (1000 - 400 / STATEMENT_PART), "no read of it is lost");
	free_ledger(ledger);
}

/*
 * Nor do many statements of which each reads many relations, though all of
 * their reads are more.  (The one of test_many_shares() does not fill the table.)
 */
static void
test_many_with_many_shares(void)
{
	TsaLedgerSize size = {100, 100, 400};
	TsaLedger  *ledger = make_ledger(size, true);
	int			stayed = 0;

	for (uint64_t i = 100; i < 150; i++)
		run_statement(ledger, i, 100);
	for (uint64_t i = 1; i <= 40; i++)
		for (uint32_t relid = 1; relid <= 400 / STATEMENT_PART; relid++)
		{
			TsaStatementKey key = {.queryid = i,.dbid = 1};
			TsaShareKey share = {key, relid, TSA_ACCESS_INDEX};
			TsaWaitFigures figures = {1, 0, 20, 20000};

			tsa_ledger_add_statement(ledger, &key, &figures, 5000, 1);
			tsa_ledger_add_share(ledger, &share, &figures, 1);
		}
	for (uint64_t i = 100; i < 150; i++)
		stayed += find_statement(ledger, i) != NULL;
	is_int(stayed, 50, "statements of one relation are not evicted for them");
	ok(ledger->evicted > 0, "some of their own were");
	ok(find_statement(ledger, 40) != NULL, "the last one is there");
	free_ledger(ledger);
}

/* Statements that wait much survive some thousand that do not. */
static void
test_heavy_statements_stay(void)
{
	TsaLedgerSize size = {100, 100, 400};
	TsaLedger  *ledger = make_ledger(size, true);
	int			stayed = 0;

	for (int round = 0; round < 100; round++)
	{
		for (uint64_t i = 1; i <= 50; i++)
			run_statement(ledger, i, 1000);
		for (uint64_t i = 0; i < 100; i++)
			run_statement(ledger, 1000 + (uint64_t) round * 100 + i, 1);
	}
	for (uint64_t i = 1; i <= 50; i++)
		if (find_statement(ledger, i) != NULL &&
			find_statement(ledger, i)->figures.calls == 100)
			stayed++;
	is_int(stayed, 50, "statements that wait are never evicted for others");
	free_ledger(ledger);
}

/* A backend's ledger makes no room. */
static void
test_local_is_full(void)
{
	TsaLedgerSize size = {8, 2, 2};
	TsaLedger  *ledger = make_ledger(size, false);

	for (uint32_t i = 1; i <= 20; i++)
	{
		read_relation(ledger, 1, i, 1, 9 * HOUR);
		run_statement(ledger, i, 1);
	}
	is_int(sum_of_reads(ledger), 20, "relations: no read is lost");
	is_int(ledger->reclaimed, 0, "none is given up");
	is_int(ledger->statements.nentries, 2, "statements: those that fit");
	is_int(ledger->evicted, 18, "the others are counted");
	free_ledger(ledger);
}

int
main(void)
{
	test_merge();
	test_relations_overflow();
	test_many_small_relations();
	test_eviction();
	test_many_shares();
	test_many_with_many_shares();
	test_heavy_statements_stay();
	test_local_is_full();
	return done_testing();
}
