/*-------------------------------------------------------------------------
 *
 * contention.h
 *	  The work that others get done beside a copy, as the kernel and the server
 *	  count.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CONTENTION_H
#define TSA_CONTENTION_H

#include "postgres.h"

#include "move/copy/in_flight.h"
#include "move/copy/rate_control.h"
#include "probe/counters.h"

/* The counters at one moment. */
typedef struct TsaCounterReading
{
	uint64		time_ns;
	uint64		next_xid;
	bool		have_process;
	TsaProcessIo process;
	bool		have_delay;
	uint64		delay_ns;
	bool		have_device[2];
	TsaDeviceIo device[2];
} TsaCounterReading;

typedef struct TsaCounters
{
	char		stat_path[2][MAXPGPATH];	/* of the source's and the
											 * target's device; empty: none */
	TsaCounterReading last;
	TsaInFlight in_flight[2];
	double		max_in_flight;	/* bytes */
	int			pretended;		/* so often, for tests */
} TsaCounters;

extern void tsa_init_contention(void);
extern void tsa_contention_open(TsaCounters *counters, Oid source_tablespace,
								Oid target_tablespace);
extern void tsa_contention_read(TsaCounters *counters, int copies, bool working,
								TsaRateSample *sample);
extern bool tsa_contention_has_device(const TsaCounters *counters);
extern int	tsa_contention_request_kb(const TsaCounters *counters);
extern int	tsa_contention_copies(void);
extern int	tsa_contention_copies_of_call(int64 call_id);

#endif							/* TSA_CONTENTION_H */
