/*-------------------------------------------------------------------------
 *
 * job_storage.c
 *	  The storage that the journal names for a job.
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
tsa_drop_job_storage(const TsaJob *job)
{
	bool		moved = job->nold > 0;

	if (!job->native)
		return false;
	for (int i = 0; i < job->nnew; i++)
		tsa_drop_unused_storage(job->new_storage[i]);
	for (int i = 0; i < job->nold; i++)
		tsa_drop_unused_storage(job->old_storage[i]);
	if (!moved && job->nnew > 0)
		tsa_job_note_new_storage(job->job_id, NULL, 0);
	return moved;
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
