/*-------------------------------------------------------------------------
 *
 * span.c
 *	  The execution that is running, and its reads until it is left.
 *
 * A span lasts from entering some code (an execution, a utility command, the
 * planner) until leaving it.  On entering, the execution around it is charged;
 * on leaving, it passes over the reads meanwhile.  After an error the span is
 * left in PG_CATCH, while relations are still open.  An execution that is not
 * measured, at the top or inside of others that are not, has no span: nobody
 * would look at its reads.
 *
 * Reads are timed in a span that is measured (timing.c).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"
#include "wait/relations.h"
#include "wait/slot.h"
#include "wait/span.h"
#include "wait/timing.h"

TsaWaitCounters tsa_accounted;

/*
 * Enters code that reads: an execution that has a frame, or anything else.
 */
void
tsa_span_enter(TsaWaitSpan *span, TsaFrame *frame, bool with_timing)
{
	span->frame = frame;
	span->outer = tsa_now.frame;
	span->around = tsa_now.spans;
	span->with_timing = with_timing;
	if (span->outer != NULL)
	{
		tsa_frame_charge(span->outer);
		tsa_frame_absorb(span->outer, false);
	}
	span->start = tsa_wait_counters();
	span->accounted = tsa_accounted;
	tsa_now.frame = frame;
	tsa_now.spans++;
	if (frame != NULL)
	{
		tsa_frame_skip(frame);
		INSTR_TIME_SET_CURRENT(span->began);
	}
	if (with_timing)
		span->was_timing = tsa_begin_timing();
}

/* The frame of a span that is being left. */
static void
leave_frame(TsaWaitSpan *span, const TsaWaitCounters *now, bool aborting)
{
	TsaFrame   *frame = span->frame;
	instr_time	ended;

	if (tsa_read_progress() != frame->progress)
		tsa_frame_charge_now(frame, aborting);
	tsa_frame_absorb(frame, true);
	INSTR_TIME_SET_CURRENT(ended);
	INSTR_TIME_SUBTRACT(ended, span->began);
	frame->elapsed_ns += tsa_instr_ns(ended);
	frame->total.hits += now->hits - span->start.hits;
	frame->running = TSA_NONE;
}

/*
 * Leaves it.  Returns the reads there, without those of other spans inside of
 * it.  aborting: after an error.
 */
TsaWaitCounters
tsa_span_leave(TsaWaitSpan *span, bool aborting)
{
	TsaWaitCounters now = tsa_wait_counters();
	TsaWaitCounters own = {
		.reads = now.reads - span->start.reads,
		.ns = now.ns - span->start.ns
	};
	TsaWaitCounters within = {
		.reads = tsa_accounted.reads - span->accounted.reads,
		.ns = tsa_accounted.ns - span->accounted.ns
	};
	bool		is_alive;

	tsa_wait_aborting = aborting;
	if (span->with_timing)
		tsa_end_timing(span->was_timing);
	/* after an abort of its transaction the frame is no more */
	is_alive = span->frame != NULL && tsa_now.frame == span->frame;
	tsa_now.frame = span->outer;
	tsa_now.spans = span->around;
	if (is_alive)
		leave_frame(span, &now, aborting);	/* which may fail */
	if (span->outer != NULL)
	{
		tsa_frame_skip(span->outer);
		span->outer->total.reads += own.reads;
		span->outer->total.waited_ns += own.ns;
	}
	tsa_accounted.reads = span->accounted.reads + own.reads;
	tsa_accounted.ns = span->accounted.ns + own.ns;
	own.reads -= Min(own.reads, within.reads);
	own.ns -= Min(own.ns, within.ns);
	tsa_wait_aborting = false;
	return own;
}
