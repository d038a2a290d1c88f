/*-------------------------------------------------------------------------
 *
 * judge_outcomes.c
 *	  What moves have saved: rows of views, see usual_rows.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "state/usual_rows.h"

PG_FUNCTION_INFO_V1(tsa_outcomes_of_moves);
PG_FUNCTION_INFO_V1(tsa_outcomes_of_statements);

/* outcomes_of_moves() */
Datum
tsa_outcomes_of_moves(PG_FUNCTION_ARGS)
{
	tsa_return_usual_rows(fcinfo,
						  "SELECT o.* FROM tablespace_advisor.outcome_of_move o");
	return (Datum) 0;
}

/* outcomes_of_statements() */
Datum
tsa_outcomes_of_statements(PG_FUNCTION_ARGS)
{
	tsa_return_usual_rows(fcinfo,
						  "SELECT o.* FROM tablespace_advisor.outcome_of_statement o");
	return (Datum) 0;
}
