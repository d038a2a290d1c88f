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

#include "cost/page_cost.h"

/* explain.c */
extern void tsa_init_explain(void);

/* planner.c */
extern bool tsa_correct_locality;
extern void tsa_init_cost(void);

/* scan_costs.c */
extern void tsa_cost_settings_fill(TsaCostSettings *settings);

#endif							/* TSA_COST_H */
