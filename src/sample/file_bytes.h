/*-------------------------------------------------------------------------
 *
 * file_bytes.h
 *	  The files of relations of this database, and their sizes.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_FILE_BYTES_H
#define TSA_FILE_BYTES_H

#include "postgres.h"

#include "common/relpath.h"

#include "compat.h"

#define TSA_SEGMENT_BYTES	((int64) RELSEG_SIZE * BLCKSZ)

extern void tsa_make_file_path(char *path, RelFileLocator locator);
extern void tsa_name_segment(char *path, size_t length, int segment);
extern int64 tsa_fork_bytes(const char *path, ForkNumber fork);
extern int64 tsa_file_bytes(Oid tablespace, RelFileNumber filenode,
							bool is_table, bool is_unlogged);

#endif							/* TSA_FILE_BYTES_H */
