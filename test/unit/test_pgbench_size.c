/*-------------------------------------------------------------------------
 *
 * test_pgbench_size.c
 *	  Tests the page arithmetic of pgbench_size.c without a server.
 *
 * The closed formulas are compared with literal re-enactments of what the
 * server does item by item, and the search with trying all scales
 * (t/030_pgbench_size.pl compares each fork with those of the server at hand).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "size/pgbench_size.c"
#include "size/pgbench_scale.c"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* x86-64, 8 kB blocks, version 15 */
static const TsaPageLayout layout15 = {
	.block_size = 8192,
	.max_align = 8,
	.page_header = 24,
	.item_id = 4,
	.heap_header = 23,
	.index_header = 8,
	.item_pointer = 6,
	.btree_special = 16,
	.leaf_fillfactor = 90,
	.inner_fillfactor = 70,
	.fsm_slots = 4069,
	.vm_heap_blocks = 32672,
	.max_blocks = INT64_C(0xFFFFFFFF),
	.extend_limit = 1,
	.copy_small_tables = false
};

/* the same with what versions 17 and 18 do differently */
static TsaPageLayout
layout_of_17(void)
{
	TsaPageLayout layout = layout15;

	layout.extend_limit = 64;
	layout.copy_small_tables = true;
	return layout;
}

static TsaPgbenchOptions
options_of(int scale, int fillfactor, int partitions)
{
	TsaPgbenchOptions options = {scale, fillfactor, partitions,
	TSA_PGBENCH_BIGINT_SCALE};

	return options;
}

/* What _bt_buildadd() has in hand for one level */
#define MAX_LEVELS 16
typedef struct Level
{
	int			space;			/* pd_upper - pd_lower */
	int			items;
} Level;

typedef struct Build
{
	const TsaPageLayout *layout;
	Level		levels[MAX_LEVELS];
	int			top;			/* levels in use */
	int64_t		pages;
} Build;

static void
start_page(Build *build, int level)
{
	build->levels[level].space = build->layout->block_size -
		build->layout->page_header -
		align_up(build->layout, build->layout->btree_special) -
		build->layout->item_id;
	build->levels[level].items = 0;
	build->pages++;
}

static void
add_item(Build *build, int level, int item_size)
{
	const TsaPageLayout *layout = build->layout;
	Level	   *state = &build->levels[level];
	int			percent = level == 0 ? layout->leaf_fillfactor :
	layout->inner_fillfactor;
	int			full = layout->block_size * (100 - percent) / 100;
	int			space;

	if (level == build->top)
	{
		start_page(build, level);
		build->top++;
	}
	space = state->space - layout->item_id;
	if (space < item_size +
		(level == 0 ? align_up(layout, layout->item_pointer) : 0) ||
		(space < full && state->items > 1))
	{
		/* the old page goes to the parent; its last item starts a new one */
		add_item(build, level + 1, item_size);
		start_page(build, level);
		state->items = 1;
		state->space -= layout->item_id +
			(level == 0 ? item_size : align_up(layout, layout->index_header));
	}
	state->space -= layout->item_id +
		(level > 0 && state->items == 0 ?
		 align_up(layout, layout->index_header) : item_size);
	state->items++;
}

/* The blocks that there are if no row comes any more: _bt_uppershutdown(). */
static int64_t
blocks_at_end(Build build, int item_size)
{
	for (int level = 0; level + 1 < build.top; level++)
		add_item(&build, level + 1, item_size);
	return build.pages;
}

/* At how many numbers of rows does the formula differ from building? */
static int64_t
compare_btree(const TsaPageLayout *layout, int key_size)
{
	Build		build = {.layout = layout,.pages = 1};
	int			item_size = align_up(layout, layout->index_header + key_size);
	int64_t		wrong = 0;

	for (int64_t rows = 0; rows < 200000; rows++)
	{
		wrong += count_btree_blocks(layout, rows, key_size) !=
			blocks_at_end(build, item_size);
		add_item(&build, 0, item_size);
	}
	return wrong;
}

static void
test_btree(void)
{
	TsaPageLayout narrow = layout15;
	TsaPageLayout large = layout15;
	const TsaPageLayout *layouts[] = {&layout15, &narrow, &large};

	narrow.block_size = 2048;
	narrow.max_align = 4;
	large.block_size = 32768;
	for (int i = 0; i < 3; i++)
		ok(compare_btree(layouts[i], 4) == 0 &&
		   compare_btree(layouts[i], 8) == 0,
		   "B-tree as built item by item, %d byte blocks",
		   layouts[i]->block_size);
	is_int(count_btree_blocks(&layout15, 0, 4), 1,
		   "an empty B-tree has a metapage");
}

/*
 * Blocks after COPY, row by row, as in copyfrom.c and hio.c.
 */
static int64_t
enact_copy(const TsaPageLayout *layout, int64_t rows, int64_t page_rows,
		   int64_t rows_before)
{
	int64_t		blocks = 0;
	int64_t		free_blocks = 0;
	int64_t		row;
	int64_t		in_page = page_rows;

	for (row = 0; row < rows; row++)
	{
		if (in_page < page_rows)
		{
			in_page++;
			continue;
		}
		if (free_blocks == 0)
		{
			int64_t		last = row;
			int64_t		needed = 1;
			int64_t		room = page_rows;

			/* heap_multi_insert_pages(): the rest of this batch */
			for (; last < rows; last++)
			{
				if (room == 0)
				{
					needed++;
					room = page_rows;
				}
				room--;
				if ((rows_before + last + 1) % COPY_BATCH_ROWS == 0)
					break;
			}
			/* RelationAddBlocks() */
			if (needed < blocks)
				needed = blocks;
			if (needed > layout->extend_limit)
				needed = layout->extend_limit;
			free_blocks = needed;
			blocks += needed;
		}
		free_blocks--;
		in_page = 1;
	}
	return blocks;
}

static void
test_copy(void)
{
	TsaPageLayout layout = layout_of_17();
	const int	limits[] = {1, 2, 9, 28, 63, 64};
	int			i;

	for (i = 0; i < 6; i++)
	{
		int64_t		wrong = 0;
		int64_t		rows;
		int64_t		page_rows;

		layout.extend_limit = limits[i];
		for (page_rows = 1; page_rows <= 230; page_rows += 1 + page_rows / 3)
			for (rows = 0; rows < 20000; rows += 1 + rows / 3)
			{
				int64_t		before;

				for (before = 0; before < 1000; before += 311)
					wrong += enact_copy(&layout, rows, page_rows, before) !=
						count_allocated_blocks(&layout, rows, page_rows,
											   COPY_BATCH_ROWS -
											   before % COPY_BATCH_ROWS);
			}
		ok(wrong == 0, "COPY extends as row by row, limit %d", limits[i]);
	}
}

static void
test_vacuum(void)
{
	ok(!vacuum_truncates(100, 100, true), "nothing to truncate");
	ok(vacuum_truncates(32, 33, true), "a skipped heap is truncated");
	ok(!vacuum_truncates(31, 32, true),
	   "a heap of a few blocks is not skipped, one of 32 stays");
	ok(!vacuum_truncates(100000, 100063, false),
	   "a few unused blocks of many stay");
	ok(vacuum_truncates(64, 128, false), "half of the heap does not");
}

/*
 * Blocks of a free space map for so many heap blocks: a depth first walk that
 * counts the pages.
 */
static int64_t
enact_fsm(int slots, int level, int64_t *heap_blocks)
{
	int64_t		pages = 1;
	int			i;

	if (level == 0)
	{
		*heap_blocks -= slots;
		return 1;
	}
	for (i = 0; i < slots && *heap_blocks > 0; i++)
		pages += enact_fsm(slots, level - 1, heap_blocks);
	return pages;
}

static void
test_maps(void)
{
	TsaPgbenchTable table;
	int64_t		heap_blocks;
	int64_t		wrong = 0;

	for (heap_blocks = 1; heap_blocks < INT64_C(100000000);
		 heap_blocks += 1 + heap_blocks / 50)
	{
		int64_t		left = heap_blocks;

		wrong += fsm_block_of(&layout15, heap_blocks - 1) + 1 !=
			enact_fsm(layout15.fsm_slots, 2, &left);
	}
	ok(wrong == 0, "free space map as by a walk through the tree");

	size_heap(&layout15, 0, 0, true, &table);
	is_int(table.fsm_blocks + table.vm_blocks, 0, "an empty heap has no maps");
	size_heap(&layout15, 4069, 4069, true, &table);
	is_int(table.fsm_blocks, 3, "one full leaf page of the free space map");
	size_heap(&layout15, 4069, 4080, true, &table);
	is_int(table.fsm_blocks, 3, "is what truncation leaves");
	size_heap(&layout15, 4070, 4080, true, &table);
	is_int(table.fsm_blocks, 4, "and one block more takes a second");
	size_heap(&layout15, 32672, 32680, true, &table);
	is_int(table.vm_blocks, 1, "truncation of the visibility map");
	size_heap(&layout15, 32672, 32680, false, &table);
	is_int(table.vm_blocks, 2, "which else covers unused blocks, too");
}

static void
test_bigint(void)
{
	TsaPageLayout narrow = layout15;
	TsaPgbenchOptions options = options_of(20000, 100, 0);
	TsaPgbenchOptions narrow_aid = options;

	narrow_aid.bigint_scale = 20001;
	ok(has_bigint_aid(&options) && !has_bigint_aid(&narrow_aid),
	   "aid is bigint from the threshold on");
	is_int(tsa_sum_pgbench_blocks(&layout15, &options, TSA_PGBENCH_ALL, NULL),
		   tsa_sum_pgbench_blocks(&layout15, &narrow_aid, TSA_PGBENCH_ALL,
								  NULL),
		   "bigint takes no more where alignment is 8");
	narrow.max_align = 4;
	ok(tsa_sum_pgbench_blocks(&narrow, &options, TSA_PGBENCH_TABLE, NULL) >
	   tsa_sum_pgbench_blocks(&narrow, &narrow_aid, TSA_PGBENCH_TABLE, NULL),
	   "but does in the table where it is 4");
	ok(tsa_sum_pgbench_blocks(&narrow, &options, TSA_PGBENCH_INDEX, NULL) >
	   tsa_sum_pgbench_blocks(&narrow, &narrow_aid, TSA_PGBENCH_INDEX, NULL),
	   "and in the index");
}

static void
test_partitions(void)
{
	TsaPgbenchOptions options = options_of(1, 100, 900);
	int64_t		rows = 0;
	int64_t		empty = 0;
	int64_t		i;
	TsaPgbenchTable table;

	for (i = FIXED_TABLES; i < tsa_count_pgbench_tables(&options); i++)
	{
		tsa_size_pgbench_table(&layout15, &options, i, &table);
		rows += table.rows;
		empty += (table.rows == 0);
	}
	is_int(rows, 100000, "no row is lost between partitions");
	is_int(empty, 900 - (100000 / 112 + 1), "the last partitions are empty");
	ok(strcmp(table.name, "pgbench_accounts_900") == 0, "name of the last");
	is_int(table.heap_blocks + table.fsm_blocks + table.vm_blocks, 0,
		   "an empty partition has an empty heap");
	is_int(table.pkey_blocks, 1, "and a metapage");
}

/* the nearest scale of all up to a limit */
static int
try_all_scales(const int64_t *bytes, int limit, int64_t target)
{
	int			best = 0;
	int			scale;

	for (scale = 1; scale <= limit; scale++)
	{
		if (bytes[scale] >= 0 &&
			(best == 0 ||
			 llabs(bytes[scale] - target) < llabs(bytes[best] - target)))
			best = scale;
	}
	return best;
}

static void
test_search(void)
{
	TsaPageLayout layout17 = layout_of_17();
	const TsaPageLayout *layouts[] = {&layout15, &layout17};
	const int	partitions[] = {0, 1, 7, 100, 250, 600};
	const int	limit = 300;
	int64_t		bytes[301];
	int			i;
	int			j;
	int			scale;

	for (i = 0; i < 2; i++)
		for (j = 0; j < 6; j++)
		{
			TsaPgbenchOptions options = options_of(0, 93, partitions[j]);
			int			wrong = 0;

			for (scale = 1; scale <= limit; scale++)
				bytes[scale] = bytes_at_scale(layouts[i], &options,
											  TSA_PGBENCH_ALL, 7654321, scale,
											  NULL);
			for (scale = 1; scale < limit - 50; scale += 1 + partitions[j] / 70)
			{
				int64_t		target = bytes[scale] + scale * 7919 % 9000000;

				wrong += tsa_find_pgbench_scale(layouts[i], &options,
												TSA_PGBENCH_ALL, 7654321,
												target, NULL) !=
					try_all_scales(bytes, limit, target);
				wrong += tsa_find_pgbench_scale(layouts[i], &options,
												TSA_PGBENCH_ALL, 7654321,
												bytes[scale], NULL) != scale &&
					try_all_scales(bytes, limit, bytes[scale]) == scale;
			}
			ok(wrong == 0, "search finds the nearest scale, version %d, "
			   "%d partitions", i == 0 ? 15 : 17, partitions[j]);
		}
}

/* extremes, for the sanitizers and the limit of a relation's size */
static void
test_limits(void)
{
	TsaPageLayout layout17 = layout_of_17();
	const int	fillfactors[] = {10, 100};
	const int	partitions[] = {0, 1, 1000, 100000, INT32_MAX};
	int			i;
	int			j;

	for (i = 0; i < 2; i++)
		for (j = 0; j < 5; j++)
		{
			TsaPgbenchOptions options = options_of(1, fillfactors[i],
												   partitions[j]);
			TsaPgbenchTable table;

			options.scale = tsa_max_pgbench_scale(&layout17, &options);
			tsa_size_pgbench_table(&layout17, &options, FIXED_TABLES, &table);
			ok(table.heap_blocks > 0 &&
			   table.heap_blocks <= layout17.max_blocks &&
			   table.pkey_blocks <= layout17.max_blocks,
			   "largest scale %d fits, fillfactor %d, %d partitions",
			   options.scale, fillfactors[i], partitions[j]);
		}
	{
		TsaPgbenchOptions options = options_of(1, 100, 100001);

		is_int(tsa_min_pgbench_scale(&options), 2,
			   "more partitions than rows need a larger scale");
		options.partitions = 0;
		is_int(tsa_min_pgbench_scale(&options), 1, "else it is one");
	}
}

int
main(void)
{
	test_btree();
	test_copy();
	test_vacuum();
	test_maps();
	test_bigint();
	test_partitions();
	test_search();
	test_limits();
	return done_testing();
}
