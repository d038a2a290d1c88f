/*-------------------------------------------------------------------------
 *
 * process.c
 *	  Reads of processes that call no hooks: logical apply, autovacuum, and the
 *	  workers of this extension.
 *
 * At the end of each of their transactions the growth of their counters is
 * added, less what executions and commands inside of it have accounted for.
 *
 * Logical apply: before the commit, what the tables that the transaction has
 * modified and their indexes have missed since the last look says which of
 * them was read.  The transaction still holds its locks on them.  Their
 * last-seen counters are kept in a table of fixed size; a relation that does
 * not fit is not told apart.  What none of them explains, and all that others
 * read, is of no relation.
 *
 * Between transactions the server sends the counters to the statistics, and
 * they begin anew at 0.  It sends those of the database at the same time, and
 * pgStatBlockReadTime tells: since then it has grown by no more than this
 * process has waited in the transaction.  Its microseconds are cut off at each
 * read.  So reads that take less than one may be taken for a new beginning;
 * then what was read before may count once more, instead of what no relation
 * explains.
 *
 * Reads of logical apply are timed whatever track_io_timing says.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "storage/bufmgr.h"
#include "utils/pgstat_internal.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "compat.h"
#include "wait/caller.h"
#include "wait/local.h"
#include "wait/process.h"
#include "wait/relations.h"
#include "wait/span.h"

#define MAX_SEEN 256

/* What a relation had missed at the last look. */
typedef struct Seen
{
	Oid			relid;
	uint64		misses;
} Seen;

static TsaWaitCounters seen;
static TsaWaitCounters seen_accounted;

static Seen seen_relations[MAX_SEEN];
static int	nseen = 0;
static PgStat_Counter seen_read_time = 0;	/* microseconds */

/*
 * Has the server sent this process's counters since its last transaction?  To
 * be asked before own_reads().
 */
static bool
were_sent(void)
{
	uint64		waited = tsa_wait_counters().ns - seen.ns;

	return pgStatBlockReadTime < seen_read_time ||
		(uint64) pgStatBlockReadTime * 1000 <= waited;
}

/* What was read since the last look, and not accounted for. */
static TsaWaitCounters
own_reads(void)
{
	TsaWaitCounters now = tsa_wait_counters();
	TsaWaitCounters own = {
		.reads = now.reads - seen.reads -
		(tsa_accounted.reads - seen_accounted.reads),
		.ns = now.ns - seen.ns - (tsa_accounted.ns - seen_accounted.ns)
	};

	seen = now;
	seen_accounted = tsa_accounted;
	return own;
}

/* What a relation has missed since the last look. */
static uint64
new_misses(Relation relation)
{
	Oid			relid = RelationGetRelid(relation);
	uint64		fetched = 0;
	uint64		hits = 0;
	uint64		before;
	int			i = 0;

	(void) tsa_relation_counts(relation->pgstat_info, &fetched, &hits);
	while (i < nseen && seen_relations[i].relid != relid)
		i++;
	if (i == MAX_SEEN)
		return 0;
	if (i == nseen)
		seen_relations[nseen++] = (Seen)
	{
		relid, 0
	};
	before = seen_relations[i].misses;
	seen_relations[i].misses = fetched - hits;
	/* less than before: these were sent after the others, and not noticed */
	return fetched - hits < before ? fetched - hits : fetched - hits - before;
}

/* Adds what a relation has read, up to *left. */
static void
add_relation(Relation relation, const TsaWaitCounters *own, uint64 *left)
{
	uint64		misses = new_misses(relation);
	uint64		reads = Min(misses, *left);
	TsaWaitFigures figures = {.calls = 1,.reads = reads};

	if (reads == 0)
		return;
	figures.waited_ns = (uint64) ((double) own->ns * (double) reads /
								  (double) own->reads);
	*left -= reads;
	tsa_local_add_relation(RelationGetRelid(relation), tsa_wait_class(),
						   TSA_ACCESS_MODIFIED, &figures, NULL);
}

/* Adds what a table that was modified and its indexes have read. */
static void
add_table(Oid relid, const TsaWaitCounters *own, uint64 *left)
{
	Relation	table = RelationIdGetRelation(relid);
	List	   *indexes;
	ListCell   *cell;

	if (table == NULL)
		return;
	add_relation(table, own, left);
	indexes = RelationGetIndexList(table);
	foreach(cell, indexes)
	{
		Relation	index = RelationIdGetRelation(lfirst_oid(cell));

		if (index == NULL)
			continue;
		add_relation(index, own, left);
		RelationClose(index);
	}
	list_free(indexes);
	RelationClose(table);
}

/* Adds what no relation explains. */
static void
add_rest(uint64 reads, uint64 ns, TsaWaitAccess access)
{
	TsaWaitFigures figures = {.calls = 1,.reads = reads,.waited_ns = ns};

	if (reads > 0)
		tsa_local_add_relation(InvalidOid, tsa_wait_class(), access, &figures,
							   NULL);
}

/*
 * A transaction of logical apply is about to commit: adds what it has read.
 */
void
tsa_wait_before_commit(void)
{
	PgStat_SubXactStatus *modified;
	TsaWaitCounters own;
	uint64		left;

	if (MyBackendType == B_BACKEND || !IsLogicalWorker() || !tsa_wait_ready())
		return;
	track_io_timing = true;
	if (were_sent())
		nseen = 0;
	own = own_reads();
	if (own.reads == 0)
		return;
	left = own.reads;
	modified = pgstat_get_xact_stack_level(1);
	for (PgStat_TableXactStatus *of = modified->first; of != NULL;
		 of = of->next)
		add_table(tsa_relation_of_counts(of->parent), &own, &left);
	add_rest(left, own.ns * left / own.reads, TSA_ACCESS_UNATTRIBUTED);
}

/*
 * A transaction has ended: adds what the process has read.
 */
void
tsa_wait_end_transaction(void)
{
	TsaWaitCounters own;

	if (MyBackendType == B_BACKEND || !tsa_wait_ready())
		return;
	if (!IsLogicalWorker() && MyBackendType != B_AUTOVAC_WORKER &&
		!tsa_is_own_worker())
		return;
	own = own_reads();
	seen_read_time = pgStatBlockReadTime;
	add_rest(own.reads, own.ns, IsLogicalWorker() ? TSA_ACCESS_UNATTRIBUTED :
			 TSA_ACCESS_UTILITY);
}
