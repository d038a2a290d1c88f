/*-------------------------------------------------------------------------
 *
 * run.h
 *	  One run of the probe: all its workloads against one tablespace.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RUN_H
#define TSA_RUN_H

#include "probe/probe_history.h"
#include "probe/probe_request.h"

extern void tsa_probe_run(const TsaProbeRequest *request, TsaProbeRun *run);

#endif							/* TSA_RUN_H */
