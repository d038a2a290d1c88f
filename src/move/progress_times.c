/*-------------------------------------------------------------------------
 *
 * progress_times.c
 *	  When a waiting caller prints progress: after 2, 5, 10 and 30 seconds,
 *	  then every minute.
 *
 * Pure: includes no server header.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/progress_times.h"

#define MINUTE_MS	60000

/*
 * Is progress to be printed after waiting for so long, if it was printed last
 * after printed_ms (0: never)?
 */
bool
tsa_progress_is_due(int64_t waited_ms, int64_t printed_ms)
{
	static const int64_t first_ms[] = {2000, 5000, 10000, 30000};

	for (int i = 0; i < (int) (sizeof(first_ms) / sizeof(first_ms[0])); i++)
		if (printed_ms < first_ms[i])
			return waited_ms >= first_ms[i];
	return waited_ms / MINUTE_MS > printed_ms / MINUTE_MS;
}
