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

/* A tablespace by name; an unknown one is an error with a hint. */
Oid
tsa_find_tablespace(const char *name)
{
	Oid			tablespace = get_tablespace_oid(name, true);

	if (!OidIsValid(tablespace))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tablespace \"%s\" does not exist", name),
				 errhint("\\db in psql lists the tablespaces.")));
	return tablespace;
}

/* A tablespace by name that a relation of a database can be in. */
Oid
tsa_parse_tablespace(const char *name)
{
	Oid			tablespace = tsa_find_tablespace(name);

	if (tablespace == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only shared relations can be placed in pg_global tablespace")));
	return tablespace;
}
