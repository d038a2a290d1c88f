/*-------------------------------------------------------------------------
 *
 * describe.h
 *	  Describes the storage of a mount.
 *
 * Pure module: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DESCRIBE_H
#define TSA_DESCRIBE_H

#include "probe/mount_storage.h"

extern bool tsa_describe_storage(const char *root, int mount_id,
								 TsaStorage *storage);

#endif							/* TSA_DESCRIBE_H */
