/*-------------------------------------------------------------------------
 *
 * now.h
 *	  State that the hooks need in every execution, side by side.
 *
 * An execution that is not measured takes a few hundred instructions of this
 * library.  Most of their time is spent on data that the processor's cache does
 * not have, so these share one line of it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_NOW_H
#define TSA_WAIT_NOW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct TsaNow
{
	struct TsaFrame *frame;		/* of the execution that is running, if it is
								 * measured */
	int			nframes;		/* how many there are */
	int			spans;			/* that have been entered */
	int			nesting;		/* of statements; 0: top level */
	int			slow_statements;	/* known */
	uint64_t	seen;			/* executions since figures were handed in */
	bool		is_set_up;		/* to count */
	bool		is_due;			/* to hand in when a statement ends */
	/* configuration parameters */
	bool		track_waits;
	int			track_waits_sample;
} TsaNow;

extern TsaNow tsa_now __attribute__((aligned(64)));

#endif							/* TSA_WAIT_NOW_H */
