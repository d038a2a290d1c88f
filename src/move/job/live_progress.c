/*-------------------------------------------------------------------------
 *
 * live_progress.c
 *	  The figures of the copy that a worker makes, for other sessions.
 *
 * They are in shared memory, not in the journal.  Each committed update of a
 * journal row leaves a dead row version.  When the page is nearly full, the
 * server prunes it, and the WAL record of that cancels, on standbys, every
 * query that is older than the dead version, whichever table it reads.
 *
 * Each worker makes one small dynamic segment when it starts.  The claim of a
 * job writes the segment's handle to the job's row (queue.c).  A reader of the
 * row attaches the segment, reads, and detaches.  A handle that is out of
 * date, or came with a copied database, finds no segment, or one of another
 * owner: a reader believes only a segment that has the magic number, its own
 * database and the job.
 *
 * One process writes.  Readers never make it wait: it makes the change count
 * odd while it writes, and a reader that sees an odd or another count
 * afterwards reads again, a limited number of times (as
 * backend_status.h does).  The writer cannot fail in between.
 *
 * If there is no segment (none is free, no memory), the move goes on, and the
 * figures stay in the worker's memory.  Either way the worker writes them to
 * the journal if the job does not end well (worker.c).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "move/job/job.h"
#include "move/job/live_progress.h"
#include "state/subtransaction.h"

#define MAGIC		0x7ab1e5ad
#define MAX_TEXT	512
#define MAX_READS	1000

/* The contents of the segment, or of the worker's memory. */
typedef struct SharedFigures
{
	uint32		magic;
	Oid			database;
	volatile uint32 changes;	/* odd: it is being written */
	int64		job_id;			/* 0: none */
	Oid			owner;			/* of the job */
	bool		has_figures;
	TsaMoveProgress figures;	/* but for its texts */
	bool		has_phase;
	bool		has_reason;
	char		phase[MAX_TEXT];
	char		rate_reason[MAX_TEXT];
} SharedFigures;

struct TsaLiveProgress
{
	dsm_handle	handle;			/* DSM_HANDLE_INVALID: there is no segment */
	SharedFigures *shared;
};

/*
 * Makes a segment, which stays for the life of this process, if there is one to
 * be had.
 */
static void
make_segment(void *arg)
{
	TsaLiveProgress *live = arg;
	dsm_segment *segment = dsm_create(sizeof(SharedFigures),
									  DSM_CREATE_NULL_IF_MAXSEGMENTS);

	if (segment == NULL)
		return;
	dsm_pin_mapping(segment);
	live->handle = dsm_segment_handle(segment);
	live->shared = dsm_segment_address(segment);
	memset(live->shared, 0, sizeof(SharedFigures));
}

/*
 * Makes the place for the figures of this process, for its life.  In a
 * transaction.
 */
TsaLiveProgress *
tsa_make_live_progress(void)
{
	TsaLiveProgress *live = MemoryContextAllocZero(TopMemoryContext,
												   sizeof(*live));
	ErrorData  *error;

	live->handle = DSM_HANDLE_INVALID;
	error = tsa_try(make_segment, live);
	if (error != NULL)
		ereport(LOG,
				(errmsg("the progress of moves cannot be shown: %s",
						error->message)));
	if (live->shared == NULL)
		live->shared = MemoryContextAllocZero(TopMemoryContext,
											  sizeof(SharedFigures));
	live->shared->database = MyDatabaseId;
	pg_write_barrier();
	live->shared->magic = MAGIC;
	return live;
}

/*
 * The handle by which others find the segment; 0 if they cannot.
 */
int64
tsa_live_progress_handle(const TsaLiveProgress *live)
{
	return live->handle == DSM_HANDLE_INVALID ? 0 : (int64) live->handle;
}

/* Before figures change: an odd count tells readers that they do. */
static void
begin_change(SharedFigures *shared)
{
	shared->changes++;
	pg_write_barrier();
}

/* After it. */
static void
end_change(SharedFigures *shared)
{
	pg_write_barrier();
	shared->changes++;
}

/*
 * From now on the figures, of which there are none yet, are of this job.
 */
void
tsa_begin_live_progress(TsaLiveProgress *live, int64 job_id, Oid owner)
{
	begin_change(live->shared);
	live->shared->job_id = job_id;
	live->shared->owner = owner;
	live->shared->has_figures = false;
	end_change(live->shared);
}

/*
 * Copies a text that may be NULL, or its beginning; returns whether there is
 * one.
 */
static bool
copy_text(char *to, const char *from)
{
	int			length;

	if (from == NULL)
		return false;
	length = pg_mbcliplen(from, strlen(from), MAX_TEXT - 1);
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

/*
 * Shows the figures to readers of the segment, texts cut; cannot fail.
 */
void
tsa_write_live_progress(TsaLiveProgress *live, const TsaMoveProgress *figures)
{
	SharedFigures *shared = live->shared;

	begin_change(shared);
	shared->figures = *figures;
	shared->has_phase = copy_text(shared->phase, figures->phase);
	shared->has_reason = copy_text(shared->rate_reason,
								   figures->rate_reason);
	shared->has_figures = true;
	end_change(shared);
}

/*
 * Gives the texts of a copy of the shared memory, in this process, to the
 * figures, and counts the pause under way up to now.
 */
static void
complete_figures(const SharedFigures *mine, TsaMoveProgress *figures)
{
	*figures = mine->figures;
	if (figures->pausing > 0)
		figures->paused_ms += tsa_common_clock() - figures->pausing;
	figures->phase = mine->has_phase ? mine->phase : NULL;
	figures->rate_reason = mine->has_reason ? mine->rate_reason : NULL;
}

/*
 * The figures that this process has shown last of its present job; false if
 * none.  Their texts last until the next ones are shown.
 */
bool
tsa_last_live_progress(const TsaLiveProgress *live, TsaMoveProgress *figures)
{
	complete_figures(live->shared, figures);
	return live->shared->has_figures;
}

/*
 * Reads the figures that another process, or this one, has written; false if
 * they do not stand still.
 */
static bool
read_shared(const SharedFigures *shared, SharedFigures *mine)
{
	for (int i = 0; i < MAX_READS; i++)
	{
		uint32		before = shared->changes;

		pg_read_barrier();
		memcpy(mine, (const void *) shared, sizeof(*mine));
		pg_read_barrier();
		if (before % 2 == 0 && shared->changes == before)
			return true;
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/*
 * Reads the segment with this handle; false if there is none of that size.
 */
static bool
read_segment(dsm_handle handle, SharedFigures *mine)
{
	dsm_segment *segment = dsm_find_mapping(handle);
	bool		is_mapped = segment != NULL;
	bool		found;

	if (!is_mapped)
		segment = dsm_attach(handle);
	if (segment == NULL)
		return false;
	found = dsm_segment_map_length(segment) >= sizeof(SharedFigures) &&
		read_shared(dsm_segment_address(segment), mine);
	if (!is_mapped)
		dsm_detach(segment);
	return found;
}

/*
 * Makes a row of figures, with the function's columns.
 */
static Datum
form_row(TupleDesc desc, const TsaMoveProgress *p)
{
	Datum		values[] = {
		p->phase ? CStringGetTextDatum(p->phase) : (Datum) 0,
		Int64GetDatum(p->bytes_total),
		Int64GetDatum(p->bytes_done),
		Float8GetDatum(p->mb_per_s),
		Float8GetDatum(p->present_mb_per_s),
		p->rate_reason ? CStringGetTextDatum(p->rate_reason) : (Datum) 0,
		Float8GetDatum(p->others_lost_percent),
		BoolGetDatum(p->is_late),
		Int32GetDatum(p->passes),
		Int32GetDatum(p->restarts),
		Int32GetDatum(p->attempts),
		p->nblockers > 0 ? tsa_int4_array(p->blockers, p->nblockers) :
		(Datum) 0,
		Float8GetDatum(p->paused_ms),
		Float8GetDatum(p->waited_ms),
		Float8GetDatum(p->lock_wait_ms),
		Float8GetDatum(p->lock_ms),
		Int64GetDatum(p->bytes_left)
	};
	bool		nulls[lengthof(values)] = {
		[0] = p->phase == NULL,
		[1] = p->bytes_total < 0,
		[3] = p->mb_per_s < 0,
		[4] = p->present_mb_per_s < 0,
		[5] = p->rate_reason == NULL,
		[6] = p->others_lost_percent < 0,
		[11] = p->nblockers == 0,
		[14] = p->attempts == 0,
		[15] = p->lock_ms <= 0,
		[16] = p->bytes_total < 0
	};

	if (desc->natts != lengthof(values))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg_internal("copy_progress() has another number of columns")));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}

/*
 * copy_progress(job, handle): the figures of a copy that is under way; NULL if
 * there are none.  Anybody may call this with any handle, so the segment
 * itself has the job's number.
 */
PG_FUNCTION_INFO_V1(tsa_copy_progress);
/*
 * copy_progress(job_id, handle): figures of a copy under way, from its
 * worker's shared memory.  A row of NULLs if they are not there.
 */
Datum
tsa_copy_progress(PG_FUNCTION_ARGS)
{
	int64		job_id = PG_GETARG_INT64(0);
	int64		handle = PG_GETARG_INT64(1);
	SharedFigures mine;
	TsaMoveProgress figures;
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("return type must be a row type")));
	if (job_id <= 0 || handle <= 0 || handle > PG_UINT32_MAX ||
		!read_segment((dsm_handle) handle, &mine) ||
		mine.magic != MAGIC || mine.database != MyDatabaseId ||
		mine.job_id != job_id || !mine.has_figures ||
		!(has_privs_of_role(GetUserId(), mine.owner) ||
		  has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS)))
		PG_RETURN_NULL();
	complete_figures(&mine, &figures);
	return form_row(desc, &figures);
}
