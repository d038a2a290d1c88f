/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  Settings under which statements run that others may have to wait for.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SETTINGS_H
#define TSA_SETTINGS_H

#include "postgres.h"

#include "state/subtransaction.h"

/* Gives a parameter, which this server knows, a value. */
typedef void (*TsaSetter) (const char *name, const char *value);

extern void tsa_set_planner(TsaSetter set);
extern void tsa_set_reading(TsaSetter set);
extern void tsa_plan_as_usual(void);
extern int	tsa_fail_on_damage(void);
extern int	tsa_hurry(void);
extern void tsa_run_briefly(TsaAction action, void *arg);

#endif							/* TSA_SETTINGS_H */
