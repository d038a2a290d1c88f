/*-------------------------------------------------------------------------
 *
 * transactions.c
 *	  The transactions of a pass, and the relations that are open in them.
 *
 * Passes run in transactions without an ID and without a snapshot, renewed
 * every 64 MB or second, so that no session that waits for old snapshots or
 * virtual transaction IDs (CREATE INDEX CONCURRENTLY, DROP INDEX CONCURRENTLY
 * of a sibling) waits longer, and when the WAL has got to another segment.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "move/common/session.h"
#include "move/copy/copy.h"

/*
 * Opens the relations, which are locked.  The snapshot that catalog look-ups
 * leave behind is dropped.
 */
void
tsa_copy_open(TsaCopy *copy)
{
	for (int i = 0; i < copy->nrels; i++)
		copy->rels[i].rel = relation_open(copy->rels[i].relid, NoLock);
	InvalidateCatalogSnapshot();
}

/*
 * Closes them, and keeps the locks.
 */
void
tsa_copy_close(TsaCopy *copy)
{
	for (int i = 0; i < copy->nrels; i++)
	{
		relation_close(copy->rels[i].rel, NoLock);
		copy->rels[i].rel = NULL;
	}
}

/*
 * Asks for the limits, which somebody may have changed.  The catalog snapshot
 * that this leaves behind is dropped.
 */
void
tsa_copy_renew_limits(TsaCopy *copy)
{
	TsaLimits	limits;
	int64		others_left;

	copy->callbacks->read_limits(copy->callbacks->arg, &limits, &others_left);
	InvalidateCatalogSnapshot();
	copy->lock_timeout_ms = limits.lock_timeout_ms;
	copy->during = limits.during;
	if (copy->throttle != NULL &&
		tsa_throttle_renew(copy->throttle, &limits, others_left))
		copy->has_new_limits = true;
}

/*
 * Begins a transaction of a pass and opens the relations: their locks are held
 * at session level.
 */
void
tsa_copy_begin(TsaCopy *copy)
{
	tsa_begin();
	tsa_copy_open(copy);
	INSTR_TIME_SET_CURRENT(copy->renewed);
	copy->renewed_bytes = copy->bytes;
	if (copy->throttle != NULL)
		tsa_copy_renew_limits(copy);
}

/*
 * Closes the relations and ends the transaction.
 */
void
tsa_copy_end(TsaCopy *copy)
{
	tsa_copy_close(copy);
	CommitTransactionCommand();
}
