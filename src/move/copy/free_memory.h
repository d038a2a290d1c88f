/*-------------------------------------------------------------------------
 *
 * free_memory.h
 *	  How much memory the system's cache may take without taking it from
 *	  others.
 *
 * Pure: no server headers, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_FREE_MEMORY_H
#define TSA_FREE_MEMORY_H

#include <stdint.h>

extern int64_t tsa_free_memory(const char *root);

#endif							/* TSA_FREE_MEMORY_H */
