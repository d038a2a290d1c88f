/*-------------------------------------------------------------------------
 *
 * hypertables.c
 *	  Tablespaces that are attached to hypertables of TimescaleDB: there it
 *	  makes new chunks, and DROP TABLESPACE is refused in that database.
 *
 * This runs in a worker in other databases, too, where the extension may not
 * be, so it is C and no SQL function.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "state/member_rows.h"
#include "state/state.h"
#include "tier/rows.h"

/* A row of TimescaleDB's table of hypertables. */
typedef struct Hypertable
{
	int			id;
	char	   *name;			/* qualified */
} Hypertable;

/* The hypertables, and the receiver of their tablespaces. */
typedef struct Attachments
{
	MemoryContext context;
	List	   *hypertables;
	char	   *schema;			/* of TimescaleDB's functions */
	TsaRowReceiver receive;
	void	   *arg;
} Attachments;

/* Callback: notes a hypertable of values id, schema_name, table_name. */
static bool
note_hypertable(char **values, void *arg)
{
	Attachments *attachments = arg;
	MemoryContext old = MemoryContextSwitchTo(attachments->context);
	Hypertable *hypertable = palloc(sizeof(Hypertable));

	if (values[0] != NULL && values[1] != NULL && values[2] != NULL)
	{
		hypertable->id = atoi(values[0]);
		hypertable->name =
			pstrdup(quote_qualified_identifier(values[1], values[2]));
		attachments->hypertables = lappend(attachments->hypertables,
										   hypertable);
	}
	MemoryContextSwitchTo(old);
	return true;
}

/* Hands on an attachment: hypertable_id, tablespace_name. */
static bool
send_attachment(char **values, void *arg)
{
	Attachments *attachments = arg;
	ListCell   *lc;

	foreach(lc, attachments->hypertables)
	{
		Hypertable *hypertable = lfirst(lc);

		if (values[0] != NULL && values[1] != NULL &&
			atoi(values[0]) == hypertable->id)
		{
			char		setting[] = "attach_tablespace";
			char	   *row[TSA_SETTING_COLUMNS];

			row[0] = hypertable->name;
			row[1] = setting;
			row[2] = values[1];
			row[3] = attachments->schema;
			row[4] = "f";
			attachments->receive(row, attachments->arg);
		}
	}
	return true;
}

/*
 * Hands rows of tablespace_advisor.object_settings() about hypertables of this
 * database to the receiver.
 */
void
tsa_find_attachments(TsaRowReceiver receive, void *arg)
{
	static const char *const names[3] = {"id", "schema_name", "table_name"};
	static const char *const attached[2] = {"hypertable_id", "tablespace_name"};
	Oid			schema = tsa_state_schema_of("timescaledb");
	Attachments attachments = {CurrentMemoryContext, NIL, NULL, receive, arg};

	if (!OidIsValid(schema))
		return;
	attachments.schema = get_namespace_name(schema);
	tsa_read_member_rows("timescaledb", "hypertable", names, 3,
						 note_hypertable, &attachments);
	tsa_read_member_rows("timescaledb", "tablespace", attached, 2,
						 send_attachment, &attachments);
}
