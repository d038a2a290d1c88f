/* Copyright (c) 2026, The tablespace_advisor developers */

/* Tests of sample/growth.c: regimes, steps, recurring rises, and a backtest. */
#include "sample/growth.c"

#include <stdint.h>
#include <string.h>

#include "tap.h"

#define GB 1e9

static double days[TSA_MAX_GROWTH_POINTS];
static double amounts[TSA_MAX_GROWTH_POINTS];
static uint64_t state = 42;

/* a number from [0, 1) */
static double
draw(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 11) / 9007199254740992.0;
}

static double
draw_normal(void)
{
	return sqrt(-2 * log(1 - draw())) * cos(6.283185307179586 * draw());
}

/* What is free in GB on a day of a story. */
typedef double (*Story) (double day);

static double
steady(double d)
{
	return 150 - d;
}
static double
late_start(double d)
{
	return 280 - (d > 348 ? 20 * (d - 348) : 0);
}
static double
enlarged(double d)
{
	return 50 + (d > 50 ? 100 : 0) - d;
}
static double
dropped(double d)
{
	return 360 + (d > 90 ? 200 : 0) - 3 * d;
}
static double
loaded(double d)
{
	return 200 - d - (d > 60 ? 80 : 0);
}
static double
weekdays(double d)
{
	return 500 - 2 * (5 * floor(d / 7) + fmin(5, fmod(d, 7)));
}
static double
weekly_drop(double d)
{
	return 100 - 10 * fmod(d, 7);
}
static double
weekly_drop_filling(double d)
{
	return 150 - 10 * fmod(d, 7) - floor(d / 7) * 5;
}
static double
drop_fails(double d)
{
	return d < 70 ? weekly_drop(d) : 100 - 10 * (d - 70) * 0.7;
}
static double
flat(double d)
{
	return 42 + 0 * d;
}
static double
shrinking_use(double d)
{
	return 10 + d;
}

static TsaGrowth
tell(Story story, int from, int n)
{
	TsaGrowth	growth;

	for (int i = 0; i < n; i++)
	{
		days[i] = from + i;
		amounts[i] = story(from + i) * GB;
	}
	tsa_find_growth(days, amounts, n, &growth);
	return growth;
}

static void
test_stories(void)
{
	TsaGrowth	g;

	g = tell(steady, 0, 101);
	is_close(g.until_zero, 50, 0.01, "steady: one GB a day, 50 left");
	is_close(g.until_zero_low, 50, 0.01, "steady: from 50");
	is_close(g.until_zero_high, 50, 0.01, "steady: to 50");
	ok(isnan(g.step) && isnan(g.slope_before), "steady: no step, no other pace");

	g = tell(late_start, 0, 361);
	is_close(g.until_zero, 2, 0.01, "20 GB a day for 12 days after 348 idle ones");
	is_close(g.begun, 348, 0.01, "begun on day 348");
	ok(fabs(g.slope_before) < 0.1 * GB, "idle before");

	g = tell(late_start, 0, 353);
	is_close(g.until_zero, 10, 0.05, "the same, four days old");
	ok(isnan(g.until_zero_high), "four days old: it may stop again");

	g = tell(enlarged, 0, 101);
	is_close(g.until_zero, 50, 0.02, "a volume enlarged on day 50");
	is_close(g.step, 100 * GB, 0.02, "by 100 GB");
	is_close(g.step_at, 51, 0.02, "on day 51, the first after it");

	g = tell(dropped, 0, 101);
	is_close(g.until_zero, 260 / 3.0, 0.02, "a table dropped ten days ago");
	g = tell(loaded, 0, 101);
	is_close(g.until_zero, 20, 0.02, "a bulk load of 80 GB");
	is_close(g.step, -80 * GB, 0.02, "the load is a step");

	for (int n = 200; n < 207; n++)
	{
		g = tell(weekdays, 0, n);
		is_close(g.slope, -10 / 7.0 * GB, 0.1, "idle at weekends: the pace of weeks");
	}
	for (int n = 71; n < 78; n++)
	{
		g = tell(weekly_drop, 0, n);
		ok(isnan(g.until_zero) || g.until_zero > 1000,
		   "dropped every week, seen on day %d: never full", n % 7);
		is_close(g.period, 7, 0.01, "dropped every week: the period");
		g = tell(weekly_drop_filling, 0, n);
		is_close(g.until_zero, (7 * 16 + 4 - n), 0.25,
				 "a trough less by 5 GB a week reaches zero in the 17th week");
	}
	g = tell(drop_fails, 0, 84);
	is_close(g.until_zero, 9 / 7.0, 0.2, "the drop is overdue: full in a day");
	g = tell(flat, 0, 100);
	ok(isnan(g.until_zero) && g.slope == 0, "flat: never");
	g = tell(shrinking_use, 0, 100);
	ok(isnan(g.until_zero) && g.slope > 0, "more and more is free: never");
	ok(tsa_find_growth(days, amounts, 2, &g) == 0 && isnan(g.slope),
	   "two points say nothing");
}

/*
 * The points that usage_history() makes of samples an hour apart: sixteen of a
 * history of less than eight days, each with the lowest free space.
 */
static int
thin_samples(Story story, int hours)
{
	int			n = 0;
	int			seen = -1;

	for (int h = 0; h <= hours; h++)
	{
		int			stretch = (int) floor((hours - h) / (hours / 16.0));

		if (stretch != seen)
			days[n++] = h / 24.0;
		days[n - 1] = h / 24.0;
		amounts[n - 1] = story(h) * GB;
		seen = stretch;
	}
	return n;
}

/* 0.1 GB an hour, and 10 GB at six every morning */
static double
nightly_load(double h)
{
	return 200 - 0.1 * h - 10 * floor((h + 18) / 24);
}

static double
monthly_load(double d)
{
	return 1000 - d - 80 * floor((d + 15) / 30);
}

static double
loads_that_end(double d)
{
	return monthly_load(d) + (d > 270 ? 80 * floor((d - 255) / 30) : 0);
}

static double
monthly_load_alone(double d)
{
	return 1000 - 80 * floor((d + 15) / 30);
}

/*
 * Loads that recur.  Earlier stories had loads once, or steps that removed
 * something: of loads each night within a day or two all were left out.
 */
static void
test_loads(void)
{
	TsaGrowth	g;

	for (int hours = 26; hours < 192; hours += 5)
	{
		int			n = thin_samples(nightly_load, hours);

		tsa_find_growth(days, amounts, n, &g);
		ok(fabs(g.slope / GB + 12.4) < 0.3 * 12.4,
		   "a load each night, after %d hours: %.1f GB a day of 12.4",
		   hours, -g.slope / GB);
		ok(g.slope_low / GB <= -11.8 && g.slope_high / GB >= -13,
		   "the interval has the truth within a twentieth: %.1f to %.1f",
		   -g.slope_high / GB, -g.slope_low / GB);
		for (int i = 0; i < n; i++)
			amounts[i] = 200 * GB - amounts[i];
		tsa_find_growth(days, amounts, n, &g);
		ok(fabs(g.slope / GB - 12.4) < 0.3 * 12.4,
		   "the same as bytes used: %.1f", g.slope / GB);
	}
	for (int n = 90; n < 300; n += 7)
	{
		g = tell(monthly_load, 0, n);
		is_close(g.slope, -(1 + 80 / 30.0) * GB, 0.1, "a load each month");
		is_close(g.load_period, 30, 0.01, "each 30 days");
		g = tell(monthly_load_alone, 0, n);
		is_close(g.slope, -80 / 30.0 * GB, 0.1, "nothing but a load each month");
	}
	g = tell(monthly_load, 0, 65);
	is_close(g.slope, -(1 + 80 / 30.0) * GB, 0.1, "two loads, the third not due");
	ok(g.slope_high >= -1.1 * GB && isnan(g.load_period),
	   "it may not come: the interval says so");
	g = tell(loads_that_end, 0, 302);
	ok(isnan(g.load), "the next one is overdue: no more loads");
	is_close(g.slope, -GB, 0.01, "the pace without them");
	g = tell(loaded, 0, 101);
	is_close(g.slope, -GB, 0.01, "a load in 100 days is a step");
	is_close(g.slope_low, -(1 + 80 / 61.0) * GB, 0.05,
			 "the interval has it every 61 days");
	g = tell(enlarged, 0, 101);
	is_close(g.slope_high, -GB, 0.01, "an enlarged volume does not recur");
}

/*
 * A disk that nobody tuned on: paces, noise, weeks, loads, drops and volumes
 * are drawn.  fills: whether its last pace fills it, later than it begins by a
 * week or more.
 */
typedef struct Disk
{
	double		pace[3];
	double		change[2];		/* when the pace changes */
	double		noise;
	double		weekend;		/* share of the pace at weekends */
	double		load_at;
	double		load;
	double		period;			/* of drops, 0: none */
	double		dropped;
} Disk;

static void
draw_disk(Disk *disk, bool fills)
{
	memset(disk, 0, sizeof(*disk));
	disk->change[0] = 30 + 100 * draw();
	disk->change[1] = disk->change[0] + 30 + 100 * draw();
	for (int i = 0; i < 3; i++)
		disk->pace[i] = draw() < 0.3 ? 0 : exp(draw() * 4 - 3);
	if (fills)
		disk->pace[2] = exp(draw() * 3);
	disk->noise = draw() < 0.5 ? 0 : 0.5 * draw();
	disk->weekend = draw() < 0.5 ? 1 : draw();
	if (draw() < 0.5)
	{
		disk->load_at = 250 * draw();
		disk->load = 100 * (draw() - 0.5);
	}
	if (draw() < 0.3)
	{
		disk->period = draw() < 0.5 ? 7 : 30;
		disk->dropped = disk->pace[0] * (0.3 + 0.7 * draw());
	}
}

/* bytes used on a day, without noise, in GB */
static double
disk_used(const Disk *disk, double day)
{
	double		used = 0;

	for (int d = 0; d < (int) day; d++)
	{
		int			regime = d < disk->change[0] ? 0 : d < disk->change[1] ? 1 : 2;
		double		pace = disk->pace[regime] + disk->dropped;

		used += pace * (d % 7 >= 5 ? disk->weekend : 1);
		if (disk->period > 0 && d > 0 && d % (int) disk->period == 0)
			used -= disk->dropped * disk->period * (5 + 2 * disk->weekend) / 7;
	}
	if (disk->load_at > 0 && day > disk->load_at)
		used += disk->load;
	return used;
}

/* When free space is forecast to end, in days, as seen on a day. */
static double
forecast(const Disk *disk, const double *free_space, int day)
{
	TsaGrowth	growth;
	int			n = day + 1 > 365 ? 365 : day + 1;

	(void) disk;
	for (int i = 0; i < n; i++)
	{
		days[i] = day + 1 - n + i;
		amounts[i] = free_space[day + 1 - n + i];
	}
	tsa_find_growth(days, amounts, n, &growth);
	return growth.until_zero;
}

/*
 * Of disks that fill, an alarm (full within seven days) is to be given three
 * days before for 95 of 100, and of those that do not fill at most one in 100
 * months.
 */
static void
test_backtest(void)
{
	enum
	{
		DISKS = 160, DAYS = 400, ALARM = 7
	};
	static double free_space[DAYS];
	int			announced = 0;
	int			filled = 0;
	int			alarms = 0;
	double		months = 0;

	for (int i = 0; i < 2 * DISKS; i++)
	{
		Disk		disk;
		int			end = 200 + (int) (150 * draw());
		double		size = 0;
		bool		told = false;

		draw_disk(&disk, true);
		for (int d = 0; d <= end; d++)
			size = fmax(size, disk_used(&disk, d));
		if (end < disk.change[1] + 8 || disk_used(&disk, end) < size - 0.01)
			continue;			/* it was as full before */
		for (int d = 0; d <= end; d++)
			free_space[d] = fmax(0, size - disk_used(&disk, d) +
								 disk.noise * draw_normal()) * GB;
		for (int d = end - 7; d <= end - 3 && !told; d++)
			told = forecast(&disk, free_space, d) <= ALARM;
		filled++;
		announced += told;
		if (!told)
			printf("# not announced: pace %.2f after %.2f since day %.0f of %d, period %.0f, noise %.2f, says %.1f\n",
				   disk.pace[2], disk.pace[1], disk.change[1], end,
				   disk.period, disk.noise, forecast(&disk, free_space, end - 3));
	}
	ok(filled >= 100, "%d disks that fill", filled);
	ok(announced >= 0.95 * filled, "%d of %d are announced three days before",
	   announced, filled);

	for (int i = 0; i < DISKS; i++)
	{
		Disk		disk;
		int			end = 200 + (int) (150 * draw());
		double		size = 0;
		bool		was_told = false;

		draw_disk(&disk, false);
		for (int d = 0; d < DAYS; d++)
			size = fmax(size, disk_used(&disk, d));
		size += fmax(20, 0.1 * size) * (1 + draw());
		for (int d = 0; d < end; d++)
			free_space[d] = fmax(0, size - disk_used(&disk, d) +
								 disk.noise * draw_normal()) * GB;
		for (int d = 30; d < end; d += 3)
		{
			double		left = forecast(&disk, free_space, d);
			bool		told = left <= ALARM;

			if (told && !was_told)
			{
				alarms++;
				printf("# false alarm: day %d, %.1f GB left, says %.1f days, paces %.2f %.2f %.2f, period %.0f, load %.0f at %.0f, noise %.2f\n",
					   d, free_space[d] / GB, left, disk.pace[0], disk.pace[1],
					   disk.pace[2], disk.period, disk.load, disk.load_at, disk.noise);
			}
			was_told = told;
			months += 3 / 30.4;
		}
	}
	ok(alarms <= months / 100, "%d false alarms in %.0f months", alarms, months);
}

int
main(void)
{
	test_stories();
	test_loads();
	test_backtest();
	return done_testing();
}
