/*-------------------------------------------------------------------------
 *
 * storage.h
 *	  The files of a live copy that are left over.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COPY_STORAGE_H
#define TSA_COPY_STORAGE_H

#include "postgres.h"

#include "compat.h"

extern RelFileLocator tsa_create_storage(Oid tablespace);
extern bool tsa_storage_in_use(RelFileLocator storage);
extern bool tsa_can_drop_storage(const RelFileLocator *storage, int n);
extern void tsa_drop_unused_storage(RelFileLocator storage);
extern void tsa_warn_of_unused_storage(RelFileLocator storage);

#endif							/* TSA_COPY_STORAGE_H */
