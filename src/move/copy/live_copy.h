/*-------------------------------------------------------------------------
 *
 * live_copy.h
 *	  Moves a relation to another tablespace by live block copy.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LIVE_COPY_H
#define TSA_LIVE_COPY_H

#include "postgres.h"

#include "move/copy/callbacks.h"

/*
 * Called outside any transaction; returns outside any transaction when the
 * relation has moved and its old files are small enough to be dropped at one
 * go (or cannot be reached), which is left to the caller; or when the time
 * window has closed, and the copy is to be gone on with.  Throws an error
 * when it could not be moved; the caller then ends the transaction and drops
 * the storage that has been made.  order->indexes follows indexes that are
 * rebuilt meanwhile.
 */
extern void tsa_live_copy(TsaCopyOrder *order,
						  const TsaCopyCallbacks *callbacks,
						  TsaCopyResult *result);

#endif							/* TSA_LIVE_COPY_H */
