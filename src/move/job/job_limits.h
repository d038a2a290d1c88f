/*-------------------------------------------------------------------------
 *
 * job_limits.h
 *	  Limits as the journal keeps them: max_rate -1 is unlimited, and NULL
 *	  stands for none of each.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOB_LIMITS_H
#define TSA_JOB_LIMITS_H

#include "postgres.h"

#include "move/common/limits.h"

/* max_rate, min_rate, finish_by and during as parameters of a statement. */
typedef struct TsaLimitsValues
{
	Datum		values[4];
	bool		nulls[4];
} TsaLimitsValues;

extern void tsa_limits_of_result(TsaLimits *limits);
extern TsaLimitsValues tsa_limits_values(const TsaLimits *limits);

#endif							/* TSA_JOB_LIMITS_H */
