/*-------------------------------------------------------------------------
 *
 * eligible.h
 *	  Relations that can be moved by live copy.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ELIGIBLE_H
#define TSA_ELIGIBLE_H

#include "postgres.h"

#include "utils/rel.h"

/*
 * Can this relation be moved by live copy?  If not, *reason is a sentence
 * that says why.  Call in a transaction.
 */
extern bool tsa_copy_applies(Oid relid, const char **reason);

extern bool tsa_is_columnar(Oid relid);
extern const char *tsa_find_index_obstacle(Relation rel);
extern bool tsa_has_standard_pages(Relation rel);

#endif							/* TSA_ELIGIBLE_H */
