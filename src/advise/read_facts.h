/*-------------------------------------------------------------------------
 *
 * read_facts.h
 *	  Facts from SQL as structs.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_READ_FACTS_H
#define TSA_READ_FACTS_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "utils/array.h"

#include "advise/placement.h"

#define TSA_MAX_FACT_COLUMNS 32

/* A row of a type of facts. */
typedef struct TsaFactRow
{
	TupleDesc	desc;
	int			ncolumns;		/* that it has to have */
	Datum		values[TSA_MAX_FACT_COLUMNS];
	bool		nulls[TSA_MAX_FACT_COLUMNS];
} TsaFactRow;

/* The arguments of functions on facts. */
typedef struct TsaFacts
{
	TsaPlacement placement;
	Datum	   *relations;		/* of type relation_fact, by their numbers */
	Datum	   *tablespaces;	/* of type tablespace_fact */
} TsaFacts;

extern void tsa_read_fact_row(TsaFactRow *row, Datum datum);
extern double tsa_number_of(const TsaFactRow *row, int column);
extern double tsa_big_number_of(const TsaFactRow *row, int column);
extern TsaTruth tsa_truth_of(const TsaFactRow *row, int column);
extern Oid	tsa_oid_of(const TsaFactRow *row, int column);
extern int	tsa_place_by_name(const TsaPlacement *p, const char *name);
extern void tsa_read_facts(FunctionCallInfo fcinfo, int relations,
						   int tablespaces, int load, TsaFacts *facts);
extern void tsa_estimate_all(FunctionCallInfo fcinfo, TsaFacts *facts);

#endif							/* TSA_READ_FACTS_H */
