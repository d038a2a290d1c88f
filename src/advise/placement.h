/*-------------------------------------------------------------------------
 *
 * placement.h
 *	  Facts on relations and tablespaces, and conclusions from them.
 *
 * Pure modules share these structs: divide_waits.c (between an index and its
 * table), present_load.c (the time of a read now), estimate_move.c (and
 * elsewhere), findings.c (the verdict on a relation), evict.c and
 * choose_moves.c (the moves of all).  NAN is a number that is not known;
 * fmin() and fmax() leave it out.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PLACEMENT_H
#define TSA_PLACEMENT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "advise/closed_system.h"
#include "advise/curve.h"

/* No tablespace, or none that there are facts on. */
#define TSA_NO_PLACE		(-1)
#define TSA_UNKNOWN_PLACE	(-2)

/* A Boolean that may not be known. */
typedef enum TsaTruth
{
	TSA_NOT_KNOWN = -1,
	TSA_FALSE,
	TSA_TRUE
} TsaTruth;

typedef enum TsaLatencyFrom
{
	TSA_FROM_NOTHING,
	TSA_FROM_PROBE,
	TSA_FROM_COUNTERS,
	TSA_FROM_TIMING,
	TSA_FROM_ASSUMPTION
} TsaLatencyFrom;

/* A tablespace: see the type tablespace_fact. */
typedef struct TsaPlaceFact
{
	const char *name;
	bool		is_probed;
	double		random_read_us;
	double		random_read_low_us;
	double		random_read_high_us;
	TsaCurve	curve;
	double		cached_read_us;
	double		sequential_page_us;
	double		sequential_write_page_us;
	double		max_writes_per_s;
	const double *copy_rates;	/* bytes/s from each place */
	TsaTruth	may_create;
	TsaTruth	is_volatile;
	const bool *shares_device;	/* with each place, as it says itself */
	double		available_bytes;
	const char *caveat;
	TsaLatencyFrom latency_from;
	double		present_read_us;
	double		present_read_low_us;
	double		present_read_high_us;
	double		present_in_flight;
	bool		is_serial;
} TsaPlaceFact;

/* A heap or an index: see the type relation_fact.  Ids are OIDs, 0: none. */
typedef struct TsaRelationFact
{
	uint32_t	id;
	uint32_t	table_id;
	int			table;			/* tables are numbered from 0 */
	int			place;
	bool		is_index;
	bool		is_considered;
	bool		measured;
	double		size_bytes;
	double		rebuilt_bytes;
	double		brin_bytes;
	double		reads_per_s;
	double		hits_per_s;
	double		writes_per_s;
	double		tuples_per_scan;
	double		correlation;
	double		system_cached;
	double		scans;
	double		writes;
	double		counted_days;
	double		maintenance_reads_per_s;
	double		waiting_sessions;
	double		scan_reads_per_s;
	double		scan_sessions;
	int64_t		moving_job;		/* 0: none */
	uint32_t	duplicate_of;
	const char *column_name;
	const char *expression;
	const char *unusable;
	const char *needed_for;
	const char *obstacle;
	const char *policy;
	const int  *left_lately;	/* places */
	int			nleft;
} TsaRelationFact;

/* The window: see the type load_fact. */
typedef struct TsaLoadFact
{
	double		reads_per_s;
	double		read_ms_per_s;
	double		timed_read_us;
	double		snapshots;
	double		reading_snapshots;
	double		active_sessions;
	double		reading_sessions;
	double		checkpoint_s;
	const char *standbys;
	const char *bottleneck;		/* other than reads; NULL: none */
} TsaLoadFact;

/* Reads of a tablespace now: see the type load_estimate. */
typedef struct TsaPlaceState
{
	double		reads;
	double		device_reads;
	double		depth;
	double		probed_us;
	double		device_us;
	double		device_low_us;
	double		device_high_us;
	double		cached_us;
	double		cache_correction;
	double		time_correction;
	double		coverage;
	double		cache_exponent;
	TsaLatencyFrom read_from;
	double		max_rate;		/* reads/s */
	double		others;			/* reads of others in flight */
	double		demand_ms;		/* of all relations there */
	double		wait_ms;
	bool		is_known;		/* something was measured there */
	TsaStation	station;		/* reads now, all that reach the device */
	double		later_us;		/* NAN: not known */
} TsaPlaceState;

/* Reads of a relation where it is. */
typedef struct TsaReadsHere
{
	double		pages;
	double		device_us;
	double		device_low_us;
	double		device_high_us;
	double		cached_us;
	double		depth;
	TsaLatencyFrom read_from;
	double		device_share;
	double		device_reads;
	double		read_ms;
	double		scan_ms;
	double		demand_ms;		/* for which they occupy the device */
	double		wait_ms;		/* for which sessions wait for them */
	double		relief_ms;
} TsaReadsHere;

/* The sum of a table and its indexes. */
typedef struct TsaTableReads
{
	bool		is_part;		/* read_ms of a part is not known */
	double		read_ms;
	double		device_reads;
	double		device_us;		/* per second */
	double		pages_written;
} TsaTableReads;

/* A relation elsewhere: see the type placement_estimate. */
typedef struct TsaMoveEstimate
{
	double		depth;
	double		read_us;
	double		alone_us;
	TsaTruth	is_saturated;
	bool		is_faster;
	double		saved_ms;
	double		saved_percent;
	double		saved_low_ms;
	double		saved_high_ms;
	double		move_seconds;
} TsaMoveEstimate;

/* name in SQL, action, and whether a measurement would make it certain */
#define TSA_FINDINGS(X) \
	X(TSA_FASTER, "faster", "move", false) \
	X(TSA_UNDER_WAY, "under way", "keep", false) \
	X(TSA_BEING_BUILT, "being built", "keep", false) \
	X(TSA_INVALID, "invalid", "rebuild", false) \
	X(TSA_BLOATED, "bloated", "rebuild", false) \
	X(TSA_DUPLICATE, "duplicate", "drop candidate", false) \
	X(TSA_UNUSED, "unused", "drop candidate", false) \
	X(TSA_UNUSED_EXPRESSION, "unused expression", "drop candidate", false) \
	X(TSA_BRIN, "BRIN", "replace", false) \
	X(TSA_OBSTACLE, "obstacle", "keep", false) \
	X(TSA_ALREADY_THERE, "already there", "keep", false) \
	X(TSA_NO_OTHER_TABLESPACE, "no other tablespace", "keep", false) \
	X(TSA_SAME_DEVICE, "same device", "keep", false) \
	X(TSA_VOLATILE, "volatile", "keep", false) \
	X(TSA_NO_CREATE, "no CREATE", "keep", false) \
	X(TSA_NOT_PROBED, "not probed", "probe first", true) \
	X(TSA_TABLE_NOT_PROBED, "table not probed", "probe first", true) \
	X(TSA_NO_WINDOW, "no window", "keep", true) \
	X(TSA_IN_SHARED_BUFFERS, "in shared buffers", "keep", false) \
	X(TSA_MAINTENANCE_ONLY, "maintenance only", "keep", false) \
	X(TSA_NOT_READ, "not read", "keep", false) \
	X(TSA_IN_SYSTEM_CACHE, "in system cache", "keep", false) \
	X(TSA_NOT_STORAGE_BOUND, "not storage-bound", "keep", false) \
	X(TSA_BUSY_TARGET, "busy target", "keep", true) \
	X(TSA_WITHIN_NOISE, "within noise", "keep", true) \
	X(TSA_NOT_FASTER, "not faster", "keep", false) \
	X(TSA_SATURATED, "saturated", "keep", false) \
	X(TSA_TOO_MANY_WRITES, "too many writes", "keep", false) \
	X(TSA_TOO_LITTLE, "too little", "keep", false) \
	X(TSA_NOT_REPAID, "not repaid", "keep", false) \
	X(TSA_LEFT_LATELY, "left lately", "keep", false) \
	X(TSA_NO_ROOM, "no room", "keep", false) \
	X(TSA_TOO_FULL, "too full", "move", false) \
	X(TSA_MAKES_ROOM, "makes room", "move", false) \
	X(TSA_NO_ORDER, "no order", "keep", false) \
	X(TSA_BUNDLE_SAVES_TOO_LITTLE, "bundle saves too little", "keep", false) \
	X(TSA_BUNDLE_IS_NOT_REPAID, "bundle not repaid", "keep", false) \
	X(TSA_BUNDLE_WITHIN_NOISE, "bundle within noise", "keep", true)

#define TSA_FINDING_ID(id, name, action, is_uncertain) id,
typedef enum TsaFinding
{
	TSA_NO_FINDING,
	TSA_FINDINGS(TSA_FINDING_ID)
	TSA_NFINDINGS
} TsaFinding;

/* The decision on a relation: see the type placement_choice. */
typedef struct TsaChoice
{
	int			destination;	/* TSA_NO_PLACE: none */
	bool		is_move;
	TsaFinding	finding;
	int			rank;			/* of a move, from 1 */
	double		saved_ms;
	double		bytes;
	int			bundle;			/* 0: none */
	uint32_t	makes_room_for;
	double		ms_per_byte;
	bool		is_evicted;
	bool		is_offered;		/* it could be moved, or make room */
	double		saved_there_ms; /* of its best place with a gain */
	int			best_place;
} TsaChoice;

/* A relation and a key to sort by, since qsort() has no argument for it. */
typedef struct TsaRelationKey
{
	double		value;
	uint32_t	id;
	int			index;
} TsaRelationKey;

/*
 * All of it.  The caller fills in the facts and alloc(), which returns memory
 * that is zero, or does not return.
 */
typedef struct TsaPlacement
{
	TsaRelationFact *relations;
	int			n;
	int			ntables;
	TsaPlaceFact *places;		/* by name */
	int			nplaces;
	TsaLoadFact load;
	int			destination;	/* the only one; TSA_NO_PLACE: any */
	int			named;			/* one that is not passed over */
	bool		with_all;		/* nor is any other */
	double		budget_bytes;
	double		block_bytes;
	bool		with_evictions;
	void	   *(*alloc) (size_t size);
	/* results */
	TsaPlaceState *states;
	TsaReadsHere *here;
	TsaTableReads *tables;
	bool	   *not_probed;		/* part of a table is read from there, nothing
								 * was measured: [table * nplaces + place] */
	bool	   *passed_over;	/* [source * nplaces + destination] */
	double		all_read_ms;
	double		all_read_bytes;
	TsaChoice  *choices;
} TsaPlacement;

/* coalesce(), nullif(number, 0), and sum() */
static inline double
tsa_or(double number, double other)
{
	return isnan(number) ? other : number;
}

static inline double
tsa_not_zero(double number)
{
	return number == 0 ? NAN : number;
}

static inline void
tsa_add(double *sum, double number)
{
	if (!isnan(number))
		*sum = isnan(*sum) ? number : *sum + number;
}

/* divide_waits.c */
extern void tsa_divide_waits(TsaPlacement *p);

/* present_load.c */
extern void tsa_measured_reads(const TsaRelationFact *a, double device_us,
							   double cached_us, double page_us,
							   double *random_us, double *random_reads,
							   double *scan_ms);
extern double tsa_scanned_part(const TsaRelationFact *a);
extern double tsa_read_ahead_gain(const TsaPlaceFact *f);
extern void tsa_estimate_load(TsaPlacement *p);

/* estimate_move.c */
extern void tsa_estimate_reads_here(TsaPlacement *p);
extern void tsa_estimate_places(TsaPlacement *p);
extern bool tsa_is_way(const TsaPlacement *p, int source, int destination);
extern TsaMoveEstimate tsa_estimate_move(const TsaPlacement *p, int relation,
										 int destination);

/* findings.c */
extern const char *tsa_finding_name(TsaFinding finding);
extern const char *tsa_finding_action(TsaFinding finding);
extern bool tsa_finding_is_uncertain(TsaFinding finding);
extern bool tsa_is_bloated(double rebuilt_bytes, double size_bytes);
extern int	tsa_destination_order(const TsaPlacement *p, int source,
								  int destination);
extern TsaFinding tsa_index_finding(const TsaRelationFact *a);
extern TsaFinding tsa_move_finding(const TsaPlacement *p, int relation,
								   int destination,
								   const TsaMoveEstimate *e);

/* evict.c */
extern int	tsa_compare_ids(const void *a, const void *b);
extern bool tsa_is_movable(const TsaRelationFact *a);
extern bool tsa_evict_from(TsaPlacement *p, int source, TsaRelationKey *keys);
extern void tsa_rank_moves(TsaPlacement *p, TsaRelationKey *keys);

/* choose_moves.c */
extern void tsa_list_rooms(const TsaPlacement *p, int *room_of, int64_t *free,
						   int *nrooms);
extern bool tsa_choose_placement(TsaPlacement *p);

#endif							/* TSA_PLACEMENT_H */
