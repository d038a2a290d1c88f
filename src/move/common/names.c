/*-------------------------------------------------------------------------
 *
 * names.c
 *	  Names of relations and tablespaces, for messages and commands.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "utils/lsyscache.h"

#include "move/common/relation.h"
#include "state/printable.h"

/*
 * The name of a tablespace.  Nothing holds a tablespace that is empty, so it
 * may have been dropped since its OID was noted.
 */
const char *
tsa_tablespace_name(Oid tablespace)
{
	const char *name = get_tablespace_name(tablespace);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("tablespace with OID %u does not exist",
						tablespace)));
	return name;
}

/*
 * The same for a message.
 */
const char *
tsa_printable_tablespace(Oid tablespace)
{
	return tsa_printable_text(tsa_tablespace_name(tablespace));
}

/*
 * The name of a relation for a message.  It may have been dropped as well.
 */
const char *
tsa_relation_name(Oid relid)
{
	const char *name = get_rel_name(relid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return tsa_printable_text(name);
}

/*
 * The word for a relation of this kind in messages.
 */
const char *
tsa_relation_kind_name(char kind)
{
	switch (kind)
	{
		case RELKIND_INDEX:
		case RELKIND_PARTITIONED_INDEX:
			return "index";
		case RELKIND_MATVIEW:
			return "materialized view";
		default:
			return "table";
	}
}
