/*-------------------------------------------------------------------------
 *
 * locality_stale.h
 *	  Does a measured locality still describe the table?
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOCALITY_STALE_H
#define TSA_LOCALITY_STALE_H

#include "utils/relcache.h"

extern double tsa_index_correlation(Relation index, uint32 *key);
extern bool tsa_locality_is_stale(Oid index_oid, double then, uint32 *key);

#endif							/* TSA_LOCALITY_STALE_H */
