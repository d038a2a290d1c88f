/*-------------------------------------------------------------------------
 *
 * tablespace.c
 *	  Tablespaces that callers name.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_tablespace_d.h"
#include "commands/tablespace.h"

#include "state/tablespace.h"

/* A tablespace by name that a relation of a database can be in. */
Oid
tsa_parse_tablespace(const char *name)
{
	Oid			tablespace = get_tablespace_oid(name, false);

	if (tablespace == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only shared relations can be placed in pg_global tablespace")));
	return tablespace;
}
