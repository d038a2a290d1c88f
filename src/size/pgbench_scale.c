/*-------------------------------------------------------------------------
 *
 * pgbench_scale.c
 *	  The scale of a pgbench database of a given size: a search over the sizes
 *	  that pgbench_size.c computes.
 *
 * Pure module: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "size/pgbench_size.h"

/*
 * A partition takes at most this many blocks more or less than its share of
 * an unpartitioned table: 64 unused blocks at the end of the heap, and less
 * than 16 for incomplete pages and for the upper levels of map and index.
 */
#define PARTITION_SLACK_BLOCKS	80
/*
 * Bytes at a scale, beside the bytes that were there before.
 */
static int64_t
bytes_at_scale(const TsaPageLayout *layout, const TsaPgbenchOptions *options,
			   TsaPgbenchObject object, int64_t base_bytes, int scale,
			   TsaPollFunction poll)
{
	TsaPgbenchOptions at_scale = *options;

	at_scale.scale = scale;
	return base_bytes + layout->block_size *
		tsa_sum_pgbench_blocks(layout, &at_scale, object, poll);
}

/*
 * Find the scale with the size nearest to a target; of two equally near ones
 * the smaller.
 *
 * Without partitions and unused blocks the size grows with the scale, so a
 * bisection finds the place.  The exact size may go up and down by a few
 * blocks for each partition; so from that place we walk in both directions
 * as long as a nearer size is possible there.
 */
int
tsa_find_pgbench_scale(const TsaPageLayout *layout,
					   const TsaPgbenchOptions *options,
					   TsaPgbenchObject object, int64_t base_bytes,
					   int64_t target_bytes, TsaPollFunction poll)
{
	TsaPageLayout plain_layout = *layout;
	TsaPgbenchOptions plain_options = *options;
	int64_t		slack;
	int64_t		best_distance = INT64_MAX;
	int			best = 0;
	int			min_scale = tsa_min_pgbench_scale(options);
	int			max_scale = tsa_max_pgbench_scale(layout, options);
	int			low = min_scale;
	int			high = max_scale;
	int			direction;

	plain_layout.extend_limit = 1;
	plain_options.partitions = 0;
	slack = tsa_count_pgbench_tables(options) * PARTITION_SLACK_BLOCKS *
		layout->block_size;

	/* the first scale that is not below the target, or the last of all */
	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (bytes_at_scale(&plain_layout, &plain_options, object, base_bytes,
						   middle, poll) < target_bytes)
			low = middle + 1;
		else
			high = middle;
	}

	for (direction = -1; direction <= 1; direction += 2)
	{
		int			scale = direction < 0 ? low : low + 1;

		for (; scale >= min_scale && scale <= max_scale; scale += direction)
		{
			int64_t		beyond;
			int64_t		distance;

			beyond = direction *
				(bytes_at_scale(&plain_layout, &plain_options, object,
								base_bytes, scale, poll) - target_bytes);
			if (scale != low && beyond - slack > best_distance)
				break;
			distance = bytes_at_scale(layout, options, object, base_bytes,
									  scale, poll) - target_bytes;
			if (distance < 0)
				distance = -distance;
			if (distance < best_distance ||
				(distance == best_distance && scale < best))
			{
				best_distance = distance;
				best = scale;
			}
		}
	}
	return best;
}
