/*-------------------------------------------------------------------------
 *
 * load.h
 *	  The relations that a call's target comes to.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PLAN_LOAD_H
#define TSA_PLAN_LOAD_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "move/job/planned_move.h"

extern List *tsa_load_indexes(Oid target);
extern List *tsa_load_tables(Oid target);
extern TsaMove *tsa_find_move(List *moves, Oid relid);

#endif							/* TSA_PLAN_LOAD_H */
