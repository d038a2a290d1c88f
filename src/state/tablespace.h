/*-------------------------------------------------------------------------
 *
 * tablespace.h
 *	  Tablespaces that callers name.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TABLESPACE_H
#define TSA_TABLESPACE_H

#include "postgres.h"

extern Oid	tsa_find_tablespace(const char *name);
extern Oid	tsa_parse_tablespace(const char *name);

#endif							/* TSA_TABLESPACE_H */
