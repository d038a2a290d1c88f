/*-------------------------------------------------------------------------
 *
 * workload.h
 *	  The workloads that a probe can measure.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WORKLOAD_H
#define TSA_WORKLOAD_H

#define TSA_WORKLOADS 7

/* What a workload does; see the table in workload.c. */
typedef struct TsaWorkload
{
	const char *name;
	bool		sequential;
	int			write_percent;
	bool		use_fdatasync;
	bool		cached;			/* through the page cache */
	int			queue_depth;	/* 0: the depths asked for, one after another */
	int			io_size;
	bool		by_default;
} TsaWorkload;

extern const TsaWorkload tsa_workloads[TSA_WORKLOADS];

/* the one by which files are compared */
#define TSA_RANDOM_READ (&tsa_workloads[0])

#endif							/* TSA_WORKLOAD_H */
