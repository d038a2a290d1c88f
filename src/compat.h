/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Differences between the supported server versions (15 to 18).
 *
 * This is the only file that says PG_VERSION_NUM.  Wrappers have the
 * signature of the newest version where that is possible.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COMPAT_H
#define TSA_COMPAT_H

#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"

#if PG_VERSION_NUM < 150000
#error "tablespace_advisor needs PostgreSQL 15 or later"
#endif

/*
 * pgbench -i loads branches and tellers by COPY FREEZE since 17, row by row
 * before.
 */
#define TSA_PGBENCH_COPIES_SMALL_TABLES (PG_VERSION_NUM >= 170000)

/*
 * Most blocks that COPY adds to a relation at once, see RelationAddBlocks()
 * and LimitAdditionalPins().  Before 16 blocks were added one by one unless
 * others waited for the lock.  The constants are MAX_BUFFERS_TO_EXTEND_BY and
 * REFCOUNT_ARRAY_ENTRIES, which no header exports.
 */
static inline int
tsa_bulk_extend_limit(void)
{
#if PG_VERSION_NUM >= 160000
	int			pins = NBuffers / (MaxBackends + NUM_AUXILIARY_PROCS) - 8;

	return Max(1, Min(64, pins));
#else
	return 1;
#endif
}

#endif							/* TSA_COMPAT_H */
