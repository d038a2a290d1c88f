/*-------------------------------------------------------------------------
 *
 * report.c
 *	  The figures of a live copy.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "move/copy/copy.h"

/*
 * Milliseconds from one moment to another.
 */
double
tsa_ms_between(const instr_time *from, const instr_time *to)
{
	instr_time	time = *to;

	INSTR_TIME_SUBTRACT(time, *from);
	return INSTR_TIME_GET_MILLISEC(time);
}

/*
 * Milliseconds since.
 */
double
tsa_ms_since(const instr_time *then)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return tsa_ms_between(then, &now);
}

/*
 * Bytes of a copy that is gone on with, as far as it was marked.
 */
static int64
kept_bytes(const TsaCopyOrder *order)
{
	int64		blocks = 0;

	for (int i = 0; i < order->nkept; i++)
		blocks += order->kept[i].blocks;
	return blocks * BLCKSZ;
}

/*
 * Bytes that the copy has.  A block that is to be compared counts less, by what
 * could be copied in that time.
 */
static int64
has_bytes(const TsaCopy *copy)
{
	return tsa_copy_done_bytes(copy) - tsa_copy_bytes_to_compare(copy);
}

/*
 * Counts bytes.  What an interrupted copy has made is there, and has to be
 * compared, so that more is left than is not there.  What is shown as done does
 * not fall for that: it grows more slowly up to the total.
 */
static void
count_bytes(TsaCopy *copy)
{
	TsaMoveProgress *progress = &copy->progress;

	progress->bytes_gained = has_bytes(copy) - copy->had_bytes;
	progress->bytes_left = tsa_copy_bytes_to_compare(copy) +
		Max(progress->bytes_total - tsa_copy_done_bytes(copy), 0);
	progress->bytes_done = copy->done_per_left > 0 ? progress->bytes_total -
		(int64) (copy->done_per_left * progress->bytes_left) :
		kept_bytes(copy->order);
}

/*
 * So much is shown as done, and from here on what is left now counts for the
 * rest: the copy begins, goes on or starts over.  As long as something is to be
 * compared it is not shown as done.
 */
void
tsa_copy_go_on_counting(TsaCopy *copy, int64 done)
{
	TsaMoveProgress *progress = &copy->progress;
	int64		total = progress->bytes_total;

	count_bytes(copy);
	if (progress->bytes_left > 0)
		copy->done_per_left = (double)
			(total - Min(done, total - total / 100)) / progress->bytes_left;
	copy->done_per_left = copy->done_per_left > 0 ?
		Min(copy->done_per_left, 1) : 1;
	count_bytes(copy);
}

/*
 * The copy has what an interrupted one has left, and goes on.
 */
void
tsa_copy_count_adopted(TsaCopy *copy)
{
	copy->had_bytes = has_bytes(copy);
	tsa_copy_go_on_counting(copy, tsa_copy_done_bytes(copy));
}

/*
 * Brings the figures of the progress up to date.
 */
void
tsa_copy_count(TsaCopy *copy)
{
	TsaMoveProgress *progress = &copy->progress;
	double		ms = tsa_ms_since(&copy->started);

	count_bytes(copy);
	progress->mb_per_s = ms > 0 ? copy->bytes / 1048576.0 / ms * 1000.0 : -1;
	progress->attempts = copy->attempts;
	progress->nblockers = copy->nblockers;
	memcpy(progress->blockers, copy->blockers, sizeof(progress->blockers));
	progress->present_mb_per_s = -1;
	progress->rate_reason = NULL;
	progress->others_lost_percent = -1;
	if (copy->throttle != NULL)
	{
		progress->others_lost_percent =
			tsa_throttle_others_lost(copy->throttle);
		progress->present_mb_per_s =
			tsa_throttle_rate(copy->throttle) / 1048576.0;
		progress->rate_reason = tsa_throttle_explain(copy->throttle);
		copy->told_reason = tsa_throttle_reason(copy->throttle);
	}
}

/*
 * Shows the figures to others.
 */
static void
tell(TsaCopy *copy)
{
	INSTR_TIME_SET_CURRENT(copy->reported);
	copy->callbacks->report(copy->callbacks->arg, &copy->progress);
}

/*
 * Reports the progress.
 */
void
tsa_copy_report(TsaCopy *copy, const char *phase)
{
	copy->progress.phase = phase;
	tsa_copy_count(copy);
	tell(copy);
}

/*
 * Reports a pause: it is the reason for the rate.
 */
void
tsa_copy_report_pause(TsaCopy *copy, const char *phase)
{
	TsaMoveProgress *progress = &copy->progress;
	char		reason[256];

	snprintf(reason, sizeof(reason), "%s%s", phase,
			 progress->is_late ? "; it cannot end by finish_by" : "");
	tsa_copy_count(copy);
	progress->phase = phase;
	progress->rate_reason = reason;
	progress->present_mb_per_s = 0;
	tell(copy);
	progress->phase = "paused";
	progress->rate_reason = NULL;
}
