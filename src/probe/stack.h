/*-------------------------------------------------------------------------
 *
 * stack.h
 *	  The layers between a mount and the disks.
 *
 * Pure: no server headers, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_STACK_H
#define TSA_STACK_H

#include <stdint.h>

#include "probe/mount_storage.h"

/* message of a layer to the one above */
typedef struct TsaVerdict
{
	TsaMedia	media;
	TsaTri		redundant;
	TsaTri		is_volatile;
	uint64_t	leaves;			/* bit n: leaves[n] of the storage */
} TsaVerdict;

extern bool tsa_find_device_of_mount(const char *root, const TsaMount *mount,
									 char *name, size_t size);
extern TsaVerdict tsa_walk_stack(const char *root, const TsaMount *mount,
								 TsaStorage *storage);

#endif							/* TSA_STACK_H */
