/*-------------------------------------------------------------------------
 *
 * pgbench_size.c
 *	  How many blocks each relation fork made by "pgbench -i" has.
 *
 * The tables of pgbench have rows of one width and are loaded in the order of
 * their keys, so that every size follows from page arithmetic.  pgbench -i
 * creates the tables, loads them in one transaction, vacuums them and then
 * adds the primary keys; each step leaves its mark:
 *
 *	heap	Rows per page come from page header, line pointers, alignment and
 *			fillfactor.  From version 16 on COPY extends the file by many
 *			blocks at once and leaves those it did not need at the end, see
 *			count_allocated_blocks().  VACUUM may cut them off again, see
 *			vacuum_truncates().
 *	fsm,vm	VACUUM always visits the last block, enters it into the free space
 *			map and pins its page of the visibility map, so both maps cover
 *			the whole heap.  Truncating the heap truncates the maps.
 *	pkey	nbtsort.c fills the pages from left to right, see
 *			count_level_pages().  Keys are unique: nothing is deduplicated.
 *
 * pgbench_history stays empty, and a partitioned pgbench_accounts has no
 * storage of its own.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "size/pgbench_size.h"

#include <inttypes.h>
#include <stdio.h>

/* Rows that COPY hands over at once (MAX_BUFFERED_TUPLES in copyfrom.c) */
#define COPY_BATCH_ROWS			1000

/* How VACUUM skips and truncates (constants of vacuumlazy.c) */
#define SKIP_PAGES_THRESHOLD	32
#define REL_TRUNCATE_MINIMUM	1000
#define REL_TRUNCATE_FRACTION	16

/* tables that exist for any number of partitions */
#define FIXED_TABLES			3

/* Tables with storage, in the order in which they are numbered */
typedef enum TableKind
{
	BRANCHES,
	TELLERS,
	HISTORY,
	ACCOUNTS
} TableKind;

/* The quotient, rounded up. */
static int64_t
divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* The larger one. */
static int64_t
max_int64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The smaller one. */
static int64_t
min_int64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* MAXALIGN */
static int
align_up(const TsaPageLayout *layout, int size)
{
	return (size + layout->max_align - 1) / layout->max_align *
		layout->max_align;
}

/* Is the scale so large that aid is a bigint? */
static bool
has_bigint_aid(const TsaPgbenchOptions *options)
{
	return options->scale >= options->bigint_scale;
}

/*
 * Size of a row's tuple in the heap.
 *
 * In pgbench_accounts "filler" is a char(84) of blanks with the short varlena
 * header of one byte; in the others it is NULL, which takes a bitmap instead.
 */
static int
tuple_size(const TsaPageLayout *layout, const TsaPgbenchOptions *options,
		   TableKind kind)
{
	const int	int_size = 4;
	int			header = layout->heap_header;
	int			data;

	switch (kind)
	{
		case BRANCHES:			/* bid, bbalance */
			header += 1;
			data = 2 * int_size;
			break;
		case TELLERS:			/* tid, bid, tbalance */
			header += 1;
			data = 3 * int_size;
			break;
		default:				/* aid, bid, abalance, filler */
			data = (has_bigint_aid(options) ? 2 : 1) * int_size +
				2 * int_size + (1 + 84);
			break;
	}
	return align_up(layout, align_up(layout, header) + data);
}

/*
 * Rows that an INSERT or COPY puts on a heap page: as many as leave the
 * fillfactor's share free, and one in any case.
 */
static int64_t
rows_per_page(const TsaPageLayout *layout, const TsaPgbenchOptions *options,
			  TableKind kind)
{
	int			reserved;
	int			available;

	reserved = layout->block_size * (100 - options->fillfactor) / 100;
	available = layout->block_size - layout->page_header - reserved;
	return max_int64(1, available /
					 (tuple_size(layout, options, kind) + layout->item_id));
}

/*
 * Blocks of a heap after COPY of so many rows.
 *
 * hio.c extends a relation by the blocks that the rest of the present batch
 * of rows needs, or by as many as this COPY has added before if that is more,
 * but by no more than extend_limit.  When the last row is in, the rest of the
 * last extension stays behind as unused blocks.  batch_rows is the number of
 * rows in the first batch: the load of a partition may begin within one.
 */
static int64_t
count_allocated_blocks(const TsaPageLayout *layout, int64_t rows,
					   int64_t page_rows, int64_t batch_rows)
{
	int64_t		used = divide_up(rows, page_rows);
	int64_t		limit = layout->extend_limit;
	int64_t		allocated = 0;

	while (allocated < used && allocated < limit)
	{
		int64_t		row = allocated * page_rows;
		int64_t		batch_end = batch_rows;
		int64_t		needed;

		if (row >= batch_end)
			batch_end += ((row - batch_end) / COPY_BATCH_ROWS + 1) *
				COPY_BATCH_ROWS;
		needed = divide_up(min_int64(batch_end, rows) - row, page_rows);
		allocated += min_int64(max_int64(needed, allocated), limit);
	}

	/* from here on each extension adds the same number of blocks */
	if (allocated < used)
		allocated += divide_up(used - allocated, limit) * limit;
	return allocated;
}

/*
 * Does VACUUM cut off the unused blocks at the end of a heap?
 *
 * If COPY has frozen the rows, their pages are skipped by means of the
 * visibility map, unless there are only a few.  VACUUM then has seen no page
 * with rows at all, takes the whole file for possibly free, and goes to
 * look.  Otherwise it truncates only if that frees a good part of the file.
 */
static bool
vacuum_truncates(int64_t used, int64_t allocated, bool frozen)
{
	int64_t		freeable = allocated - used;

	if (freeable == 0)
		return false;
	if (frozen && used >= SKIP_PAGES_THRESHOLD)
		return true;
	return freeable >= REL_TRUNCATE_MINIMUM ||
		freeable >= allocated / REL_TRUNCATE_FRACTION;
}

/*
 * Number of the FSM block with the slot of a heap block.
 *
 * The map is a tree of at least three levels, stored depth first: each leaf
 * page comes after the pages above it.
 */
static int64_t
fsm_block_of(const TsaPageLayout *layout, int64_t heap_block)
{
	int			depth = layout->fsm_slots >= 1626 ? 3 : 4;
	int64_t		leaf = heap_block / layout->fsm_slots;
	int64_t		pages = 0;
	int			level;

	for (level = 0; level < depth; level++)
	{
		pages += leaf + 1;
		leaf /= layout->fsm_slots;
	}
	return pages - 1;
}

/*
 * Size the heap and its maps.
 */
static void
size_heap(const TsaPageLayout *layout, int64_t used, int64_t allocated,
		  bool frozen, TsaPgbenchTable *table)
{
	table->heap_blocks = allocated;
	table->fsm_blocks = 0;
	table->vm_blocks = 0;
	if (allocated == 0)
		return;

	table->fsm_blocks = fsm_block_of(layout, allocated - 1) + 1;
	if (vacuum_truncates(used, allocated, frozen))
	{
		int64_t		fsm_blocks = fsm_block_of(layout, used);

		/* the page of the first block cut off stays if it has other slots */
		if (used % layout->fsm_slots != 0)
			fsm_blocks++;
		table->fsm_blocks = min_int64(table->fsm_blocks, fsm_blocks);
		table->heap_blocks = used;
	}
	table->vm_blocks = divide_up(table->heap_blocks, layout->vm_heap_blocks);
}

/*
 * Pages of one level of a B-tree that nbtsort.c builds from so many items.
 *
 * A page is finished when one more item arrives and either does not fit or
 * finds less space than the fillfactor wants left, provided there are two
 * items at least.  The last item then becomes the page's high key, and the
 * first item of the next page; on inner pages that first item is cut to its
 * header.  Space for the line pointer of the high key is set aside from the
 * beginning.  On leaf pages room is kept for a heap TID in the high key.
 */
static int64_t
count_level_pages(const TsaPageLayout *layout, int64_t items, int item_size,
				  bool is_leaf)
{
	int			fillfactor = is_leaf ? layout->leaf_fillfactor :
	layout->inner_fillfactor;
	int			soft_limit = layout->block_size * (100 - fillfactor) / 100;
	int			hard_limit = item_size;
	int			space;
	int64_t		page_items;

	if (is_leaf)
		hard_limit += align_up(layout, layout->item_pointer);

	/* free space as PageGetFreeSpace() tells it: less a line pointer */
	space = layout->block_size - layout->page_header -
		align_up(layout, layout->btree_special) - 2 * layout->item_id;
	if (!is_leaf)
		space += item_size - align_up(layout, layout->index_header);

	/* items go in while there is as much space as both limits ask for */
	space -= (int) max_int64(soft_limit, hard_limit);
	page_items = space / (item_size + layout->item_id) + 1;
	page_items = max_int64(2, page_items);

	/* all pages but the last pass one item on */
	if (items <= page_items)
		return 1;
	return 1 + divide_up(items - page_items, page_items - 1);
}

/*
 * Blocks of a B-tree on one integer column, built from so many rows: the
 * metapage and the levels up to the root.
 */
static int64_t
count_btree_blocks(const TsaPageLayout *layout, int64_t rows, int key_size)
{
	int			item_size = align_up(layout, layout->index_header + key_size);
	int64_t		blocks = 1;
	int64_t		level_pages;

	if (rows == 0)
		return blocks;

	level_pages = count_level_pages(layout, rows, item_size, true);
	blocks += level_pages;
	while (level_pages > 1)
	{
		level_pages = count_level_pages(layout, level_pages, item_size,
										false);
		blocks += level_pages;
	}
	return blocks;
}

/*
 * Number of tables with storage.
 */
int64_t
tsa_count_pgbench_tables(const TsaPgbenchOptions *options)
{
	return FIXED_TABLES + max_int64(1, options->partitions);
}

/*
 * Rows of pgbench_accounts or of its partition with this number (from 0 on),
 * and the number of rows that are loaded before.  The range partitions are of
 * one size, rounded up; the last ones get the rest.
 */
static int64_t
count_accounts_rows(const TsaPgbenchOptions *options, int64_t partition,
					int64_t *rows_before)
{
	int64_t		rows = options->scale * TSA_PGBENCH_ACCOUNTS;
	int64_t		part_rows;

	part_rows = divide_up(rows, max_int64(1, options->partitions));
	*rows_before = min_int64(rows, partition * part_rows);
	return min_int64(rows - *rows_before, part_rows);
}

/*
 * Size the table with this number, below tsa_count_pgbench_tables().
 */
void
tsa_size_pgbench_table(const TsaPageLayout *layout,
					   const TsaPgbenchOptions *options,
					   int64_t number, TsaPgbenchTable *table)
{
	static const char *const names[] = {
		"pgbench_branches", "pgbench_tellers", "pgbench_history",
		"pgbench_accounts"
	};
	TableKind	kind = number < FIXED_TABLES ? (TableKind) number : ACCOUNTS;
	int64_t		page_rows = rows_per_page(layout, options, kind);
	int64_t		rows_before = 0;
	int64_t		used;
	int64_t		allocated;
	bool		copied = layout->copy_small_tables;
	bool		frozen = layout->copy_small_tables;
	int			key_size = 4;

	table->is_accounts = (kind == ACCOUNTS);
	table->has_pkey = (kind != HISTORY);
	snprintf(table->name, sizeof(table->name), "%s", names[kind]);

	switch (kind)
	{
		case BRANCHES:
			table->rows = options->scale * TSA_PGBENCH_BRANCHES;
			break;
		case TELLERS:
			table->rows = options->scale * TSA_PGBENCH_TELLERS;
			break;
		case HISTORY:
			table->rows = 0;
			break;
		case ACCOUNTS:
			table->rows = count_accounts_rows(options, number - FIXED_TABLES,
											  &rows_before);
			copied = true;
			frozen = (options->partitions == 0);
			if (has_bigint_aid(options))
				key_size = 8;
			if (options->partitions > 0)
				snprintf(table->name, sizeof(table->name), "%s_%" PRId64,
						 names[kind], number - FIXED_TABLES + 1);
			break;
	}

	used = divide_up(table->rows, page_rows);
	allocated = used;
	if (copied)
		allocated = count_allocated_blocks(layout, table->rows, page_rows,
										   COPY_BATCH_ROWS -
										   rows_before % COPY_BATCH_ROWS);
	size_heap(layout, used, allocated, frozen, table);
	table->pkey_blocks = table->has_pkey ?
		count_btree_blocks(layout, table->rows, key_size) : 0;
}

/*
 * Blocks of a whole database's pgbench relations, or of pgbench_accounts or
 * its primary key (with all partitions).
 */
int64_t
tsa_sum_pgbench_blocks(const TsaPageLayout *layout,
					   const TsaPgbenchOptions *options,
					   TsaPgbenchObject object, TsaPollFunction poll)
{
	int64_t		count = tsa_count_pgbench_tables(options);
	int64_t		blocks = 0;
	int64_t		i;

	for (i = 0; i < count; i++)
	{
		TsaPgbenchTable table;

		if (poll != NULL)
			poll();
		tsa_size_pgbench_table(layout, options, i, &table);
		if (object != TSA_PGBENCH_ALL && !table.is_accounts)
			continue;
		if (object != TSA_PGBENCH_INDEX)
			blocks += table.heap_blocks + table.fsm_blocks + table.vm_blocks;
		if (object != TSA_PGBENCH_TABLE)
			blocks += table.pkey_blocks;
	}
	return blocks;
}

/*
 * Smallest scale with a row for each partition.
 */
int
tsa_min_pgbench_scale(const TsaPgbenchOptions *options)
{
	return (int) max_int64(1, divide_up(options->partitions,
										TSA_PGBENCH_ACCOUNTS));
}

/*
 * Largest scale at which every relation still has a valid number of blocks.
 */
int
tsa_max_pgbench_scale(const TsaPageLayout *layout,
					  const TsaPgbenchOptions *options)
{
	TsaPgbenchOptions widest = *options;
	int64_t		table_rows;
	int64_t		rows;

	/* the wider aid, to be sure */
	widest.scale = TSA_PGBENCH_MAX_SCALE;
	table_rows = (layout->max_blocks - layout->extend_limit) *
		rows_per_page(layout, &widest, ACCOUNTS);
	rows = TSA_PGBENCH_MAX_SCALE * TSA_PGBENCH_ACCOUNTS;
	if (divide_up(rows, max_int64(1, options->partitions)) > table_rows)
		rows = table_rows * max_int64(1, options->partitions);
	return (int) (rows / TSA_PGBENCH_ACCOUNTS);
}
