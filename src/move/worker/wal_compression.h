/*-------------------------------------------------------------------------
 *
 * wal_compression.h
 *	  How the workers of moves compress page images in WAL.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAL_COMPRESSION_H
#define TSA_WAL_COMPRESSION_H

extern void tsa_init_wal_compression(void);
extern void tsa_wal_compression_apply(void);

#endif							/* TSA_WAL_COMPRESSION_H */
