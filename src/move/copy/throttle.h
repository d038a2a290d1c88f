/*-------------------------------------------------------------------------
 *
 * throttle.h
 *	  The throttle of a live copy: it works in units, and sleeps between them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_THROTTLE_H
#define TSA_THROTTLE_H

#include "postgres.h"

#include "storage/block.h"
#include "utils/rel.h"

#include "compat.h"
#include "move/common/limits.h"
#include "move/copy/callbacks.h"

typedef struct TsaThrottle TsaThrottle;

/* [T] Begins to work; the state is in the given context. */
extern TsaThrottle *tsa_throttle_open(MemoryContext context,
									  const TsaCopyOrder *order);

/*
 * [T] In each transaction of a pass: counts the copies under way, and takes
 * these limits.  others_left: bytes left of the other moves of the call.  True
 * if the limits are others than before.
 */
extern bool tsa_throttle_renew(TsaThrottle *throttle, const TsaLimits *limits,
							   int64 others_left);

/* Is the time by which it is to have ended near, or past? */
extern bool tsa_throttle_is_pressed(const TsaThrottle *throttle);

/* When it is to have ended, for people. */
extern const char *tsa_throttle_finish_by(const TsaThrottle *throttle);

/* So many bytes are left to copy.  True if it cannot end in time. */
extern bool tsa_throttle_aim(TsaThrottle *throttle, int64 left);

/*
 * [T] The copy will read this fork from block "from" on, up to "end" at most:
 * asks for the rest of the unit.
 */
extern void tsa_throttle_read_ahead(TsaThrottle *throttle, Relation rel,
									ForkNumber fork, BlockNumber from,
									BlockNumber end);

/* The copy has read for so many milliseconds. */
extern void tsa_throttle_note_read(TsaThrottle *throttle, double ms);

/* These blocks have been written to the end of a fork of the new storage. */
extern void tsa_throttle_note_written(TsaThrottle *throttle,
									  RelFileLocator locator, ForkNumber fork,
									  BlockNumber from, BlockNumber nblocks);

/*
 * [T] Before the first read, until it returns 0: milliseconds to sleep now, to
 * see other readers; tsa_throttle_wake() has to follow.  The first time it
 * looks at the time since the throttle was opened, or skipped.
 */
extern double tsa_throttle_look(TsaThrottle *throttle, bool first);

/*
 * [T] So many bytes have been copied.  Milliseconds to sleep now; if there are
 * any, tsa_throttle_wake() has to follow.  all_speed: no rate is kept.
 */
extern double tsa_throttle_work(TsaThrottle *throttle, uint64 bytes,
								bool all_speed);
extern void tsa_throttle_wake(TsaThrottle *throttle);

/*
 * [T] Of a sleep of so many milliseconds those, at its beginning, after which
 * tsa_throttle_note_settled() has to be called; 0 for none.
 */
extern double tsa_throttle_settling(const TsaThrottle *throttle, double ms);
extern void tsa_throttle_note_settled(TsaThrottle *throttle);

/* [T] The same at the end of the first pass. */
extern double tsa_throttle_end_pass(TsaThrottle *throttle);

/* The time since the last call counts neither as work nor as sleep. */
extern void tsa_throttle_skip(TsaThrottle *throttle);

/*
 * As tsa_throttle_skip(), after a pause of so many milliseconds that nobody
 * has asked for: it tells the expected speed.
 */
extern void tsa_throttle_skip_pause(TsaThrottle *throttle, double ms);

/* Bytes that the kernel may have read ahead of the copy, at most. */
extern double tsa_throttle_most_ahead(const TsaThrottle *throttle);

/* The share of the time in which the copy works, more than 0, 1 at most. */
extern double tsa_throttle_share(const TsaThrottle *throttle);

/*
 * Percent of the others' possible work that was not done; negative: not known.
 */
extern double tsa_throttle_others_lost(const TsaThrottle *throttle);

/*
 * Bytes per second at present, negative: not known; and why, for people, also
 * with the measured values.
 */
extern double tsa_throttle_rate(const TsaThrottle *throttle);
extern const char *tsa_throttle_reason(const TsaThrottle *throttle);
extern const char *tsa_throttle_explain(TsaThrottle *throttle);

#endif							/* TSA_THROTTLE_H */
