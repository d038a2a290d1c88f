/*-------------------------------------------------------------------------
 *
 * usual_rows.h
 *	  Rows of the extension's own views and functions, planned as by default.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_USUAL_ROWS_H
#define TSA_USUAL_ROWS_H

#include "postgres.h"

#include "fmgr.h"

extern void tsa_return_usual_rows(FunctionCallInfo fcinfo, const char *query);

#endif							/* TSA_USUAL_ROWS_H */
