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
#include "move/copy/callbacks.h"

typedef struct TsaUnits TsaUnits;

/* [T] Begins to work; the state is in the given context. */
extern TsaUnits *tsa_units_open(MemoryContext context,
								const TsaCopyOrder *order);

/* [T] In each transaction of a pass: counts the copies under way. */
extern void tsa_units_renew(TsaUnits *units);

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
 * any, tsa_units_wake() has to follow.  all_speed: the pace is not to be kept.
 */
extern double tsa_units_work(TsaUnits *units, uint64 bytes, bool all_speed);
extern void tsa_units_wake(TsaUnits *units);

/* What has happened since the last call counts neither as work nor as sleep. */
extern void tsa_units_skip(TsaUnits *units);

/* Bytes per second at present, negative: not known; and why, for people. */
extern double tsa_units_rate(const TsaUnits *units);
extern const char *tsa_units_reason(const TsaUnits *units);

#endif							/* TSA_UNITS_H */
