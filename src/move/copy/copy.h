/*-------------------------------------------------------------------------
 *
 * copy.h
 *	  Shared by the files of the live block copy.  None of them calls one
 *	  that stands above it here:
 *
 *	  live_copy.c			the driver, and why it is right
 *	  prepare.c				which relations; their new storage
 *	  one_transaction.c		an index of a few blocks
 *	  cutover.c				the exclusive window
 *	  passes.c				copying until little is left
 *	  blocks.c				copying blocks
 *	  page_cache.c			pages in the system's cache; and wal_cache.c
 *	  resume.c				going on with a copy that was interrupted
 *	  write_queue.c			logging and writing pages
 *	  transactions.c		transactions of a pass
 *	  delay_point.c			rate, pausing, yielding
 *	  locks.c				session locks, and sessions that wait
 *	  report.c				figures
 *	  follow.c				blocks left to copy
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COPY_H
#define TSA_COPY_H

#include "postgres.h"

#include "portability/instr_time.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "compat.h"
#include "move/common/progress.h"
#include "move/copy/block_set.h"
#include "move/copy/callbacks.h"
#include "move/copy/copy_state.h"
#include "move/copy/throttle.h"
#include "move/copy/wal_tail.h"

/* Pages written and logged at a time. */
#define TSA_COPY_BATCH 16

/* Pages of the copy that are read at a time to be compared. */
#define TSA_COMPARED_RUN 128

/* As many blocks that are valid are read in the time in which one is copied. */
#define TSA_VALID_PER_COPIED 4

/* A copy of more bytes is reported when it begins, and after its first pass. */
#define TSA_SMALL_COPY	INT64CONST(1048576)

/* A page that an interrupted copy has made: kept, or why not. */
typedef enum TsaKeptPage
{
	TSA_PAGE_VALID,
	TSA_PAGE_CHANGED,			/* the original has a later LSN */
	TSA_PAGE_UNMARKED,			/* not below the mark */
	TSA_PAGE_DIFFERS,			/* otherwise */
	TSA_PAGE_DAMAGED,			/* or empty */
	TSA_KEPT_PAGES				/* how many of these there are */
} TsaKeptPage;

typedef struct TsaCopyRel TsaCopyRel;
typedef struct TsaForkCache TsaForkCache;
typedef struct TsaWriteQueue TsaWriteQueue;

/* A fork that is copied, while its changes are followed. */
typedef struct TsaCopyFork
{
	TsaCopyRel *rel;
	ForkNumber	number;			/* MAIN_FORKNUM or VISIBILITYMAP_FORKNUM */
	BlockNumber copied_end;		/* blocks below this one are in the copy */
	BlockNumber written_end;	/* size of the copy's fork */
	BlockNumber trusted_end;	/* blocks below this one may have changed
								 * unseen, so they are compared, ... */
	BlockNumber compare_from;	/* ... from this one on and round to it; */
	BlockNumber compared;		/* so many have been */
	BlockNumber kept_end;		/* size of the fork when the copy was resumed */
	TsaBlockSet changed;		/* blocks to copy again */
	TsaForkCache *cache;		/* page_cache.c's */
} TsaCopyFork;

/* Pages of one fork on their way to the new storage. */
typedef struct TsaPageBatch
{
	TsaCopyRel *rel;
	ForkNumber	fork;
	BlockNumber *written_end;	/* size of the fork in the new storage */
	bool		is_bulk;		/* new blocks, one batch after the other */
	int			n;
	BlockNumber blocks[TSA_COPY_BATCH];
	Page		pages[TSA_COPY_BATCH];
} TsaPageBatch;

/*
 * A relation that takes part in a move: an index; or a table, its TOAST table
 * and index, and perhaps its indexes.
 */
struct TsaCopyRel
{
	Oid			relid;
	Oid			heapid;			/* table of an index; 0: no index */
	LOCKMODE	lockmode;		/* of the session's lock */
	RelFileLocator source;
	RelFileLocator copy;
	bool		page_std;		/* may the hole of a page be left out of WAL? */
	TsaCopyFork *main;
	TsaCopyFork *vm;			/* NULL for an index */
	BlockNumber fsm_end;		/* size of the copy's free space map */
	bool		is_kept;		/* an interrupted copy has made the storage */
	Relation	rel;			/* open between copy_begin and copy_end */
	ItemPointerData row;		/* of pg_class, locked by the cutover */
};

/* A move under way. */
typedef struct TsaCopy
{
	TsaCopyOrder *order;
	const TsaCopyCallbacks *callbacks;
	TsaCopyState state;
	TsaCopyLocks locks;			/* held at session level */

	MemoryContext cxt;			/* lives as long as the move */
	TsaWalTail *tail;			/* NULL while there is nothing to follow */
	Oid			heapid;			/* the table; locked even if it does not move */
	Oid			toastid;		/* its TOAST table, if it moves */
	int			nrels;
	int			max_rels;
	TsaCopyRel *rels;			/* the order's relation first */
	int			nforks;
	TsaCopyFork *forks;			/* of all relations */
	Oid			blocked_on;		/* the relation that could not be locked last
								 * time */
	TransactionId blocked_by;	/* transaction that changed the row of
								 * pg_class, if known */
	int			attempts;		/* to cut over */
	int			nblockers;		/* processes in the way of the last one; 0: a
								 * prepared transaction */
	int			blockers[TSA_MAX_BLOCKERS];
	bool		is_held_long;	/* by others than queries, by the last look */
	int			holder_pid;		/* process that made an attempt futile lately */
	LocalTransactionId holder_lxid;
	int			turns;			/* of such, one after the other, without a gap
								 * that was seen */
	int			lock_timeout_ms;	/* as it is now, like the next one */
	TsaDailyWindow during;		/* in which it works */
	instr_time	queued;			/* for the exclusive lock, the last time */
	int			queue_tries;	/* how often */
	double		queue_cost_ms;	/* others may have been held up, then */
	instr_time	tried;			/* the last attempt */
	int			failed_tries;	/* one after the other that got no lock */
	instr_time	dumped;			/* a dump was seen that held the lock */
	XLogSegNo	wal_segment;	/* wal_cache.c's */
	BufferAccessStrategy strategy;
	TsaWriteQueue *queue;		/* pages that are being written */
	char	   *compared;		/* pages of the copy, aligned for I/O; NULL
								 * before any are compared */
	XLogRecPtr	own_lsn;		/* pages with a later one are this copy's */
	bool		has_passed;		/* over all blocks, since it (re)started */
	int64		kept_pages[TSA_KEPT_PAGES]; /* that were looked at */
	int64		unmarked_bytes; /* logged since the last mark */
	int64		unmarked_compared;	/* bytes compared since then */
	int			compare_first;	/* the fork with which comparing begins */
	instr_time	marked;			/* when that was */

	TsaMoveProgress progress;
	int64		had_bytes;		/* has_bytes() when it was adopted, or 0 */
	double		done_per_left;	/* by so much bytes_done grows for each byte
								 * that is done; 0: nothing is adopted yet */
	instr_time	started;
	instr_time	asked;			/* for the exclusive lock, the last time */
	double		held_up_ms;		/* others may have been, by the last attempt;
								 * negative: it was not made */
	instr_time	first_tried;	/* to cut over; zero: not yet */
	TsaThrottle *throttle;		/* NULL until the passes begin */
	bool		unlimited;		/* changes come faster than the rate */
	bool		has_new_limits;
	instr_time	renewed;		/* of the present transaction */
	instr_time	looked;			/* for waiters */
	bool		is_waited_for;	/* by that look; until the next delay point */
	instr_time	searched;		/* for them in the whole lock table */
	double		search_gap_ms;	/* time between two such searches */
	instr_time	looked_around;	/* for reasons to pause */
	instr_time	reported;
	const char *told_reason;	/* of the rate, then */
	uint64		bytes;			/* copied in all passes */
	uint64		renewed_bytes;	/* the same at the last renewal */
	XLogRecPtr	switched_at;	/* end of the cutover's commit record */
} TsaCopy;

/* More than this many blocks are not copied in the window ... */
#define TSA_FEW_BLOCKS	256
/* ... unless so many attempts found more left: then more than this many. */
#define TSA_STRICT_ATTEMPTS 20
#define TSA_MANY_BLOCKS 1024

/*
 * After so many turns of others attempts are made all the same: the more turns
 * there have been, the more seldom.
 */
#define TSA_MAX_TURNS	10
#define TSA_MS_PER_TURN 100
#define TSA_MAX_QUEUE_MS 10000

/* Time between looks for waiters. */
#define TSA_LOOK_MS 20

/* The result of following the WAL. */
typedef enum TsaFollowed
{
	TSA_FOLLOWED,
	TSA_FOLLOWED_LOST,			/* a part of the WAL was gone, unread */
	TSA_FOLLOWED_REWRITTEN		/* a file was truncated: start over */
} TsaFollowed;

/* The result of an attempt to cut over. */
typedef enum TsaCutover
{
	TSA_CUTOVER_DONE,
	TSA_CUTOVER_LATER,			/* too much left to copy */
	TSA_CUTOVER_BUSY,			/* the relation is in use */
	TSA_CUTOVER_BLOCKED,		/* a session is in the way for long */
	TSA_CUTOVER_REWRITTEN		/* start over */
} TsaCutover;

/* follow.c */
extern BlockNumber tsa_copy_source_size(const TsaCopyFork *fork);
extern void tsa_copy_note_maps(TsaCopy *copy);
extern TsaFollowed tsa_copy_follow(TsaCopy *copy);
extern uint64 tsa_copy_left(const TsaCopy *copy);
extern int64 tsa_copy_source_bytes(const TsaCopy *copy);
extern uint64 tsa_copy_uncompared(const TsaCopy *copy);
extern int64 tsa_copy_done_bytes(const TsaCopy *copy);
extern int64 tsa_copy_bytes_to_compare(const TsaCopy *copy);
extern bool tsa_copy_was_truncated(TsaCopy *copy);
extern void tsa_copy_start_over(TsaCopy *copy);

/* report.c */
extern double tsa_ms_between(const instr_time *from, const instr_time *to);
extern double tsa_ms_since(const instr_time *then);
extern void tsa_copy_count(TsaCopy *copy);
extern void tsa_copy_go_on_counting(TsaCopy *copy, int64 done);
extern void tsa_copy_count_adopted(TsaCopy *copy);
extern void tsa_copy_report(TsaCopy *copy, const char *phase);
extern void tsa_copy_report_pause(TsaCopy *copy, const char *phase);

/* locks.c */
extern bool tsa_copy_try_lock(TsaCopy *copy);
extern void tsa_copy_lock(TsaCopy *copy);
extern void tsa_copy_unlock(TsaCopy *copy);
extern void tsa_copy_release_first(TsaCopy *copy);
extern bool tsa_copy_is_same(TsaCopy *copy);
extern void tsa_copy_wait_for_lock(TsaCopy *copy);
extern bool tsa_copy_yield(TsaCopy *copy);
extern bool tsa_copy_has_waiters(const TsaCopy *copy);
extern bool tsa_copy_poll_waiters(TsaCopy *copy);
extern bool tsa_copy_is_free(const TsaCopy *copy);
extern bool tsa_copy_is_dumped(TsaCopy *copy);
extern bool tsa_copy_find_blockers(TsaCopy *copy);
extern bool tsa_copy_is_blocked(TsaCopy *copy);

/* transactions.c */
extern void tsa_copy_open(TsaCopy *copy);
extern void tsa_copy_close(TsaCopy *copy);
extern void tsa_copy_renew_limits(TsaCopy *copy);
extern void tsa_copy_begin(TsaCopy *copy);
extern void tsa_copy_end(TsaCopy *copy);

/* delay_point.c */
extern bool tsa_copy_catch_up(TsaCopy *copy);
extern bool tsa_copy_yield_and_pause(TsaCopy *copy);
extern bool tsa_copy_look(TsaCopy *copy);
extern bool tsa_copy_is_waited_for(TsaCopy *copy);
extern bool tsa_copy_end_pass(TsaCopy *copy);
extern bool tsa_copy_delay_point(TsaCopy *copy, uint64 bytes);

/* blocks.c */
extern bool tsa_copy_new_blocks(TsaCopy *copy, TsaCopyFork *fork);
extern bool tsa_copy_compare_blocks(TsaCopy *copy, TsaCopyFork *fork,
									BlockNumber most);
extern bool tsa_copy_changed_blocks(TsaCopy *copy, TsaCopyFork *fork);
extern bool tsa_copy_last_blocks(TsaCopy *copy, const instr_time *since,
								 double ms);
extern bool tsa_copy_fsm(TsaCopy *copy, TsaCopyRel *rel);

/* resume.c */
extern const TsaKeptCopy *tsa_copy_find_kept(const TsaCopy *copy,
											 const TsaCopyRel *rel);
extern void tsa_copy_drop_unkept(const TsaCopy *copy);
extern void tsa_copy_adopt(TsaCopy *copy);
extern void tsa_copy_count_again(TsaCopy *copy, const TsaCopyFork *fork,
								 const TsaPageBatch *batch);
extern void tsa_copy_read_kept(TsaCopy *copy, const TsaCopyFork *fork,
							   BlockNumber from, int n, int place);
extern void tsa_copy_leave_out_valid(TsaCopy *copy, const TsaCopyFork *fork,
									 TsaPageBatch *batch, char *kept);
extern void tsa_copy_tell_kept(const TsaCopy *copy);
extern void tsa_copy_trust(TsaCopy *copy);
extern bool tsa_copy_mark_is_due(const TsaCopy *copy, bool end);
extern void tsa_copy_mark(TsaCopy *copy);
extern bool tsa_copy_suspends(TsaCopy *copy);

/* write_queue.c */
extern void tsa_copy_check_length(const TsaCopyRel *rel, ForkNumber fork,
								  BlockNumber written_end);
extern TsaWriteQueue *tsa_write_queue_make(void);
extern char *tsa_write_queue_page(const TsaWriteQueue *queue, int i);
extern void tsa_copy_create_fork(const TsaCopyRel *rel, ForkNumber fork);
extern void tsa_copy_write(TsaCopy *copy, TsaPageBatch *batch);
extern void tsa_copy_write_all(TsaCopy *copy);
extern BlockNumber tsa_copy_unwritten(const TsaCopy *copy,
									  const TsaCopyFork *fork);

/* passes.c */
extern bool tsa_copy_passes(TsaCopy *copy);
extern const char *tsa_copy_waiting_phase(TsaCopy *copy);
extern bool tsa_copy_back_off(TsaCopy *copy, TsaCutover reason);

/* cutover.c */
extern bool tsa_copy_may_try(const TsaCopy *copy);
extern bool tsa_copy_may_queue(const TsaCopy *copy);
extern TsaCutover tsa_copy_cut_over(TsaCopy *copy);
extern bool tsa_copy_try_rows(TsaCopy *copy);
extern void tsa_copy_switch_storage(TsaCopy *copy);
extern void tsa_copy_after_switch(TsaCopy *copy);
extern RelFileLocator *tsa_copy_old_storage(const TsaCopy *copy);

/* one_transaction.c */
extern bool tsa_copy_in_one_transaction(TsaCopy *copy);

/* prepare.c */
extern bool tsa_copy_prepare_or_move(TsaCopy *copy);

#endif							/* TSA_COPY_H */
