/*-------------------------------------------------------------------------
 *
 * kept_copy.h
 *	  The files of a live copy, as the journal keeps them for a copy that goes
 *	  on with them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_KEPT_COPY_H
#define TSA_KEPT_COPY_H

#include "postgres.h"

#include "storage/block.h"

#include "compat.h"

/*
 * A file that a copy makes: of which relation, from which file, and how many
 * blocks of the main fork were there when the last mark was made.
 */
typedef struct TsaKeptCopy
{
	Oid			relid;
	RelFileLocator source;
	RelFileLocator copy;
	BlockNumber blocks;
} TsaKeptCopy;

#endif							/* TSA_KEPT_COPY_H */
