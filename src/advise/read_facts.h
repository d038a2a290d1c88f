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

#include "fmgr.h"
#include "utils/array.h"

#include "advise/placement.h"

/* The arguments of functions on facts. */
typedef struct TsaFacts
{
	TsaPlacement placement;
	Datum	   *relations;		/* of type relation_fact, by their numbers */
	Datum	   *tablespaces;	/* of type tablespace_fact */
} TsaFacts;

extern double *tsa_read_numbers(ArrayType *array, const char *name, int *n);
extern TsaCurve tsa_read_curve(ArrayType *depths, ArrayType *latencies_us);
extern int	tsa_place_by_name(const TsaPlacement *p, const char *name);
extern void tsa_read_facts(FunctionCallInfo fcinfo, int relations,
						   int tablespaces, int load, TsaFacts *facts);
extern void tsa_estimate_all(FunctionCallInfo fcinfo, TsaFacts *facts);

#endif							/* TSA_READ_FACTS_H */
