/*-------------------------------------------------------------------------
 *
 * member_rows.h
 *	  Rows of another extension's table.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_MEMBER_ROWS_H
#define TSA_MEMBER_ROWS_H

#include "postgres.h"

/* Takes the columns of a row as text; false: no more rows are wanted. */
typedef bool (*TsaMemberReceiver) (char **values, void *arg);

extern void tsa_read_member_rows(const char *extension, const char *table,
								 const char *const *names, int ncolumns,
								 TsaMemberReceiver receive, void *arg);
extern bool tsa_can_read_member(const char *extension, const char *table,
								const char *const *names, int ncolumns);

#endif							/* TSA_MEMBER_ROWS_H */
