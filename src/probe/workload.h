/*-------------------------------------------------------------------------
 *
 * workload.h
 *	  The workloads that a probe can measure.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WORKLOAD_H
#define TSA_WORKLOAD_H

#include <stdbool.h>

#define TSA_WORKLOADS 9

/* The pattern of a workload; see the table in workload.c. */
typedef struct TsaWorkload
{
	const char *name;
	bool		sequential;
	int			write_percent;
	bool		use_fdatasync;
	bool		cached;			/* through the page cache, which holds it */
	bool		buffered;		/* through the page cache, emptied before */
	int			skip_blocks;	/* sequential, with gaps of at most so many */
	bool		by_concurrency; /* queue depth is effective_io_concurrency */
	int			queue_depth;	/* 0: the depths asked for, one after another */
	int			io_size;
	bool		by_default;
} TsaWorkload;

extern const TsaWorkload tsa_workloads[TSA_WORKLOADS];

/* the one by which files are compared */
#define TSA_RANDOM_READ (&tsa_workloads[0])

#endif							/* TSA_WORKLOAD_H */
