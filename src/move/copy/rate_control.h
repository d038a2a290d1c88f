/*-------------------------------------------------------------------------
 *
 * rate_control.h
 *	  How fast a copy may go beside others.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RATE_CONTROL_H
#define TSA_RATE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "move/copy/burst.h"
#include "move/copy/lost_work.h"
#include "move/copy/rate_sums.h"
#include "move/copy/turn.h"

/* Kinds of others that may suffer from a copy. */
typedef enum TsaContention
{
	TSA_CONTENTION_SOURCE,		/* readers of the source's device */
	TSA_CONTENTION_TARGET,		/* readers of the target's device */
	TSA_CONTENTION_SERVER,		/* transactions that write */
	TSA_CONTENTION_PROCESSOR,	/* sessions that wait for a processor */
	TSA_CONTENTION_UNKNOWN		/* the copy's own reads take longer */
} TsaContention;

#define TSA_CONTENTIONS 5

/* The reasons for a rate. */
typedef enum TsaRateReason
{
	TSA_REASON_IDLE,			/* full speed: nobody else is there */
	TSA_REASON_UNLIMITED,		/* full speed: asked for */
	TSA_REASON_LATE,			/* full speed: it cannot end in time */
	TSA_REASON_BURST,			/* full speed: for a few seconds */
	TSA_REASON_BOUND,			/* max_rate */
	TSA_REASON_MIN_RATE,		/* min_rate asks for more */
	TSA_REASON_DEADLINE,		/* so does the time at which it is to end */
	TSA_REASON_SOURCE,			/* as above */
	TSA_REASON_TARGET,
	TSA_REASON_SERVER,
	TSA_REASON_PROCESSOR,
	TSA_REASON_OWN_TIMING
} TsaRateReason;

/* The work of others during a stretch of work, or of sleep. */
typedef struct TsaRateSample
{
	bool		working;		/* or asleep */
	double		seconds;
	double		worked;			/* of them, without short sleeps */
	double		bytes;			/* copied */
	double		cpu_wait;		/* seconds that the copy waited for a
								 * processor */
	double		read_seconds;	/* own reads from the device took so long */
	double		read_bytes;		/* and brought so much */

	/* of SOURCE, TARGET and SERVER */
	bool		known[TSA_CONTENTIONS];
	double		done[TSA_CONTENTIONS];	/* bytes read by others, transactions */
	double		requests[TSA_CONTENTIONS];	/* read requests, own included */
	double		request_seconds[TSA_CONTENTIONS];	/* the sum of their times */
	bool		reads_waiting;	/* of the source's device, at the end;
								 * others', if the sample is one without work */
} TsaRateSample;

typedef struct TsaRate
{
	bool		adapts;
	double		max_rate;		/* bytes per second, 0: no bound */
	int			copies;			/* under way, this one included */
	int			sharers;		/* of max_rate, this one included */

	double		share;			/* of the time in which the copy works */
	bool		present[TSA_CONTENTIONS];
	TsaRateReason reason;		/* of the share */
	bool		bounded;		/* max_rate asks for longer sleeps */
	double		min_rate;		/* of the call, as max_rate */
	double		needed_rate;	/* of this copy, to end in time; 0: none */
	bool		late;			/* it cannot end in time */
	bool		hurried;		/* one of these asks for shorter sleeps */
	double		rate;			/* bytes per second in the last window, < 0:
								 * not known yet */

	/* since the last decision */
	double		window;			/* seconds */
	double		bytes;
	double		read_seconds;
	double		read_bytes;
	double		done[TSA_CONTENTIONS];

	/* lately: fades faster than the next ones */
	double		lately;			/* seconds */
	double		lately_done[TSA_CONTENTIONS];
	double		worked;
	double		cpu_wait;

	/* longer */
	TsaRateSums all[TSA_CONTENTIONS];
	TsaRateSums asleep[TSA_CONTENTIONS];
	double		ignored[TSA_CONTENTIONS];	/* bytes a second that nobody
											 * waits for */
	double		best_read;		/* seconds a byte, of own reads; 0: unknown */
	double		speed_bytes;	/* copied in ... */
	double		speed_seconds;	/* ... so much work */
	TsaBurst	burst;
	TsaTurns	turns;			/* on a device that serves one at a time */
	double		usual[TSA_CONTENTIONS]; /* others' work per second while the
										 * copy sleeps; 0: not known */

	/* since the copy began: while others were there and that was known */
	TsaLostWork lost[TSA_CONTENTIONS];
	bool		first_look;		/* is yet to come */
	bool		others_read;	/* from the source's device, in the last
								 * sample */
	int			first_rests;	/* before the first read, so far */
} TsaRate;

extern void tsa_init_rate(TsaRate *control, bool adapts, double max_rate);
extern void tsa_rate_go_on(TsaRate *control, const TsaRate *last);
extern void tsa_rate_note(TsaRate *control, const TsaRateSample *sample);
extern double tsa_rate_short_sleep(const TsaRate *control, double bytes,
								   double worked, double elapsed);
extern double tsa_rate_turn(TsaRate *control, double bytes, double worked,
							double reading);
extern double tsa_rate_rest(TsaRate *control, double bytes, double worked,
							double elapsed);
extern double tsa_rate_settling(const TsaRate *control, double rest);
extern double tsa_rate_first_rest(TsaRate *control);
extern TsaRateReason tsa_rate_reason(const TsaRate *control);
extern bool tsa_rate_is_full(const TsaRate *control);
extern double tsa_rate_loss(const TsaRate *control, TsaContention who);
extern double tsa_rate_speed(const TsaRate *control);
extern double tsa_rate_lately(const TsaRate *control, TsaContention who);
extern double tsa_rate_others_lost(const TsaRate *control);
extern void tsa_rate_set_max_rate(TsaRate *control, bool adapts,
								  double max_rate);
extern bool tsa_rate_has_steps(const TsaRate *control);
extern double tsa_rate_unit_bytes(const TsaRate *control);
extern double tsa_rate_unit_seconds(const TsaRate *control);

#endif							/* TSA_RATE_CONTROL_H */
