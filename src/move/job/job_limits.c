/*-------------------------------------------------------------------------
 *
 * job_limits.c
 *	  Limits as the journal keeps them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "move/job/job_limits.h"
#include "move/job/journal.h"

/* max_rate of a move that has regard for nobody. */
#define UNLIMITED (-1)

/*
 * Reads the limits of the result's only row.
 */
void
tsa_limits_of_result(TsaLimits *limits)
{
	int64		max_rate = DatumGetInt64(tsa_result_column(0, "max_rate"));
	Datum		finish_by = tsa_result_column(0, "finish_by");
	const char *during = tsa_result_text(0, "during");

	*limits = TSA_NO_LIMITS;
	if (max_rate == UNLIMITED)
		limits->mode = TSA_RATE_UNLIMITED;
	else
		limits->max_rate = max_rate;
	limits->min_rate = DatumGetInt64(tsa_result_column(0, "min_rate"));
	if (finish_by != (Datum) 0)
		limits->finish_by = DatumGetTimestampTz(finish_by);
	limits->lock_timeout_ms =
		DatumGetInt32(tsa_result_column(0, "lock_timeout_ms"));
	if (during != NULL &&
		tsa_parse_window(during, &limits->during) != TSA_WINDOW_GOOD)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("the journal has a time window that cannot be read")));
}

/*
 * max_rate, min_rate, finish_by and during as parameters of a statement.
 */
TsaLimitsValues
tsa_limits_values(const TsaLimits *limits)
{
	bool		unlimited = limits->mode == TSA_RATE_UNLIMITED;
	char		during[TSA_WINDOW_SIZE];
	TsaLimitsValues v;

	v.values[0] = Int64GetDatum(unlimited ? UNLIMITED : limits->max_rate);
	v.nulls[0] = !unlimited && limits->max_rate == 0;
	v.values[1] = Int64GetDatum(limits->min_rate);
	v.nulls[1] = limits->min_rate == 0;
	v.values[2] = TimestampTzGetDatum(limits->finish_by);
	v.nulls[2] = TIMESTAMP_IS_NOEND(limits->finish_by);
	tsa_format_window(&limits->during, during);
	v.values[3] = CStringGetTextDatum(during);
	v.nulls[3] = !tsa_has_window(&limits->during);
	return v;
}
