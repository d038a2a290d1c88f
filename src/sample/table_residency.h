/*-------------------------------------------------------------------------
 *
 * table_residency.h
 *	  How much of a table caches held when that was last looked at.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TABLE_RESIDENCY_H
#define TSA_TABLE_RESIDENCY_H

#include "postgres.h"

#include "datatype/timestamp.h"

typedef struct TsaTableResidency
{
	double		shared_fraction;
	double		system_fraction;
	TimestampTz measured_at;
} TsaTableResidency;

extern bool tsa_residency_load(Oid relation, TsaTableResidency *residency);
extern bool tsa_residency_holds(const TsaTableResidency *residency);

#endif							/* TSA_TABLE_RESIDENCY_H */
