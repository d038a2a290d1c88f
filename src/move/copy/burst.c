/*-------------------------------------------------------------------------
 *
 * burst.c
 *	  Full speed beside transactions, for a few seconds.
 *
 * A copy at a tenth of the time takes ten times as long, and costs sessions
 * that write more in all than one at full speed: they change blocks that have
 * been copied, which are copied again, and each of their moments is a little
 * slower.  So the copies of a worker may work for BURST_S at full speed beside
 * sessions that write.  That suffices for a relation of a GB on flash.
 *
 * Their loss at any moment has a bound.  Their work without the copy is
 * measured first; if they do less than a part of that in a window of the
 * burst, because they wait for the same disk or for the processors, it is
 * over.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/copy/burst.h"

#define BURST_S			3.0
#define MOST_LOSS		0.6

/*
 * After a window of so many seconds, at full speed or not, in which so many
 * transactions were done; "usual" is how many there are a second without the
 * copy, 0 if that is not known.  Is the next window to be at full speed?
 */
bool
tsa_burst_goes_on(TsaBurst *burst, bool is_full, double seconds, double usual,
				  double done)
{
	if (is_full)
		burst->spent += seconds;
	if (is_full && done < (1 - MOST_LOSS) * usual * seconds)
		burst->over = true;
	return !burst->over && burst->spent < BURST_S && usual > 0;
}
