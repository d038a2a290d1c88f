/*-------------------------------------------------------------------------
 *
 * cached_pages.c
 *	  Which pages of a file are in the system's cache.
 *
 * mincore() says it of a mapped file.  Pages are never touched through the
 * mapping, so a file that is truncated meanwhile raises no signal.  The mapping
 * is removed before the function returns and cannot leak.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "sample/cached_pages.h"

/*
 * See cached_pages.h.
 */
bool
tsa_look_at_pages(int fd, int64 offset, size_t length, unsigned char *pages)
{
	void	   *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, offset);
	bool		known;

	if (map == MAP_FAILED)
		return false;
	known = mincore(map, length, pages) == 0;
	munmap(map, length);
	return known;
}
