/* Copyright (c) 2026, The tablespace_advisor developers */

/* Unit tests of src/cost/page_cost.c: properties; t/090 has the values. */
#include "tap.h"

#include "cost/page_cost.c"

static const TsaCostSettings defaults = {
	.table_random = 4,.table_seq = 1,.index_random = 4,
	.cpu_tuple = 0.01,.cpu_index_tuple = 0.005,.cpu_operator = 0.0025,
	.cache_pages = 524288,.bitmap_entries = 58254
};

static TsaScan
make_scan(double selectivity, double correlation)
{
	TsaScan		scan = {
		.table_pages = 10000,.table_tuples = 1000000,
		.index_pages = 2745,.index_tuples = 1000000,.tree_height = 2,
		.index_quals = 1,.loop_count = 1
	};

	scan.selectivity = selectivity;
	scan.correlation = correlation;
	return scan;
}

int
main(void)
{
	TsaScan		scan = make_scan(0.01, 0);
	TsaHeapCost heap = tsa_index_heap_cost(&scan, &defaults, 0);
	TsaCostSettings settings = defaults;
	double		tuples;

	is_close(tsa_seq_scan_cost(&scan, &defaults), 10000 + 12500, 1e-12,
			 "sequential scan: pages, rows, one operator");
	/* 2 * 10000 * 10000 / (20000 + 10000) = 6666.7 */
	is_close(heap.worst, 6667 * 4, 1e-12, "worst case: Mackert and Lohman");
	is_close(heap.best, 4 + 99, 1e-12, "best case: one random page");
	scan.correlation = 1;
	is_close(tsa_index_scan_cost(&scan, &defaults, 0) -
			 tsa_btree_cost(&scan, &defaults), 103 + 100, 1e-9,
			 "full correlation gives the best case");
	scan.correlation = 0.5;
	is_close(tsa_index_scan_cost(&scan, &defaults, 0) -
			 tsa_btree_cost(&scan, &defaults),
			 26668 + 0.25 * (103 - 26668) + 100, 1e-9,
			 "the square of the correlation interpolates");

	scan.all_visible = 1;
	heap = tsa_index_heap_cost(&scan, &defaults, 1);
	ok(heap.worst == 0 && heap.best == 0, "all visible: nothing to fetch");
	scan.all_visible = 0.75;
	heap = tsa_index_heap_cost(&scan, &defaults, 1);
	is_close(heap.worst, 1667 * 4, 1e-12, "a quarter is fetched");

	is_close(tsa_bitmap_pages(&scan, &defaults, &tuples), 6667, 1e-12,
			 "bitmap pages");
	is_close(tuples, 10000, 1e-12, "all rows exact");
	settings.bitmap_entries = 1000;
	is_close(tsa_bitmap_pages(&scan, &settings, &tuples), 6667, 1e-12,
			 "a lossy bitmap has the same pages");
	ok(tuples > 900000, "and rows of whole pages to look at");
	is_close(tsa_bitmap_heap_cost(10000, 10000, &defaults), 10000, 1e-12,
			 "all pages cost what a sequential scan does");
	is_close(tsa_bitmap_heap_cost(1, 10000, &defaults), 4, 1e-12,
			 "one page is random");

	scan.all_visible = 0;
	scan.loop_count = 1000;
	heap = tsa_index_heap_cost(&scan, &defaults, 0);
	ok(heap.worst < 100, "repeated scans find pages in the cache");
	settings = defaults;
	settings.cache_pages = 100;
	heap = tsa_index_heap_cost(&scan, &settings, 0);
	ok(heap.worst > 30000, "but not in a small one");

	scan = make_scan(0, 0);
	is_close(tsa_clamp_rows(0), 1, 1e-12, "at least one row");
	ok(tsa_index_scan_cost(&scan, &defaults, 0) > 4, "and its page");
	scan = make_scan(1, 0);
	scan.index_tuples = 1000;
	scan.index_pages = 5;
	ok(tsa_btree_cost(&scan, &defaults) < 5 * 4 + 1000 * 0.0075 + 1,
	   "a partial index has no more than its own entries");
	settings = defaults;
	settings.meta_pages = 1;
	is_close(tsa_btree_cost(&scan, &defaults) -
			 tsa_btree_cost(&scan, &settings), 4, 1e-9,
			 "19: the metapage is none of the leaf pages");
	scan.index_pages = 1;
	is_close(tsa_btree_cost(&scan, &settings),
			 tsa_btree_cost(&scan, &defaults), 1e-9,
			 "an empty index has one page in any case");
	return done_testing();
}
