/*-------------------------------------------------------------------------
 *
 * copy.h
 *	  What the files of the live block copy share: live_copy.c (the driver
 *	  and the proof), prepare.c, one_transaction.c, follow.c,
 *	  passes.c, blocks.c, locks.c, cutover.c, storage.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COPY_H
#define TSA_COPY_H

#include "postgres.h"

#include "portability/instr_time.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "compat.h"
#include "move/copy/block_set.h"
#include "move/job/job.h"
#include "move/copy/units.h"
#include "move/copy/wal_tail.h"

/* Pages written and logged at a time. */
#define TSA_COPY_BATCH 16

typedef struct TsaCopyRel TsaCopyRel;

/* A fork that is copied and whose changes are followed. */
typedef struct TsaCopyFork
{
	TsaCopyRel *rel;
	ForkNumber	number;			/* MAIN_FORKNUM or VISIBILITYMAP_FORKNUM */
	BlockNumber copied_end;		/* blocks below this one are in the copy */
	BlockNumber written_end;	/* size of the copy's fork */
	TsaBlockSet changed;		/* blocks to copy again */
} TsaCopyFork;

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
	Relation	rel;			/* open between copy_begin and copy_end */
	ItemPointerData row;		/* of pg_class, locked by the cutover */
};

/* A move under way.  One at a time in a process. */
typedef struct TsaCopy
{
	const TsaJob *job;
	MemoryContext cxt;			/* lives as long as the move */
	TsaWalTail *tail;			/* NULL while there is nothing to follow */
	Oid			heapid;			/* the table; locked even if it does not move */
	Oid			toastid;		/* its TOAST table, if it moves */
	int			nrels;
	int			max_rels;
	TsaCopyRel *rels;			/* the job's relation first */
	int			nforks;
	TsaCopyFork *forks;			/* of all relations */
	Oid			blocked_on;		/* what could not be locked the last time */
	TransactionId blocked_by;	/* who changed the row of pg_class, if known */
	bool		locked;			/* session-level locks are held */
	bool		heap_let_go;	/* but not the one on the table that moves */
	bool		truncated;		/* the log says the file was truncated */
	bool		lost;			/* a part of the log was gone, unread */
	BufferAccessStrategy strategy;
	char	   *pages;			/* TSA_COPY_BATCH pages, aligned for I/O */

	bool		checkpointer_syncs; /* the copy is small, or tsa_copy_sync() is
									 * behind us: whatever is
									 * written now is the checkpointer's to
									 * sync */

	TsaJobProgress progress;
	instr_time	started;
	instr_time	asked;			/* for the exclusive lock, the last time */
	TsaUnits   *units;			/* NULL until the passes begin */
	bool		unlimited;		/* changes come faster than the rate */
	instr_time	renewed;		/* of the present transaction */
	instr_time	looked;			/* for waiters */
	instr_time	reported;
	uint64		bytes;			/* copied in all passes */
	uint64		renewed_bytes;	/* the same at the last renewal */
} TsaCopy;

/* More than this many blocks are not copied in the window ... */
#define TSA_FEW_BLOCKS	256
/* ... unless so many attempts found more left: then more than this many. */
#define TSA_STRICT_ATTEMPTS 20
#define TSA_MANY_BLOCKS 1024

/* What became of an attempt to cut over. */
typedef enum TsaCutover
{
	TSA_CUTOVER_DONE,
	TSA_CUTOVER_LATER,			/* not locked, or too much left to copy */
	TSA_CUTOVER_IN_VAIN,		/* the lock not even asked for */
	TSA_CUTOVER_REWRITTEN		/* start over */
} TsaCutover;

/* live_copy.c */
extern void tsa_copy_stop_point(const char *name);
extern bool tsa_copy_stops_elsewhere(const char *prefix);

/* prepare.c */
extern bool tsa_copy_prepare(TsaCopy *copy);

/* one_transaction.c */
extern bool tsa_copy_small(TsaCopy *copy);

/* follow.c */
extern BlockNumber tsa_copy_source_size(const TsaCopyFork *fork);
extern void tsa_copy_note_maps(TsaCopy *copy);
extern void tsa_copy_follow(TsaCopy *copy);
extern uint64 tsa_copy_left(const TsaCopy *copy);
extern int64 tsa_copy_source_bytes(const TsaCopy *copy);
extern int64 tsa_copy_done_bytes(const TsaCopy *copy);
extern bool tsa_copy_was_truncated(const TsaCopy *copy);
extern void tsa_copy_start_over(TsaCopy *copy);

/* passes.c */
extern void tsa_copy_open(TsaCopy *copy);
extern void tsa_copy_close(TsaCopy *copy);
extern void tsa_copy_begin(TsaCopy *copy);
extern void tsa_copy_end(TsaCopy *copy);
extern double tsa_copy_ms_between(const instr_time *from,
								  const instr_time *to);
extern void tsa_copy_nap(double ms);
extern void tsa_copy_count(TsaCopy *copy);
extern void tsa_copy_wait_for_lock(TsaCopy *copy);
extern bool tsa_copy_look(TsaCopy *copy);
extern bool tsa_copy_breathe(TsaCopy *copy, uint64 bytes);
extern void tsa_copy_report(TsaCopy *copy, const char *phase);
extern bool tsa_copy_passes(TsaCopy *copy);
extern const char *tsa_copy_waiting_phase(TsaCopy *copy);
extern bool tsa_copy_back_off(TsaCopy *copy, bool in_vain);

/* blocks.c */
extern bool tsa_copy_new_blocks(TsaCopy *copy, TsaCopyFork *fork);
extern bool tsa_copy_changed_blocks(TsaCopy *copy, TsaCopyFork *fork);
extern void tsa_copy_last_blocks(TsaCopy *copy);
extern void tsa_copy_fsm(TsaCopy *copy, TsaCopyRel *rel);
extern void tsa_copy_sync(TsaCopy *copy);

/* locks.c */
extern bool tsa_copy_try_lock(TsaCopy *copy);
extern void tsa_copy_lock(TsaCopy *copy);
extern bool tsa_copy_relock(TsaCopy *copy);
extern void tsa_copy_unlock(TsaCopy *copy);
extern void tsa_copy_let_go(TsaCopy *copy);
extern bool tsa_copy_in_the_way(const TsaCopy *copy);
extern void tsa_copy_find_blockers(TsaCopy *copy);
extern bool tsa_copy_is_hopeless(TsaCopy *copy);
extern bool tsa_copy_is_same(TsaCopy *copy);

/* cutover.c */
extern TsaCutover tsa_copy_cut_over(TsaCopy *copy);
extern bool tsa_copy_try_rows(TsaCopy *copy);
extern void tsa_copy_switch_storage(TsaCopy *copy);

/* storage.c */
extern void tsa_copy_create_file(const TsaCopy *copy, TsaCopyRel *rel);
extern void tsa_copy_create_storage(TsaCopy *copy);
extern RelFileLocator *tsa_copy_old_storage(const TsaCopy *copy);
extern void tsa_copy_note_old_storage(TsaCopy *copy);
extern void tsa_copy_remove_old_storage(void);
extern void tsa_copy_drop_unused(RelFileLocator storage);
extern void tsa_copy_forget_storage(void);

#endif							/* TSA_COPY_H */
