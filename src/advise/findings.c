/*-------------------------------------------------------------------------
 *
 * findings.c
 *	  The finding on one relation if bytes were free.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * The order of the cases matters: faults on any storage come first, those that
 * would only spoil a good move last.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/placement.h"

#include <string.h>

#include "advise/bundle.h"

/*
 * Days that counters must cover before an index without scans is called
 * unused: a month end is the commonest work that comes round rarely.
 */
#define BUSINESS_CYCLE_DAYS	31

/*
 * A BRIN index is spoken of where it would be so many times smaller, and for
 * indexes of so many bytes: less is not worth a DBA's time.
 */
#define BRIN_TIMES		50
#define MIN_BRIN_BYTES	(64 * 1048576)

/* An index is bloated that takes twice its need, and so many bytes more. */
#define MIN_BLOAT_BYTES	(8 * 1048576)

typedef struct FindingRow
{
	const char *name;
	const char *action;
	bool		is_uncertain;
} FindingRow;

#define FINDING_ROW(id, name, action, is_uncertain) \
	{name, action, is_uncertain},
static const FindingRow finding_rows[] = {
	{"", "keep", false},
	TSA_FINDINGS(FINDING_ROW)
};

/* As SQL has it. */
const char *
tsa_finding_name(TsaFinding finding)
{
	return finding_rows[finding].name;
}

/* The action of an advice that rests on it. */
const char *
tsa_finding_action(TsaFinding finding)
{
	return finding_rows[finding].action;
}

/* Whether another measurement would improve it. */
bool
tsa_finding_is_uncertain(TsaFinding finding)
{
	return finding_rows[finding].is_uncertain;
}

/* Whether an index takes much more than it would after a rebuild. */
bool
tsa_is_bloated(double rebuilt_bytes, double size_bytes)
{
	return rebuilt_bytes < floor(size_bytes / 2) &&
		size_bytes - rebuilt_bytes >= MIN_BLOAT_BYTES;
}

/*
 * How near a tablespace is to one that a relation could move to: 1 is nearest.
 * Of several, its advice speaks of one it would gain in, or could, or would
 * have to be probed.
 */
int
tsa_destination_order(const TsaPlacement *p, int source, int destination)
{
	const TsaPlaceFact *d = &p->places[destination];

	if (d->is_volatile == TSA_TRUE)
		return 5;
	if (d->may_create == TSA_FALSE)
		return 6;
	if (p->places[source].shares_device[destination])
		return isnan(d->random_read_us) ? 4 : 3;
	return isnan(d->random_read_us) ? 2 : 1;
}

/*
 * The fault of an index in any tablespace, or that a relation is being moved;
 * TSA_NO_FINDING: nothing.
 */
TsaFinding
tsa_index_finding(const TsaRelationFact *a)
{
	if (a->moving_job != 0)
		return TSA_UNDER_WAY;
	if (a->unusable != NULL)
		return strcmp(a->unusable, "being built") == 0 ?
			TSA_BEING_BUILT : TSA_INVALID;
	if (a->duplicate_of != 0)
		return TSA_DUPLICATE;
	if (a->needed_for != NULL)
		return TSA_NO_FINDING;
	if (a->scans == 0 && a->writes > 0 &&
		a->counted_days >= BUSINESS_CYCLE_DAYS)
		return a->expression == NULL ? TSA_UNUSED : TSA_UNUSED_EXPRESSION;
	if (a->brin_bytes * BRIN_TIMES < a->size_bytes &&
		a->size_bytes >= MIN_BRIN_BYTES && fabs(a->correlation) >= 0.95 &&
		a->tuples_per_scan >= 1000)
		return TSA_BRIN;
	return TSA_NO_FINDING;
}

/* Why it cannot be moved there, whatever it would save. */
static TsaFinding
find_obstacle(const TsaPlacement *p, const TsaRelationFact *a, int destination)
{
	const TsaPlaceFact *source = &p->places[a->place];
	const TsaPlaceFact *dest;

	if (a->obstacle != NULL && isnan(a->reads_per_s))
		return TSA_OBSTACLE;
	if (a->place == p->destination)
		return TSA_ALREADY_THERE;
	if (destination < 0)
		return TSA_NO_OTHER_TABLESPACE;
	dest = &p->places[destination];
	if (source->shares_device[destination] &&
		(p->destination != TSA_NO_PLACE || !isnan(source->random_read_us) ||
		 !isnan(dest->random_read_us)))
		return TSA_SAME_DEVICE;
	if (dest->is_volatile == TSA_TRUE)
		return TSA_VOLATILE;
	if (dest->may_create == TSA_FALSE)
		return TSA_NO_CREATE;
	if (isnan(source->random_read_us) || isnan(dest->random_read_us))
		return TSA_NOT_PROBED;
	return TSA_NO_FINDING;
}

/* Why it need not be moved, wherever to. */
static TsaFinding
find_no_need(const TsaPlacement *p, const TsaRelationFact *a,
			 const TsaReadsHere *h)
{
	if (isnan(a->reads_per_s))
		return TSA_NO_WINDOW;
	if (a->reads_per_s == 0)
	{
		if (a->hits_per_s > 0 && isnan(a->maintenance_reads_per_s))
			return TSA_IN_SHARED_BUFFERS;
		return a->maintenance_reads_per_s > 0 ? TSA_MAINTENANCE_ONLY :
			TSA_NOT_READ;
	}
	/* a scan waits for blocks read ahead of it, block by block for little */
	if (h->device_share <= 0.01 &&
		((!a->measured && isnan(a->scan_reads_per_s)) ||
		 h->device_share == 0 ||
		 h->read_ms * 1000 <= 2 * a->reads_per_s * h->cached_us))
		return TSA_IN_SYSTEM_CACHE;
	return p->load.bottleneck != NULL ? TSA_NOT_STORAGE_BOUND : TSA_NO_FINDING;
}

/*
 * Whether the gain is within the measurements' intervals, and how.
 *
 * The server's timing includes reads served by the system's cache: a device
 * takes no less.  So it may show that another tablespace is faster, never that
 * it is not.
 */
static TsaFinding
find_doubt(const TsaPlaceFact *source, const TsaPlaceFact *dest,
		   const TsaMoveEstimate *e)
{
	bool		is_doubtful = !e->is_faster || e->saved_low_ms <= 0;

	if (dest->latency_from == TSA_FROM_TIMING ||
		(source->latency_from == TSA_FROM_TIMING && is_doubtful))
		return TSA_NOT_PROBED;
	if (e->read_us > 2 * e->alone_us && is_doubtful)
		return TSA_BUSY_TARGET;
	if (e->saved_ms > 0 && is_doubtful)
		return TSA_WITHIN_NOISE;
	return e->is_faster ? TSA_NO_FINDING : TSA_NOT_FASTER;
}

/* Whether moves of so many seconds repay them within the time for it. */
static bool
is_repaid(double saved_ms, double seconds)
{
	return !(saved_ms / 1000 * TSA_REPAID_S < seconds);
}

/*
 * Why to move a relation there if bytes were free (TSA_FASTER), or why not;
 * destination may be TSA_NO_PLACE.
 */
TsaFinding
tsa_move_finding(const TsaPlacement *p, int relation, int destination,
				 const TsaMoveEstimate *e)
{
	const TsaRelationFact *a = &p->relations[relation];
	const TsaTableReads *t = &p->tables[a->table];
	const TsaPlaceFact *dest;
	TsaFinding	finding = find_obstacle(p, a, destination);

	if (finding == TSA_NO_FINDING)
		finding = find_no_need(p, a, &p->here[relation]);
	if (finding != TSA_NO_FINDING)
		return finding;
	dest = &p->places[destination];
	finding = find_doubt(&p->places[a->place], dest, e);
	if (finding != TSA_NO_FINDING)
		return finding;
	if (e->is_saturated == TSA_TRUE)
		return TSA_SATURATED;
	if (t->pages_written > dest->max_writes_per_s)
		return TSA_TOO_MANY_WRITES;
	if (isnan(e->saved_percent))
		return TSA_TABLE_NOT_PROBED;
	if (!isnan(e->saved_ms + a->size_bytes + p->all_read_ms) &&
		tsa_gains_too_little(e->saved_ms, a->size_bytes, p->all_read_ms,
							 tsa_or(p->all_read_bytes, 0), TSA_MIN_PERCENT,
							 TSA_MIN_DENSE_PERCENT))
		return TSA_TOO_LITTLE;
	if (!is_repaid(e->saved_ms, e->move_seconds))
		return TSA_NOT_REPAID;
	for (int i = 0; i < a->nleft; i++)
	{
		if (a->left_lately[i] == destination)
			return TSA_LEFT_LATELY;
	}
	return a->obstacle != NULL ? TSA_OBSTACLE : TSA_FASTER;
}
