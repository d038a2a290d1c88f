/*-------------------------------------------------------------------------
 *
 * children.c
 *	  Tables that inherit from a table that is to be moved.
 *
 * Partitions move with a partitioned table; tables that inherit in the old way
 * do not, which is easily overlooked.  A hypertable of TimescaleDB is such a
 * parent: it is empty, and to move it sends new chunks, the hot ones, to the
 * other tablespace and leaves the old ones where they are.  It is in a table of
 * the extension; if that is in no form that is known, each table that others
 * inherit from may be one.  A table that Citus distributes is empty on the node
 * where people see it, too: its rows are in shards.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "move/plan/children.h"
#include "state/member_rows.h"
#include "state/printable.h"
#include "state/state.h"

/* The columns read from TimescaleDB's table of hypertables. */
static const char *const hypertable_columns[2] = {"schema_name", "table_name"};

/* A table's name, and whether it was found. */
typedef struct Registered
{
	const char *schema;
	const char *name;
	bool		found;
} Registered;

/* See tsa_read_member_rows(). */
static bool
find_name(char **values, void *arg)
{
	Registered *table = arg;

	table->found = values[0] != NULL && values[1] != NULL &&
		strcmp(values[0], table->schema) == 0 &&
		strcmp(values[1], table->name) == 0;
	return !table->found;
}

/*
 * Is the table in TimescaleDB's table of hypertables?  Its compressed chunks
 * are in an internal one of these, which is no table that people move.
 */
static bool
is_registered(const char *schema, const char *name)
{
	Registered	table = {schema, name, false};

	tsa_read_member_rows("timescaledb", "hypertable", hypertable_columns, 2,
						 find_name, &table);
	return table.found;
}

/* Refuses a hypertable, and a table that may be one. */
static void
refuse_hypertable(const char *schema, const char *name, const char *literal,
				  bool has_children)
{
	const char *own_schema = get_namespace_name(tsa_state_public_schema());

	if (is_registered(schema, name))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move hypertable \"%s\"",
						tsa_printable_text(name)),
				 errdetail("It is empty itself; its rows are in chunks, and only new chunks would follow it."),
				 errhint("Move chunks: CALL %s(%s::pg_catalog.regclass, 'tablespace'::pg_catalog.name, older_than => interval '1 month'), which takes the relations of their compressed rows along.",
						 quote_qualified_identifier(own_schema,
													"move_partitions_concurrently"),
						 tsa_printable_text(literal))));
	if (has_children && OidIsValid(tsa_state_schema_of("timescaledb")) &&
		!tsa_can_read_member("timescaledb", "hypertable",
							 hypertable_columns, 2))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move table \"%s\", which may be a hypertable",
						tsa_printable_text(name)),
				 errdetail("Other tables inherit from it, and the form of TimescaleDB's catalog of hypertables is not known.")));
}

/* A table's OID as text, and whether it was found. */
typedef struct Distributed
{
	const char *oid;
	bool		found;
} Distributed;

/* See tsa_read_member_rows(). */
static bool
find_oid(char **values, void *arg)
{
	Distributed *table = arg;

	table->found = values[0] != NULL && strcmp(values[0], table->oid) == 0;
	return !table->found;
}

/*
 * Reports that the rows of a table that Citus knows are in shards, with the
 * statement that moves these.  Citus does not quote the names of shards in that
 * statement, so it is not shown if a name has a character that needs quoting.
 */
static void
tell_distributed(Oid heapid, const char *name, const char *qualified,
				 const char *procedure)
{
	static const char *const columns[1] = {"logicalrelid"};
	Distributed table = {psprintf("%u", heapid), false};
	char	   *schema = get_namespace_name(tsa_state_public_schema());

	tsa_read_member_rows("citus", "pg_dist_partition", columns, 1, find_oid,
						 &table);
	if (table.found)
		ereport(NOTICE,
				(errmsg("table \"%s\" belongs to Citus: its rows are in shards, which do not move along",
						tsa_printable_text(name)),
				 errdetail("New shards' indexes are made where the table's own are, so every node needs that tablespace."),
				 strpbrk(qualified, "'$\\") != NULL ? 0 :
				 errhint("Move shards: SELECT * FROM pg_catalog.run_command_on_placements('%s'::pg_catalog.regclass, $$CALL %s('%%s'::pg_catalog.regclass, 'tablespace'::pg_catalog.name)$$, parallel => false).",
						 tsa_printable_text(qualified),
						 quote_qualified_identifier(schema, procedure))));
}

/* See tsa_read_member_rows(); status: bit 0 says that it is compressed. */
static bool
find_compressed_name(char **values, void *arg)
{
	Registered *chunk = arg;

	chunk->found = values[2] != NULL && (atoi(values[2]) & 1) != 0 &&
		values[0] != NULL && values[1] != NULL &&
		strcmp(values[0], chunk->schema) == 0 &&
		strcmp(values[1], chunk->name) == 0;
	return !chunk->found;
}

/* The same, of chunks that have no names. */
static bool
find_compressed_oid(char **values, void *arg)
{
	return values[1] == NULL || (atoi(values[1]) & 1) == 0 ||
		find_oid(values, arg);
}

/* Says of a compressed chunk of TimescaleDB that its rows are elsewhere. */
static void
tell_compressed(Oid heapid, const char *schema, const char *name)
{
	static const char *const names[3] = {"schema_name", "table_name", "status"};
	static const char *const oids[2] = {"relid", "status"};
	Registered	named = {schema, name, false};
	Distributed listed = {psprintf("%u", heapid), false};

	tsa_read_member_rows("timescaledb", "chunk", names, 3,
						 find_compressed_name, &named);
	tsa_read_member_rows("timescaledb", "chunk", oids, 2,
						 find_compressed_oid, &listed);
	if (named.found || listed.found)
		ereport(NOTICE,
				(errmsg("table \"%s\" is a chunk whose compressed rows do not move along",
						tsa_printable_text(name)),
				 errhint("move_partitions_concurrently() of its hypertable takes them along.")));
}

/*
 * Refuses a hypertable, or an index of one, and says which tables do not move
 * along with a parent, with a chunk, or with a table of Citus'.
 */
void
tsa_check_children(Oid target, const char *procedure)
{
	char		kind = get_rel_relkind(target);
	Oid			heapid = kind == RELKIND_INDEX ||
	kind == RELKIND_PARTITIONED_INDEX ? IndexGetRelation(target, true) : target;
	char	   *name = get_rel_name(heapid);
	char	   *schema;
	const char *qualified;
	char	   *literal;
	int			nchildren;

	if (name == NULL)
		return;
	schema = get_namespace_name(get_rel_namespace(heapid));
	if (schema == NULL)			/* just dropped */
		return;
	qualified = quote_qualified_identifier(schema, name);
	tell_distributed(heapid, name, qualified, procedure);
	if (get_rel_relkind(heapid) != RELKIND_RELATION)
		return;
	literal = quote_literal_cstr(qualified);
	nchildren = list_length(find_inheritance_children(heapid, NoLock));
	refuse_hypertable(schema, name, literal, nchildren > 0);
	if (heapid != target)
		return;
	tell_compressed(heapid, schema, name);
	if (nchildren > 0)
		ereport(NOTICE,
				(errmsg_plural("%d table that inherits from \"%s\" does not move along",
							   "%d tables that inherit from \"%s\" do not move along",
							   nchildren, nchildren,
							   tsa_printable_text(name)),
				 errhint("Move them one by one: SELECT inhrelid::pg_catalog.regclass FROM pg_catalog.pg_inherits WHERE inhparent OPERATOR(pg_catalog.=) %s::pg_catalog.regclass.",
						 tsa_printable_text(literal))));
}
