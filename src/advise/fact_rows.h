/*-------------------------------------------------------------------------
 *
 * fact_rows.h
 *	  Rows that functions on facts return.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_FACT_ROWS_H
#define TSA_FACT_ROWS_H

#include "postgres.h"

#include "fmgr.h"

#include "advise/read_facts.h"

#define TSA_MAX_COLUMNS 40

/* A row to return, filled column by column. */
typedef struct TsaRow
{
	int			n;
	Datum		values[TSA_MAX_COLUMNS];
	bool		nulls[TSA_MAX_COLUMNS];
} TsaRow;

extern void tsa_add_datum(TsaRow *row, Datum value, bool isnull);
extern void tsa_add_number(TsaRow *row, double number);
extern void tsa_add_rounded(TsaRow *row, double number);
extern void tsa_add_bytes(TsaRow *row, double bytes);
extern void tsa_add_text(TsaRow *row, const char *text);
extern void tsa_add_name(TsaRow *row, const char *name);
extern void tsa_add_oid(TsaRow *row, Oid oid);
extern void tsa_add_int(TsaRow *row, int number);
extern void tsa_add_truth(TsaRow *row, TsaTruth truth);
extern const char *tsa_place_name(const TsaPlacement *p, int place);
extern void tsa_add_places(TsaRow *row, const TsaPlacement *p, const bool *set);
extern void tsa_put_row(FunctionCallInfo fcinfo, TsaRow *row);
extern void tsa_add_row(TsaRow *row, const TsaRow *inner, Oid type);
extern void tsa_make_load_row(TsaRow *row, const TsaPlacement *p, int place);
extern void tsa_make_estimate_row(TsaRow *row, const TsaPlacement *p,
								  int relation, int destination,
								  const TsaMoveEstimate *e);

#endif							/* TSA_FACT_ROWS_H */
