/*-------------------------------------------------------------------------
 *
 * assume.h
 *	  Planning as if relations lived elsewhere.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ASSUME_H
#define TSA_ASSUME_H

#include "nodes/pathnodes.h"

extern void tsa_init_assume(void);
extern void tsa_assume_placements(Oid relid, RelOptInfo *rel);

#endif							/* TSA_ASSUME_H */
