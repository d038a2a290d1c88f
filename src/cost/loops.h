/*-------------------------------------------------------------------------
 *
 * loops.h
 *	  In which order a nested loop repeats the scan on its inner side.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOOPS_H
#define TSA_LOOPS_H

#include "nodes/pathnodes.h"

#include "cost/correction.h"

extern bool tsa_reads_again(const PlannerInfo *root, const IndexPath *path);
extern void tsa_describe_loops(PlannerInfo *root, const IndexPath *path,
							   TsaLocalScan *local);

#endif							/* TSA_LOOPS_H */
