/*-------------------------------------------------------------------------
 *
 * job_storage.h
 *	  The storage that the journal names for a job.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_JOB_STORAGE_H
#define TSA_JOB_STORAGE_H

#include "postgres.h"

#include "move/job/job.h"

/* Did the job move its relation, as far as its files tell? */
extern bool tsa_job_has_moved(const TsaJob *job);

/*
 * [T] Drops a job's files, as the journal names them: the copy that did not
 * become the relation's storage, or the old files of one that did.  To be
 * called when no worker of the job lives or by that worker; the files go when
 * the transaction commits.  False, with a warning, if one cannot be reached:
 * nothing is dropped, and the journal has to go on naming all.
 */
extern bool tsa_drop_job_storage(const TsaJob *job);

/*
 * [T] Warns of files that the job of another server names and that are here.
 */
extern void tsa_warn_of_job_storage(const TsaJob *job);

#endif							/* TSA_JOB_STORAGE_H */
