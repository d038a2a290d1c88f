/*-------------------------------------------------------------------------
 *
 * process.c
 *	  Reads of processes that call no hooks: logical apply, autovacuum, and the
 *	  workers of this extension.
 *
 * At the end of each of their transactions the growth of their counters is
 * added, less the part of executions and commands inside of it.
 *
 * Before a commit, the tables that the transaction has modified (logical
 * apply) or locked (autovacuum) and their indexes say which of them was read
 * (locked_tables.c).  The transaction still holds its locks on them.  Reads
 * that none of them explains, and all that others read, is of no relation.
 *
 * Between transactions the server sends the counters to the statistics, and
 * they begin anew at 0.  It sends those of the database at the same time, and
 * pgStatBlockReadTime tells: since then it has grown by no more than this
 * process has waited in the transaction.  Its microseconds are cut off at each
 * read.  So reads that take less than one may be taken for a new beginning;
 * then earlier reads may count once more, instead of those that no relation
 * explains.
 *
 * Reads of logical apply and of autovacuum are timed under any track_io_timing
 * says.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "utils/pgstat_internal.h"

#include "compat.h"
#include "wait/caller.h"
#include "wait/local.h"
#include "wait/process.h"
#include "wait/relations.h"
#include "wait/locked_tables.h"
#include "wait/timing.h"

static TsaWaitLook look;
static PgStat_Counter seen_read_time = 0;	/* microseconds */

/*
 * Has the server sent this process's counters since its last transaction?  To
 * be asked before tsa_look().
 */
static bool
were_sent(void)
{
	uint64		waited = tsa_wait_counters().ns - look.seen.ns;

	return pgStatBlockReadTime < seen_read_time ||
		(uint64) pgStatBlockReadTime * 1000 <= waited;
}

/* Adds reads that no relation explains. */
static void
add_rest(uint64 reads, uint64 ns, TsaWaitAccess access)
{
	TsaWaitFigures figures = {.calls = 1,.reads = reads,.waited_ns = ns};

	if (reads > 0)
		tsa_local_add_relation(InvalidOid, tsa_wait_class(), access, &figures,
							   NULL);
}

/*
 * A transaction of logical apply or autovacuum is about to commit: adds its
 * reads.
 */
void
tsa_wait_before_commit(void)
{
	TsaReader	reader = {TSA_WAIT_MAINTENANCE, TSA_ACCESS_UTILITY, NULL};
	bool		is_apply;
	TsaWaitCounters own;
	uint64		left;

	if (!tsa_wait_ready())
		return;
	is_apply = IsLogicalWorker();
	if (!is_apply && MyBackendType != B_AUTOVAC_WORKER)
		return;
	(void) tsa_begin_timing();
	if (were_sent())
		tsa_forget_tables();
	own = tsa_look(&look);
	if (own.reads == 0)
		return;
	left = own.reads;
	if (is_apply)
	{
		PgStat_SubXactStatus *modified = pgstat_get_xact_stack_level(1);

		reader.class = tsa_wait_class();
		reader.access = TSA_ACCESS_MODIFIED;
		for (PgStat_TableXactStatus *of = modified->first; of != NULL;
			 of = of->next)
			tsa_add_table(tsa_relation_of_counts(of->parent), &reader, &own,
						  &left);
	}
	else
		tsa_add_locked_tables(&reader, &own, &left);
	add_rest(left, own.ns * left / own.reads, is_apply ?
			 TSA_ACCESS_UNATTRIBUTED : TSA_ACCESS_UTILITY);
}

/*
 * A transaction has ended: adds the reads of the process.
 */
void
tsa_wait_end_transaction(void)
{
	TsaWaitCounters own;

	if (!tsa_wait_ready())
		return;
	if (!IsLogicalWorker() && MyBackendType != B_AUTOVAC_WORKER &&
		!tsa_is_own_worker())
		return;
	own = tsa_look(&look);
	seen_read_time = pgStatBlockReadTime;
	add_rest(own.reads, own.ns, IsLogicalWorker() ? TSA_ACCESS_UNATTRIBUTED :
			 TSA_ACCESS_UTILITY);
}
