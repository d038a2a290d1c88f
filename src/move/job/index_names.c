/*-------------------------------------------------------------------------
 *
 * index_names.c
 *	  The names of the indexes that move along with a job's table: an index
 *	  that is rebuilt has another OID then, and the same name.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "move/job/index_names.h"
#include "state/statement.h"

/*
 * See index_names.h.  A job that an earlier version has queued has none, nor
 * has an index that had gone by then.
 */
NameData *
tsa_index_names_of_result(int nindexes, MemoryContext context)
{
	NameData   *names =
	MemoryContextAllocZero(context, sizeof(NameData) * Max(nindexes, 1));
	Datum		array = tsa_result_column(0, "index_names");
	Datum	   *elems;
	bool	   *nulls;
	int			n;

	if (array == (Datum) 0)
		return names;
	deconstruct_array(DatumGetArrayTypeP(array), NAMEOID, NAMEDATALEN, false,
					  TYPALIGN_CHAR, &elems, &nulls, &n);
	for (int i = 0; i < n && n == nindexes; i++)
		if (!nulls[i])
			names[i] = *DatumGetName(elems[i]);
	return names;
}
