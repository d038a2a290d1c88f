/*-------------------------------------------------------------------------
 *
 * hypertables.h
 *	  Tablespaces that are attached to hypertables of TimescaleDB.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_HYPERTABLES_H
#define TSA_HYPERTABLES_H

#include "postgres.h"

#include "tier/rows.h"

extern void tsa_find_attachments(TsaRowReceiver receive, void *arg);

#endif							/* TSA_HYPERTABLES_H */
