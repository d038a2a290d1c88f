/*-------------------------------------------------------------------------
 *
 * health_rows.c
 *	  Health: rows of a function, see usual_rows.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "state/usual_rows.h"

PG_FUNCTION_INFO_V1(tsa_health);

/* tablespace_advisor_health() */
Datum
tsa_health(PG_FUNCTION_ARGS)
{
	tsa_return_usual_rows(fcinfo,
						  "SELECT h.* FROM tablespace_advisor.all_health() h");
	return (Datum) 0;
}
