/*-------------------------------------------------------------------------
 *
 * cached_pages.h
 *	  Which pages of a file are in the system's cache.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CACHED_PAGES_H
#define TSA_CACHED_PAGES_H

#include "postgres.h"

/*
 * Looks at a piece of an open file.  offset is a multiple of the system's page
 * size; pages has a byte for each page; the lowest bit says that it is in the
 * cache.  False if the system does not say.
 */
extern bool tsa_look_at_pages(int fd, int64 offset, size_t length,
							  unsigned char *pages);

#endif							/* TSA_CACHED_PAGES_H */
