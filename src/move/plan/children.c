/*-------------------------------------------------------------------------
 *
 * children.c
 *	  Tables that inherit from what is to be moved.
 *
 * Partitions move with a partitioned table; tables that inherit in the old way
 * do not, which is easily overlooked.  A hypertable of TimescaleDB is such a
 * parent: it is empty, and to move it sends new chunks, the hot ones, to the
 * other tablespace and leaves the old ones where they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/trigger.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "move/plan/children.h"

/* What TimescaleDB calls the trigger that every hypertable has. */
#define HYPERTABLE_TRIGGER "ts_insert_blocker"

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
	literal = quote_literal_cstr(quote_qualified_identifier(schema, name));
	if (OidIsValid(get_trigger_oid(heapid, HYPERTABLE_TRIGGER, true)))
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
