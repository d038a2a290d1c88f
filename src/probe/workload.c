/*-------------------------------------------------------------------------
 *
 * workload.c
 *	  The workloads that a probe can measure.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "probe/workload.h"

/*
 * Sequential requests have the size of the kernel's default read-ahead, two
 * at a time, because that is how a sequential scan reaches the device: one
 * window being read while the one before is being consumed.
 */
#define SEQUENTIAL_SIZE		131072
#define SEQUENTIAL_DEPTH	2

/* A skip in the sense of planner costs; see cost/locality.h. */
#define SKIP_BLOCKS			256

/*
 * The default workloads are those that the later stages need and that every
 * server has all the time: reads at each depth, scans, commits, hits of the
 * page cache and the reads of a bitmap heap scan.  The others load the device
 * with writes and have to be asked for.
 */
const TsaWorkload tsa_workloads[TSA_WORKLOADS] = {
	{.name = "random read",.io_size = BLCKSZ,.by_default = true},
	{.name = "sequential read",.sequential = true,
		.queue_depth = SEQUENTIAL_DEPTH,.io_size = SEQUENTIAL_SIZE,
	.by_default = true},
	{.name = "random write",.write_percent = 100,.io_size = BLCKSZ},
	{.name = "sequential write",.sequential = true,.write_percent = 100,
	.queue_depth = SEQUENTIAL_DEPTH,.io_size = SEQUENTIAL_SIZE},
	{.name = "mixed",.write_percent = 50,.io_size = BLCKSZ},
	{.name = "sync write",.sequential = true,.write_percent = 100,
		.use_fdatasync = true,.queue_depth = 1,.io_size = BLCKSZ,
	.by_default = true},
	{.name = "cached read",.cached = true,.queue_depth = 1,
	.io_size = BLCKSZ,.by_default = true},
	{.name = "skip read",.sequential = true,.skip_blocks = SKIP_BLOCKS,
	.by_concurrency = true,.io_size = BLCKSZ,.by_default = true},
	{.name = "adjacent read",.sequential = true,.buffered = true,
	.by_concurrency = true,.io_size = BLCKSZ,.by_default = true},
};
