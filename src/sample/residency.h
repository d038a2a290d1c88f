/*-------------------------------------------------------------------------
 *
 * residency.h
 *	  How much of relations lies in the system's cache.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RESIDENCY_H
#define TSA_RESIDENCY_H

#include "postgres.h"

#include "utils/hsearch.h"

/*
 * The shares of relations' blocks outside of shared buffers that are in the
 * system's cache, NAN: not known, by the numbers of their OIDs; all: the
 * result of tsa_read_relations().
 */
extern double *tsa_cached_shares(HTAB *all, const Datum *oids, int n);

#endif							/* TSA_RESIDENCY_H */
