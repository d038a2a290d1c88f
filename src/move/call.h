/*-------------------------------------------------------------------------
 *
 * call.h
 *	  Code that the procedures that move relations have in common.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CALL_H
#define TSA_CALL_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pg_list.h"

#include "move/job/planned_move.h"

/* The numbers of arguments that all these procedures have. */
typedef struct TsaMoveArgs
{
	int			max_rate;
	int			min_rate;
	int			lock_timeout;
	int			wait;
	int			dry_run;
	int			until;
	int			finish_by;
	int			during;
} TsaMoveArgs;

extern void tsa_refuse_when_read_only(void);
extern void tsa_begin_call(FunctionCallInfo fcinfo);
extern Datum tsa_required_arg(FunctionCallInfo fcinfo, int n,
							  const char *name);
extern void tsa_parse_max_rate(Datum rate, TsaLimits *limits);
extern int	tsa_parse_lock_timeout(const Interval *timeout);
extern void tsa_parse_during(Datum during, TsaLimits *limits);
extern void tsa_parse_min_rate(Datum rate, TsaLimits *limits);
extern void tsa_check_limits(const TsaLimits *limits);
extern void tsa_parse_move_options(FunctionCallInfo fcinfo,
								   const TsaMoveArgs *args,
								   TsaMoveOptions *options);
extern Datum tsa_job_ids_row(FunctionCallInfo fcinfo, List *ids);

#endif							/* TSA_CALL_H */
