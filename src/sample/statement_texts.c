/*-------------------------------------------------------------------------
 *
 * statement_texts.c
 *	  statement_texts(): the texts of this database's statements, by
 *	  pg_stat_statements.
 *
 * pg_stat_statements() is called as the current user, so that it decides which
 * texts that user may read.  A text is somebody else's: only the start of a
 * long one is read (state/bounded.h), white space becomes single spaces, the
 * rest is cut, and control characters are replaced, so that no line of a
 * report can be taken for another one.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "parser/scansup.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "sample/statements.h"
#include "state/bounded.h"
#include "state/extension_members.h"
#include "state/printable.h"

PG_FUNCTION_INFO_V1(tsa_statement_texts);

/* The columns of the rows of pg_stat_statements() that are read. */
enum
{
	DATABASE, USERID, QUERYID, QUERY, NCOLUMNS
};

/* Where rows go to, and the longest text in characters. */
typedef struct TextStore
{
	ReturnSetInfo *result;
	int			max_length;
} TextStore;

/*
 * A palloc'd copy of a text of so many bytes on one line, at most so many
 * characters long; one that is cut ends with three dots.
 */
static char *
text_on_one_line(const char *text, int bytes, int max_length)
{
	int			length = pg_mbcliplen(text, bytes, bytes);
	char	   *line = palloc(length + 1);
	int			used = 0;
	int			kept;

	for (int i = 0; i < length; i++)
	{
		if (!scanner_isspace(text[i]))
			line[used++] = text[i];

		else if (used > 0 && line[used - 1] != ' ')
			line[used++] = ' ';
	}
	if (used > 0 && line[used - 1] == ' ')
		used--;
	line[used] = '\0';
	kept = pg_mbcharcliplen(line, used, max_length);
	if (kept < used && max_length > 3)
	{
		kept = pg_mbcharcliplen(line, used, max_length - 3);
		line[kept] = '\0';
		return psprintf("%s...", tsa_printable_text(line));
	}
	line[kept] = '\0';
	return tsa_printable_text(line);
}

/* Adds a row for a statement of this database if its text may be read. */
static void
store_statement(TextStore *store, TupleTableSlot *slot, const int *columns)
{
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS];
	Datum		row[3];
	struct varlena *text;
	bool		row_nulls[3] = {false, false, false};

	for (int i = 0; i < NCOLUMNS; i++)
	{
		values[i] = slot_getattr(slot, columns[i], &nulls[i]);
		/* the id of a statement is NULL if its text is not for this user */
		if (nulls[i])
			return;
	}
	if (DatumGetObjectId(values[DATABASE]) != MyDatabaseId)
		return;
	row[0] = values[USERID];
	row[1] = values[QUERYID];
	text = tsa_head_of(values[QUERY]);

	if (text == NULL)
		return;
	row[2] = CStringGetTextDatum(text_on_one_line(VARDATA_ANY(text),
												  VARSIZE_ANY_EXHDR(text),
												  store->max_length));
	tuplestore_putvalues(store->result->setResult, store->result->setDesc,
						 row, row_nulls);
}

/* Takes the rows of pg_stat_statements(); see TsaTakeStatements. */
static bool
store_statements(ReturnSetInfo *rows, void *arg)
{
	const int	columns[NCOLUMNS] = {
		tsa_column_of(rows->setDesc, "dbid", OIDOID),
		tsa_column_of(rows->setDesc, "userid", OIDOID),
		tsa_column_of(rows->setDesc, "queryid", INT8OID),
		tsa_column_of(rows->setDesc, "query", TEXTOID)
	};
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext,
													  "statement",
													  ALLOCSET_DEFAULT_SIZES);
	TupleTableSlot *slot;

	for (int i = 0; i < NCOLUMNS; i++)
	{
		if (columns[i] == 0)
			return false;
	}
	slot = MakeSingleTupleTableSlot(rows->setDesc, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(rows->setResult, true, false, slot))
	{
		MemoryContext old = MemoryContextSwitchTo(row_context);

		CHECK_FOR_INTERRUPTS();
		store_statement(arg, slot, columns);
		MemoryContextSwitchTo(old);
		MemoryContextReset(row_context);
	}
	ExecDropSingleTupleTableSlot(slot);
	MemoryContextDelete(row_context);
	return true;
}

/* May the current user call pg_stat_statements()? */
static bool
may_read_statements(void)
{
	Oid			function = tsa_extension_function("pg_stat_statements",
												  "pg_stat_statements",
												  BOOLOID);

	return OidIsValid(function) &&
		tsa_function_aclcheck(function, GetUserId(), ACL_EXECUTE) ==
		ACLCHECK_OK;
}

/*
 * statement_texts(max_length): rows (userid, queryid, statement); none without
 * pg_stat_statements or the right to call it.  Errors: 55000 if its library is
 * not loaded, 22023 bad length.
 */
Datum
tsa_statement_texts(PG_FUNCTION_ARGS)
{
	int			max_length = PG_GETARG_INT32(0);
	TextStore	store = {(ReturnSetInfo *) fcinfo->resultinfo, max_length};

	if (max_length < 1 || max_length > 10000)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"max_length\" must be between 1 and 10000")));
	InitMaterializedSRF(fcinfo, 0);
	if (may_read_statements())
		tsa_call_statements(true, store_statements, &store);
	return (Datum) 0;
}
