/*
 * test_placement.c
 *	  Unit test of the modules of src/advise/placement.h.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "advise/divide_waits.c"
#include "advise/present_load.c"
#include "advise/estimate_move.c"
#include "advise/findings.c"
#include "advise/evict.c"
#include "advise/choose_moves.c"
#include "advise/assign_places.c"
#include "advise/bundle.c"
/* another module has a function of this name */
#define solve solve_closed_system
#include "advise/closed_system.c"
#undef solve
#include "advise/curve.c"

#include "tap.h"

#define MAX_TEST 8

static const double depths[] = {1, 2, 4, 8};
static const double serial_us[] = {5000, 10000, 20000, 40000};
static const double flash_us[] = {100, 100, 100, 200};
static const double no_rates[] = {NAN, NAN, NAN};

/* memory that a test does not give back */
static void *
allocate(size_t size)
{
	static void *all[4096];
	static int	n;

	all[n] = calloc(1, size);
	return all[n++];
}

static TsaPlaceFact
place(const char *name, const double *us, double random_us)
{
	TsaPlaceFact f = {
		.name = name,.random_read_us = random_us,
		.random_read_low_us = random_us * 0.98,
		.random_read_high_us = random_us * 1.02,
		.curve = {depths, us, us ? 4 : 0},.cached_read_us = 5,
		.sequential_page_us = NAN,.sequential_write_page_us = NAN,
		.max_writes_per_s = NAN,.copy_rates = no_rates,
		.may_create = TSA_TRUE,.is_volatile = TSA_FALSE,
		.available_bytes = 1e9,.present_read_us = NAN,
		.present_read_low_us = NAN,.present_read_high_us = NAN,
		.present_in_flight = NAN
	};

	f.shares_device = allocate(MAX_TEST);
	return f;
}

static TsaRelationFact
heap(uint32_t id, int where, double reads)
{
	TsaRelationFact r = {
		.id = id,.table_id = id,.table = (int) id - 1,.place = where,
		.is_considered = true,.size_bytes = 81920,.rebuilt_bytes = NAN,
		.brin_bytes = NAN,.reads_per_s = reads,.hits_per_s = 0,
		.writes_per_s = 0,.tuples_per_scan = NAN,.correlation = NAN,
		.system_cached = 0,.scans = NAN,.writes = 0,.counted_days = 0,
		.maintenance_reads_per_s = NAN,.waiting_sessions = NAN,
		.scan_reads_per_s = NAN,.scan_sessions = NAN
	};

	return r;
}

/* a serial disk (0, "disk") and a fast one (1, "flash"), some relations on the first */
static TsaPlacement *
make_placement(TsaRelationFact *relations, int n)
{
	TsaPlacement *p = allocate(sizeof(TsaPlacement));

	p->places = allocate(3 * sizeof(TsaPlaceFact));
	p->places[0] = place("disk", serial_us, 5000);
	p->places[1] = place("flash", flash_us, 100);
	p->nplaces = 2;
	p->relations = relations;
	p->n = p->ntables = n;
	p->load = (TsaLoadFact)
	{
		NAN, NAN, NAN, 0, 0, NAN, NAN, 300, NULL, NULL
	};
	p->destination = p->named = TSA_NO_PLACE;
	p->budget_bytes = NAN;
	p->block_bytes = 8192;
	p->alloc = allocate;
	return p;
}

/* false if there was no memory */
static bool
judge_all(TsaPlacement *p)
{
	tsa_estimate_load(p);
	tsa_estimate_reads_here(p);
	tsa_estimate_places(p);
	return tsa_choose_placement(p);
}

static bool
is_near(double number, double expected)
{
	return fabs(number - expected) <= 0.001 * fabs(expected) + 1e-9;
}

static void
test_measured_reads(void)
{
	TsaRelationFact r = heap(1, 0, 70);
	double		us;
	double		reads;
	double		scan_ms;

	r.waiting_sessions = 2.42;
	tsa_measured_reads(&r, 20000, 5, 100, &us, &reads, &scan_ms);
	ok(is_near(us, 34571) && reads == 70 && scan_ms == 0,
	   "a mean above the latency at that depth is a slower device");
	r.reads_per_s = 1000;
	r.waiting_sessions = 0.005;
	tsa_measured_reads(&r, 20000, 5, 100, &us, &reads, &scan_ms);
	ok(us == 5 && reads == 0, "one below it is a cache");
	r.reads_per_s = r.scan_reads_per_s = 1750;
	r.waiting_sessions = r.scan_sessions = 0.36;
	tsa_measured_reads(&r, 20000, 5, 100, &us, &reads, &scan_ms);
	ok(isnan(us) && reads == 0 && is_near(scan_ms, 342.5),
	   "a scan waits longer than for the system's cache");
	r.waiting_sessions = r.scan_sessions = 0.018;
	tsa_measured_reads(&r, 20000, 1, 100, &us, &reads, &scan_ms);
	ok(is_near(scan_ms, 14.5), "little, but more than a tenth of the device's time");
	r.waiting_sessions = r.scan_sessions = 0.017;
	tsa_measured_reads(&r, 20000, 1, 100, &us, &reads, &scan_ms);
	ok(scan_ms == 0, "less than that is the cache's");
}

/* Sets the sessions that wait for three relations of one table. */
static void
divide_waits(TsaPlacement *p, double first, double second, double third)
{
	p->relations[0].waiting_sessions = first;
	p->relations[1].waiting_sessions = second;
	p->relations[2].waiting_sessions = third;
	tsa_divide_waits(p);
}

static void
test_divided_waits(void)
{
	TsaRelationFact r[] = {heap(1, 0, 50), heap(2, 0, 50), heap(3, 0, 50)};
	TsaPlacement *p = make_placement(r, 3);

	for (int i = 0; i < 3; i++)
	{
		r[i].table_id = 1;
		r[i].table = 0;
		r[i].measured = true;
	}
	r[1].system_cached = 0.5;
	r[1].scan_sessions = 0;
	divide_waits(p, 1, 1, 0.4);
	ok(is_near(r[0].waiting_sessions, 4 / 3.0) &&
	   is_near(r[1].waiting_sessions, 2 / 3.0),
	   "what the cache has of each divides the waits of both");
	ok(r[2].waiting_sessions == 0.4,
	   "one of which reads take less than half stays");
	divide_waits(p, 1, 2.1, 0.4);
	ok(r[1].waiting_sessions == 2.1 && r[0].waiting_sessions == 1,
	   "and one of more than twice");
	r[0].measured = false;
	divide_waits(p, 1, 1, 0.4);
	ok(r[1].waiting_sessions == 1,
	   "nothing without measured waits of the table");
}

/* 4 * 0.5 ^ k + 1 * 1 ^ k seconds, of which "target" are left */
static double
exponent_for(double target)
{
	TsaRelationFact relations[] = {heap(1, 0, 800), heap(2, 0, 200)};
	TsaPlacement *p = make_placement(relations, 2);

	relations[0].system_cached = 0.5;
	p->places[0].cached_read_us = 0;
	p->states = allocate(2 * sizeof(TsaPlaceState));
	p->states[0].probed_us = 5000;
	return cache_exponent(p, target * 1e6);
}

/* Of a table and its index, 20 and 10 ms a read, which lie there. */
static double
slower_flash(int heap_place, int index_place)
{
	TsaRelationFact relations[] = {heap(1, heap_place, 50), heap(2, index_place, 50)};
	TsaPlacement *p = make_placement(relations, 2);

	relations[1].table = 0;
	relations[1].table_id = 1;
	relations[0].measured = relations[1].measured = true;
	relations[0].waiting_sessions = 1;
	relations[1].waiting_sessions = 0.5;
	tsa_estimate_load(p);
	return p->states[1].time_correction;
}

static void
test_device_of_index(void)
{
	ok(slower_flash(1, 1) > 10, "a device whose reads take longer is slower");
	ok(is_near(slower_flash(0, 1), 1),
	   "not by an index whose scans wait for its table elsewhere");
}

static void
test_cache_exponent(void)
{
	ok(exponent_for(9) == 1, "no exponent below 1");
	ok(exponent_for(3) == 1, "what the cache holds is what it serves");
	ok(is_near(exponent_for(2), 2), "it serves the hotter half");
	ok(exponent_for(1) == MAX_EXPONENT, "no exponent above the limit");
}

static void
test_index_findings(void)
{
	TsaRelationFact r = heap(1, 0, 0);

	ok(tsa_index_finding(&r) == TSA_NO_FINDING, "nothing to find");
	r.scans = 0;
	r.writes = 1;
	r.counted_days = 30.9;
	ok(tsa_index_finding(&r) == TSA_NO_FINDING, "a month end may come");
	r.counted_days = 31;
	ok(tsa_index_finding(&r) == TSA_UNUSED, "unused");
	r.expression = "lower(a)";
	ok(tsa_index_finding(&r) == TSA_UNUSED_EXPRESSION, "but for estimates");
	r.needed_for = "primary key";
	ok(tsa_index_finding(&r) == TSA_NO_FINDING, "needed without scans");
	r.duplicate_of = 2;
	ok(tsa_index_finding(&r) == TSA_DUPLICATE, "a duplicate all the same");
	r.unusable = "invalid";
	ok(tsa_index_finding(&r) == TSA_INVALID, "invalid comes first");
	r.unusable = "being built";
	ok(tsa_index_finding(&r) == TSA_BEING_BUILT, "unless it is being built");
	r.moving_job = 1;
	ok(tsa_index_finding(&r) == TSA_UNDER_WAY, "or moved");
	ok(!tsa_is_bloated(8 << 20, 16 << 20) && tsa_is_bloated((8 << 20) - 1, 16 << 20) &&
	   !tsa_is_bloated(0, (8 << 20) - 1), "twice its need and 8 MB more");
	for (int i = TSA_FASTER; i < TSA_NFINDINGS; i++)
	{
		if (strcmp(tsa_finding_action(i), "probe first") == 0 &&
			!tsa_finding_is_uncertain(i))
			ok(false, tsa_finding_name(i));
	}
	ok(true, "what asks for a probe is uncertain");
}

static void
test_choice(void)
{
	TsaRelationFact relations[] = {heap(1, 0, 50), heap(2, 0, 10), heap(3, 0, 0)};
	TsaPlacement *p = make_placement(relations, 3);

	ok(judge_all(p) && p->all_read_ms == 300 && p->all_read_bytes == 2 * 81920,
	   "60 reads of 5 ms a second");
	ok(p->choices[0].is_move && p->choices[0].finding == TSA_FASTER &&
	   p->choices[0].rank == 1 && is_near(p->choices[0].saved_ms, 245),
	   "what is read most moves first");
	ok(p->choices[1].is_move && p->choices[1].rank == 2, "the other then");
	ok(!p->choices[2].is_move && p->choices[2].finding == TSA_NOT_READ &&
	   p->choices[2].destination == 1, "one that is not read stays");
	p->budget_bytes = 81920;
	ok(judge_all(p) && p->choices[0].is_move &&
	   p->choices[1].finding == TSA_NO_ROOM, "room for one");
	p->budget_bytes = NAN;
	p->places[1].available_bytes = NAN;
	ok(judge_all(p) && p->choices[0].finding == TSA_NO_ROOM,
	   "of a tablespace whose room is not known nothing is filled");
	p->places[1].available_bytes = 1e9;
	((bool *) p->places[1].shares_device)[0] = true;
	((bool *) p->places[0].shares_device)[1] = true;
	ok(judge_all(p) && p->choices[0].finding == TSA_SAME_DEVICE, "one device");
}

static void
test_forecast(void)
{
	TsaRelationFact relations[] = {heap(1, 0, 66.667), heap(2, 0, 66.667)};
	TsaPlacement *p = make_placement(relations, 2);

	p->load.snapshots = p->load.reading_snapshots = 100;
	p->load.active_sessions = 4;
	p->load.reading_sessions = 2;
	relations[1].obstacle = "pinned";
	ok(judge_all(p) && p->choices[0].is_move &&
	   p->choices[1].finding == TSA_OBSTACLE, "one moves, one is pinned");
	ok(p->states[0].later_us < p->states[0].device_us,
	   "reads that stay wait less");
	ok(p->choices[0].saved_ms > 66.667 * (10 - 0.2),
	   "so the move saves more than its own time");
}

/*
 * The curve of a disk known by its counters only, with two reads of this
 * database in flight: "depth" is that of its one point.
 */
static bool
is_station(bool is_serial, double in_flight, double depth, double others)
{
	TsaRelationFact relations[] = {heap(1, 0, 400)};
	TsaPlacement *p = make_placement(relations, 1);
	const TsaStation *disk;

	p->places[0].is_serial = is_serial;
	p->places[0].latency_from = TSA_FROM_COUNTERS;
	p->places[0].present_read_us = 5000;
	p->places[0].present_read_low_us = 4900;
	p->places[0].present_read_high_us = 5100;
	p->places[0].curve.n = 1;
	for (int i = 0; i < 2; i++)
		p->places[i].present_in_flight = in_flight;
	judge_all(p);
	disk = &p->states[0].station;
	return disk->us == 5000 && disk->curve.n == 1 &&
		is_near(disk->curve.depth[0], depth) &&
		is_near(disk->others_in_flight, others) &&
		isnan(p->states[1].station.us) &&
		p->states[1].station.curve.n == 4 &&
		p->states[1].station.others_in_flight == tsa_or(in_flight, 0);
}

static void
test_stations(void)
{
	ok(is_station(true, 3, 1, 1), "one disk serves one at a time");
	ok(is_station(true, 6, 6, 4),
	   "unless others have more in flight: the latency is the same with fewer");
	ok(is_station(false, 3, 3, 1), "so is that of other devices");
	ok(is_station(true, NAN, 1, 0), "nothing known of others");
}

static void
test_evictions(void)
{
	TsaRelationFact relations[] = {heap(1, 0, 1), heap(2, 0, 0), heap(3, 0, NAN)};
	TsaPlacement *p = make_placement(relations, 3);

	p->with_evictions = true;
	p->places[0].available_bytes = -1;
	p->places[1] = place("tape", serial_us, 5000);
	ok(judge_all(p) && p->choices[1].is_evicted &&
	   p->choices[1].finding == TSA_TOO_FULL && p->choices[1].rank == 1 &&
	   !p->choices[0].is_evicted, "what is not read leaves what is too full");

	/* SQL failed for the whole database: sizes must not be null */
	relations[1].size_bytes = NAN;
	ok(judge_all(p) && p->choices[0].is_evicted && !p->choices[1].is_evicted,
	   "one without a file is left out");
	ok(p->choices[2].finding == TSA_NO_WINDOW, "one without a window, too");
}

static void
test_rooms(void)
{
	TsaRelationFact none[1];
	TsaPlacement *p = make_placement(none, 0);
	int			room_of[3];
	int64_t		free[3];
	int			nrooms;

	p->nplaces = 3;
	p->places[2] = place("shelf", serial_us, 5000);
	p->places[2].available_bytes = 5;
	((bool *) p->places[2].shares_device)[0] = true;
	tsa_list_rooms(p, room_of, free, &nrooms);
	ok(nrooms == 2 && room_of[0] == 0 && room_of[1] == 1 && room_of[2] == 0,
	   "two tablespaces on one device");
	ok(free[0] == 5 && free[1] == 1000000000, "have the room of the lesser");
	ok(judge_all(p), "no relations");
}

int
main(void)
{
	test_measured_reads();
	test_divided_waits();
	test_device_of_index();
	test_cache_exponent();
	test_index_findings();
	test_choice();
	test_forecast();
	test_stations();
	test_evictions();
	test_rooms();
	return done_testing();
}
