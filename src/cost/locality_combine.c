/*-------------------------------------------------------------------------
 *
 * locality_combine.c
 *	  The blocks that scans lead to if they are no single stretch of an index.
 *
 * The entries of one key, lists of constants, conditions that the index checks
 * entry by entry, and two conditions joined by AND.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "cost/locality.h"

/*
 * The blocks that so many entries with one key lead to.  They are in the order
 * of their rows, so no block comes twice, steps are gaps, and more entries go
 * on as the window does that is the next smaller one.
 */
void
tsa_locality_of_key(const TsaLocality *locality, double entries,
					TsaLocalityPoint *point)
{
	int			i = locality->npoints > 1 ? 1 : 0;
	double		more;
	double		near;

	while (i < locality->npoints - 1 &&
		   locality->points[i + 1].entries <= entries)
		i++;
	*point = locality->points[i];
	more = point->entries > 1 ? (entries - 1) / (point->entries - 1) : 0;
	tsa_locality_scale(point, more);
	point->blocks += 1 - more;
	point->far_gaps += 1 - more;
	point->entries = entries;

	/* of lengths that fall off exponentially, this share is 2 */
	near = point->skip_gaps > 0 ?
		1 / fmax(point->skip_blocks / point->skip_gaps - 1, 1) : 0;
	near *= point->skip_gaps;
	point->sequential = point->adjacent_gaps + near;
	point->skip = point->skip_gaps - near;
	point->skip_step_blocks = point->skip_blocks - 2 * near;
	point->random = point->far_gaps;
	point->back_sequential = 0;
	point->back_skip = 0;
	point->changes = point->blocks;
}

/*
 * The blocks that so many stretches lead to together, if each leads to
 * "point".  Where they lie is not known, so others fall anywhere between the
 * blocks of one.
 */
void
tsa_locality_union(TsaLocalityPoint *point, double runs, double table_blocks)
{
	double		pages = fmax(table_blocks, 1);
	double		none = 1 - fmin(point->blocks / pages, 1);
	double		no_other = pow(none, runs - 1);
	double		blocks = fmax(pages * (1 - none * no_other), point->blocks);
	double		adjacent = point->adjacent_gaps / point->blocks;
	double		near = adjacent + point->skip_gaps / point->blocks;
	double		skip = tsa_mean_skip(blocks / pages);
	double		changes = point->changes * runs;

	/* stretches of the others begin within reach, or none does */
	near = 1 - (1 - near) * no_other *
		exp(-TSA_SKIP_BLOCKS * (runs - 1) * point->far_gaps / pages);
	adjacent = 1 - (1 - adjacent) * no_other;
	near = fmin(near, 1 - 1 / blocks);
	adjacent = fmin(adjacent, near);
	if (point->skip_gaps > 0)
		skip = fmin(skip, point->skip_blocks / point->skip_gaps);

	tsa_locality_scale(point, blocks / point->blocks);
	point->entries *= runs;
	point->changes = changes;
	point->adjacent_gaps = blocks * adjacent;
	point->skip_gaps = blocks * (near - adjacent);
	point->skip_blocks = point->skip_gaps * skip;
	point->far_gaps = blocks * (1 - near);
}

/* Of a chain of steps of which a share goes on: does it reach a kept block? */
static double
still_near(double share, double kept)
{
	return kept * share / (1 - (1 - kept) * share);
}

/*
 * The blocks that remain if only so large a share of the entries leads to a
 * row that is read, so many neighbours at a time.
 */
void
tsa_locality_thin(TsaLocalityPoint *point, double share, double group)
{
	double		blocks = point->blocks;
	double		per_block = fmax(point->entries / (blocks * group), 1);
	double		kept = fmax(1 - pow(1 - share, per_block), share);
	double		one = point->sequential / blocks;
	double		one_back = point->back_sequential / blocks;
	double		all = one + point->skip / blocks;
	double		all_back = one_back + point->back_skip / blocks;
	double		adjacent = point->adjacent_gaps / blocks;
	double		near = adjacent + point->skip_gaps / blocks;
	double		length = near > 0 ?
	(point->adjacent_gaps + point->skip_blocks) / (near * blocks) : 1;

	blocks = fmax(blocks * kept, 1);
	point->entries *= share;
	point->changes = fmax(fmin(point->changes * share, point->entries),
						  blocks);
	point->blocks = blocks;
	/* up to two steps that were sequential still are */
	one = kept * one * (1 + (1 - kept) * one);
	one_back = kept * one_back * (1 + (1 - kept) * one_back);
	all = fmin(still_near(all, kept), 1 - 1 / blocks);
	all_back = fmin(still_near(all_back, kept), 1 - 1 / blocks);
	point->sequential = blocks * fmin(one, all);
	point->skip = blocks * all - point->sequential;
	point->skip_step_blocks = 0;
	point->random = blocks * (1 - all);
	point->back_sequential = blocks * fmin(one_back, all_back);
	point->back_skip = blocks * all_back - point->back_sequential;

	near = fmin(still_near(near, kept), 1 - 1 / blocks);
	adjacent = fmin(adjacent * kept, near);
	point->adjacent_gaps = blocks * adjacent;
	point->skip_gaps = blocks * (near - adjacent);
	point->skip_blocks = point->skip_gaps *
		fmin(1 + length / kept, tsa_mean_skip(0));
	point->far_gaps = blocks * (1 - near);
}

/* Go through the index the other way. */
void
tsa_locality_turn(TsaLocalityPoint *point)
{
	double		sequential = point->sequential;
	double		skip = point->skip;

	point->sequential = point->back_sequential;
	point->skip = point->back_skip;
	point->skip_step_blocks = 0;
	point->back_sequential = sequential;
	point->back_skip = skip;
	point->random = point->blocks - point->sequential - point->skip;
}

/*
 * The blocks of the rows that two conditions leave, independent of each other:
 * both have to touch a block, and a row in it has to satisfy both.  The block
 * before it has to be touched by both, too, to be adjacent.  The near gaps are
 * those of the condition that touches fewer blocks, thinned out.
 */
void
tsa_locality_and(const TsaLocalityPoint *a, const TsaLocalityPoint *b,
				 double table_blocks, double table_tuples,
				 TsaLocalityPoint *both)
{
	const TsaLocalityPoint *few = a->blocks <= b->blocks ? a : b;
	double		per_block = fmax(table_tuples / fmax(table_blocks, 1), 1);
	double		density_a = fmin(a->entries / (a->blocks * per_block), 1);
	double		density_b = fmin(b->entries / (b->blocks * per_block), 1);
	double		common = a->blocks * (b->blocks / fmax(table_blocks, 1));
	double		hit = 1 - exp(-per_block * density_a * density_b);
	double		blocks = fmax(fmin(common * hit, few->blocks), 1);
	double		kept = blocks / few->blocks;
	double		adjacent = a->adjacent_gaps / a->blocks *
	(b->adjacent_gaps / b->blocks) * hit;
	double		near_gaps = (few->adjacent_gaps + few->skip_gaps) /
	few->blocks;
	double		far;

	/* to the power of 16 */
	far = 1 - kept * near_gaps;
	far *= far;
	far *= far;
	far *= far;
	far *= far;
	near_gaps = fmax(adjacent, 1 - far);
	near_gaps = fmin(near_gaps, 1 - 1 / blocks);
	adjacent = fmin(adjacent, near_gaps);

	memset(both, 0, sizeof(*both));
	both->entries = fmax(a->entries * b->entries / fmax(table_tuples, 1), 1);
	both->blocks = blocks;
	both->random = blocks;
	both->adjacent_gaps = blocks * adjacent;
	both->skip_gaps = blocks * (near_gaps - adjacent);
	both->skip_blocks = both->skip_gaps *
		tsa_mean_skip(blocks / fmax(table_blocks, 1));
	both->far_gaps = blocks * (1 - near_gaps);
}
