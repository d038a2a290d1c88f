/*-------------------------------------------------------------------------
 *
 * usual_rows.c
 *	  Rows of the extension's own views and functions, for a caller with its own
 *	  rights, whose plans the owner of the database does not choose.
 *
 * The owner sets the planner's parameters for everybody who connects (ALTER
 * DATABASE ... SET), and a view is planned by those of the session.  A C
 * function runs the query instead, by settings.c's.  It runs as the caller, by
 * the snapshot that the caller's query has, so rights and rows are those of the
 * view.  The parameters are the caller's again when it returns, or fails: then
 * the subtransaction or transaction that ends closes the nest level.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "utils/guc.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "state/settings.h"
#include "state/usual_rows.h"

/*
 * Returns the rows of a query, which is a constant, as the result of the
 * function that SQL has called.  Its columns are the function's.
 */
void
tsa_return_usual_rows(FunctionCallInfo fcinfo, const char *query)
{
	int			level = NewGUCNestLevel();
	ReturnSetInfo *result;
	int			rc;

	InitMaterializedSRF(fcinfo, 0);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	tsa_plan_as_usual();
	SPI_connect();
	rc = SPI_execute(query, true, 0);
	if (rc != SPI_OK_SELECT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("SPI_execute failed: %s",
								 SPI_result_code_string(rc))));
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(result->setResult, SPI_tuptable->vals[i]);
	SPI_finish();
	AtEOXact_GUC(false, level);
}
