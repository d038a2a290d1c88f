/*-------------------------------------------------------------------------
 *
 * contents.h
 *	  Rows of the extension's own functions, for users that may not call them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CONTENTS_H
#define TSA_CONTENTS_H

#include "postgres.h"

#include "fmgr.h"

#include "move/move.h"

extern void tsa_return_rows(FunctionCallInfo fcinfo, TsaStatement *query,
							Datum *values, const char *nulls);

#endif							/* TSA_CONTENTS_H */
