/*-------------------------------------------------------------------------
 *
 * plan.h
 *	  Which relations a call moves, where to, and by which method.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PLAN_H
#define TSA_PLAN_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "move/job/planned_move.h"

/* indexes.c */
extern List *tsa_plan_indexes(const TsaMoveOptions *options);
extern List *tsa_plan_index_back(const TsaMoveOptions *options);

/* tables.c */
extern List *tsa_plan_tables(const TsaMoveOptions *options);
extern List *tsa_plan_table_again(const TsaMoveOptions *options,
								  const TsaJob *job, bool back);

#endif							/* TSA_PLAN_H */
