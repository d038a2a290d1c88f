/*-------------------------------------------------------------------------
 *
 * pause_conditions.h
 *	  When a live copy has to pause, for the sake of standbys, the archive and
 *	  disks, or because somebody asked.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PAUSE_CONDITIONS_H
#define TSA_PAUSE_CONDITIONS_H

#include "postgres.h"

#include "access/xlogdefs.h"

#include "move/copy/callbacks.h"

extern void tsa_init_pause_conditions(void);

/*
 * [T] Why the copy has to pause now, in words that can follow "paused: ", or
 * NULL.  The words are in the current memory context.  left: bytes yet to be
 * written to the target.  standbys_at: the WAL position that synchronous
 * standbys must have flushed; 0 for "about all".  Throws an error when the
 * target is too full to go on.  Reloads the configuration if that was asked
 * for.
 */
extern const char *tsa_find_pause_reason(const TsaCopyOrder *order,
										 const TsaCopyCallbacks *callbacks,
										 uint64 left,
										 XLogRecPtr standbys_at);

#endif							/* TSA_PAUSE_CONDITIONS_H */
