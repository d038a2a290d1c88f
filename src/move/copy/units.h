/*-------------------------------------------------------------------------
 *
 * units.h
 *	  The units in which a live copy works, and its sleeps between them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_UNITS_H
#define TSA_UNITS_H

#include "postgres.h"

#include "storage/block.h"
#include "utils/rel.h"

#include "compat.h"
#include "move/common/limits.h"
#include "move/copy/callbacks.h"

typedef struct TsaUnits TsaUnits;

/* [T] Begins to work; the state is in the given context. */
extern TsaUnits *tsa_units_open(MemoryContext context,
								const TsaCopyOrder *order);

/*
 * [T] In each transaction of a pass: counts the copies under way, and takes
 * these limits.  others_left: bytes left of the other moves of the call.  True
 * if the limits are others than before.
 */
extern bool tsa_units_renew(TsaUnits *units, const TsaLimits * limits,
							int64 others_left);

/* When it is to have ended, for people. */
extern const char *tsa_units_finish_by(const TsaUnits *units);

/* So many bytes are left to copy.  True if it cannot end in time. */
extern bool tsa_units_aim(TsaUnits *units, int64 left);

/*
 * [T] The copy will read this fork from block "from" on, up to "end" at most:
 * asks for what is left of the unit.
 */
extern void tsa_units_read_ahead(TsaUnits *units, Relation rel,
								 ForkNumber fork, BlockNumber from,
								 BlockNumber end);

/* The copy has read for so many milliseconds. */
extern void tsa_units_note_read(TsaUnits *units, double ms);

/* These blocks have been written to the end of a fork of the new storage. */
extern void tsa_units_note_written(TsaUnits *units, RelFileLocator locator,
								   ForkNumber fork, BlockNumber from,
								   BlockNumber nblocks);

/*
 * [T] So many bytes have been copied.  Milliseconds to sleep now; if there are
 * any, tsa_units_wake() has to follow.  all_speed: no rate is kept.
 */
extern double tsa_units_work(TsaUnits *units, uint64 bytes, bool all_speed);
extern void tsa_units_wake(TsaUnits *units);

/* What has happened since the last call counts neither as work nor as sleep. */
extern void tsa_units_skip(TsaUnits *units);

/*
 * As tsa_units_skip(), after a pause of so many milliseconds that nobody has
 * asked for: it tells what is to be expected.
 */
extern void tsa_units_skip_pause(TsaUnits *units, double ms);

/* Percent of what others could do that they did not; negative: not known. */
extern double tsa_units_others_lost(const TsaUnits *units);

/*
 * Bytes per second at present, negative: not known; and why, for people, also
 * with what was looked at.
 */
extern double tsa_units_rate(const TsaUnits *units);
extern const char *tsa_units_reason(const TsaUnits *units);
extern const char *tsa_units_explain(TsaUnits *units);

#endif							/* TSA_UNITS_H */
