/*-------------------------------------------------------------------------
 *
 * page_cost.h
 *	  The planner's formulas for scans of one table.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PAGE_COST_H
#define TSA_PAGE_COST_H

/* Settings that the planner computes with. */
typedef struct TsaCostSettings
{
	double		table_random;	/* random_page_cost of the table's tablespace */
	double		table_seq;		/* seq_page_cost of it */
	double		index_random;	/* random_page_cost of the index's tablespace */
	double		cpu_tuple;
	double		cpu_index_tuple;
	double		cpu_operator;
	double		cache_pages;	/* effective_cache_size */
	double		bitmap_entries; /* pages that work_mem has room for */
	double		shared_pages;	/* shared_buffers */
	double		meta_pages;		/* of an index, not taken for leaf pages */
} TsaCostSettings;

/* A scan: properties of table, index and condition. */
typedef struct TsaScan
{
	double		table_pages;
	double		table_tuples;
	double		all_visible;	/* share of the table's pages */
	double		index_pages;
	double		index_tuples;
	int			tree_height;	/* of the B-tree, 0 when the root is a leaf */
	double		correlation;
	double		selectivity;
	double		query_pages;	/* of all tables of the query; 0: this one's */
	double		loop_count;		/* 1 but on the inner side of a nested loop */
	int			index_quals;	/* comparisons per index entry */
	int			table_quals;	/* per row of an index scan, beyond these */
} TsaScan;

/* The planner's cost of the table's pages in an index scan. */
typedef struct TsaHeapCost
{
	double		worst;			/* without any correlation */
	double		best;			/* with full correlation */
} TsaHeapCost;

extern double tsa_clamp_rows(double rows);
extern double tsa_pages_fetched(const TsaScan *scan,
								const TsaCostSettings *settings,
								double tuples);
extern double tsa_leaf_pages_fetched(const TsaScan *scan,
									 const TsaCostSettings *settings,
									 double pages, double loops);
extern TsaHeapCost tsa_index_heap_cost(const TsaScan *scan,
									   const TsaCostSettings *settings,
									   int index_only);
extern double tsa_bitmap_pages(const TsaScan *scan,
							   const TsaCostSettings *settings,
							   double *tuples);
extern double tsa_bitmap_heap_cost(double pages, double table_pages,
								   const TsaCostSettings *settings);
extern double tsa_btree_cost(const TsaScan *scan,
							 const TsaCostSettings *settings);

extern double tsa_seq_scan_cost(const TsaScan *scan,
								const TsaCostSettings *settings);
extern double tsa_index_scan_cost(const TsaScan *scan,
								  const TsaCostSettings *settings,
								  int index_only);
extern double tsa_bitmap_scan_cost(const TsaScan *scan,
								   const TsaCostSettings *settings);

#endif							/* TSA_PAGE_COST_H */
