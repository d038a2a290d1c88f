/*-------------------------------------------------------------------------
 *
 * pace.h
 *	  How fast a copy may go beside others.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PACE_H
#define TSA_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Who may suffer from a copy. */
typedef enum TsaNeighbour
{
	TSA_NEIGHBOUR_SOURCE,		/* those who read from the source's device */
	TSA_NEIGHBOUR_TARGET,		/* those who read from the target's device */
	TSA_NEIGHBOUR_SERVER,		/* transactions that write */
	TSA_NEIGHBOUR_PROCESSOR,	/* those who wait for a processor */
	TSA_NEIGHBOUR_UNKNOWN		/* the copy's own reads take longer */
} TsaNeighbour;

#define TSA_NEIGHBOURS 5

/* Why the rate is what it is. */
typedef enum TsaPaceReason
{
	TSA_PACE_IDLE,				/* full speed: nobody else is there */
	TSA_PACE_UNLIMITED,			/* full speed: asked for */
	TSA_PACE_LATE,				/* full speed: it cannot end in time */
	TSA_PACE_BOUND,				/* max_rate */
	TSA_PACE_MIN_RATE,			/* min_rate asks for more */
	TSA_PACE_DEADLINE,			/* so does the time at which it is to end */
	TSA_PACE_SOURCE,			/* as the neighbours above */
	TSA_PACE_TARGET,
	TSA_PACE_SERVER,
	TSA_PACE_PROCESSOR,
	TSA_PACE_OWN_TIMING
} TsaPaceReason;

/* What others have got during a stretch of work, or of sleep. */
typedef struct TsaPaceSample
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
	bool		known[TSA_NEIGHBOURS];
	double		done[TSA_NEIGHBOURS];	/* bytes read by others, transactions */
	double		requests[TSA_NEIGHBOURS];	/* read requests, own included */
	double		request_seconds[TSA_NEIGHBOURS];	/* the sum of their times */
} TsaPaceSample;

/* Sums in which what is long ago counts less and less. */
typedef struct TsaPaceSums
{
	double		seconds;
	double		done;
	double		requests;
	double		request_seconds;
} TsaPaceSums;

/* Own reads that a device has not counted yet, as far as is known. */
typedef struct TsaInFlight
{
	double		bytes;
	double		least;			/* of it in ... */
	double		seconds;		/* ... so many seconds */
}			TsaInFlight;

typedef struct TsaPace
{
	bool		adapts;
	double		max_rate;		/* bytes per second, 0: no bound */
	int			copies;			/* under way, this one included */
	int			sharers;		/* of max_rate, this one included */

	double		share;			/* of the time in which the copy works */
	bool		present[TSA_NEIGHBOURS];
	TsaPaceReason reason;		/* of the share */
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
	double		done[TSA_NEIGHBOURS];

	/* lately: fades faster than what follows */
	double		lately;			/* seconds */
	double		lately_done[TSA_NEIGHBOURS];
	double		worked;
	double		cpu_wait;

	/* longer */
	TsaPaceSums all[TSA_NEIGHBOURS];
	TsaPaceSums asleep[TSA_NEIGHBOURS];
	double		ignored[TSA_NEIGHBOURS];	/* bytes a second that nobody
											 * waits for */
	double		best_read;		/* seconds a byte, of own reads; 0: unknown */
	double		speed_bytes;	/* copied in ... */
	double		speed_seconds;	/* ... so much work */
	double		usual[TSA_NEIGHBOURS];	/* what others get done a second while
										 * the copy sleeps; 0: not known */

	/* since the copy began: while others were there and that was known */
	double		could_do[TSA_NEIGHBOURS];
	double		have_done[TSA_NEIGHBOURS];
	bool		first_look;		/* is yet to come */
} TsaPace;

extern void tsa_init_pace(TsaPace *pace, bool adapts, double max_rate);
extern void tsa_pace_note(TsaPace *pace, const TsaPaceSample *sample);
extern double tsa_pace_short_sleep(const TsaPace *pace, double bytes,
								   double worked, double elapsed);
extern double tsa_pace_turn(const TsaPace *pace, double worked,
							double reading);
extern double tsa_pace_rest(TsaPace *pace, double bytes, double worked,
							double elapsed);
extern double tsa_pace_bytes_of_others(TsaInFlight * in_flight, double most,
									   double own, int copies,
									   double device, double seconds);
extern TsaPaceReason tsa_pace_reason(const TsaPace *pace);
extern bool tsa_pace_is_full(const TsaPace *pace);
extern double tsa_pace_loss(const TsaPace *pace, TsaNeighbour who);
extern double tsa_pace_speed(const TsaPace *pace);
extern double tsa_pace_lately(const TsaPace *pace, TsaNeighbour who);
extern double tsa_pace_others_lost(const TsaPace *pace);
extern void tsa_pace_set_max_rate(TsaPace *pace, bool adapts, double max_rate);
extern bool tsa_pace_has_steps(const TsaPace *pace);
extern double tsa_pace_unit_bytes(const TsaPace *pace);
extern double tsa_pace_unit_seconds(const TsaPace *pace);

#endif							/* TSA_PACE_H */
