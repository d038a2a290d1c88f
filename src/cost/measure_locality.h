/*-------------------------------------------------------------------------
 *
 * measure_locality.h
 *	  Look at the B-trees of a table and keep what was found.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_MEASURE_LOCALITY_H
#define TSA_MEASURE_LOCALITY_H

#include "postgres.h"

extern bool tsa_measure_locality(Oid index_oid, Oid heap_oid);

#endif							/* TSA_MEASURE_LOCALITY_H */
