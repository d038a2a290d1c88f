/*-------------------------------------------------------------------------
 *
 * aio.h
 *	  I/O engines behind one struct of operations.
 *
 * Pure: no server headers.  All functions return 0 or a count, or a negative
 * error number as libaio does.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_AIO_H
#define TSA_AIO_H

#include <stddef.h>
#include <stdint.h>

/* One read or write.  The engine keeps it from submit until it is reaped. */
typedef struct TsaIoRequest
{
	int			fd;
	int			is_write;
	uint64_t	offset;
	size_t		length;
	void	   *buffer;
	int64_t		result;			/* bytes done or negative error number */
	uint64_t	submitted_ns;	/* for the caller's use from here on */
	uint64_t	unit;
	uint64_t	serial;
} TsaIoRequest;

typedef struct TsaIoEngine TsaIoEngine;

typedef struct TsaIoOps
{
	/* Start a request; 0 when it is started. */
	int			(*submit) (TsaIoEngine *engine, TsaIoRequest *request);

	/*
	 * Wait for at least one request, no longer than timeout_ns; returns how
	 * many of at most max are finished, 0 after the timeout or a signal.
	 */
	int			(*reap) (TsaIoEngine *engine, TsaIoRequest **done, int max,
						 int64_t timeout_ns);
} TsaIoOps;

struct TsaIoEngine
{
	const TsaIoOps *ops;
	int			in_flight;
};

/* Write and read one request at a time, with pwrite, fdatasync and pread. */
typedef struct TsaSyncEngine
{
	TsaIoEngine base;
	int			fdatasync;		/* after every write? */
	int			prefetch;		/* ask for the block that comes so many
								 * requests later */
	TsaIoRequest *done;
} TsaSyncEngine;

extern void tsa_init_sync_engine(TsaSyncEngine *engine, int use_fdatasync,
								 int prefetch);

/*
 * Linux native asynchronous I/O; where the kernel or a container refuses it,
 * requests are done one after another as they are submitted.
 */
typedef struct TsaAioEngine TsaAioEngine;

extern int	tsa_aio_create(TsaAioEngine **engine, int depth,
						   size_t buffer_bytes);
extern int	tsa_aio_refusal(const TsaAioEngine *engine);
extern TsaIoEngine *tsa_aio_base(TsaAioEngine *engine);
extern TsaIoRequest *tsa_aio_requests(TsaAioEngine *engine);
extern char *tsa_aio_buffer(TsaAioEngine *engine);
extern int	tsa_aio_submit_fsync(TsaAioEngine *engine, TsaIoRequest *request);
extern int	tsa_aio_destroy(TsaAioEngine *engine);

#endif							/* TSA_AIO_H */
