/*-------------------------------------------------------------------------
 *
 * devices.h
 *	  The storage under a tablespace.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DEVICES_H
#define TSA_DEVICES_H

#include "probe/mount_storage.h"

extern char *tsa_get_tablespace_path(Oid tablespace);
extern bool tsa_describe_open_file(int fd, TsaStorage *storage);

#endif							/* TSA_DEVICES_H */
