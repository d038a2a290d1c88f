/*-------------------------------------------------------------------------
 *
 * pending_drops.h
 *	  The files that a worker has yet to drop.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PENDING_DROPS_H
#define TSA_PENDING_DROPS_H

#include "postgres.h"

#include "compat.h"

#define TSA_MAX_PENDING_DROPS 64

typedef struct TsaPendingDrops
{
	/* the old files of jobs that are done */
	int			n;
	int64		jobs[TSA_MAX_PENDING_DROPS];
	RelFileLocator files[TSA_MAX_PENDING_DROPS];

	/* the present job's files in the journal, in TopMemoryContext */
	int			npresent;
	RelFileLocator *present;
} TsaPendingDrops;

extern void tsa_note_present_storage(TsaPendingDrops *drops,
									 const RelFileLocator *storage, int n);
extern void tsa_forget_present_storage(TsaPendingDrops *drops);
extern bool tsa_can_postpone_drop(const TsaPendingDrops *drops);
extern void tsa_postpone_drop(TsaPendingDrops *drops, int64 job_id,
							  RelFileLocator file);
extern void tsa_perform_drops(TsaPendingDrops *drops, bool all);
extern void tsa_drop_without_journal(TsaPendingDrops *drops);

#endif							/* TSA_PENDING_DROPS_H */
