/*-------------------------------------------------------------------------
 *
 * rules.h
 *	  What the planning of moves is made of: for the files plan*.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PLAN_RULES_H
#define TSA_PLAN_RULES_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "move/plan/plan.h"

extern List *tsa_load_indexes(Oid target);
extern List *tsa_load_tables(Oid target);
extern TsaMove *tsa_find_move(List *moves, Oid relid);
extern List *tsa_restrict_to_advice(List *moves,
									const TsaMoveOptions *options);

extern const char *tsa_move_kind_name(char kind);
extern const char *tsa_move_display_name(const TsaMove *move);
extern bool tsa_move_is_table(const TsaMove *move);
extern void tsa_check_move_target(Oid target);
extern bool tsa_plan_move(TsaMove *move, const TsaMoveOptions *options);
extern void tsa_announce_move(const TsaMove *move, const TsaMove *companion_of,
							  const TsaMoveOptions *options);
extern void tsa_check_space_of_moves(List *moves);

#endif							/* TSA_PLAN_RULES_H */
