/* Copyright (c) 2026, The tablespace_advisor developers */

/* Unit tests of src/cost/locality*.c (the pure ones) and correction.c. */
#include <stdlib.h>

#include "tap.h"

#include "cost/page_cost.c"
#include "cost/locality.c"
#include "cost/locality_combine.c"
#include "cost/locality_times.c"
#include "cost/correction.c"

#define ROWS		300000
#define PER_BLOCK	60
#define BLOCKS		(ROWS / PER_BLOCK)

static const TsaReadTimes disk = {
	.sequential = 100,.random = 5000,.skip = 3000,.cached = 2,
	.adjacent_0 = 100,.adjacent_1 = 300,.depth = 16,.adjacent_n = 250,
	.skip_n = 2500,.random_n = 4000
};

static uint32_t *blocks;

static const TsaCostSettings defaults = {
	.table_random = 4,.table_seq = 1,.index_random = 4,
	.cache_pages = 524288,.bitmap_entries = 58254
};
static const TsaLocalScan one_scan = {
	.scan = {
		.table_pages = BLOCKS,.table_tuples = ROWS,
		.index_pages = 825,.index_tuples = ROWS,.loop_count = 1
	},
	.runs = 1
};

/* What is planned. */
static TsaCostSettings settings;
static TsaLocalScan local;
static TsaLocality locality;

/* A scan of so much of the table, with the server's defaults. */
static void
plan(double selectivity)
{
	settings = defaults;
	local = one_scan;
	local.scan.selectivity = selectivity;
}

/* Correct it where caches hold nothing. */
static void
correct(TsaCorrection *correction)
{
	TsaCachedTimes cold;
	TsaReadTimes times;

	tsa_times_cached(&disk, 0, 0, &cold);
	tsa_correct_scan(&local, &settings, &locality, &cold, &times, correction);
}

/* Look at an index whose i-th entry leads to row place(i). */
static void
look(uint32_t (*place) (uint32_t), int whole, TsaLocality *found)
{
	static uint64_t table[1 << 20];
	static uint32_t distinct[ROWS];
	TsaLocalityCounter counter = {
		.table = table,.table_size = 1 << 20,.distinct = distinct
	};
	TsaLocalityPoint all = {0};
	uint32_t	i;

	memset(table, 0, sizeof(table));
	for (i = 0; i < ROWS; i++)
		blocks[i] = place(i) / PER_BLOCK;
	if (whole)
	{
		tsa_locality_add(&counter, blocks, ROWS);
		tsa_locality_count(&counter, blocks, ROWS, &all);
		tsa_locality_finish(&counter, &all, ROWS, BLOCKS, found);
	}
	else
	{
		tsa_locality_add(&counter, blocks + 1000, 65536);
		tsa_locality_add(&counter, blocks + 180000, 65536);
		tsa_locality_finish(&counter, NULL, ROWS, BLOCKS, found);
	}
}

static uint32_t
linear(uint32_t i)
{
	return i;
}

static uint32_t
descending(uint32_t i)
{
	return ROWS - 1 - i;
}

static uint32_t
scattered(uint32_t i)
{
	return (uint32_t) ((uint64_t) i * 148933 % ROWS);
}

static uint32_t
groups(uint32_t i)
{
	return i / 600 * 233 % (ROWS / 600) * 600 + i % 600;
}

/* So many keys, the rows of each evenly over the table. */
static uint32_t
keys(uint32_t i, uint32_t n)
{
	return i % (ROWS / n) * n + i / (ROWS / n);
}

static uint32_t
ten_keys(uint32_t i)
{
	return keys(i, 10);
}

static uint32_t
thousand_keys(uint32_t i)
{
	return keys(i, 1000);
}

static void
test_counts(void)
{
	TsaLocality sample;
	TsaLocalityPoint point;
	int			i;

	look(linear, 1, &locality);
	is_int(locality.npoints, 10, "nine sizes of window and the whole");
	point = locality.points[9];
	is_close(point.blocks, BLOCKS, 1e-12, "the whole leads to every block");
	is_close(point.sequential, BLOCKS - 1, 1e-12, "linear: one step by one");
	is_close(point.random, 1, 1e-12, "linear: the first touch is random");
	is_close(point.adjacent_gaps, BLOCKS - 1, 1e-12, "linear: adjacent");
	is_close(locality.points[0].blocks, 1, 1e-12, "one entry, one block");
	is_close(point.changes, BLOCKS, 1e-12, "linear: no block twice");
	is_close(tsa_locality_revisit_us(&point, &disk, 0), 0, 1e-12,
			 "linear: nothing to go back to");

	look(descending, 1, &locality);
	point = locality.points[9];
	is_close(point.sequential, 0, 1e-12, "descending: nothing is sequential");
	is_close(point.back_sequential, BLOCKS - 1, 1e-12,
			 "descending: but backwards it is");
	is_close(point.adjacent_gaps, BLOCKS - 1, 1e-12,
			 "descending: in block order it is adjacent");
	ok(tsa_locality_index_us(&point, &disk, 1) * 20 <
	   tsa_locality_index_us(&point, &disk, 0),
	   "descending: cheap in the other direction");

	look(scattered, 1, &locality);
	tsa_locality_at(&locality, 1024, &point);
	is_close(point.blocks, 1024 * (1 - 512.0 / BLOCKS), 0.2,
			 "scattered: nearly a block per entry");
	ok(point.random > 0.9 * point.blocks, "scattered: random");
	is_close(point.changes, 1024, 1e-3, "scattered: another block each time");

	look(groups, 1, &locality);
	tsa_locality_at(&locality, 6000, &point);
	is_close(point.blocks, 100, 0.25, "groups: their blocks");
	ok(point.random > 8 && point.random < 20, "groups: one jump each");
	ok(point.sequential > 0.7 * point.blocks, "groups: else sequential");

	for (i = 0; i < 2; i++)
	{
		look(i ? groups : scattered, 1, &locality);
		look(i ? groups : scattered, 0, &sample);
		is_close(sample.points[6].blocks, locality.points[6].blocks, 0.1,
				 "a sample finds as many blocks as the whole");
		is_close(sample.points[9].blocks, locality.points[9].blocks, 0.1,
				 "and so does what is extrapolated");
	}
	tsa_locality_at(&locality, 1e9, &point);
	is_close(point.blocks, BLOCKS, 1e-9, "no more than all");
	tsa_locality_at(&locality, 0.1, &point);
	is_close(point.blocks, 1, 1e-9, "no less than one");
}

static void
test_times(void)
{
	TsaLocalityPoint point = {
		.entries = 100,.blocks = 10,.sequential = 5,.skip = 3,.random = 2,
		.adjacent_gaps = 7,.skip_gaps = 2,.far_gaps = 1,.skip_blocks = 4
	};
	TsaLocalityPoint wide = {
		.entries = 30000,.blocks = 5000,.random = 5000,
		.adjacent_gaps = 4999,.far_gaps = 1
	};
	TsaLocalityPoint both;
	TsaReadTimes times = disk;

	is_close(tsa_locality_index_us(&point, &disk, 0),
			 5 * 100 + 3 * 3000 + 2 * 5000, 1e-12, "index order");
	is_close(tsa_locality_bitmap_us(&point, &disk, 0),
			 7 * 100 + 2 * 200 + 5000, 1e-12, "block order, no prefetching");
	is_close(tsa_locality_bitmap_us(&point, &disk, 1),
			 7 * 300 + 2 * 600 + 5000, 1e-12, "prefetching one page");
	is_close(tsa_locality_bitmap_us(&point, &disk, 16),
			 7 * 250 + 2 * 500 + 4000, 1e-12, "as deep as was measured");
	is_close(tsa_locality_bitmap_us(&point, &disk, 256),
			 7 * 250 + 2 * 500 + 4000, 1e-12, "no better beyond");
	is_close(tsa_locality_bitmap_us(&point, &disk, 4),
			 7 * 275 + 2 * 550 + 4500, 1e-12, "half way in the logarithm");
	point.skip_blocks = 2 * 200;
	is_close(tsa_locality_bitmap_us(&point, &disk, 1),
			 7 * 300 + 2 * 2952.16 + 5000, 1e-3,
			 "long gaps: nearly as long as a skip takes");
	times.cpu.prefetch = 1;
	tsa_times_blend(&times, 0.5, 0.5);
	is_close(tsa_locality_bitmap_us(&point, &times, 0),
			 tsa_locality_bitmap_us(&point, &times, 1) - 5, 1e-12,
			 "prefetching costs where the system has the page");
	times = disk;
	point.skip_blocks = 4;
	point.changes = 40;
	is_close(tsa_locality_revisit_us(&point, &disk, 0), 30 * disk.cached,
			 1e-12, "going back: from the system's cache");
	is_close(tsa_locality_revisit_us(&point, &disk, 5), 15 * disk.cached,
			 1e-12, "going back: half in shared buffers");
	is_close(tsa_locality_revisit_us(&point, &disk, 10), 0, 1e-12,
			 "going back: all in shared buffers");
	is_close(tsa_locality_turns_us(&point, &disk, 1, 0), 0, 1e-12,
			 "one leaf: no turns");
	is_close(tsa_locality_turns_us(&point, &disk, 16, 0),
			 2 * (2.25 + 5.0 / 16) * 4900, 1e-12,
			 "turns: as many as the fewer requests");
	is_close(tsa_locality_turns_us(&wide, &disk, 100, 0), 0, 1e-12,
			 "turns: none where every block is a jump");
	tsa_times_blend(&times, 0, 1);
	is_close(tsa_locality_turns_us(&point, &times, 16, 0), 0, 1e-12,
			 "turns: none in caches");
	is_close(tsa_locality_index_us(&point, &times, 0), 20, 1e-12,
			 "all from the cache");

	tsa_locality_and(&point, &wide, 5000, 300000, &both);
	ok(both.blocks >= 1 && both.blocks <= 10, "AND: no more than the fewer");
	is_close(both.adjacent_gaps + both.skip_gaps + both.far_gaps, both.blocks,
			 1e-9, "AND: gaps add up");
	/* two conditions that each leave a third of the table in long stretches */
	wide.entries = 100000;
	wide.blocks = 1667;
	wide.adjacent_gaps = 1600;
	wide.far_gaps = 67;
	tsa_locality_and(&wide, &wide, 5000, 300000, &both);
	is_close(both.blocks, 556, 0.01, "AND: a ninth of the blocks");
	ok(both.adjacent_gaps > 0.9 * both.blocks,
	   "AND: stretches have stretches in common");
}

/* Scans that are no single stretch of the index. */
static void
test_combinations(void)
{
	TsaLocalityPoint point;
	TsaLocalityPoint one;

	look(ten_keys, 1, &locality);
	tsa_locality_of_key(&locality, 30000, &point);
	is_close(point.blocks, BLOCKS, 0.01, "one key of ten: all blocks");
	ok(point.sequential > 0.99 * point.blocks, "one key of ten: in order");
	look(thousand_keys, 1, &locality);
	tsa_locality_of_key(&locality, 300, &one);
	is_close(one.blocks, 300, 0.01, "one key of a thousand: a block each");
	is_close(one.skip_step_blocks, 300 * 16.67, 0.02,
			 "one key of a thousand: short skips");
	is_close(tsa_locality_index_us(&one, &disk, 0),
			 tsa_locality_bitmap_us(&one, &disk, 0), 0.05,
			 "one key: index order is block order");
	ok(tsa_locality_index_us(&one, &disk, 1) > 290 * disk.random,
	   "but not backwards");
	point = one;
	tsa_locality_union(&point, 10, BLOCKS);
	is_close(point.blocks, BLOCKS * (1 - pow(0.94, 10)), 0.01,
			 "ten keys of a thousand: blocks in common");
	is_close(point.adjacent_gaps / point.blocks, 1 - pow(0.94, 9), 0.01,
			 "ten keys of a thousand: gaps close");
	is_close(point.adjacent_gaps + point.skip_gaps + point.far_gaps,
			 point.blocks, 1e-9, "list: gaps add up");
	ok(tsa_locality_bitmap_us(&point, &disk, 0) <
	   0.5 * 10 * tsa_locality_bitmap_us(&one, &disk, 0),
	   "ten keys in block order: less than half of ten times one");

	look(linear, 1, &locality);
	tsa_locality_of_key(&locality, 20, &point);
	is_close(point.blocks, 1 + 19.0 / PER_BLOCK, 0.1, "a short key: one block");
	tsa_locality_of_key(&locality, 1, &point);
	is_close(point.blocks, 1, 1e-9, "a key of one entry: one block");
	tsa_locality_at(&locality, 6000, &point);
	tsa_locality_thin(&point, 0.01, 1);
	is_close(point.entries, 60, 1e-9, "thinned out: entries");
	is_close(point.blocks, 100 * (1 - pow(0.99, 60)), 0.02,
			 "thinned out: more blocks than of neighbours");
	ok(point.random < 4 && point.sequential > 0.6 * point.blocks &&
	   point.skip > 1, "thinned out: still in order");
	is_close(point.adjacent_gaps + point.skip_gaps + point.far_gaps,
			 point.blocks, 1e-9, "thinned out: gaps add up");
	look(scattered, 1, &locality);
	tsa_locality_at(&locality, 16384, &point);
	tsa_locality_thin(&point, 0.01, 1);
	is_close(point.blocks, 164, 0.05, "thinned out: scattered as before");
	ok(point.random > 0.9 * point.blocks, "thinned out: random as before");
}

static void
test_correction(uint32_t (*place) (uint32_t), const char *name,
				double selectivity, int index_only)
{
	TsaCorrection correction;
	TsaHeapCost core;
	double		heap;
	double		measured;

	plan(selectivity);
	settings.cpu_tuple = 0.01;
	settings.cpu_index_tuple = 0.005;
	settings.cpu_operator = 0.0025;
	settings.shared_pages = 16384;
	local.scan.tree_height = 1;
	local.scan.index_quals = 1;
	local.scan.all_visible = 0.5;
	local.index_only = index_only;
	look(place, 1, &locality);
	correct(&correction);
	core = tsa_index_heap_cost(&local.scan, &settings, index_only);
	heap = core.worst + correction.correlation * correction.correlation *
		(core.best - core.worst) + correction.index_raise;
	measured = tsa_locality_index_us(&correction.point, &disk, 0) *
		correction.unit * (index_only ? 0.5 : 1);
	/* the processor takes no time here, and is charged all the same */
	measured -= correction.point.entries *
		(settings.cpu_tuple + settings.cpu_index_tuple);
	is_close(heap, fmax(measured, 0), 1e-6, name);
	ok(correction.index_raise + correction.bitmap_core >=
	   correction.bitmap_heap - 1e-6, "%s: bitmap not underrated", name);
}

/* Under LIMIT the first rows cost what they take. */
static void
test_first_rows(void)
{
	TsaCorrection all;
	TsaCorrection first;

	plan(1);
	settings.shared_pages = 16384;
	local.wanted = 0.001;
	look(scattered, 1, &locality);
	correct(&all);
	ok(all.startup_raise > 250 * 5000 * all.unit,
	   "first rows: nearly a block each");
	local.scan.selectivity = local.wanted;
	local.wanted = 1;
	correct(&first);
	is_close(first.startup_raise, 0, 1e-9, "all rows: nothing");
	is_close(all.startup_raise + 0.001 *
			 (tsa_locality_index_us(&all.point, &disk, 0) * all.unit -
			  all.startup_raise),
			 tsa_locality_index_us(&first.point, &disk, 0) * first.unit,
			 1e-6, "first rows: the planner comes to the measured time");
}

/*
 * I/O workers: the way to them is waited for, unless there are several requests.
 * Before, only what prefetching costs the session was known: with io_method = worker
 * plans took 1.3 times the best.
 */
static void
test_workers(void)
{
	TsaLocalityPoint apart = {
		.entries = 1000,.blocks = 1000,.random = 1000,.far_gaps = 1000,
		.changes = 3000
	};
	TsaLocalityPoint dense = {
		.entries = 5000,.blocks = 5000,.adjacent_gaps = 4999,.far_gaps = 1
	};
	TsaReadTimes alone = disk;
	TsaReadTimes times;

	tsa_times_blend(&alone, 0, 1);
	times = alone;
	times.cpu.worker = 45;
	is_close(tsa_locality_bitmap_us(&apart, &times, 0),
			 tsa_locality_bitmap_us(&apart, &alone, 0), 1e-12,
			 "without concurrency a session reads itself");
	is_close(tsa_locality_bitmap_us(&apart, &times, 1),
			 tsa_locality_bitmap_us(&apart, &alone, 1) + 45000, 1e-12,
			 "one request at a time: each waits for a worker");
	is_close(tsa_locality_bitmap_us(&apart, &times, 16),
			 tsa_locality_bitmap_us(&apart, &alone, 16) +
			 5 * 45 + 995 * (47 / 16.0 - 2), 1e-12,
			 "sixteen: the first ones do");
	ok(tsa_locality_bitmap_us(&dense, &times, 16) <
	   0.5 * tsa_locality_bitmap_us(&dense, &alone, 16),
	   "workers copy pages that lie together");
	is_close(tsa_locality_again_us(&times, 0, 1),
			 tsa_locality_again_us(&times, 0, 0) + 45, 1e-12,
			 "a block that is read again is a request, too");
	times.cpu.revisit = 0.5;
	is_close(tsa_locality_revisit_us(&apart, &times, 1000), 1000, 1e-12,
			 "coming back to a page in shared buffers takes time");
	tsa_times_blend(&times, 1, 0);
	is_close(tsa_locality_bitmap_us(&apart, &times, 1), 0, 1e-12,
			 "nothing is requested that is in shared buffers");
}

/* The kernel reads ahead of a sequential scan. */
static void
test_seq_scan(void)
{
	TsaReadTimes times = disk;
	TsaScan		scan = {
		.table_pages = 1000,.table_tuples = 60000,.table_quals = 2
	};

	is_close(tsa_seq_scan_us(&scan, &times), 100000, 1e-6,
			 "sequential scan: as long as the device takes");
	times.cpu.tuple = 2;
	times.cpu.operator = 1;
	is_close(tsa_seq_scan_us(&scan, &times), 2000 + 60000 * 4, 1e-6,
			 "or as long as the processor takes, which copies, too");
	tsa_times_blend(&times, 0, 0.5);
	is_close(tsa_seq_scan_us(&scan, &times), 2000 + 60000 * 4, 1e-6,
			 "half of it in caches: the processor still is");
	times = disk;
	tsa_times_blend(&times, 0, 0.5);
	is_close(tsa_seq_scan_us(&scan, &times), 50000 + 1000, 1e-6,
			 "else half the device's time, and the other half copied");
	times.cpu.tuple = 2;
	times.cpu.operator = 1;
	times.cpu.hit = 1;
	times.cached_fraction = 0;
	tsa_times_blend(&times, 1, 0);
	is_close(tsa_seq_scan_us(&scan, &times), 1000 + 60000 * 4, 1e-6,
			 "nothing is copied from shared buffers");
}

/* What caches hold: few blocks are likelier to be there than all are. */
static void
test_cached_times(void)
{
	TsaCachedTimes cached;
	TsaReadTimes times;

	tsa_times_cached(&disk, 0, 0, &cached);
	is_close(cached.all.random, disk.random, 1e-9, "cold: the device's time");
	is_close(cached.few.random, disk.random, 1e-9, "cold: for few blocks, too");
	is_close(cached.all.sequential, disk.sequential, 1e-9,
			 "cold: nothing is passed over");
	tsa_times_cached(&disk, 0, 1, &cached);
	is_close(cached.all.random, disk.cached, 1e-9, "warm: the cache's");
	is_close(cached.few.sequential, disk.cached, 1e-9,
			 "warm: for few blocks, too");

	tsa_times_cached(&disk, 0.25, 0.7, &cached);
	is_close(cached.all.random, 0.05 * 5000 + 0.7 * 2, 1e-9,
			 "all blocks meet those that are missing");
	is_close(cached.few.random, 0.025 * 5000 + 0.7 * 2 * 0.975 / 0.95, 1e-9,
			 "few blocks meet half as many");
	ok(cached.all.sequential > 0.4 * disk.sequential &&
	   cached.all.sequential < disk.sequential,
	   "a scan of all waits for what lies between");
	tsa_times_of_share(&cached, 0, &times);
	is_close(times.random, cached.few.random, 1e-9, "no share: as few");
	tsa_times_of_share(&cached, 1, &times);
	is_close(times.random, cached.all.random, 1e-9, "the whole: as all");
	tsa_times_of_share(&cached, 0.5, &times);
	is_close(times.cached_fraction,
			 (cached.few.cached_fraction + 0.95) / 2, 1e-9,
			 "half of it: between them");
}

/* A key of several columns has as many rows as was found. */
static void
test_key_entries(void)
{
	TsaCorrection correction;

	plan(0.1 / ROWS);
	local.scan.loop_count = 100;
	local.one_key = 1;
	local.key_columns = 2;
	look(scattered, 1, &locality);
	is_close(tsa_locality_key_entries(&locality), 1, 1e-9,
			 "keys: not known, one entry each");
	correct(&correction);
	is_close(correction.point.entries, 1, 1e-9, "keys: as planned");
	locality.points[locality.npoints - 1].keys = ROWS / 8;
	is_close(tsa_locality_key_entries(&locality), 8, 1e-9, "keys: of 8 each");
	correct(&correction);
	is_close(correction.point.entries, 8, 1e-9, "two columns: as found");
	ok(correction.point.blocks > 6, "two columns: blocks of 8 rows");
	local.scan.selectivity = 20.0 / ROWS;
	correct(&correction);
	is_close(correction.point.entries, 20, 1e-9,
			 "more rows than keys have: as planned");
	local.scan.selectivity = 0.1 / ROWS;
	local.key_columns = 1;
	correct(&correction);
	is_close(correction.point.entries, 1, 1e-9, "one column: as planned");
}

/* Bits are paid for where the planner overrates the table's part, too. */
static void
test_bits(void)
{
	TsaReadTimes times = disk;
	TsaReadTimes used;
	TsaCachedTimes cached;
	TsaCorrection correction;
	double		bits;

	plan(6000.0 / ROWS);
	settings.cpu_tuple = 0.01;
	settings.cpu_index_tuple = 0.005;
	settings.cpu_operator = 0.0025;
	look(linear, 1, &locality);
	correct(&correction);
	ok(correction.bitmap_heap < correction.bitmap_core,
	   "rows in order: the planner overrates a bitmap scan");
	is_close(correction.bitmap_raise, 0, 1e-9, "a disk: bits take no time");
	times.cpu.tuple = 0.02;
	times.cpu.bit = 0.1;
	tsa_times_cached(&times, 0, 1, &cached);
	tsa_correct_scan(&local, &settings, &locality, &cached, &used,
					 &correction);
	bits = 6000 * (correction.unit * 0.1 - 0.005);
	ok(bits > 0 && correction.bitmap_heap < correction.bitmap_core,
	   "in caches: they take longer than entries are charged");
	is_close(correction.bitmap_raise, bits, 1e-6, "in caches: bits are charged");
}

/* Repeated scans: leaf pages, blocks read again, scans that go on. */
static void
test_loops(void)
{
	TsaCorrection one;
	TsaCorrection apart;
	TsaCorrection after;

	plan(600.0 / ROWS);
	local.one_place = 1;
	local.leaves = 10;
	look(scattered, 1, &locality);
	correct(&one);
	is_close(one.leaf_raise, 0, 1e-9, "leaf pages of one scan: as charged");
	settings.index_random = 80;
	correct(&one);
	is_close(one.leaf_raise, 0, 1e-9, "leaf pages of unknown order, too");
	locality.points[locality.npoints - 1].leaves_in_order = 0.75;
	correct(&one);
	is_close(one.leaf_raise, 9 * (0.75 * 4 + 0.25 * 80 - 80), 1e-9,
			 "leaf pages in order: no random reads");
	local.backward = 1;
	correct(&one);
	is_close(one.leaf_raise, 0, 1e-9, "leaf pages read backwards: they are");
	local.backward = 0;
	settings.index_random = 2;
	correct(&one);
	is_close(one.leaf_raise, 0, 1e-9, "leaf pages in order: never dearer");
	settings.index_random = 4;
	correct(&one);
	local.reads_again = 1;
	correct(&after);
	ok(after.bitmap_heap < 0.1 * one.bitmap_heap && after.unit == one.unit,
	   "a subquery's rows that the query reads: from caches");
	local.reads_again = 0;
	local.scan.loop_count = 500;
	correct(&apart);
	ok(apart.point.blocks < 20 && apart.point.again > 500,
	   "loops: most blocks have been read before");
	ok(apart.index_raise + 4 * apart.point.blocks >
	   apart.unit * apart.point.again * disk.cached,
	   "loops: from the system's cache, where shared buffers are small");
	settings.shared_pages = 1e6;
	correct(&one);
	ok(one.index_raise < apart.index_raise,
	   "loops: or for less from shared buffers");
	local.leaves = 1;
	local.scan.loop_count = 10;
	correct(&apart);
	local.in_order = 1;
	local.loop_share = 1;
	correct(&after);
	ok(after.leaf_raise < apart.leaf_raise,
	   "loops in order: leaf pages are read ahead");

	look(linear, 1, &locality);
	correct(&after);
	local.in_order = 0;
	correct(&apart);
	is_close(apart.point.random - after.point.random,
			 after.point.sequential - apart.point.sequential, 1e-9,
			 "loops in order: a scan begins where the last one ended");
	is_close(after.point.random, apart.point.random / 10, 1e-2,
			 "loops in order: one random read of ten is left");
}

int
main(void)
{
	blocks = malloc(ROWS * sizeof(uint32_t));
	test_counts();
	test_times();
	test_combinations();
	test_first_rows();
	test_correction(linear, "linear: the planner comes to the measured time",
					0.01, 0);
	test_correction(scattered, "scattered: likewise", 0.01, 0);
	test_correction(descending, "descending: likewise", 0.1, 0);
	test_correction(groups, "groups: likewise", 0.3, 0);
	test_correction(scattered, "index-only: likewise", 0.001, 1);
	test_workers();
	test_seq_scan();
	test_cached_times();
	test_key_entries();
	test_bits();
	test_loops();
	free(blocks);
	return done_testing();
}
