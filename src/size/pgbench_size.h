/*-------------------------------------------------------------------------
 *
 * pgbench_size.h
 *	  How many blocks each relation fork made by "pgbench -i" has.
 *
 * Pure arithmetic: no server header is needed, so that it can be tested
 * without one.  Properties of the server (block size, alignment, version) are
 * handed in as a TsaPageLayout.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PGBENCH_SIZE_H
#define TSA_PGBENCH_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* rows per unit of scale, as pgbench.c has them */
#define TSA_PGBENCH_ACCOUNTS	INT64_C(100000)
#define TSA_PGBENCH_TELLERS		INT64_C(10)
#define TSA_PGBENCH_BRANCHES	INT64_C(1)

/* from this scale on aid is bigint (SCALE_32BIT_THRESHOLD in pgbench.c) */
#define TSA_PGBENCH_BIGINT_SCALE	20000

/* largest scale at which pgbench's tellers can be counted in an int */
#define TSA_PGBENCH_MAX_SCALE	214748364

/* the limits pgbench sets to its option --fillfactor */
#define TSA_PGBENCH_MIN_FILLFACTOR	10
#define TSA_PGBENCH_MAX_FILLFACTOR	100

/* The properties of a server that the arithmetic needs */
typedef struct TsaPageLayout
{
	int			block_size;		/* BLCKSZ */
	int			max_align;		/* MAXIMUM_ALIGNOF */
	int			page_header;	/* SizeOfPageHeaderData */
	int			item_id;		/* sizeof(ItemIdData) */
	int			heap_header;	/* SizeofHeapTupleHeader, without bitmap */
	int			index_header;	/* sizeof(IndexTupleData) */
	int			item_pointer;	/* sizeof(ItemPointerData) */
	int			btree_special;	/* sizeof(BTPageOpaqueData) */
	int			leaf_fillfactor;	/* BTREE_DEFAULT_FILLFACTOR */
	int			inner_fillfactor;	/* BTREE_NONLEAF_FILLFACTOR */
	int			fsm_slots;		/* heap blocks per FSM leaf page */
	int			vm_heap_blocks; /* heap blocks per VM page */
	int64_t		max_blocks;		/* most blocks a fork can have */

	/* most blocks one extension adds in a bulk load; 1 before version 16 */
	int			extend_limit;
	/* pgbench loads branches and tellers by COPY FREEZE, too (17 on) */
	bool		copy_small_tables;
} TsaPageLayout;

/* The options of pgbench -i */
typedef struct TsaPgbenchOptions
{
	int			scale;
	int			fillfactor;
	int			partitions;		/* 0: not partitioned */
	int			bigint_scale;	/* TSA_PGBENCH_BIGINT_SCALE, but in tests */
} TsaPgbenchOptions;

/* One table with storage.  Tables are numbered from 0 on. */
typedef struct TsaPgbenchTable
{
	char		name[64];
	bool		is_accounts;	/* pgbench_accounts or one of its partitions */
	bool		has_pkey;		/* named like the table, plus "_pkey" */
	int64_t		rows;
	int64_t		heap_blocks;
	int64_t		fsm_blocks;
	int64_t		vm_blocks;
	int64_t		pkey_blocks;
} TsaPgbenchTable;

typedef enum TsaPgbenchObject
{
	TSA_PGBENCH_ALL,			/* all that pgbench -i makes */
	TSA_PGBENCH_TABLE,			/* pgbench_accounts with its forks */
	TSA_PGBENCH_INDEX			/* pgbench_accounts_pkey */
} TsaPgbenchObject;

/* Called now and then in long loops; may not return */
typedef void (*TsaPollFunction) (void);

extern int64_t tsa_count_pgbench_tables(const TsaPgbenchOptions *options);
extern void tsa_size_pgbench_table(const TsaPageLayout *layout,
								   const TsaPgbenchOptions *options,
								   int64_t number, TsaPgbenchTable *table);
extern int64_t tsa_sum_pgbench_blocks(const TsaPageLayout *layout,
									  const TsaPgbenchOptions *options,
									  TsaPgbenchObject object,
									  TsaPollFunction poll);
extern int	tsa_min_pgbench_scale(const TsaPgbenchOptions *options);
extern int	tsa_max_pgbench_scale(const TsaPageLayout *layout,
								  const TsaPgbenchOptions *options);
extern int	tsa_find_pgbench_scale(const TsaPageLayout *layout,
								   const TsaPgbenchOptions *options,
								   TsaPgbenchObject object,
								   int64_t base_bytes, int64_t target_bytes,
								   TsaPollFunction poll);

#endif							/* TSA_PGBENCH_SIZE_H */
