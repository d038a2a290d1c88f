/*-------------------------------------------------------------------------
 *
 * resume.c
 *	  Goes on with a copy that was interrupted, by whatever: the end of the
 *	  worker or of the server, loss of power, the promotion of a standby.
 *
 * S is a file of the original, C the copy's.  The WAL has nothing about C but
 * its creation, full images of its pages, and truncations.
 *
 * What is in C.  A page is written only after its image is flushed, and never
 * behind a checkpoint that lets recovery begin after the image (write_queue.c).
 * So after recovery each page of C is an image in the WAL: either it was
 * synced, or recovery has written it, which does not look at the LSN of what it
 * overwrites.  A torn page has an image behind the place where recovery began.
 * This holds with full_page_writes off, since the images are logged all the
 * same, and under wal_level minimal.  On a standby, and after its promotion or
 * recovery to a point in time, nothing but the WAL has written C.  pg_rewind
 * replaces the blocks that a former primary's own WAL names since the timelines
 * parted, and no page of C has been written without.
 *
 * The mark.  A row in the journal says for each main fork how many blocks were
 * logged and written, and in which ranges of the WAL: one for each worker that
 * has made a mark, from where the WAL ended when it began to where it ended
 * when it made its last mark.  Where the row is, so is all WAL before its
 * commit, on whatever server.  The queue is empty when a mark is made, so all
 * images that a worker logged in its range were written by then, and whatever
 * server has the mark has the same page of C, or one with a later LSN.  Of
 * images between the ranges this is not true: a worker may die, or a server
 * crash after a checkpoint, with images that are flushed and not written.  Then
 * C has an older page there, or none; a standby has the image; and if the
 * standby takes over, a former primary that follows it keeps the older page,
 * since none of its WAL since the timelines parted names that block.  Hence
 * such an image has to be logged again, even if the page is right here.
 *
 * Which pages count.  A page of C is left as it is, without a record, if
 *
 * - it is below the mark, or has been logged by this worker;
 * - its LSN is in a range of the mark, or this worker has logged it;
 * - its LSN is not before that of S: no record that changes such a page would
 *	 be replayed;
 * - it has the same bytes as the page of S, but for LSN, checksum and the hole
 *	 of a page whose image is logged without;
 * - it is not empty, since such a page has no LSN, and its checksum is right;
 * - the page of S is not empty and without an LSN (see below).
 *
 * S is read under the buffer's share lock, after the WAL tail was opened, so
 * what changes S later is followed as in any copy.  What happened to S while
 * nobody followed the WAL does not matter: changes that were lost in a crash
 * and whose LSNs were given to others, VACUUM's that have no LSN, an index
 * that was built anew in the same file.  They show in the bytes; those that
 * come and go again in the LSN.  Hence such a page equals S here.  By the mark
 * every other server has the same page of C, or one with a later LSN: an image
 * that was logged and not written here.  That was read from S after the page
 * here was logged, and S has no LSN behind that one: so it has what S has, but
 * for what is not logged, hint bits and the like (see live_copy.c), which may
 * be lost or not.  Only a page without an LSN says nothing of that kind.  Where
 * a table was cut off and extended again, it has an empty one at the place of a
 * page that had an LSN, and such a page is copied again.
 *
 * GiST compares the LSN of a page with numbers that its children got from
 * theirs, hence no page of C may have an LSN before that of S.
 *
 * Order.  First the blocks behind the mark are copied, with marks, then those
 * below it are compared: so a copy that is interrupted again and again compares
 * once, unless the comparison itself is interrupted.  From the beginning,
 * changes of S are noted for all blocks below the mark.  Changes before a page
 * is compared show in the comparison; later ones are copied again.  The queue
 * is written before, so C has all that this worker has logged; and nothing else
 * writes C while pages are compared.  This holds in whatever order blocks are
 * compared, if each is compared once.
 *
 * A comparison that is interrupted.  The next worker compares all again: nobody
 * has followed the changes since, and their LSNs do not tell, as a page becomes
 * all-visible without one.  It begins where the other was, and goes round: a
 * mark has the bytes compared, in all comparisons.  So each comparison that
 * gets to a mark brings the next one behind it, and counts as progress.  One
 * that always ends at the same place does not, as it may be what interrupts;
 * nor do more than so many rounds, since it may be what follows (job.c).
 *
 * A mark that is made before all has been compared takes the ranges of the one
 * it goes on with, and adds its own: images that other workers have logged in
 * between stay outside.  When all has been compared, those images have been
 * logged again, or the pages below them count by the above; a mark then has one
 * range, from the beginning of the WAL on.  A range less is no fault, only more
 * is copied again: if there is no room for another one, the narrowest goes.
 * For the same reason the commit of a mark is not waited for.
 *
 * A worker that starts over since WAL was gone (follow.c) does the same in the
 * copy that it has: all its own images were written.
 *
 * Buffers.  Recovery and standbys change C in shared buffers, and may leave
 * them dirty.  They are written, and dropped, before C is read or written past
 * them.  Nothing reads C into them again: no relation has it.
 *
 * Size.  S may be shorter than C: a file is extended by empty pages that nobody
 * logs, and a crash may lose these, while C has images of them; VACUUM may have
 * truncated S.  C may be longer elsewhere than here, on a standby or after
 * another recovery, by images that were logged and not written here.  So C is
 * cut to the smaller of both sizes here, and this is logged whether it is
 * longer or not; what is behind is copied again.  Maps are cut to nothing, and
 * copied again.
 *
 * Identity.  Each file of a copy belongs to the relation and the file of it
 * that the journal names.  If the relation has got another file meanwhile, or
 * has gone, or moves no more, the copy's file is dropped, and a new one made.
 * If the journal is that of another server or database, recover.c drops its
 * files, or tells of them.  That nobody else works on the copy is what the
 * batch lock proves, on whatever server.
 *
 * Damage.  Pages that somebody has damaged, or cut off, do not count, by the
 * above.  A file with data behind the end that the server sees is dropped: it
 * would get into the relation, or keep it from being moved again.
 *
 * Time windows.  A worker whose window closes makes a mark of all that is
 * logged, unless it has no locks then.  It gives its locks up and notes in one
 * transaction, at the end, that the copy waits.  If it dies before, or the
 * server, that is any other interruption; and nothing else tells the two apart
 * when the copy goes on.  If an earlier worker has compared up to a mark, and
 * the window closes when this one compares, or later, it stays: it pauses, with
 * its locks, and follows the WAL, as in any pause.  Otherwise a copy would not
 * end that takes longer to compare than its window is open.
 *
 * Not followed: the WAL since the interruption.  A checkpoint ends each
 * recovery, and removes it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "journal/window_clock.h"
#include "move/common/session.h"
#include "move/common/stop_point.h"
#include "move/copy/copy.h"
#include "move/copy/resume.h"
#include "move/copy/shorten.h"
#include "move/copy/storage.h"
#include "state/damage.h"

/* A mark is made after so many bytes, or a 200th of all if that is more ... */
#define MARK_BYTES		(INT64CONST(64) * 1024 * 1024)
#define MARKS			200

/* ... but once in this time, which is also the least once all is copied. */
#define MARK_MS			60000

/* tablespace_advisor.debug_mark_kb */
static int	debug_mark_kb = 0;

/*
 * Registers the configuration parameter.
 */
void
tsa_init_marks(void)
{
	DefineCustomIntVariable("tablespace_advisor.debug_mark_kb",
							"Sets after how much, at least, a live copy notes how far it is.",
							"For tests only. Otherwise it is a 200th of it. 0 stands for 64 MB.",
							&debug_mark_kb, 0, 0, MAX_KILOBYTES,
							PGC_SIGHUP, GUC_NOT_IN_SAMPLE | GUC_UNIT_KB,
							NULL, NULL, NULL);
}

/*
 * The new storage of a relation.
 */
static SMgrRelation
target_of(const TsaCopyRel *rel)
{
	return smgropen(rel->copy, INVALID_PROC_NUMBER);
}

/*
 * Is a file that an interrupted copy has made there, up to its end and not
 * further?
 */
static bool
is_whole(RelFileLocator locator)
{
	SMgrRelation smgr = smgropen(locator, INVALID_PROC_NUMBER);

	return smgrexists(smgr, MAIN_FORKNUM) &&
		!tsa_has_data_behind_end(locator, smgrnblocks(smgr, MAIN_FORKNUM));
}

/*
 * The file that an interrupted copy has made for a relation as it is now, or
 * NULL.  In a transaction.
 */
const TsaKeptCopy *
tsa_copy_find_kept(const TsaCopy *copy, const TsaCopyRel *rel)
{
	const TsaCopyOrder *order = copy->order;

	for (int i = 0; i < order->nkept; i++)
	{
		const TsaKeptCopy *kept = &order->kept[i];

		if (kept->relid == rel->relid &&
			RelFileLocatorEquals(kept->source, rel->source) &&
			tsa_locator_tablespace(kept->copy) == order->target_tablespace &&
			!tsa_storage_in_use(kept->copy) && is_whole(kept->copy))
			return kept;
	}
	return NULL;
}

/*
 * Drops, at the commit of the present transaction, the files of an interrupted
 * copy that this one does not go on with.
 */
void
tsa_copy_drop_unkept(const TsaCopy *copy)
{
	for (int i = 0; i < copy->order->nkept; i++)
	{
		RelFileLocator locator = copy->order->kept[i].copy;
		bool		used = false;

		for (int j = 0; j < copy->nrels; j++)
			used |= RelFileLocatorEquals(locator, copy->rels[j].copy);
		if (used)
			continue;
		if (!tsa_can_drop_storage(&locator, 1))
			ereport(ERROR,
					(errcode(ERRCODE_IO_ERROR),
					 errmsg("could not remove a file of the interrupted move")));
		tsa_drop_unused_storage(locator);
	}
}

/*
 * Takes over a file that an interrupted copy has made.
 */
static void
adopt_file(const TsaCopyRel *rel)
{
	SMgrRelation target = target_of(rel);
	TsaCopyFork *fork = rel->main;

	if (rel->vm != NULL && smgrexists(target, rel->vm->number))
		rel->vm->kept_end = smgrnblocks(target, rel->vm->number);
	fork->kept_end = smgrnblocks(target, fork->number);
	fork->written_end = Min(fork->kept_end, tsa_copy_source_size(fork));
	tsa_cut_kept_copy(rel->copy, fork->written_end);
	fork->trusted_end = Min(fork->trusted_end, fork->written_end);
	fork->copied_end = fork->trusted_end;
}

/*
 * Comparing begins where the last comparison was broken off, as far as the same
 * blocks are to be compared.
 */
static void
choose_first_compared(TsaCopy *copy)
{
	uint64		all = tsa_copy_uncompared(copy);
	uint64		at = all == 0 ? 0 :
	(uint64) Max(copy->progress.bytes_compared, 0) / BLCKSZ % all;

	copy->compare_first = 0;
	for (int i = 0; i < copy->nforks; i++)
	{
		TsaCopyFork *fork = &copy->forks[i];

		fork->compare_from = 0;
		if (at < fork->trusted_end)
		{
			fork->compare_from = (BlockNumber) at;
			copy->compare_first = i;
			at = all;			/* no other one */
		}
		else if (at < all)
			at -= fork->trusted_end;
	}
}

/*
 * Takes over the files that an interrupted copy has made.  In a transaction
 * that has the relations open, after the tail has been opened.
 */
void
tsa_copy_adopt(TsaCopy *copy)
{
	SMgrRelation *files = palloc(sizeof(SMgrRelation) * copy->nrels);
	int			nfiles = 0;

	for (int i = 0; i < copy->nrels; i++)
		if (copy->rels[i].is_kept)
			files[nfiles++] = target_of(&copy->rels[i]);
	if (nfiles > 0)
		FlushRelationsAllBuffers(files, nfiles);
	for (int i = 0; i < nfiles; i++)
		tsa_drop_all_buffers(files[i]);
	copy->own_lsn = GetXLogInsertRecPtr();
	for (int i = 0; i < copy->nrels; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (copy->rels[i].is_kept)
			adopt_file(&copy->rels[i]);
	}
	choose_first_compared(copy);
	tsa_copy_count_adopted(copy);
	pfree(files);
}

/*
 * Are two pages equal, but for LSN and checksum?  Where the hole of a page is
 * left out of its image ("std"), recovery makes it zeros, and it does not
 * count.
 */
static bool
is_equal(const char *a, const char *b, bool std)
{
	const size_t from = offsetof(PageHeaderData, pd_flags);
	size_t		lower = ((PageHeader) a)->pd_lower;
	size_t		upper = ((PageHeader) a)->pd_upper;

	if (!std || lower < SizeOfPageHeaderData || lower >= upper ||
		upper > BLCKSZ)
		lower = upper = BLCKSZ;
	return memcmp(a + from, b + from, lower - from) == 0 &&
		memcmp(a + upper, b + upper, BLCKSZ - upper) == 0;
}

/*
 * Were all images written that were logged where this page's was?
 */
static bool
is_trusted(const TsaCopy *copy, XLogRecPtr lsn)
{
	return tsa_lsn_ranges_have(&copy->order->kept_lsns, lsn) ||
		(lsn > copy->own_lsn && lsn <= GetXLogInsertRecPtr());
}

/*
 * Reads n blocks of a fork of the copy, a batch at most and all of one segment,
 * to the places of copy->compared from the given one on.
 */
void
tsa_copy_read_kept(TsaCopy *copy, const TsaCopyFork *fork, BlockNumber from,
				   int n, int place)
{
	if (copy->compared == NULL)
		copy->compared = (char *)
			TYPEALIGN(TSA_IO_ALIGN,
					  MemoryContextAlloc(copy->cxt, TSA_IO_ALIGN +
										 (Size) TSA_COMPARED_RUN * BLCKSZ));
	tsa_smgr_read_run(target_of(fork->rel), fork->number, from,
					  copy->compared + (Size) place * BLCKSZ, n);
}

/*
 * Is a page of the copy, which has been read, what it has to be?  See the head
 * of this file.  If not, why?
 */
static TsaKeptPage
judge_page(const TsaCopy *copy, const TsaPageBatch *batch, int i, char *page)
{
	bool		std = batch->rel->page_std && batch->fork == MAIN_FORKNUM &&
	batch->blocks[i] != 0;
	XLogRecPtr	lsn = PageGetLSN((Page) page);

	if (PageIsNew((Page) page) ||
		!tsa_page_is_verified((Page) page, batch->blocks[i]))
		return TSA_PAGE_DAMAGED;
	if (PageGetLSN(batch->pages[i]) > lsn)
		return TSA_PAGE_CHANGED;
	if (XLogRecPtrIsInvalid(PageGetLSN(batch->pages[i])) &&
		PageIsEmpty(batch->pages[i]))
		return TSA_PAGE_DIFFERS;
	if (!is_trusted(copy, lsn))
		return TSA_PAGE_UNMARKED;
	return is_equal((char *) batch->pages[i], page, std) ?
		TSA_PAGE_VALID : TSA_PAGE_DIFFERS;
}

/*
 * Counts a page that an interrupted copy had made.  One that has changed since
 * would have been copied again without an interruption, too.
 */
static void
count_kept(TsaCopy *copy, const TsaCopyFork *fork, BlockNumber block,
		   TsaKeptPage page)
{
	if (block >= fork->kept_end)
		return;
	copy->kept_pages[page]++;
	copy->progress.blocks_again += page != TSA_PAGE_VALID &&
		page != TSA_PAGE_CHANGED;
}

/*
 * Counts those pages of a batch that an interrupted copy had made after its
 * last mark: nobody looks at them.
 */
void
tsa_copy_count_again(TsaCopy *copy, const TsaCopyFork *fork,
					 const TsaPageBatch *batch)
{
	for (int i = 0; i < batch->n; i++)
		count_kept(copy, fork, batch->blocks[i], TSA_PAGE_UNMARKED);
}

/*
 * Leaves out of a batch of a fork what the copy has already, by the same blocks
 * of it, which have been read, and counts what it had.
 */
void
tsa_copy_leave_out_valid(TsaCopy *copy, const TsaCopyFork *fork,
						 TsaPageBatch *batch, char *kept)
{
	int			n = 0;

	for (int i = 0; i < batch->n; i++)
	{
		TsaKeptPage page = judge_page(copy, batch, i,
									  kept + (Size) i * BLCKSZ);

		count_kept(copy, fork, batch->blocks[i], page);
		if (page == TSA_PAGE_VALID)
			continue;
		batch->blocks[n] = batch->blocks[i];
		batch->pages[n++] = batch->pages[i];
	}
	batch->n = n;
}

/*
 * Tells what has become of the pages that an interrupted copy had made.
 */
void
tsa_copy_tell_kept(const TsaCopy *copy)
{
	const int64 *pages = copy->kept_pages;

	if (copy->order->nkept == 0)
		return;
	ereport(LOG,
			(errmsg("live copy of relation with OID %u has gone on: " INT64_FORMAT " pages of the interrupted copy are kept",
					copy->order->relid, pages[TSA_PAGE_VALID]),
			 errdetail("Copied again: " INT64_FORMAT " that have changed, " INT64_FORMAT " made after the last mark, " INT64_FORMAT " that differ without a later LSN, " INT64_FORMAT " empty or damaged.",
					   pages[TSA_PAGE_CHANGED], pages[TSA_PAGE_UNMARKED],
					   pages[TSA_PAGE_DIFFERS], pages[TSA_PAGE_DAMAGED])));
}

/*
 * What has been copied so far is to be compared: the copy starts over in the
 * same files.  In a transaction.
 */
void
tsa_copy_trust(TsaCopy *copy)
{
	tsa_copy_write_all(copy);
	tsa_copy_count(copy);
	for (int i = 0; i < copy->nforks; i++)
	{
		TsaCopyFork *fork = &copy->forks[i];

		fork->trusted_end = fork->copied_end;
		fork->compared = 0;
	}
	choose_first_compared(copy);
	tsa_copy_go_on_counting(copy, copy->progress.bytes_done);
}

/*
 * Has so much been written since the last mark that another is to be made?
 * "end": the first pass has ended.
 */
bool
tsa_copy_mark_is_due(const TsaCopy *copy, bool end)
{
	int64		least = debug_mark_kb > 0 ?
	INT64CONST(1024) * debug_mark_kb : MARK_BYTES;
	int64		interval = Max(least, copy->progress.bytes_total / MARKS);
	int64		unmarked = copy->unmarked_bytes +
	copy->unmarked_compared / TSA_VALID_PER_COPIED;
	bool		is_late = tsa_ms_since(&copy->marked) >= MARK_MS;

	if (end && copy->progress.bytes_total >= interval)
		interval = BLCKSZ;
	else if (is_late)
		interval = least;
	return unmarked >= interval &&
		(is_late || copy->progress.passes <= 1 || debug_mark_kb > 0);
}

/*
 * The ranges of the WAL all of whose images are written now: those of the mark
 * that the copy goes on with, until all has been compared that is below it, and
 * this worker's.
 */
static TsaLsnRanges
written_ranges(const TsaCopy *copy)
{
	TsaLsnRanges ranges = {0};
	XLogRecPtr	from = InvalidXLogRecPtr;

	if (tsa_copy_uncompared(copy) > 0)
	{
		ranges = copy->order->kept_lsns;
		from = copy->own_lsn;
	}
	tsa_lsn_ranges_add(&ranges, from, GetXLogInsertRecPtr());
	return ranges;
}

/*
 * Makes a mark: all that has been copied is written, and counted.  Outside any
 * transaction.
 */
void
tsa_copy_mark(TsaCopy *copy)
{
	TsaKeptCopy *made = palloc(sizeof(TsaKeptCopy) * copy->nrels);
	TsaLsnRanges ranges = written_ranges(copy);

	for (int i = 0; i < copy->nrels; i++)
	{
		const TsaCopyRel *rel = &copy->rels[i];

		made[i].relid = rel->relid;
		made[i].source = rel->source;
		made[i].copy = rel->copy;
		made[i].blocks = rel->main->copied_end;
	}
	copy->unmarked_bytes = copy->unmarked_compared = 0;
	INSTR_TIME_SET_CURRENT(copy->marked);
	tsa_begin();
	tsa_commit_lazily();
	copy->callbacks->mark(copy->callbacks->arg, made, copy->nrels, &ranges,
						  &copy->progress);
	CommitTransactionCommand();
	pfree(made);
	tsa_stop_point("marked");
}

/*
 * Does the copy stay, and pause, where its time window is closed?  See "Time
 * windows".
 */
static bool
stays(const TsaCopy *copy)
{
	return copy->order->kept_compared > 0 &&
		copy->progress.bytes_compared > copy->order->kept_compared;
}

/*
 * Is the time window of the move closed, and the copy does not stay?  Then it
 * is suspended: a mark is made for who goes on with it, unless the locks are
 * gone.  Outside any transaction.
 */
bool
tsa_copy_suspends(TsaCopy *copy)
{
	if (!tsa_is_outside_window(&copy->during) || stays(copy))
		return false;
	if (copy->locks == TSA_LOCKS_ALL &&
		copy->unmarked_bytes + copy->unmarked_compared > 0)
	{
		tsa_copy_begin(copy);
		tsa_copy_write_all(copy);
		tsa_copy_end(copy);
		tsa_copy_count(copy);
		tsa_copy_mark(copy);
	}
	tsa_set_copy_state(&copy->state, TSA_COPY_SUSPENDED);
	return true;
}
