/*-------------------------------------------------------------------------
 *
 * storage.h
 *	  The files of a live copy that are left over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COPY_STORAGE_H
#define TSA_COPY_STORAGE_H

#include "postgres.h"

#include "access/xlogdefs.h"

#include "compat.h"

extern RelFileLocator tsa_create_storage(Oid tablespace);
extern void tsa_drop_unused_storage(RelFileLocator storage);
extern void tsa_warn_of_unused_storage(RelFileLocator storage);
extern void tsa_shorten_old_storage(const RelFileLocator *storage, int n,
									XLogRecPtr switched_at);

#endif							/* TSA_COPY_STORAGE_H */
