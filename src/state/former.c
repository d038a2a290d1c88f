/*-------------------------------------------------------------------------
 *
 * former.c
 *	  Entry points of C functions that version 1.0 has and this one lacks.
 *
 * CREATE EXTENSION ... VERSION '1.0' looks each of its C functions up in the
 * library.  A database with the extension at 1.0 may call one before ALTER
 * EXTENSION UPDATE.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

/*
 * Defines a function that fails with 55000 and asks for the update.
 */
#define FORMER_FUNCTION(name) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		ereport(ERROR, \
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), \
				 errmsg("function \"%s\" is not in this version", \
						#name), \
				 errhint("Run ALTER EXTENSION tablespace_advisor UPDATE."))); \
		PG_RETURN_NULL(); \
	}

FORMER_FUNCTION(tsa_cache_exponent)
FORMER_FUNCTION(tsa_choose_within)
FORMER_FUNCTION(tsa_depth_at_rate)
FORMER_FUNCTION(tsa_depth_in_loop)
FORMER_FUNCTION(tsa_latencies_of_set)
FORMER_FUNCTION(tsa_latency_at_depth)
FORMER_FUNCTION(tsa_max_read_rate)
FORMER_FUNCTION(tsa_plan_moves)
FORMER_FUNCTION(tsa_savings_by_room)
