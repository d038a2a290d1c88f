/*-------------------------------------------------------------------------
 *
 * planned_move.h
 *	  A call's request and its moves: planned by plan/, queued by queue.c, and
 *	  run as jobs.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PLANNED_MOVE_H
#define TSA_PLANNED_MOVE_H

#include "postgres.h"

#include "catalog/pg_class.h"
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
	TsaLimits	limits;
	TimestampTz until;			/* nothing begins that would not end by then;
								 * DT_NOEND: whenever */
	int64		lock_up_to;		/* bytes that method "lock" is for; negative:
								 * any size */
	int			lock_timeout_ms;
	bool		wait;
	bool		dry_run;
	bool		hot_only;
	bool		with_indexes;	/* of a table: its indexes too */
	bool		leaves_contended;	/* moves that somebody else is queueing */
	bool		wants_forecast; /* of its savings: a new move, not a retry */
	const char *policy;			/* what wants it there; NULL: the caller */
} TsaMoveOptions;

/* Options that nobody has given yet. */
#define TSA_NO_OPTIONS \
	((TsaMoveOptions) {.limits = TSA_NO_LIMITS, .until = DT_NOEND, \
	 .lock_up_to = -1})

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
	bool		stays;			/* it is where it is to go */
	int64		size_bytes;
	List	   *indexes;		/* of a table: OIDs of those that move along */
	List	   *indexes_from;	/* the tablespaces of these */
	bool		has_forecast;	/* does the advice have a figure? */
	double		forecast_saved_ms_per_s;
} TsaMove;

/* Is this the move of a table, by copy or in the catalogs? */
static inline bool
tsa_move_is_table(const TsaMove *move)
{
	return move->kind != RELKIND_INDEX &&
		move->kind != RELKIND_PARTITIONED_INDEX;
}

#endif							/* TSA_PLANNED_MOVE_H */
