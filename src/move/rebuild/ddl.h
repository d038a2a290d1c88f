/*-------------------------------------------------------------------------
 *
 * ddl.h
 *	  A worker's changes of relations by commands of the server.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DDL_H
#define TSA_DDL_H

#include "postgres.h"

#include "move/common/session.h"

extern void tsa_reindex(const TsaSession *session, const char *sql);
extern void tsa_drop_index(const TsaSession *session, Oid relid);
extern void tsa_alter_tablespace(const TsaSession *session, Oid relid,
								 Oid tablespace);

#endif							/* TSA_DDL_H */
