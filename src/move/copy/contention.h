/*-------------------------------------------------------------------------
 *
 * contention.h
 *	  What others get done beside a copy, as the kernel and the server count.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CONTENTION_H
#define TSA_CONTENTION_H

#include "postgres.h"

#include "move/copy/rate_control.h"
#include "probe/counters.h"

/* The counters at one moment. */
typedef struct TsaOthersReading
{
	uint64		time_ns;
	uint64		next_xid;
	bool		have_process;
	TsaProcessIo process;
	bool		have_delay;
	uint64		delay_ns;
	bool		have_device[2];
	TsaDeviceIo device[2];
} TsaOthersReading;

typedef struct TsaOthers
{
	char		stat_path[2][MAXPGPATH];	/* of the source's and the
											 * target's device; empty: none */
	TsaOthersReading last;
	TsaInFlight in_flight[2];
	double		most_in_flight; /* bytes */
	int			pretended;		/* so often, for tests */
} TsaOthers;

extern void tsa_init_others(void);
extern void tsa_others_open(TsaOthers *others, Oid source_tablespace,
							Oid target_tablespace);
extern void tsa_others_read(TsaOthers *others, int copies, bool working,
							TsaRateSample *sample);
extern bool tsa_others_has_device(const TsaOthers *others);
extern int	tsa_others_request_kb(const TsaOthers *others);
extern int	tsa_others_copies(void);
extern int	tsa_others_copies_of_call(int64 call_id);

#endif							/* TSA_CONTENTION_H */
