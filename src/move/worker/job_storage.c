/*-------------------------------------------------------------------------
 *
 * job_storage.c
 *	  The storage that the journal names for a job.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "move/copy/storage.h"
#include "move/worker/job_storage.h"

/*
 * See job_storage.h.
 */
bool
tsa_job_has_moved(const TsaJob *job)
{
	return job->native && job->nold > 0;
}

/*
 * See job_storage.h.
 */
bool
tsa_drop_job_storage(const TsaJob *job)
{
	if (!job->native)
		return true;
	if (!tsa_can_drop_storage(job->new_storage, job->nnew) ||
		!tsa_can_drop_storage(job->old_storage, job->nold))
		return false;
	for (int i = 0; i < job->nnew; i++)
		tsa_drop_unused_storage(job->new_storage[i]);
	for (int i = 0; i < job->nold; i++)
		tsa_drop_unused_storage(job->old_storage[i]);
	return true;
}

/*
 * See job_storage.h.
 */
void
tsa_warn_of_job_storage(const TsaJob *job)
{
	for (int i = 0; i < job->nnew; i++)
		tsa_warn_of_unused_storage(job->new_storage[i]);
	for (int i = 0; i < job->nold; i++)
		tsa_warn_of_unused_storage(job->old_storage[i]);
}
