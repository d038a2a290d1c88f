/*-------------------------------------------------------------------------
 *
 * trust.h
 *	  Whether it was the device that answered, and others' load meanwhile.
 *
 * Two kinds of doubt.  A caveat says that a measurement is not about the
 * device: nothing is to be concluded from it.  Conditions say that the device
 * was not alone: the measurement is true of that load, which queries meet,
 * too, and on a server that is never quiet there is no other.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TRUST_H
#define TSA_TRUST_H

#include <stddef.h>
#include <stdint.h>

#include "probe/levels.h"

/* Others' load meanwhile; NAN: not known. */
typedef struct TsaConditions
{
	double		reads_per_s;
	double		writes_per_s;
	double		read_mb_per_s;
	double		write_mb_per_s;
	double		in_flight;		/* mean number of their requests */
	double		busy_percent;	/* time with any request in flight, ours too */
	double		waited_percent; /* time without a processor */
} TsaConditions;

/* Observations around one measurement; zero means nothing suspicious. */
typedef struct TsaEvidence
{
	int			cached_on_purpose;	/* the page cache was to answer */
	int			clock_taken_off;	/* the clock's cost is not in the mean */
	int			no_direct;		/* O_DIRECT refused */
	int			uncached;		/* the page cache was emptied instead */
	int			made_single;	/* instead of the queue depth asked for */
	int			in_memory;		/* file system without a device */
	double		untrusted_share;	/* of the file without data on a device */
	double		device_share;	/* bytes moved by the device / asked for; < 0:
								 * unknown */
	double		foreign_share;	/* of the device's I/O; < 0: unknown */
	double		delayed_share;	/* of the time, without a processor */
	double		region_ratio;	/* slowest quarter over fastest */
	double		clock_share;	/* of the mean latency */
	double		own_files_ratio;	/* existing relations over scratch */
	double		own_files_low;	/* lower end of its interval; 0: unknown */
	uint64_t	samples;
	TsaFalls	falls;			/* to the part that counts */
	TsaFall		fall_at_end;	/* before == 0: none */
	uint64_t	max_iops;		/* limit that held it back, 0: none */
	int			unsteady;
	int			repeated;
	int			short_reads;
	int			left_out;		/* ended at blocks that are yet to be written */
	TsaConditions others;
} TsaEvidence;

extern const char *tsa_trust_caveat(const TsaEvidence *e, char *text,
									size_t size);
extern const char *tsa_trust_conditions(const TsaEvidence *e, char *text,
										size_t size);

#endif							/* TSA_TRUST_H */
