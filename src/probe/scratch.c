/*-------------------------------------------------------------------------
 *
 * scratch.c
 *	  The scratch file of a probe.
 *
 * It is one of the server's own temporary files: made by OpenTemporaryFile()
 * in the tablespace's pgsql_tmp directory, so that the resource owner deletes
 * it on error, process exit deletes it on FATAL, the server sweeps it after a
 * crash, base backups leave it out, and it counts towards temp_file_limit
 * like any other.  OpenTemporaryFile() takes no tablespace; it is told one
 * through SetTempTablespaces(), for the length of that one call.
 *
 * Rejected: creating the file ourselves.  Everything above would have to be
 * written again, and two owners of one naming scheme can collide.
 *
 * Laying out writes every block with data that cannot be compressed, past the
 * page cache, through the asynchronous engine, so that a cancel does not wait
 * for the device; so does the fsync at the end.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "commands/tablespace.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "probe/counters.h"
#include "probe/target.h"
#include "state/file_error.h"

/* free space to leave alone: 5 % of the file system, at most 10 GB */
#define FREE_SHARE	20
#define FREE_MOST	(UINT64CONST(10) * 1024 * 1024 * 1024)

#define WAIT_NS		INT64CONST(50000000)

/*
 * Make a temporary file in a tablespace.
 *
 * The session's own list of temporary tablespaces is restored in any case;
 * fd.c keeps a pointer to it until the end of the transaction.
 */
static File
open_temporary_file(Oid tablespace)
{
	Oid		   *saved;
	int			nsaved;
	int			room = 16;
	Oid			only = tablespace;
	volatile File file = 0;

	PrepareTempTablespaces();
	for (;;)
	{
		saved = MemoryContextAlloc(TopTransactionContext, room * sizeof(Oid));
		nsaved = GetTempTablespaces(saved, room);
		if (nsaved < room)
			break;
		pfree(saved);
		room *= 2;
	}

	PG_TRY();
	{
		SetTempTablespaces(&only, 1);
		file = OpenTemporaryFile(false);
	}
	PG_FINALLY();
	{
		SetTempTablespaces(saved, nsaved);
	}
	PG_END_TRY();
	return file;
}

/*
 * Refuse when the file would leave too little space for everybody else.
 */
static void
check_free_space(TsaProbeTarget *target, int fd, uint64 bytes)
{
	struct statvfs fs;
	uint64		available;
	uint64		margin;

	if (fstatvfs(fd, &fs) != 0)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not get the free space of tablespace \"%s\": %m",
						target->name)));
	available = (uint64) fs.f_bavail * fs.f_frsize;
	margin = Min((uint64) fs.f_blocks * fs.f_frsize / FREE_SHARE, FREE_MOST);
	if (available < margin || available - margin < bytes)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("could not make a scratch file in tablespace \"%s\": not enough free space",
						target->name),
				 errdetail("The file takes %llu MB, %llu MB are available, and %llu MB are to stay free.",
						   (unsigned long long) (bytes >> 20),
						   (unsigned long long) (available >> 20),
						   (unsigned long long) (margin >> 20)),
				 errhint("Use a smaller file_size, or mode 'existing', which writes nothing.")));
}

/*
 * Reserve the file's space: against temp_file_limit, which the server checks
 * (and keeps account of) when the file's last block is written, and on the
 * device.
 */
static void
reserve_space(TsaProbeTarget *target, uint64 bytes)
{
	PGAlignedBlock block;
	int			fd = target->cached[0].fd;

	memset(block.data, 0, BLCKSZ);
	if (FileWrite(target->scratch, block.data, BLCKSZ,
				  (off_t) (bytes - BLCKSZ),
				  WAIT_EVENT_BUFFILE_WRITE) != BLCKSZ ||
		(fallocate(fd, 0, 0, (off_t) bytes) != 0 && errno != EOPNOTSUPP))
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not make a scratch file of %llu MB in tablespace \"%s\": %m",
						(unsigned long long) (bytes >> 20), target->name)));
}

/* Make the scratch file and reserve its space. */
void
tsa_scratch_open(TsaProbeTarget *target, uint64 bytes)
{
	char		directory[MAXPGPATH];
	char	   *path;

	target->scratch = open_temporary_file(target->tablespace);
	path = pstrdup(FilePathName(target->scratch));

	/* the server falls back to the database's tablespace without a word */
	TempTablespacePath(directory, target->tablespace);
	if (strncmp(path, directory, strlen(directory)) != 0)
	{
		int			save_errno;

		save_errno = access(directory, W_OK | X_OK) == 0 ? EIO : errno;
		FileClose(target->scratch);
		target->scratch = 0;
		errno = save_errno;
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not make a file in directory \"%s\": %m",
						directory)));
	}

	tsa_target_open_file(target, path, O_RDWR | PG_BINARY);
	if (target->nfiles == 0)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	check_free_space(target, target->cached[0].fd, bytes);
	reserve_space(target, bytes);
	target->direct[0].bytes = target->cached[0].bytes = bytes;
	target->bytes = bytes;
}

/* Complain of a failed write, given as a negative error number. */
static void
report_write(TsaProbeTarget *target, int64 result)
{
	errno = result < 0 ? (int) -result : ENOSPC;
	ereport(ERROR,
			(tsa_errcode_for_file_access(),
			 errmsg("could not write the scratch file in tablespace \"%s\": %m",
					target->name)));
}

/* Wait for at least one request; add the finished ones to the idle list. */
static void
reap_writes(TsaProbeTarget *target, TsaIoEngine *io, TsaIoRequest **idle,
			int *nidle)
{
	TsaIoRequest *done[TSA_LAYOUT_DEPTH];
	int			finished;
	int			i;

	finished = io->ops->reap(io, done, TSA_LAYOUT_DEPTH, WAIT_NS);
	if (finished < 0)
		report_write(target, finished);
	for (i = 0; i < finished; i++)
	{
		if (done[i]->result != (int64) done[i]->length)
			report_write(target, done[i]->result);
		idle[(*nidle)++] = done[i];
	}
	CHECK_FOR_INTERRUPTS();
}

/* Bring the file to the device, without becoming deaf meanwhile. */
static void
sync_scratch(TsaProbeTarget *target, TsaAioEngine *engine)
{
	TsaIoEngine *io = tsa_aio_base(engine);
	TsaIoRequest *request = tsa_aio_requests(engine);
	TsaIoRequest *idle[TSA_LAYOUT_DEPTH];
	int			nidle = 0;

	request->fd = target->cached[0].fd;
	request->length = 0;
	if (tsa_aio_submit_fsync(engine, request) == 0)
	{
		while (nidle == 0)
			reap_writes(target, io, idle, &nidle);
	}
	else if (fsync(target->cached[0].fd) != 0)
		report_write(target, -errno);
}

/* Write every block of the scratch file. */
void
tsa_scratch_lay_out(TsaProbeTarget *target, TsaAioEngine *engine, int max_iops)
{
	TsaIoEngine *io = tsa_aio_base(engine);
	TsaIoRequest *requests = tsa_aio_requests(engine);
	TsaIoRequest *idle[TSA_LAYOUT_DEPTH];
	int			nidle = 0;
	uint64		seed = pg_prng_uint64(&pg_global_prng_state);
	uint64		offset = 0;
	uint64		next_ns = 0;
	char		progress[64];
	int			i;

	for (i = 0; i < TSA_LAYOUT_DEPTH; i++)
	{
		requests[i].buffer = tsa_aio_buffer(engine) +
			(size_t) i * TSA_LAYOUT_CHUNK;
		idle[nidle++] = &requests[i];
	}

	while (offset < target->bytes || nidle < TSA_LAYOUT_DEPTH)
	{
		TsaIoRequest *request;
		int			error;

		if (nidle == 0 || offset >= target->bytes)
		{
			reap_writes(target, io, idle, &nidle);
			continue;
		}
		while (max_iops > 0 && tsa_clock_now() < next_ns)
			tsa_probe_sleep(1 + (next_ns - tsa_clock_now()) / 2000000);
		if (max_iops > 0)
			next_ns = tsa_clock_now() + UINT64CONST(1000000000) / max_iops;

		request = idle[--nidle];
		request->fd = target->direct[0].fd;
		request->is_write = true;
		request->offset = offset;
		request->length = Min(TSA_LAYOUT_CHUNK, target->bytes - offset);
		tsa_random_fill(request->buffer, request->length, &seed);
		error = io->ops->submit(io, request);
		if (error < 0)
			report_write(target, error);
		offset += request->length;
		snprintf(progress, sizeof(progress),
				 "writing the scratch file, %d %%",
				 (int) (100 * offset / target->bytes));
		tsa_target_progress(target, progress);
		CHECK_FOR_INTERRUPTS();
	}
	sync_scratch(target, engine);
}
