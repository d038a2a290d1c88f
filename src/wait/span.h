/*-------------------------------------------------------------------------
 *
 * span.h
 *	  The execution that is running, and its reads until it is left.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_SPAN_H
#define TSA_WAIT_SPAN_H

#include "portability/instr_time.h"

#include "wait/caller.h"
#include "wait/frame.h"

/* From the moment that some code is entered until it is left. */
typedef struct TsaWaitSpan
{
	TsaFrame   *frame;			/* of that code, or NULL */
	TsaFrame   *outer;			/* that was current before */
	int			around;			/* spans */
	TsaWaitCounters start;
	TsaWaitCounters accounted;	/* tsa_accounted at the start */
	instr_time	began;
	bool		with_timing;
	bool		was_timing;
} TsaWaitSpan;

/* reads of spans that have been left, so that none counts them again */
extern TsaWaitCounters tsa_accounted;

extern void tsa_span_enter(TsaWaitSpan *span, TsaFrame *frame,
						   bool with_timing);
extern TsaWaitCounters tsa_span_leave(TsaWaitSpan *span, bool aborting);

/*
 * Does an execution need a span?  One that is not measured has its reads
 * counted only if something around it leaves them out: a span, or process.c.
 */
static inline bool
tsa_span_is_needed(const TsaFrame *frame)
{
	return frame != NULL || tsa_now.spans > 0 || !tsa_is_session();
}

#endif							/* TSA_WAIT_SPAN_H */
