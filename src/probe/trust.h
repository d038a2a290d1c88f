/*-------------------------------------------------------------------------
 *
 * trust.h
 *	  Whether a measurement can be trusted, and why not.
 *
 * Pure: no server headers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TRUST_H
#define TSA_TRUST_H

#include <stddef.h>
#include <stdint.h>

/* What was observed around one measurement; zero means nothing suspicious. */
typedef struct TsaEvidence
{
	int			cached_on_purpose;	/* the page cache was to answer */
	int			clock_taken_off;	/* the clock's cost is not in the mean */
	int			no_direct;		/* O_DIRECT refused */
	int			in_memory;		/* file system without a device */
	double		untrusted_share;	/* of the file without data on a device */
	double		device_share;	/* bytes moved by the device / asked for; < 0:
								 * unknown */
	double		foreign_share;	/* of the device's I/O; < 0: unknown */
	double		delayed_share;	/* of the time, without a processor */
	double		region_ratio;	/* slowest quarter over fastest */
	double		clock_share;	/* of the mean latency */
	double		own_files_ratio;	/* existing relations over scratch; 0:
									 * unknown */
	uint64_t	samples;
	uint64_t	max_iops;		/* limit that held it back, 0: none */
	int			unsteady;
	int			repeated;
	int			short_reads;
} TsaEvidence;

extern const char *tsa_trust_caveat(const TsaEvidence *e, char *text,
									size_t size);

#endif							/* TSA_TRUST_H */
