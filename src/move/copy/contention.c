/*-------------------------------------------------------------------------
 *
 * contention.c
 *	  The work of others beside a copy, as the kernel and the server count it.
 *
 * Devices: the bytes that a device has read, less those that this process has
 * read (/proc/self/io), and the part of that which was under way at the last
 * reading (tsa_bytes_of_others()).  Of other copies under way it is assumed
 * that they read as much as this one; they share one allowance.  Writes are
 * not looked at: the kernel writes our data when it likes, and waits for
 * writes are those of transactions, which the server counts by their IDs.
 *
 * Other copies are found by a lock of the advisory kind that each holds in its
 * transactions, in a key class that no SQL function can name; those of the same
 * call, which share its max_rate, by another.  The locks are shared, so that
 * nobody ever waits for them, and a copy that pauses has no transaction and
 * does not count.  A copy counts anew in each of its transactions, which last
 * for a second at most.
 *
 * Everything here is cheap (five small files, one LWLock) and may be missing:
 * facts that the system does not give are reported as unknown.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "access/transam.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/lock.h"
#include "utils/guc.h"

#include "compat.h"
#include "move/copy/contention.h"
#include "state/lock_class.h"

/*
 * The kernel reads up to two windows ahead, and the copy asks for some MB by
 * itself: so much may be under way at least.
 */
#define MIN_IN_FLIGHT_KB 8192

/* Where the system does not say. */
#define MIN_REQUEST_KB 128

/* tablespace_advisor.debug_others */
static char *debug_others = NULL;

/*
 * Registers the configuration parameter of the tests.
 */
void
tsa_init_contention(void)
{
	DefineCustomStringVariable("tablespace_advisor.debug_others",
							   "Makes a live copy believe that others use a device.",
							   "For tests only: \"nobody\", \"source\", \"target\", \"server\", \"processor\", \"uncounted\" (own reads take longer and longer) or empty for the truth.",
							   &debug_others, "",
							   PGC_SIGHUP, GUC_NOT_IN_SAMPLE,
							   NULL, NULL, NULL);
}

/*
 * Finds the counters of the device under a tablespace.
 */
static void
find_device(Oid tablespace, char *path)
{
	char	   *dir = GetDatabasePath(MyDatabaseId, tablespace);
	int			fd = OpenTransientFile(dir, O_RDONLY);

	path[0] = '\0';
	if (fd >= 0)
	{
		if (tsa_device_stat_path(fd, path, MAXPGPATH) != 0)
			path[0] = '\0';
		(void) CloseTransientFile(fd);
	}
	pfree(dir);
}

/*
 * A setting of the source's device's queue, a default if it does not say.
 */
static int
queue_setting(const TsaCounters *counters, const char *name, int unknown)
{
	char		path[MAXPGPATH + 64];
	char	   *slash;
	FILE	   *file;
	int			value = 0;

	strlcpy(path, counters->stat_path[0], MAXPGPATH);
	slash = strrchr(path, '/');
	if (slash == NULL)
		return unknown;
	snprintf(slash, sizeof(path) - (slash - path), "/queue/%s", name);
	file = AllocateFile(path, "r");
	if (file != NULL)
	{
		if (fscanf(file, "%d", &value) != 1)
			value = 0;
		FreeFile(file);
	}
	return value > 0 ? value : unknown;
}

/*
 * Kilobytes that the source's device takes at once from the system's cache.
 * Pages of the cache need not lie side by side, so each may take a segment.
 */
int
tsa_contention_request_kb(const TsaCounters *counters)
{
	int			kb = queue_setting(counters, "max_sectors_kb", MIN_REQUEST_KB);
	int			segments = queue_setting(counters, "max_segments", INT_MAX);
	int			page_kb = (int) (sysconf(_SC_PAGESIZE) / 1024);

	if (segments <= kb / page_kb)
		kb = segments * page_kb;
	return Max(kb, MIN_REQUEST_KB);
}

/*
 * Reads all counters into *now; its flags tell which of them could be read.
 */
static void
read_counters(const TsaCounters *counters, TsaCounterReading *now)
{
	memset(now, 0, sizeof(*now));
	now->time_ns = tsa_clock_now();
	now->next_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
	now->have_process = tsa_process_io_read(&now->process) == 0;
	now->have_delay = tsa_process_delay_read(&now->delay_ns) == 0;
	for (int i = 0; i < 2; i++)
		now->have_device[i] = counters->stat_path[i][0] != '\0' &&
			tsa_device_io_read(counters->stat_path[i], &now->device[i]) == 0;
}

/*
 * Begins to count.  In a transaction.
 */
void
tsa_contention_open(TsaCounters *counters, Oid source_tablespace,
					Oid target_tablespace)
{
	find_device(source_tablespace, counters->stat_path[0]);
	find_device(target_tablespace, counters->stat_path[1]);
	if (strcmp(counters->stat_path[0], counters->stat_path[1]) == 0)
		counters->stat_path[1][0] = '\0';	/* looked at once */
	counters->max_in_flight =
		1024.0 * Max(2.0 * queue_setting(counters, "read_ahead_kb", 0),
					 MIN_IN_FLIGHT_KB);
	read_counters(counters, &counters->last);
}

/*
 * Bytes from one reading of a counter to the next.
 */
static double
difference(uint64 from, uint64 to)
{
	return to > from ? (double) (to - from) : 0;
}

/*
 * The values of the tests' parameter instead.
 */
static void
pretend(TsaCounters *counters, TsaRateSample *sample)
{
	bool		is_processor = strcmp(debug_others, "processor") == 0;
	int			who = -1;

	if (strcmp(debug_others, "source") == 0)
		who = TSA_CONTENTION_SOURCE;
	else if (strcmp(debug_others, "target") == 0)
		who = TSA_CONTENTION_TARGET;
	else if (strcmp(debug_others, "server") == 0)
		who = TSA_CONTENTION_SERVER;

	for (int i = 0; i <= TSA_CONTENTION_SERVER; i++)
	{
		sample->known[i] = true;
		sample->done[i] = sample->requests[i] = sample->request_seconds[i] = 0;
	}
	sample->reads_waiting = who == TSA_CONTENTION_SOURCE;
	sample->cpu_wait = is_processor ? sample->seconds : 0;
	sample->read_bytes = 0;
	if (strcmp(debug_others, "uncounted") == 0 && sample->working)
	{
		sample->read_bytes = 4 * 1024 * 1024;
		sample->read_seconds = 0.01 * ++counters->pretended;
	}
	if (who >= 0)
	{
		sample->done[who] = (sample->working ? 1e6 : 1e7) * sample->seconds;
		sample->requests[who] = sample->done[who] / 8192;
		sample->request_seconds[who] = sample->seconds;
	}
}

/*
 * Returns the changes since the last reading.  The sample's bytes and
 * read_seconds are the caller's.
 */
void
tsa_contention_read(TsaCounters *counters, int copies, bool working,
					TsaRateSample *sample)
{
	TsaCounterReading now;
	const TsaCounterReading *last = &counters->last;
	double		own_reads;
	unsigned int waiting;

	read_counters(counters, &now);
	own_reads = difference(last->process.read_bytes, now.process.read_bytes);
	sample->working = working;
	sample->seconds = difference(last->time_ns, now.time_ns) / 1e9;
	if (now.have_delay && last->have_delay)
		sample->cpu_wait = difference(last->delay_ns, now.delay_ns) / 1e9;

	for (int i = 0; i < 2; i++)
	{
		const TsaDeviceIo *from = &last->device[i];
		const TsaDeviceIo *to = &now.device[i];
		double		own = i == 0 ? own_reads : 0;

		sample->known[i] = now.have_device[i] && last->have_device[i] &&
			now.have_process && last->have_process;
		if (!sample->known[i])
			continue;
		sample->done[i] =
			tsa_bytes_of_others(&counters->in_flight[i],
								counters->max_in_flight, own, copies,
								difference(from->read_bytes,
										   to->read_bytes),
								sample->seconds);
		if (!working)			/* after a sleep nothing is under way */
			memset(&counters->in_flight[i], 0, sizeof(TsaInFlight));
		if (to->read_ms == 0)	/* a device that measures no times */
			continue;
		sample->requests[i] = difference(from->read_requests,
										 to->read_requests);
		sample->request_seconds[i] =
			difference(from->read_ms, to->read_ms) / 1e3;
	}
	sample->known[TSA_CONTENTION_SERVER] = true;
	sample->done[TSA_CONTENTION_SERVER] =
		difference(last->next_xid, now.next_xid);
	if (!sample->known[TSA_CONTENTION_SOURCE])
		sample->read_bytes = own_reads;
	else if (!working)
		sample->reads_waiting =
			tsa_device_reads_waiting(counters->stat_path[0], &waiting) == 0 &&
			waiting > 0;

	if (debug_others != NULL && debug_others[0] != '\0')
		pretend(counters, sample);
	counters->last = now;
}

/*
 * Has the source's device counters?
 */
bool
tsa_contention_has_device(const TsaCounters *counters)
{
	return counters->last.have_device[0] && counters->last.have_process;
}

/*
 * Shares a lock until the end of the transaction, and returns how many do.
 */
static int
count_by(const LOCKTAG *tag)
{
	VirtualTransactionId *found;
	int			n;

	(void) LockAcquire(tag, ShareLock, false, true);
	found = GetLockConflicts(tag, ExclusiveLock, &n);
	pfree(found);
	return n + 1;
}

/*
 * Says, until the end of the transaction, that a copy is under way, and returns
 * how many there are on this server.
 */
int
tsa_contention_copies(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, InvalidOid, 0, 0, TSA_LOCK_COPY);
	return count_by(&tag);
}

/*
 * Says that a copy of a call is under way, and returns how many of that call
 * there are.  Calls are numbered per database.
 */
int
tsa_contention_copies_of_call(int64 call_id)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (call_id >> 32),
						 (uint32) call_id, TSA_LOCK_COPY_OF_CALL);
	return count_by(&tag);
}
