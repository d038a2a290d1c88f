/*-------------------------------------------------------------------------
 *
 * rights.c
 *	  The rights that a move needs.
 *
 * They are checked when a call plans its moves, as the caller; when a worker
 * begins a job; and when the relation has been locked, as the job's owner.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_tablespace.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "move/common/relation.h"

/*
 * The rights that a move needs: ownership of the table, as ALTER INDEX and
 * ALTER TABLE need it, and CREATE on the tablespace unless it is the
 * database's default one.  (REINDEX contents itself with MAINTAIN from
 * version 17 on; a live copy does not, and one rule is easier to know.)
 */
void
tsa_check_move_rights(Oid heapid, Oid target_tablespace)
{
	const char *heap_name = tsa_relation_name(heapid);
	const char *tablespace = tsa_printable_tablespace(target_tablespace);

	if (!tsa_owns_relation(heapid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(heapid)),
					   heap_name);
	if (target_tablespace != MyDatabaseTableSpace)
	{
		AclResult	result = tsa_tablespace_aclcheck(target_tablespace,
													 GetUserId(), ACL_CREATE);

		if (result != ACLCHECK_OK)
			aclcheck_error(result, OBJECT_TABLESPACE, tablespace);
	}
}
