/*-------------------------------------------------------------------------
 *
 * live_progress.h
 *	  The figures of the copy that a worker makes, for other sessions.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LIVE_PROGRESS_H
#define TSA_LIVE_PROGRESS_H

#include "postgres.h"

#include "move/common/progress.h"

typedef struct TsaLiveProgress TsaLiveProgress;

extern TsaLiveProgress *tsa_make_live_progress(void);
extern int64 tsa_live_progress_handle(const TsaLiveProgress *live);
extern void tsa_begin_live_progress(TsaLiveProgress *live, int64 job_id,
									Oid owner);
extern void tsa_write_live_progress(TsaLiveProgress *live,
									const TsaMoveProgress *figures);
extern bool tsa_last_live_progress(const TsaLiveProgress *live,
								   TsaMoveProgress *figures);

#endif							/* TSA_LIVE_PROGRESS_H */
