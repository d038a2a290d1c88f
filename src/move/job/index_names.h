/*-------------------------------------------------------------------------
 *
 * index_names.h
 *	  The names of the indexes that move along with a job's table.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_INDEX_NAMES_H
#define TSA_INDEX_NAMES_H

#include "postgres.h"

/*
 * As the result's only row has them: for so many indexes, in the given context.
 * Empty: not known.
 */
extern NameData *tsa_index_names_of_result(int nindexes,
										   MemoryContext context);

#endif							/* TSA_INDEX_NAMES_H */
