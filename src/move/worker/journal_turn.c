/*-------------------------------------------------------------------------
 *
 * journal_turn.c
 *	  Moves of the tables that every worker keeps locked, one at a time.
 *
 * A worker keeps a session lock on the journal and the tables beside it
 * (job/journal.c).  The move of such a table, or a rebuild of one of its
 * indexes, has to wait until the other workers have ended.  Two of these moves
 * at a time would wait for each other: each has locked the relation that the
 * other moves.
 *
 * So such a move takes the turn lock first, which is exclusive and one per
 * database.  A worker that has to wait for it gives its session locks on the
 * journal back, waits outside any transaction, and so is in nobody's way; it
 * takes them again when its turn has come.  The worker that has the turn waits
 * for workers that move something else, and these never wait for one that
 * waits here.  A worker that has the turn and its session locks waits for no
 * other turn, since it has one job at a time.
 *
 * DROP EXTENSION may come while nothing is locked: then the worker ends as
 * after an abort (after_abort()).  A cancel request is an error of the job, as
 * anywhere.  The lock is the session's; the worker gives it back when it leaves
 * the job, the server does when the process ends.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "compat.h"
#include "move/common/session.h"
#include "move/common/sleep.h"
#include "move/job/batch_lock.h"
#include "move/job/journal.h"
#include "move/worker/journal_turn.h"

/* Between tries to get the turn. */
#define TURN_RETRY_MS	50

/*
 * The turn lock of this database.
 */
static void
set_turn_tag(LOCKTAG *tag)
{
	tsa_set_lock_tag(tag, TSA_LOCK_JOURNAL_TURN, 0);
}

/*
 * Takes the turn lock if nobody has it.  Outside any transaction.
 */
static bool
try_turn(const TsaSession *session)
{
	LOCKTAG		tag;
	bool		got;

	set_turn_tag(&tag);
	tsa_begin();
	got = LockAcquire(&tag, ExclusiveLock, true, true) !=
		LOCKACQUIRE_NOT_AVAIL;
	tsa_commit(session);
	return got;
}

/*
 * Shows the reason for the job's wait.
 */
static void
show_waiting(TsaLiveProgress *live)
{
	TsaMoveProgress figures = {
		.phase = "waiting for lock",
		.bytes_total = -1,
		.blocks_left = -1,
		.mb_per_s = -1,
		.present_mb_per_s = -1,
		.others_lost_percent = -1
	};

	tsa_write_live_progress(live, &figures);
}

/*
 * Before the present job does its work: waits for its turn if it moves a table
 * that workers keep locked, or an index of one.  Outside any transaction.
 */
void
tsa_take_journal_turn(TsaSession *session, const TsaJob *job,
					  TsaPendingDrops *drops, TsaLiveProgress *live)
{
	bool		needs_turn;

	tsa_begin();
	needs_turn = tsa_journal_keeps(job->heapid);
	tsa_commit(session);
	if (!needs_turn || try_turn(session))
		return;

	/* nobody else's files wait with it */
	tsa_perform_drops(drops, true);
	tsa_release_journal();
	show_waiting(live);
	do
	{
		session->waits(session);
		tsa_sleep(TURN_RETRY_MS);
	} while (!try_turn(session));
	session->after_abort(session);
}

/*
 * Gives the turn to others, if the present job has it.
 */
void
tsa_end_journal_turn(void)
{
	LOCKTAG		tag;

	set_turn_tag(&tag);
	if (tsa_lock_held_by_me(&tag, ExclusiveLock))
		(void) LockRelease(&tag, ExclusiveLock, true);
}
