/*-------------------------------------------------------------------------
 *
 * children.c
 *	  Tables that inherit from what is to be moved.
 *
 * Partitions move with a partitioned table; tables that inherit in the old way
 * do not, which is easily overlooked.  A hypertable of TimescaleDB is such a
 * parent: it is empty, and to move it sends new chunks, the hot ones, to the
 * other tablespace and leaves the old ones where they are.  Up to TimescaleDB
 * 2.22 it has a trigger of a certain name; of any version it is in a table of
 * the extension, which is found as its member and read without the planner, so
 * that no look-alike is asked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "move/plan/children.h"
#include "state/extension_members.h"

/* What TimescaleDB calls the trigger that every hypertable has. */
#define HYPERTABLE_TRIGGER "ts_insert_blocker"

/* Is a row of TimescaleDB's table of hypertables about this table? */
static bool
names_table(HeapTuple tuple, TupleDesc desc, const int *columns,
			const char *const *names)
{
	for (int i = 0; i < 2; i++)
	{
		bool		isnull;
		Datum		name = heap_getattr(tuple, columns[i], desc, &isnull);

		if (isnull || strcmp(NameStr(*DatumGetName(name)), names[i]) != 0)
			return false;
	}
	return true;
}

/*
 * Is the table in TimescaleDB's table of hypertables?  Its compressed chunks
 * are in an internal one of these, which is no table that people move.
 */
static bool
is_registered(const char *schema, const char *name)
{
	const char *const names[2] = {schema, name};
	Oid			table = tsa_extension_table("timescaledb", "hypertable");
	Relation	rel = OidIsValid(table) ?
	try_table_open(table, AccessShareLock) : NULL;
	int			columns[2];
	bool		found = false;
	TableScanDesc scan;
	HeapTuple	tuple;

	if (rel == NULL)
		return false;
	columns[0] = SPI_fnumber(RelationGetDescr(rel), "schema_name");
	columns[1] = SPI_fnumber(RelationGetDescr(rel), "table_name");
	if (rel->rd_rel->relam == HEAP_TABLE_AM_OID &&
		columns[0] > 0 && columns[1] > 0 &&
		SPI_gettypeid(RelationGetDescr(rel), columns[0]) == NAMEOID &&
		SPI_gettypeid(RelationGetDescr(rel), columns[1]) == NAMEOID)
	{
		Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());

		scan = tsa_beginscan(rel, snapshot);
		while (!found &&
			   (tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			found = names_table(tuple, RelationGetDescr(rel), columns, names);
		}
		table_endscan(scan);
		UnregisterSnapshot(snapshot);
	}
	table_close(rel, AccessShareLock);
	return found;
}

/*
 * Refuses a hypertable, or an index of one, and says which tables do not move
 * along with a parent.
 */
void
tsa_check_children(Oid target, const char *procedure)
{
	char		kind = get_rel_relkind(target);
	Oid			heapid = kind == RELKIND_INDEX ?
	IndexGetRelation(target, true) : target;
	char	   *name = get_rel_name(heapid);
	char	   *schema;
	char	   *literal;
	int			nchildren;

	if (name == NULL || get_rel_relkind(heapid) != RELKIND_RELATION)
		return;
	schema = get_namespace_name(get_rel_namespace(heapid));
	if (schema == NULL)			/* just dropped */
		return;
	literal = quote_literal_cstr(quote_qualified_identifier(schema, name));
	if (OidIsValid(get_trigger_oid(heapid, HYPERTABLE_TRIGGER, true)) ||
		is_registered(schema, name))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move hypertable \"%s\"", name),
				 errdetail("It is empty itself; its rows are in chunks, and only new chunks would follow it."),
				 errhint("Move chunks: SELECT format('CALL %s(%%L::pg_catalog.regclass, %%L::pg_catalog.name)', c, 'tablespace') FROM show_chunks(%s::pg_catalog.regclass, older_than => interval '1 month') c, and \\gexec.",
						 procedure, literal)));
	if (heapid != target)
		return;
	nchildren = list_length(find_inheritance_children(heapid, NoLock));
	if (nchildren > 0)
		ereport(NOTICE,
				(errmsg_plural("%d table that inherits from \"%s\" does not move along",
							   "%d tables that inherit from \"%s\" do not move along",
							   nchildren, nchildren, name),
				 errhint("Move them one by one: SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = %s::pg_catalog.regclass.",
						 literal)));
}
