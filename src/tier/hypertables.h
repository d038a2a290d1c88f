/*-------------------------------------------------------------------------
 *
 * hypertables.h
 *	  Tablespaces that are attached to hypertables of TimescaleDB.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_HYPERTABLES_H
#define TSA_HYPERTABLES_H

#include "postgres.h"

#include "tier/rows.h"

extern void tsa_find_attachments(TsaRowReceiver receive, void *arg);

#endif							/* TSA_HYPERTABLES_H */
