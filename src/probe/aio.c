/*-------------------------------------------------------------------------
 *
 * aio.c
 *	  I/O engines: Linux native asynchronous I/O, and plain system calls.
 *
 * Lifetimes.  While a request is in flight the device may write into its
 * buffer, even if the query that asked for it has ended.  So everything a
 * request touches belongs to the engine, lives outside of the server's memory
 * contexts, and is freed by tsa_aio_destroy() only, which refuses as long as a
 * request is in flight.  It never waits: io_destroy() would block, deaf to
 * signals, until the last request is done, which on a slow disk with a deep
 * queue is longer than a cancelled query may take.  The caller keeps an engine
 * that refuses and tries again later; on exit the kernel waits for the rest.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "probe/aio.h"

struct TsaAioEngine
{
	TsaIoEngine base;
	io_context_t context;
	int			depth;
	size_t		buffer_bytes;
	char	   *buffer;			/* page aligned, as O_DIRECT wants it */
	TsaIoRequest *requests;		/* depth of them */
	struct iocb *iocbs;			/* one per request, same index */
	struct io_event *events;

	/* where the kernel refuses: why, and the requests that are done */
	int			refusal;
	int			ndone;
	TsaIoRequest **done;
};

/* Hand a prepared control block to the kernel. */
static int
submit_iocb(TsaAioEngine *engine, struct iocb *iocb, TsaIoRequest *request)
{
	int			started;

	iocb->data = request;
	started = io_submit(engine->context, 1, &iocb);
	if (started < 1)
		return started < 0 ? started : -EAGAIN;
	engine->base.in_flight++;
	return 0;
}

/* Hand a request to the kernel. */
static int
aio_submit(TsaIoEngine *base, TsaIoRequest *request)
{
	TsaAioEngine *engine = (TsaAioEngine *) base;
	struct iocb *iocb = &engine->iocbs[request - engine->requests];

	if (request->is_write)
		io_prep_pwrite(iocb, request->fd, request->buffer,
					   request->length, (long long) request->offset);
	else
		io_prep_pread(iocb, request->fd, request->buffer,
					  request->length, (long long) request->offset);
	return submit_iocb(engine, iocb, request);
}

/*
 * Collect finished requests, "max" at most, after waiting up to timeout_ns for
 * one; returns their number, 0 after a signal, or a negative errno.
 */
static int
aio_reap(TsaIoEngine *base, TsaIoRequest **done, int max, int64_t timeout_ns)
{
	TsaAioEngine *engine = (TsaAioEngine *) base;
	struct timespec timeout;
	int			finished;
	int			i;

	timeout.tv_sec = timeout_ns / 1000000000;
	timeout.tv_nsec = timeout_ns % 1000000000;
	if (max > engine->depth)
		max = engine->depth;
	finished = io_getevents(engine->context, 1, max, engine->events, &timeout);
	if (finished == -EINTR)
		return 0;
	for (i = 0; i < finished; i++)
	{
		done[i] = engine->events[i].data;
		done[i]->result = (int64_t) engine->events[i].res;
	}
	if (finished > 0)
		base->in_flight -= finished;
	return finished;
}

static const TsaIoOps aio_ops = {aio_submit, aio_reap};

/* Do a request at once. */
static void
do_request(TsaIoRequest *request)
{
	if (request->is_write)
		request->result = pwrite(request->fd, request->buffer,
								 request->length, (off_t) request->offset);
	else
		request->result = pread(request->fd, request->buffer,
								request->length, (off_t) request->offset);
	if (request->result < 0)
		request->result = -errno;
}

/* Do a request at once, and keep it until it is asked for. */
static int
plain_submit(TsaIoEngine *base, TsaIoRequest *request)
{
	TsaAioEngine *engine = (TsaAioEngine *) base;

	if (engine->ndone == engine->depth)
		return -EAGAIN;
	do_request(request);
	engine->done[engine->ndone++] = request;
	base->in_flight = engine->ndone;
	return 0;
}

/* Return requests that plain_submit() did. */
static int
plain_reap(TsaIoEngine *base, TsaIoRequest **done, int max, int64_t timeout_ns)
{
	TsaAioEngine *engine = (TsaAioEngine *) base;
	int			n = engine->ndone < max ? engine->ndone : max;
	int			i;

	(void) timeout_ns;
	for (i = 0; i < n; i++)
		done[i] = engine->done[i];
	engine->ndone -= n;
	for (i = 0; i < engine->ndone; i++)
		engine->done[i] = engine->done[i + n];
	base->in_flight = engine->ndone;
	return n;
}

static const TsaIoOps plain_ops = {plain_submit, plain_reap};

/* Is this the kernel's way to say that there is no asynchronous I/O here? */
static int
is_refusal(int error)
{
	return error == -ENOSYS || error == -EPERM || error == -EACCES ||
		error == -EAGAIN;
}

/* Free the parts that tsa_aio_create() has made. */
static void
free_engine(TsaAioEngine *engine)
{
	if (engine->buffer != NULL)
		munmap(engine->buffer, engine->buffer_bytes);
	free(engine->requests);
	free(engine->iocbs);
	free(engine->events);
	free(engine->done);
	free(engine);
}

/* Make an engine for up to depth requests at a time, with buffers for them. */
int
tsa_aio_create(TsaAioEngine **result, int depth, size_t buffer_bytes)
{
	TsaAioEngine *engine = calloc(1, sizeof(TsaAioEngine));
	void	   *buffer;
	int			error;

	if (engine == NULL)
		return -ENOMEM;
	engine->base.ops = &aio_ops;
	engine->depth = depth;
	engine->requests = calloc(depth, sizeof(TsaIoRequest));
	engine->iocbs = calloc(depth, sizeof(struct iocb));
	engine->events = calloc(depth, sizeof(struct io_event));
	engine->done = calloc(depth, sizeof(TsaIoRequest *));
	buffer = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer != MAP_FAILED)
	{
		engine->buffer = buffer;
		engine->buffer_bytes = buffer_bytes;
	}
	if (engine->requests == NULL || engine->iocbs == NULL ||
		engine->events == NULL || engine->done == NULL ||
		engine->buffer == NULL)
	{
		free_engine(engine);
		return -ENOMEM;
	}

	error = io_setup(depth, &engine->context);
	if (is_refusal(error))
	{
		engine->refusal = error;
		engine->base.ops = &plain_ops;
	}
	else if (error < 0)
	{
		free_engine(engine);
		return error;
	}
	*result = engine;
	return 0;
}

/* The engine as the struct of operations that callers use. */
TsaIoEngine *
tsa_aio_base(TsaAioEngine *engine)
{
	return &engine->base;
}

/* The error by which the kernel refused asynchronous I/O, or 0. */
int
tsa_aio_refusal(const TsaAioEngine *engine)
{
	return engine->refusal;
}

/* The requests: only these may be submitted to the engine. */
TsaIoRequest *
tsa_aio_requests(TsaAioEngine *engine)
{
	return engine->requests;
}

/* The buffer memory: only this may be read into. */
char *
tsa_aio_buffer(TsaAioEngine *engine)
{
	return engine->buffer;
}

/*
 * Start an fsync of the request's file; it is reaped like any other request.
 * -EINVAL where the kernel (before 4.18) or the file system cannot do it.
 */
int
tsa_aio_submit_fsync(TsaAioEngine *engine, TsaIoRequest *request)
{
	struct iocb *iocb = &engine->iocbs[request - engine->requests];

	if (engine->refusal != 0)
		return -EINVAL;
	io_prep_fsync(iocb, request->fd);
	return submit_iocb(engine, iocb, request);
}

/*
 * Free the engine if none of its requests is in flight; otherwise return
 * -EBUSY and leave it usable.  Never waits.
 */
int
tsa_aio_destroy(TsaAioEngine *engine)
{
	struct timespec no_time = {0, 0};

	if (engine->refusal != 0)
	{
		free_engine(engine);
		return 0;
	}
	while (engine->base.in_flight > 0)
	{
		int			finished = io_getevents(engine->context, 0, engine->depth,
											engine->events, &no_time);

		if (finished <= 0)
			return -EBUSY;
		engine->base.in_flight -= finished;
	}
	io_destroy(engine->context);
	free_engine(engine);
	return 0;
}

/* Do the request at once. */
static int
sync_submit(TsaIoEngine *base, TsaIoRequest *request)
{
	TsaSyncEngine *engine = (TsaSyncEngine *) base;

	if (engine->done != NULL)
		return -EAGAIN;
	if (engine->prefetch > 0)
		(void) posix_fadvise(request->fd,
							 (off_t) (request->offset + request->length *
									  (size_t) engine->prefetch),
							 (off_t) request->length, POSIX_FADV_WILLNEED);
	do_request(request);
	if (request->result >= 0 && request->is_write && engine->fdatasync &&
		fdatasync(request->fd) != 0)
		request->result = -errno;
	engine->done = request;
	base->in_flight = 1;
	return 0;
}

/* Return the request that sync_submit() did. */
static int
sync_reap(TsaIoEngine *base, TsaIoRequest **done, int max, int64_t timeout_ns)
{
	TsaSyncEngine *engine = (TsaSyncEngine *) base;

	(void) timeout_ns;
	if (max < 1 || engine->done == NULL)
		return 0;
	done[0] = engine->done;
	engine->done = NULL;
	base->in_flight = 0;
	return 1;
}

static const TsaIoOps sync_ops = {sync_submit, sync_reap};

/* Prepare a synchronous engine; it holds nothing that needs freeing. */
void
tsa_init_sync_engine(TsaSyncEngine *engine, int use_fdatasync, int prefetch)
{
	memset(engine, 0, sizeof(*engine));
	engine->base.ops = &sync_ops;
	engine->fdatasync = use_fdatasync;
	engine->prefetch = prefetch;
}
