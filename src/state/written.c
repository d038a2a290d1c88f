/*-------------------------------------------------------------------------
 *
 * written.c
 *	  Names in statements for people, as short as they may be typed; numbers.
 *
 * A statement that is printed is run later, in the session that asked for it,
 * with the rights of its user.  A schema and the types of literals are left
 * out if that session's search_path finds the same without them: the relation
 * is the first of its name, and no other function or procedure has that name
 * in a schema of the path.  Otherwise a role with the right to create objects
 * in one of these schemas could have made one that fits the call better.
 *
 * The search_path of the session is not the present one, since functions of the
 * extension set their own.  It is the newest value that a function of another
 * path has not saved: each level of settings holds the value before it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "compat.h"
#include "state/bounded.h"
#include "state/written.h"

PG_FUNCTION_INFO_V1(tsa_written_relation);
PG_FUNCTION_INFO_V1(tsa_written_name);
PG_FUNCTION_INFO_V1(tsa_needs_types);
PG_FUNCTION_INFO_V1(tsa_one_line);
PG_FUNCTION_INFO_V1(tsa_round_to_three);

/* The path of this extension's functions. */
#define OWN_PATH "pg_catalog, pg_temp"

/* The search_path of the extension's caller. */
static const char *
callers_path(void)
{
	const char *path = namespace_search_path;
	struct config_generic *parameter = tsa_find_parameter("search_path");

	for (GucStack *level = parameter->stack;
		 level != NULL && strcmp(path, OWN_PATH) == 0 &&
		 level->state == GUC_SAVE;
		 level = level->prev)
		if (level->prior.val.stringval != NULL)
			path = level->prior.val.stringval;
	return path;
}

/* A schema of the path, if it is there and the caller may use it. */
static Oid
schema_of_path(const char *name)
{
	Oid			caller = GetOuterUserId();
	Oid			schema;

	if (strcmp(name, "pg_temp") == 0)
		return LookupNamespaceNoError(name);
	schema = get_namespace_oid(strcmp(name, "$user") == 0 ?
							   GetUserNameFromId(caller, false) : name, true);
	if (OidIsValid(schema) &&
		tsa_schema_aclcheck(schema, caller, ACL_USAGE) != ACLCHECK_OK)
		return InvalidOid;
	return schema;
}

/*
 * The schemas in which the caller's names are looked up, in that order; with
 * that of temporary relations, which has no functions.
 */
static List *
callers_schemas(void)
{
	const char *path = callers_path();
	List	   *names;
	List	   *schemas = NIL;
	ListCell   *cell;

	/* of an endless one nothing is looked up: all names are written in full */
	if (strlen(path) > TSA_MAX_TEXT ||
		!SplitIdentifierString(pstrdup(path), ',', &names))
		return NIL;
	foreach(cell, names)
	{
		Oid			schema = schema_of_path(lfirst(cell));

		if (OidIsValid(schema))
			schemas = list_append_unique_oid(schemas, schema);
	}
	if (!list_member_oid(schemas, PG_CATALOG_NAMESPACE))
		schemas = lcons_oid(PG_CATALOG_NAMESPACE, schemas);
	if (OidIsValid(LookupNamespaceNoError("pg_temp")) &&
		!list_member_oid(schemas, LookupNamespaceNoError("pg_temp")))
		schemas = lcons_oid(LookupNamespaceNoError("pg_temp"), schemas);
	return schemas;
}

/* written_relation(relation): for a literal of type regclass. */
Datum
tsa_written_relation(PG_FUNCTION_ARGS)
{
	Oid			relation = PG_GETARG_OID(0);
	char	   *name = get_rel_name(relation);
	char	   *schema;
	ListCell   *cell;

	if (name == NULL)
		PG_RETURN_TEXT_P(cstring_to_text(psprintf("%u", relation)));
	foreach(cell, callers_schemas())
	{
		Oid			found = get_relname_relid(name, lfirst_oid(cell));

		if (found == relation)
			PG_RETURN_TEXT_P(cstring_to_text(quote_identifier(name)));
		if (OidIsValid(found))
			break;
	}
	schema = get_namespace_name(get_rel_namespace(relation));
	PG_RETURN_TEXT_P(cstring_to_text(quote_qualified_identifier(schema,
																name)));
}

/* How many functions and procedures of a name are in one of these schemas? */
static int
count_functions(Name name, List *schemas, Oid wanted, bool *is_found)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, NameGetDatum(name));
	int			count = 0;

	*is_found = false;
	for (int i = 0; i < list->n_members; i++)
	{
		HeapTuple	tuple = &list->members[i]->tuple;
		Oid			schema = ((Form_pg_proc) GETSTRUCT(tuple))->pronamespace;

		if (!list_member_oid(schemas, schema))
			continue;
		count++;
		if (schema == wanted)
			*is_found = true;
	}
	ReleaseSysCacheList(list);
	return count;
}

/* written_name(name, schema): a function of the extension, to be called. */
Datum
tsa_written_name(PG_FUNCTION_ARGS)
{
	Name		name = PG_GETARG_NAME(0);
	Oid			schema = PG_GETARG_OID(1);
	bool		is_found;
	int			count = count_functions(name, callers_schemas(), schema,
										&is_found);
	const char *qualifier = count == 1 && is_found ? NULL :
	get_namespace_name(schema);
	char	   *written = quote_qualified_identifier(qualifier, NameStr(*name));

	PG_RETURN_TEXT_P(cstring_to_text(written));
}

/*
 * needs_types(name, schema): is another function of that name in the
 * extension's schema, which untyped literals could suit better?
 */
Datum
tsa_needs_types(PG_FUNCTION_ARGS)
{
	bool		is_found;

	PG_RETURN_BOOL(count_functions(PG_GETARG_NAME(0),
								   list_make1_oid(PG_GETARG_OID(1)),
								   PG_GETARG_OID(1), &is_found) != 1);
}

/*
 * A measured number with three significant digits.  The server prints numbers
 * below 0.0001 with an exponent: they are 0.
 */
double
tsa_three_digits(double number)
{
	static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
	char		digits[32];
	double		size = fabs(number);

	if (size < 0.0001)
		return 0;
	/* all digits as an integer, and not half way: needs no text */
	if (size < 999)
	{
		int			places = size >= 100 ? 0 : size >= 10 ? 1 :
		size >= 1 ? 2 : size >= 0.1 ? 3 : size >= 0.01 ? 4 :
		size >= 0.001 ? 5 : 6;
		double		scaled = size * powers[places];
		double		whole = rint(scaled);

		if (fabs(fabs(scaled - whole) - 0.5) > 1e-9 && whole < 1000)
			return copysign(whole / powers[places], number);
	}
	snprintf(digits, sizeof(digits), "%.2e", number);
	return strtod(digits, NULL);
}

/* round_to_three(number): the number with three significant digits. */
Datum
tsa_round_to_three(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(tsa_three_digits(PG_GETARG_FLOAT8(0)));
}

/* A line, cut to so many characters, with "..." at the end if it was longer. */
char *
tsa_cut_line(char *line, int width)
{
	int			length = strlen(line);

	if (length <= width || pg_mbstrlen_with_len(line, length) <= width)
		return line;
	length = pg_mbcharcliplen(line, length, Max(width - 3, 0));
	return psprintf("%.*s...", length, line);
}

/* one_line(line, width) */
Datum
tsa_one_line(PG_FUNCTION_ARGS)
{
	char	   *line = text_to_cstring(PG_GETARG_TEXT_PP(0));

	PG_RETURN_TEXT_P(cstring_to_text(tsa_cut_line(line, PG_GETARG_INT32(1))));
}
