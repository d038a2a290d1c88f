/*-------------------------------------------------------------------------
 *
 * damage.c
 *	  Damaged pages and files that the server does not see, or is told not to.
 *
 * A move removes the original.  If it copied something else in place of a
 * damaged page, the only copy of that page's rows would be gone.  So a damaged
 * page is an error (XX001) under all settings of this and other sessions.
 *
 * Settings.  The server fails where it reads a damaged page, unless
 * zero_damaged_pages or ignore_checksum_failure is on.  Background workers of
 * the extension have both off (settings.c).  Other sessions may have them on,
 * and the pages that they have read stay in shared buffers for everybody.  The
 * checks here compare the buffer with the file, so they hold under all
 * settings of this process are, too.
 *
 * Zeros.  A main-fork page of zeros is legitimate: the server extends a file
 * by zeros and initializes the page later, and a crash in between leaves it.
 * In each version the file is extended before the buffer becomes valid
 * (ReadBuffer_common() in 15, ExtendBufferedRelShared() from 16 on), so the
 * file has zeros there, too.  No page becomes zeros again later: a process
 * that initializes a page writes a header, and a truncation drops the buffer
 * before it shortens the file.  A buffer of zeros, if its page in the file is
 * not zeros, was thus made by a read that found the page damaged.  That buffer
 * is valid and not dirty.  VACUUM and hint bits leave a page of zeros as it
 * is, so it does not become dirty unless somebody puts a row onto it; then it
 * is no page of zeros any more, and the server itself overwrites the damaged
 * page.  A dirty buffer of zeros comes from the WAL: a standby replays the
 * image of an empty page that a resumed copy has put in the place of an older
 * one (copy/resume.c), and may have been promoted before a checkpoint.  It is
 * right.
 *
 * Checksums.  A read that ignores a wrong checksum leaves the page in a valid
 * and clean buffer, with its wrong checksum.  A copy would get a right one.
 * The checksum in a buffer may also be old because the page was changed and
 * written since: the server computes it for the written copy and leaves the
 * buffer's.  So if the checksum of a clean buffer is wrong, that of the file
 * decides.  A dirty buffer is not looked at: its page replaces that of the
 * file at the next checkpoint anyhow, as ALTER ... SET TABLESPACE would have
 * it written.
 *
 * Races.  Contents cannot change under the share lock of the buffer but for
 * hint bits, which the checks above do not mind.  A process that writes the
 * page to the file holds the share lock as well, so a read at that moment
 * might see half of the write.  Therefore a page that seems damaged is looked
 * at again under the exclusive lock, which excludes writers.
 *
 * Other forks.  The free space map and the visibility map are read as the
 * server reads them everywhere: a damaged page of theirs counts as zeros (no
 * free space is known, nothing is all-visible), which loses nothing.  So does
 * one that a session read in spite of its checksum: with its bits in a copy
 * with a right checksum, index-only scans would be wrong for good.
 *
 * Files.  The server takes a relation to end with the first segment that is
 * not full, and leaves out part of a page at the end.  Data behind that end is
 * not copied by anything, and goes with the original.  A truncation leaves
 * empty segments only, and a disk that was full part of a page of zeros.
 *
 * If something else has cut the file, shared buffers may still have pages
 * behind its end, and a checkpoint would write those that are dirty.  A buffer
 * becomes valid after its file was extended, and a truncation drops buffers
 * before it cuts the file, so a valid page behind the end has no other cause.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/bufpage.h"
#include "storage/checksum.h"
#include "storage/fd.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#include "compat.h"
#include "state/damage.h"
#include "state/file_error.h"

/* Buffer headers between two looks for interrupts. */
#define HEADERS_PER_CHECK	8192

/* The damage of a page, or of a file's end. */
typedef enum Damage
{
	DAMAGE_NONE,
	DAMAGE_ZEROED,
	DAMAGE_CHECKSUM,
	DAMAGE_PART_OF_PAGE,
	DAMAGE_CUT_OFF,
	DAMAGE_CACHED_ONLY
} Damage;

static const char *const explanations[] = {
	[DAMAGE_ZEROED] = "Shared buffers have zeros in place of what is in the file: a session with \"zero_damaged_pages\" on has read the page.",
	[DAMAGE_CHECKSUM] = "Its checksum is wrong in the file and in shared buffers: a session with \"ignore_checksum_failure\" on has read the page.",
	[DAMAGE_PART_OF_PAGE] = "The file ends in part of a page, which has data that the server does not read.",
	[DAMAGE_CUT_OFF] = "A segment of the file is shorter than it should be or missing, and the server does not read those behind it.",
	[DAMAGE_CACHED_ONLY] = "The file ends before this block, which is in shared buffers: something other than the server has cut the file."
};

/*
 * Throws the damage that has been found in a block of the main fork.
 */
static void
report_damage(Relation rel, BlockNumber block, Damage damage)
{
	char		path[MAXPGPATH];

	tsa_relation_path(path, sizeof(path), tsa_rel_locator(rel), MAIN_FORKNUM);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("invalid page in block %u of relation %s", block, path),
			 errdetail_internal("%s", explanations[damage])));
}

/* Is there nothing in the page but zeros? */
static bool
is_all_zeros(const char *page)
{
	return page[0] == 0 && memcmp(page, page + 1, BLCKSZ - 1) == 0;
}

/*
 * Is the checksum of a page, which is not all zeros, wrong?  The page is
 * changed meanwhile.
 */
static bool
fails_checksum(char *page, BlockNumber block)
{
	return DataChecksumsEnabled() &&
		pg_checksum_page(page, block) != ((PageHeader) page)->pd_checksum;
}

/*
 * Does the file have damage in place of a block that looks suspicious in its
 * buffer, which is locked?
 */
static bool
file_is_damaged(Relation rel, ForkNumber fork, BlockNumber block,
				Damage suspicion)
{
	char		stored[BLCKSZ] pg_attribute_aligned(TSA_IO_ALIGN);
	SMgrRelation smgr = RelationGetSmgr(rel);

	if (block >= smgrnblocks(smgr, fork))
		return true;			/* somebody else has shortened it */
	smgrread(smgr, fork, block, stored);
	return !is_all_zeros(stored) &&
		(suspicion == DAMAGE_ZEROED || fails_checksum(stored, block));
}

/*
 * Copies a block from its buffer, under a lock on it, and looks whether it
 * stands for a damaged one.
 */
static Damage
copy_page(Relation rel, ForkNumber fork, BlockNumber block, Buffer buffer,
		  char *page, int lock)
{
	BufferDesc *header = GetBufferDescriptor(buffer - 1);
	Damage		damage = DAMAGE_NONE;

	LockBuffer(buffer, lock);
	memcpy(page, BufferGetPage(buffer), BLCKSZ);
	if ((tsa_buffer_state(header) & BM_DIRTY) != 0)
		damage = DAMAGE_NONE;
	else if (PageIsNew((Page) page) && is_all_zeros(page))
		damage = DAMAGE_ZEROED;
	else if (fails_checksum(page, block))
		damage = DAMAGE_CHECKSUM;
	if (damage != DAMAGE_NONE && !file_is_damaged(rel, fork, block, damage))
		damage = DAMAGE_NONE;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return damage;
}

/*
 * Copies a block of a permanent or unlogged relation's main fork, aligned for
 * I/O, from its buffer, which is pinned.  Throws (XX001) if the buffer stands
 * for a damaged page.
 */
void
tsa_copy_intact_page(Relation rel, BlockNumber block, Buffer buffer,
					 char *page)
{
	Damage		damage;

	Assert(!BufferIsLocal(buffer));
	if (copy_page(rel, MAIN_FORKNUM, block, buffer, page,
				  BUFFER_LOCK_SHARE) == DAMAGE_NONE)
		return;
	damage = copy_page(rel, MAIN_FORKNUM, block, buffer, page,
					   BUFFER_LOCK_EXCLUSIVE);
	if (damage != DAMAGE_NONE)
		report_damage(rel, block, damage);
}

/*
 * The same of a map, of which a damaged page is zeros.
 */
void
tsa_copy_map_page(Relation rel, ForkNumber fork, BlockNumber block,
				  Buffer buffer, char *page)
{
	if (copy_page(rel, fork, block, buffer, page,
				  BUFFER_LOCK_SHARE) != DAMAGE_NONE &&
		copy_page(rel, fork, block, buffer, page,
				  BUFFER_LOCK_EXCLUSIVE) != DAMAGE_NONE)
		memset(page, 0, BLCKSZ);
}

/*
 * Reads a block of the main fork and checks it.
 */
static void
check_page(Relation rel, BlockNumber block, BufferAccessStrategy strategy)
{
	char		page[BLCKSZ] pg_attribute_aligned(TSA_IO_ALIGN);
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block,
											RBM_NORMAL, strategy);

	tsa_copy_intact_page(rel, block, buffer, page);
	ReleaseBuffer(buffer);
}

/*
 * Throws (XX001) if shared buffers have a page of the main fork in place of a
 * damaged one.  In a transaction, with a lock that keeps truncation away.
 */
void
tsa_check_cached_pages(Relation rel)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	RelFileLocator locator = tsa_rel_locator(rel);

	for (int i = 0; i < NBuffers; i++)
	{
		BufferDesc *header = GetBufferDescriptor(i);
		BufferTag	tag = header->tag;	/* may change: a page more is read */

		if (i % HEADERS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if ((tsa_buffer_state(header) & BM_VALID) &&
			tsa_buffer_fork(&tag) == MAIN_FORKNUM &&
			RelFileLocatorEquals(tsa_buffer_locator(&tag), locator) &&
			tag.blockNum < RelationGetNumberOfBlocks(rel))
			check_page(rel, tag.blockNum, strategy);
	}
	FreeAccessStrategy(strategy);
}

/*
 * The same, of all pages, which are read.
 */
void
tsa_check_pages(Relation rel)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	BlockNumber end = RelationGetNumberOfBlocks(rel);

	for (BlockNumber block = 0; block < end; block++)
	{
		CHECK_FOR_INTERRUPTS();
		check_page(rel, block, strategy);
	}
	FreeAccessStrategy(strategy);
}

/*
 * Is there anything but zeros in a file from an offset to its end, which is
 * less than a page away?
 */
static bool
has_data_from(const char *path, off_t offset)
{
	char		tail[BLCKSZ];
	int			fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	ssize_t		length;
	bool		has_data = false;

	if (fd < 0)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	length = pg_pread(fd, tail, sizeof(tail), offset);
	if (length < 0)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not read file \"%s\": %m", path)));
	for (ssize_t i = 0; i < length; i++)
		has_data |= tail[i] != 0;
	CloseTransientFile(fd);
	return has_data;
}

/*
 * Bytes of a segment of the main fork, and its path; -1 if it is not there.
 */
static int64
segment_bytes(RelFileLocator locator, BlockNumber segment, char *path)
{
	struct stat status;

	tsa_relation_path(path, MAXPGPATH, locator, MAIN_FORKNUM);
	if (segment > 0)
		snprintf(path + strlen(path), MAXPGPATH - strlen(path), ".%u",
				 segment);
	if (stat(path, &status) == 0)
		return (int64) status.st_size;
	if (errno != ENOENT)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", path)));
	return -1;
}

/*
 * The data behind the last block of the main fork.
 */
static Damage
look_behind_end(RelFileLocator locator, BlockNumber end)
{
	BlockNumber last = end / (BlockNumber) RELSEG_SIZE;
	char		path[MAXPGPATH];
	int64		bytes = segment_bytes(locator, last, path);

	if (bytes > 0 && bytes % BLCKSZ != 0 &&
		has_data_from(path, (off_t) (bytes - bytes % BLCKSZ)))
		return DAMAGE_PART_OF_PAGE;
	for (BlockNumber segment = last + 1;
		 (bytes = segment_bytes(locator, segment, path)) >= 0; segment++)
		if (bytes > 0)
			return DAMAGE_CUT_OFF;
	return DAMAGE_NONE;
}

/*
 * Has a file that nobody extends data behind the end that the server sees?
 */
bool
tsa_has_data_behind_end(RelFileLocator locator, BlockNumber end)
{
	return look_behind_end(locator, end) != DAMAGE_NONE;
}

/*
 * Throws if shared buffers have a page behind the end of the main fork.
 */
static void
check_cached_end(Relation rel)
{
	BlockNumber end = RelationGetNumberOfBlocks(rel);
	RelFileLocator locator = tsa_rel_locator(rel);

	for (int i = 0; i < NBuffers; i++)
	{
		BufferDesc *header = GetBufferDescriptor(i);
		BufferTag	tag = header->tag;	/* may change: looked at again */

		if (i % HEADERS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (tag.blockNum < end || tag.blockNum == InvalidBlockNumber ||
			!(tsa_buffer_state(header) & BM_VALID) ||
			tsa_buffer_fork(&tag) != MAIN_FORKNUM ||
			!RelFileLocatorEquals(tsa_buffer_locator(&tag), locator) ||
			!ReadRecentBuffer(locator, MAIN_FORKNUM, tag.blockNum, i + 1))
			continue;
		ReleaseBuffer(i + 1);
		end = RelationGetNumberOfBlocks(rel);	/* it may have grown */
		if (tag.blockNum >= end)
			report_damage(rel, tag.blockNum, DAMAGE_CACHED_ONLY);
	}
}

/*
 * Throws (XX001) if the main fork has data behind the end that the server
 * sees, or shared buffers have.  In a transaction, with a lock that keeps
 * truncation away.  A file that grows may look like that for a moment: then
 * nobody may extend it while it is looked at again.
 */
void
tsa_check_file_end(Relation rel)
{
	BlockNumber end = RelationGetNumberOfBlocks(rel);
	Damage		damage = look_behind_end(tsa_rel_locator(rel), end);

	check_cached_end(rel);
	if (damage == DAMAGE_NONE)
		return;
	LockRelationForExtension(rel, ExclusiveLock);
	end = RelationGetNumberOfBlocks(rel);
	damage = look_behind_end(tsa_rel_locator(rel), end);
	UnlockRelationForExtension(rel, ExclusiveLock);
	if (damage != DAMAGE_NONE)
		report_damage(rel, end, damage);
}

/* A fork, in messages. */
static const char *
fork_name(ForkNumber fork)
{
	return fork == FSM_FORKNUM ? "free space map" :
		fork == VISIBILITYMAP_FORKNUM ? "visibility map" : "main fork";
}

/*
 * The remedies where a relation's fork cannot be read.
 */
static int
hint_at_repair(Relation rel, ForkNumber fork)
{
	if (fork == FSM_FORKNUM)
		return errhint("Nothing is lost with the free space map: stop the server and remove that file. VACUUM makes it anew.");
	if (fork == VISIBILITYMAP_FORKNUM)
		return errhint("Nothing is lost with the visibility map: use pg_truncate_visibility_map() of the extension pg_visibility. VACUUM makes it anew.");
	if (rel->rd_index != NULL)
		return errhint("Rebuild the index, in its tablespace by REINDEX or in another one by move_indexes_concurrently() with method \"rebuild\".");
	if (rel->rd_rel->relkind == RELKIND_MATVIEW)
		return errhint("REFRESH MATERIALIZED VIEW makes its contents anew.");
	return errhint("Restore the table from a backup or a standby. A session with \"zero_damaged_pages\" on can copy the rest of it into another table.");
}

/*
 * Is called where an error was caught: throws it again, and if a fork of the
 * relation could not be read, names the fork and the remedy.  An error that
 * the server calls internal because it does not know the device's answer is an
 * error of I/O.  context: to work in.
 */
void
tsa_rethrow_damage(Relation rel, ForkNumber fork, MemoryContext context)
{
	int			code = geterrcode();
	char		path[MAXPGPATH];
	ErrorData  *err;

	if (code != ERRCODE_DATA_CORRUPTED && code != ERRCODE_INDEX_CORRUPTED &&
		code != ERRCODE_IO_ERROR && code != ERRCODE_INTERNAL_ERROR)
		PG_RE_THROW();
	MemoryContextSwitchTo(context);
	err = CopyErrorData();
	if (code == ERRCODE_INTERNAL_ERROR &&
		!tsa_is_answer_of_device(err->saved_errno))
	{
		FreeErrorData(err);
		PG_RE_THROW();
	}
	FlushErrorState();
	tsa_relation_path(path, sizeof(path), tsa_rel_locator(rel), fork);
	ereport(ERROR,
			(errcode(code == ERRCODE_INTERNAL_ERROR ?
					 ERRCODE_IO_ERROR : code),
			 errmsg_internal("%s", err->message),
			 errdetail("%s%sIt is in the %s of %s \"%s\", file \"%s\". The file has not been changed.",
					   err->detail ? err->detail : "",
					   err->detail ? " " : "", fork_name(fork),
					   rel->rd_index != NULL ? "index" : "table",
					   RelationGetRelationName(rel), path),
			 hint_at_repair(rel, fork)));
}
