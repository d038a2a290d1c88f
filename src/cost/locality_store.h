/*-------------------------------------------------------------------------
 *
 * locality_store.h
 *	  The table tablespace_advisor.index_locality.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOCALITY_STORE_H
#define TSA_LOCALITY_STORE_H

#include "datatype/timestamp.h"

#include "compat.h"
#include "cost/cost.h"
#include "cost/locality.h"
#include "sample/table_residency.h"

/* After an index or table grew by more than this, its measurement is void. */
#define TSA_MAX_GROWTH	1.2

/* One row. */
typedef struct TsaLocalityRow
{
	Oid			index;
	Oid			relation;
	RelFileNumber index_file;
	RelFileNumber heap_file;
	double		index_blocks;
	double		table_blocks;
	double		entries;
	TimestampTz measured_at;
	TsaTableThen then;			/* by the server's statistics */
	uint32		statistics;		/* hash of their key in the syscache, or 0 */
	TsaLocality locality;
	bool		has_times;
	TsaReadTimes times;			/* cold */
	TsaCachedTimes cold;		/* the same, for scans */
	bool		has_residency;
	TsaTableResidency residency;
	TsaCachedTimes resident;	/* times with the part in caches */
} TsaLocalityRow;

/* locality_store.c */
extern TsaCpuTimes tsa_cpu_times(void);
extern void tsa_times_combine(TsaReadTimes *times);
extern void tsa_locality_keep(TsaLocalityRow *row, Oid tablespace);
extern bool tsa_locality_has_files(const TsaLocalityRow *row);
extern bool tsa_locality_read(Oid index, TsaLocalityRow *row, bool *is_found);
extern bool tsa_locality_load(Oid index, TsaLocalityRow *row, bool *is_found);

/* locality_cache.c */
extern void tsa_init_locality_cache(void);
extern const TsaLocalityRow *tsa_locality_find(Oid index);

/* measure_locality.c */
extern bool tsa_measure_locality(Oid index_oid, Oid heap_oid);

/* planner.c */
extern double tsa_cached_share(const TsaLocalityRow *row);

#endif							/* TSA_LOCALITY_STORE_H */
