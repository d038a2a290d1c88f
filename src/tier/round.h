/*-------------------------------------------------------------------------
 *
 * round.h
 *	  Planned moves of many relations: queued, awaited, reported.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ROUND_H
#define TSA_ROUND_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "postmaster/bgworker.h"

#include "move/move.h"

/* The columns that tsa_load_moves() reads, of functions that plan. */
#define TSA_MOVE_COLUMNS \
	"p.relation, p.heap, p.kind, p.schema_name, p.relation_name," \
	" p.persistence, p.tablespace, p.to_tablespace, p.size_bytes, p.method," \
	" p.goes_along"

/*
 * Other columns of apply_placement(): the wave of each, whether they go back.
 */
typedef struct TsaRoundPlan
{
	List	   *waves;
	bool		is_undo;
} TsaRoundPlan;

extern List *tsa_load_moves(TsaStatement *query, Datum *values,
							const char *nulls, const TsaMoveOptions *options,
							TsaRoundPlan *plan);
extern List *tsa_queue_round(List *moves, const TsaMoveOptions *options,
							 BackgroundWorkerHandle **handle);
extern void tsa_await_round(List *ids, BackgroundWorkerHandle *handle);
extern List *tsa_run_round(List *moves, const TsaMoveOptions *options);
extern void tsa_check_create_right(Oid tablespace);
extern void tsa_report_moved(List *ids);
extern Datum tsa_job_id_array(List *ids);

#endif							/* TSA_ROUND_H */
