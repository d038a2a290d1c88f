/*-------------------------------------------------------------------------
 *
 * pause_conditions.c
 *	  When a live copy has to pause.
 *
 * A copy writes the write-ahead log as fast as the disks allow, and others
 * live on that log: standbys, the archive, slots, and pg_wal itself, which
 * brings the server down when it is full.  The copy looks several times a
 * second whether one of them falls behind, pauses until it has caught up, and
 * goes on by itself.  All these looks are cheap: shared memory, one stat(), one
 * statvfs().
 *
 * Replicas.  The distance from the flush position to the position that the
 * slowest streaming standby has replayed.  A receiver that never replays
 * (pg_receivewal, a base backup, a logical subscriber that has not answered)
 * is no replica; its slot, or nothing, holds the WAL for it.
 *
 * Synchronous standbys.  A commit waits until they have flushed all WAL before
 * the commit, that is ours too.  So the copy does not run ahead of them by
 * more than a segment, and before each attempt to cut over waits until they
 * have all that was written when the wait began.  It reads the position that
 * releases waiting commits, SyncRepWaitForLSN()'s own, instead of committing:
 * a commit that waits swallows a cancel, and its wait has no bound.  Nobody
 * waits in the window: its commit is asynchronous.
 *
 * Archive.  The archiver takes the oldest segment first.  Whether it is n
 * segments behind is told by one file, the .ready file of the segment n
 * before the current one.  Its statistics would not do: a crash empties them.
 * After a change of timeline the first n segments are not watched.
 *
 * Slots.  A slot with more WAL than max_slot_wal_keep_size is invalidated,
 * which costs a standby or a subscriber.  The copy leaves half of that size to
 * others.  Without such a limit the space in pg_wal counts.  A slot that has
 * been invalidated, for any reason, keeps no log, and never catches up.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogarchive.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "replication/slot.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/lwlock.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"
#include "move/common/relation.h"
#include "move/copy/pause_conditions.h"

/* Left free in the target, unless less than that is still to be copied. */
#define TARGET_RESERVE	(UINT64CONST(64) * 1024 * 1024)

/* How far a copy may be ahead of synchronous standbys. */
#define SYNC_AHEAD		(UINT64CONST(16) * 1024 * 1024)

static int	max_replica_lag = 1024; /* MB, as the next two */
static int	max_archive_lag = 1024;
static int	min_wal_space = 1024;

/*
 * Registers the configuration parameters.
 */
void
tsa_init_pause_conditions(void)
{
	DefineCustomIntVariable("tablespace_advisor.max_replica_lag",
							"Sets the replay lag of a standby at which a live copy pauses.",
							"The lag is measured in write-ahead log. 0 turns the check off, which a standby with recovery_min_apply_delay needs.",
							&max_replica_lag, 1024, 0, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("tablespace_advisor.max_archive_lag",
							"Sets the amount of write-ahead log waiting to be archived at which a live copy pauses.",
							"0 turns the check off.",
							&max_archive_lag, 1024, 0, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("tablespace_advisor.min_wal_space",
							"Sets the free space in the file system of pg_wal below which a live copy pauses.",
							"0 turns the check off.",
							&min_wal_space, 1024, 0, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_MB, NULL, NULL, NULL);
}

/*
 * Bytes from one position to a later one, 0 if it is not later.
 */
static uint64
distance(XLogRecPtr from, XLogRecPtr to)
{
	return to > from ? to - from : 0;
}

/*
 * Bytes by which the slowest standby's replay is behind.
 */
static uint64
replica_lag(XLogRecPtr flushed)
{
	uint64		lag = 0;

	for (int i = 0; i < max_wal_senders; i++)
	{
		WalSnd	   *walsnd = &WalSndCtl->walsnds[i];
		XLogRecPtr	applied = InvalidXLogRecPtr;

		SpinLockAcquire(&walsnd->mutex);
		if (walsnd->pid != 0 && (walsnd->state == WALSNDSTATE_STREAMING ||
								 walsnd->state == WALSNDSTATE_CATCHUP))
			applied = walsnd->apply;
		SpinLockRelease(&walsnd->mutex);
		if (!XLogRecPtrIsInvalid(applied))
			lag = Max(lag, distance(applied, flushed));
	}
	return lag;
}

/*
 * Bytes up to a position that synchronous standbys have yet to flush; 0 when
 * none are asked for.
 */
static uint64
synchronous_lag(XLogRecPtr upto)
{
	XLogRecPtr	confirmed;

	if (max_wal_senders == 0 || SyncRepStandbyNames == NULL ||
		SyncRepStandbyNames[0] == '\0')
		return 0;
	LWLockAcquire(SyncRepLock, LW_SHARED);
	confirmed = WalSndCtl->lsn[SYNC_REP_WAIT_FLUSH];
	LWLockRelease(SyncRepLock);
	return distance(confirmed, upto);
}

/*
 * Is the archiver behind by the limit or more?
 */
static bool
archiver_is_behind(XLogRecPtr flushed)
{
	XLogSegNo	segment;
	uint64		behind;
	char		file[MAXFNAMELEN];
	char		path[MAXPGPATH];
	struct stat st;

	if (max_archive_lag == 0 || !XLogArchivingActive())
		return false;
	behind = Max(((uint64) max_archive_lag << 20) / wal_segment_size, 1);
	XLByteToSeg(flushed, segment, wal_segment_size);
	if (segment <= behind)
		return false;
	XLogFileName(file, GetWALInsertionTimeLine(), segment - behind,
				 wal_segment_size);
	StatusFilePath(path, file, ".ready");
	return stat(path, &st) == 0;
}

/*
 * The first slot that is more than halfway to its invalidation, or false.
 */
static bool
find_stretched_slot(XLogRecPtr flushed, NameData *name)
{
	uint64		limit = (uint64) Max(max_slot_wal_keep_size_mb, 0) << 20;
	bool		found = false;

	if (max_slot_wal_keep_size_mb < 0)
		return false;
	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < max_replication_slots && !found; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];
		XLogRecPtr	restart;
		bool		invalidated;

		if (!slot->in_use)
			continue;
		SpinLockAcquire(&slot->mutex);
		restart = slot->data.restart_lsn;
		invalidated = tsa_slot_is_invalidated(slot);
		*name = slot->data.name;
		SpinLockRelease(&slot->mutex);
		found = !invalidated && !XLogRecPtrIsInvalid(restart) &&
			distance(restart, flushed) > limit / 2;
	}
	LWLockRelease(ReplicationSlotControlLock);
	return found;
}

/*
 * Is there less free space in pg_wal than there has to be?  A file system that
 * does not tell is not full.
 */
static bool
wal_space_is_short(void)
{
	struct statvfs fs;

	return min_wal_space > 0 && statvfs(XLOGDIR, &fs) == 0 &&
		(uint64) fs.f_bavail * fs.f_frsize < (uint64) min_wal_space << 20;
}

/*
 * See pause_conditions.h.
 */
const char *
tsa_find_pause_reason(const TsaCopyOrder *order,
					  const TsaCopyCallbacks *callbacks, uint64 left,
					  XLogRecPtr standbys_at)
{
	XLogRecPtr	flushed = GetFlushRecPtr(NULL);
	NameData	slot;

	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
	if (left > 0)
		tsa_check_free_space(order->target_tablespace,
							 left + Min(left, TARGET_RESERVE));

	if (callbacks->pause_is_requested(callbacks->arg))
		return "by request";
	if (wal_space_is_short())
		return "little space is left in pg_wal";
	if (max_replica_lag > 0 &&
		replica_lag(flushed) > (uint64) max_replica_lag << 20)
		return "a standby's replay is behind";
	if (XLogRecPtrIsInvalid(standbys_at) ?
		synchronous_lag(flushed) > SYNC_AHEAD :
		synchronous_lag(standbys_at) > 0)
		return "the synchronous standbys are behind";
	if (archiver_is_behind(flushed))
		return "the archiver is behind";
	if (find_stretched_slot(flushed, &slot))
		return psprintf("replication slot \"%s\" is behind", NameStr(slot));
	return NULL;
}
