/*-------------------------------------------------------------------------
 *
 * eligible.c
 *	  Relations that can be moved by live copy.
 *
 * The reasons are in the exceptions of live_copy.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/catalog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "move/common/eligible.h"
#include "state/state.h"

/*
 * Access methods of extensions that change an index that has been built by
 * generic WAL only, by the sources of bloom (contrib), pgvector 0.8 and RUM
 * 1.3.  The library is compared too: a name alone could be anybody's.
 */
static const struct
{
	const char *name;
	const char *library;
}			generic_wal_methods[] = {
	{"bloom", "$libdir/bloom"},
	{"hnsw", "$libdir/vector"},
	{"ivfflat", "$libdir/vector"},
	{"rum", "$libdir/rum"}
};

/* Is that the relation's access method, with its handler in that library? */
static bool
uses_method(Relation rel, const char *method, const char *library)
{
	const char *name = get_am_name(rel->rd_rel->relam);
	HeapTuple	tuple = SearchSysCache1(PROCOID,
										ObjectIdGetDatum(rel->rd_amhandler));
	bool		same = false;

	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		probin = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_probin, &isnull);

		same = name != NULL && strcmp(name, method) == 0 && !isnull &&
			strcmp(TextDatumGetCString(probin), library) == 0;
		ReleaseSysCache(tuple);
	}
	return same;
}

/*
 * Is the index's access method one of those?
 */
static bool
uses_generic_wal(Relation rel)
{
	bool		found = false;

	for (int i = 0; i < (int) lengthof(generic_wal_methods); i++)
		found |= uses_method(rel, generic_wal_methods[i].name,
							 generic_wal_methods[i].library);
	return found;
}

/*
 * Is it a columnar table of Citus?  ALTER ... SET TABLESPACE fails for these,
 * since their access method cannot copy them.
 */
bool
tsa_is_columnar(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	bool		is_columnar = rel != NULL &&
	rel->rd_rel->relkind != RELKIND_INDEX &&
	uses_method(rel, "columnar", "$libdir/citus_columnar");

	if (rel != NULL)
		relation_close(rel, AccessShareLock);
	return is_columnar;
}

/*
 * May the hole in a page of this index be left out of its image?
 */
bool
tsa_has_standard_pages(Relation rel)
{
	Oid			am = rel->rd_rel->relam;

	return am == BTREE_AM_OID || am == GIST_AM_OID || am == SPGIST_AM_OID;
}

/*
 * Does the WAL name every block that the index's access method changes?
 */
static bool
is_logged_by_block(Relation rel)
{
	Oid			am = rel->rd_rel->relam;

	return tsa_has_standard_pages(rel) || am == HASH_AM_OID ||
		am == GIN_AM_OID || am == BRIN_AM_OID || uses_generic_wal(rel);
}

/*
 * Why an index cannot be moved by live copy, as a sentence, or NULL.
 */
const char *
tsa_find_index_obstacle(Relation rel)
{
	if (!rel->rd_index->indisvalid || !rel->rd_index->indisready ||
		!rel->rd_index->indislive)
		return "It is invalid or still being built.";
	if (!is_logged_by_block(rel))
		return "It is not known how its access method writes the WAL.";
	return NULL;
}

/*
 * Why a table cannot be moved by live copy, as a sentence, or NULL.  Its TOAST
 * table, which moves along, need not have the same access method.
 */
static const char *
obstacle_of_table(Relation rel)
{
	Oid			toastid = rel->rd_rel->reltoastrelid;
	bool		is_heap = rel->rd_tableam == GetHeapamTableAmRoutine();

	if (is_heap && OidIsValid(toastid))
	{
		Relation	toast = table_open(toastid, AccessShareLock);

		is_heap = toast->rd_tableam == GetHeapamTableAmRoutine();
		table_close(toast, AccessShareLock);
	}
	return is_heap ? NULL :
		"It is not known how its table access method writes the WAL.";
}

/*
 * Is it a table of the journal of moves, or an index of one?  A cutover writes
 * into it after the last block was copied, in the transaction that switches.
 */
static bool
is_journal(Relation rel)
{
	Oid			table = rel->rd_index ? rel->rd_index->indrelid :
	RelationGetRelid(rel);

	return table == tsa_state_table("job") ||
		table == tsa_state_table("job_mark");
}

/*
 * See eligible.h.
 */
bool
tsa_copy_applies(Oid relid, const char **reason)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist any more",
						relid)));
	if (rel->rd_rel->relkind != RELKIND_INDEX &&
		rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_MATVIEW)
		*reason = "It is neither a table nor an index.";
	else if (IsCatalogRelation(rel) || RelationIsMapped(rel))
		*reason = "It belongs to a system catalog.";
	else if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		*reason = "It is unlogged, so that there is no write-ahead log to follow.";
	else if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		*reason = "It is temporary.";
	else if (is_journal(rel))
		*reason = "It is the journal of moves, which changes while it is switched.";
	else if (rel->rd_rel->relkind == RELKIND_INDEX)
		*reason = tsa_find_index_obstacle(rel);
	else
		*reason = obstacle_of_table(rel);
	relation_close(rel, AccessShareLock);
	return *reason == NULL;
}
