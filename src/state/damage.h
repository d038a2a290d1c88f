/*-------------------------------------------------------------------------
 *
 * damage.h
 *	  Damaged pages and files that the server does not see, or is told not to.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DAMAGE_H
#define TSA_DAMAGE_H

#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "compat.h"

extern void tsa_copy_intact_page(Relation rel, BlockNumber block,
								 Buffer buffer, char *page);
extern void tsa_copy_map_page(Relation rel, ForkNumber fork,
							  BlockNumber block, Buffer buffer, char *page);
extern void tsa_check_cached_pages(Relation rel);
extern void tsa_check_pages(Relation rel);
extern bool tsa_has_data_behind_end(RelFileLocator locator, BlockNumber end);
extern void tsa_check_file_end(Relation rel);
extern void tsa_rethrow_damage(Relation rel, ForkNumber fork,
							   MemoryContext context);

#endif							/* TSA_DAMAGE_H */
