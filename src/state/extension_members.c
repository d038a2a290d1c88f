/*-------------------------------------------------------------------------
 *
 * extension_members.c
 *	  Functions and tables of other extensions, by OID.
 *
 * Objects that are called or read with a superuser's rights are never named in
 * a statement.  A name can become somebody else's between the look at its
 * owner and its use: the owner of the schema renames it and makes another one,
 * and a statement that waits for a lock on a table looks its name up again
 * after that.  So members are found here, and called and read by OID.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "utils/catcache.h"
#include "utils/syscache.h"

#include "state/extension_members.h"

/*
 * The extension's function in C of that name with one argument, of that type,
 * or with none (InvalidOid); InvalidOid if there is none.
 */
Oid
tsa_extension_function(const char *extension, const char *name, Oid argument)
{
	Oid			owner = get_extension_oid(extension, true);
	Oid			found = InvalidOid;
	CatCList   *list;

	if (!OidIsValid(owner))
		return InvalidOid;
	list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_proc form =
		(Form_pg_proc) GETSTRUCT(&list->members[i]->tuple);

		if (form->prolang == ClanguageId &&
			form->pronargs == (OidIsValid(argument) ? 1 : 0) &&
			(!OidIsValid(argument) ||
			 form->proargtypes.values[0] == argument) &&
			getExtensionOfObject(ProcedureRelationId, form->oid) == owner)
			found = form->oid;
	}
	ReleaseSysCacheList(list);
	return found;
}

/*
 * The extension's ordinary table of that name; InvalidOid if there is none.
 */
Oid
tsa_extension_table(const char *extension, const char *name)
{
	Oid			owner = get_extension_oid(extension, true);
	Oid			found = InvalidOid;
	CatCList   *list;

	if (!OidIsValid(owner))
		return InvalidOid;
	list = SearchSysCacheList1(RELNAMENSP, CStringGetDatum(name));
	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_class form =
		(Form_pg_class) GETSTRUCT(&list->members[i]->tuple);

		if (form->relkind == RELKIND_RELATION &&
			getExtensionOfObject(RelationRelationId, form->oid) == owner)
			found = form->oid;
	}
	ReleaseSysCacheList(list);
	return found;
}
