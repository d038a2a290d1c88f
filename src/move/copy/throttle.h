/*-------------------------------------------------------------------------
 *
 * throttle.h
 *	  When a live copy has to pause, for the sake of standbys, the archive and
 *	  disks, or because somebody asked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_THROTTLE_H
#define TSA_THROTTLE_H

#include "postgres.h"

#include "access/xlogdefs.h"

#include "move/job/job.h"

/* tablespace_advisor.max_workers */
extern int	tsa_max_workers;

extern void tsa_manners_init(void);

/*
 * [T] Why the copy has to pause now, in words that can follow "paused: ", or
 * NULL.  The words are in the current memory context.  left: bytes yet to be
 * written to the target.  standbys_at: what synchronous standbys must have
 * flushed; 0 for "about all".  Throws an error when the target is too full to
 * go on.  Reloads the configuration if that was asked for.
 */
extern const char *tsa_manners_pause_reason(const TsaJob *job, uint64 left,
											XLogRecPtr standbys_at);

/* [T] Has somebody called pause_move()? */
extern bool tsa_manners_pause_requested(int64 job_id);

/* [T] A request to pause; true if it was not there, or not gone, before. */
extern bool tsa_manners_request_pause(int64 job_id);
extern bool tsa_manners_withdraw_pause(int64 job_id);

/*
 * [T] The prepared transactions that hold a lock on the relation, as a list
 * for people, or NULL if there is none.
 */
extern char *tsa_manners_prepared_blockers(Oid relid);

#endif							/* TSA_THROTTLE_H */
