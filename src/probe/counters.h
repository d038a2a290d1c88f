/*-------------------------------------------------------------------------
 *
 * counters.h
 *	  The kernel's facts about a file and the I/O done.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COUNTERS_H
#define TSA_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* /proc/self/io */
typedef struct TsaProcessIo
{
	uint64_t	read_bytes;
	uint64_t	write_bytes;
} TsaProcessIo;

/* a block device's stat file */
typedef struct TsaDeviceIo
{
	uint64_t	reads;			/* as asked for: merged ones count each */
	uint64_t	read_bytes;
	uint64_t	writes;
	uint64_t	write_bytes;
	uint64_t	read_requests;	/* as the device got them ... */
	uint64_t	read_ms;		/* ... and the sum of the times they took */
	uint64_t	write_requests;
	uint64_t	write_ms;
	uint64_t	busy_ms;		/* with at least one request in flight */
	uint64_t	queue_ms;		/* times of all requests, added up */
} TsaDeviceIo;

/* where a file's blocks are, in bytes */
typedef struct TsaFileMap
{
	uint64_t	written;		/* lies on the device as data, or will */
	uint64_t	unwritten;		/* allocated, never written: read as zeros */
	uint64_t	packed;			/* inline, compressed, encrypted */
	uint64_t	written_end;	/* where the last written part ends */
} TsaFileMap;

extern int	tsa_process_io_read(TsaProcessIo *io);
extern int	tsa_process_delay_read(uint64_t *delay_ns);
extern int	tsa_device_stat_path(int fd, char *path, size_t size);
extern int	tsa_block_device_stat_path(const char *device, char *path,
									   size_t size);
extern int	tsa_device_io_read(const char *path, TsaDeviceIo *io);
extern int	tsa_device_reads_waiting(const char *stat_path, unsigned int *n);
extern int	tsa_file_map_read(int fd, uint64_t bytes, TsaFileMap *map);
extern int	tsa_file_in_memory(int fd);
extern int	tsa_file_is_dirty(int fd, uint64_t offset, uint64_t length);
extern uint64_t tsa_clock_now(void);
extern uint64_t tsa_clock_cost(void);

#endif							/* TSA_COUNTERS_H */
