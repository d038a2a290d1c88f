/*-------------------------------------------------------------------------
 *
 * tablespace_relations.h
 *	  The relations of this database in a tablespace, and the settings of its
 *	  objects, one row of text each.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TABLESPACE_RELATIONS_H
#define TSA_TABLESPACE_RELATIONS_H

#include "postgres.h"

#include "tier/rows.h"

extern void tsa_find_relations(Oid tablespace, TsaRowReceiver receive,
							   void *arg);
extern void tsa_find_settings(TsaRowReceiver receive, void *arg);

#endif							/* TSA_TABLESPACE_RELATIONS_H */
