/*-------------------------------------------------------------------------
 *
 * rules.h
 *	  The rules of every move.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PLAN_RULES_H
#define TSA_PLAN_RULES_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "move/job/planned_move.h"

extern const char *tsa_move_display_name(const TsaMove *move);
extern void tsa_check_move_target(Oid target);
extern bool tsa_plan_move(TsaMove *move, const TsaMoveOptions *options);
extern void tsa_announce_move(const TsaMove *move, const TsaMove *moved_with,
							  const TsaMoveOptions *options);
extern void tsa_announce_total(const List *moves);
extern void tsa_report_staying(List *moves);
extern void tsa_check_space_of_moves(List *moves);

#endif							/* TSA_PLAN_RULES_H */
