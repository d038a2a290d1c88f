/*-------------------------------------------------------------------------
 *
 * cost.h
 *	  The stage that turns measured times into planner costs.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COST_H
#define TSA_COST_H

#include "nodes/pathnodes.h"
#include "utils/relcache.h"

#include "cost/page_cost.h"

/* assume.c: planning as if relations lived elsewhere */
extern void tsa_init_assume(void);
extern void tsa_assume_placements(Oid relid, RelOptInfo *rel);

/* assume_tablespace.c: advice as if there were other tablespaces */
extern void (*tsa_before_assumption) (void);
extern void tsa_forget_tablespaces(void);
extern Oid	tsa_assumed_tablespace_oid(const char *name);
extern const char *tsa_assumed_tablespace_name(Oid oid);

/* explain.c */
extern void tsa_init_explain(void);

/* A table when a locality was measured, NaN: not known. */
typedef struct TsaTableThen
{
	double		correlation;	/* of the index */
	double		replaced_rows;	/* counted until then */
} TsaTableThen;

/* keep_advice.c */
extern void tsa_init_keep_advice(void);

/* locality_stale.c: does a measured locality still describe the table? */
extern void tsa_table_look(Relation index, Oid table, TsaTableThen *now);
extern const char *tsa_table_change(Oid index_oid, Oid table, double rows,
									const TsaTableThen *then, uint32 *key);

/* planner.c */
extern bool tsa_correct_locality;
extern void tsa_init_cost(void);

/* renew_locality.c */
extern void tsa_init_renew_locality(void);

/* scan_costs.c */
extern void tsa_cost_settings_fill(TsaCostSettings *settings);

#endif							/* TSA_COST_H */
