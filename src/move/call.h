/*-------------------------------------------------------------------------
 *
 * call.h
 *	  What the procedures that move relations have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CALL_H
#define TSA_CALL_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pg_list.h"

#include "move/job/move.h"

extern void tsa_refuse_when_read_only(void);
extern void tsa_check_call(FunctionCallInfo fcinfo);
extern Datum tsa_required_arg(FunctionCallInfo fcinfo, int n,
							  const char *name);
extern void tsa_parse_move_options(FunctionCallInfo fcinfo, int first,
								   TsaMoveOptions *options);
extern Oid	tsa_parse_tablespace(const char *name);
extern Datum tsa_job_ids_row(FunctionCallInfo fcinfo, List *ids);

#endif							/* TSA_CALL_H */
