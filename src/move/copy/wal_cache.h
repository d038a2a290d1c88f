/*-------------------------------------------------------------------------
 *
 * wal_cache.h
 *	  The WAL of a copy does not stay in the system's cache.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAL_CACHE_H
#define TSA_WAL_CACHE_H

#include "postgres.h"

#include "access/xlogdefs.h"

/*
 * [T] All WAL before a position has been read.  Drops the segments of WAL
 * before it, from segment *from on, which the first call sets (0: not yet).
 */
extern void tsa_drop_read_wal(XLogRecPtr position, XLogSegNo *from);

#endif							/* TSA_WAL_CACHE_H */
