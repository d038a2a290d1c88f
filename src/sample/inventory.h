/*-------------------------------------------------------------------------
 *
 * inventory.h
 *	  Relations as the catalogs have them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_INVENTORY_H
#define TSA_INVENTORY_H

#include "postgres.h"

#include "utils/array.h"
#include "utils/hsearch.h"

/* A table, materialized view, TOAST table or index. */
typedef struct TsaRelation
{
	Oid			oid;			/* hash key */
	char		relkind;
	char		persistence;
	bool		is_own;			/* of this extension */
	bool		is_asked_for;	/* see tsa_ask_for_tables() */
	bool		is_vacuumed;	/* by a VACUUM not yet in the counters */
	bool		is_analyzed;
	Oid			tablespace;		/* never 0 */
	Oid			filenode;		/* 0: none, or the relation map knows it */
	Oid			am;
	Oid			toast;			/* 0: none */
	Oid			owner;			/* of a TOAST table: its table; 0: none */
	/* of an index */
	Oid			indexed;		/* 0: not an index, or it is not in pg_index */
	bool		is_unique;
	bool		is_deferrable;	/* or for an exclusion constraint */
	bool		on_expression;	/* one expression and nothing else */
} TsaRelation;

extern HTAB *tsa_read_relations(void);
extern TsaRelation *tsa_find_relation(HTAB *relations, Oid relation);
extern TsaRelation *tsa_table_of(HTAB *relations, const TsaRelation *relation);
extern void tsa_ask_for_tables(HTAB *relations, ArrayType *members);

#endif							/* TSA_INVENTORY_H */
