/*-------------------------------------------------------------------------
 *
 * plan.h
 *	  What a call asks for, and the moves it comes to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PLAN_H
#define TSA_PLAN_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/array.h"

#include "move/job/job.h"

/* The arguments of a call, checked and converted. */
typedef struct TsaMoveOptions
{
	Oid			target;
	Oid			tablespace;		/* InvalidOid: the advice decides */
	ArrayType  *indexes;		/* regclass[] or NULL: all */
	TsaMoveMethod method;
	int64		max_rate;		/* bytes per second, 0: no limit */
	int			lock_timeout_ms;
	bool		wait;
	bool		dry_run;
	bool		hot_only;
	bool		with_indexes;	/* of a table: its indexes too */
	Oid			schema;			/* the extension's, for the advice */
} TsaMoveOptions;

/* One relation to be moved. */
typedef struct TsaMove
{
	Oid			relid;
	Oid			heapid;
	char		kind;
	char		persistence;
	NameData	schema_name;
	NameData	relation_name;
	Oid			source_tablespace;
	NameData	source_name;
	Oid			target_tablespace;
	NameData	target_name;
	TsaMoveMethod method;
	bool		is_valid;
	bool		is_exclusion;
	bool		is_deferrable;
	int64		size_bytes;
	List	   *indexes;		/* of a table: OIDs of those that move along */
	List	   *indexes_from;	/* the tablespaces of these */
	bool		has_forecast;	/* has the advice decided, with a figure? */
	double		forecast_saved_ms_per_s;
} TsaMove;

extern List *tsa_plan_indexes(const TsaMoveOptions *options);
extern List *tsa_plan_index_back(const TsaMoveOptions *options);
extern List *tsa_plan_tables(const TsaMoveOptions *options);
extern List *tsa_plan_table_again(const TsaMoveOptions *options,
								  const TsaJob *job, bool back);
extern void tsa_check_move_rights(Oid heapid, Oid target_tablespace);
extern void tsa_check_free_space(Oid tablespace, int64 needed);
extern const char *tsa_move_method_name(TsaMoveMethod method);
extern bool tsa_move_method_by_name(const char *name, TsaMoveMethod *method);

#endif							/* TSA_PLAN_H */
