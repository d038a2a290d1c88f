/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background worker that runs the jobs of one batch.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WORKER_H
#define TSA_WORKER_H

#include "postgres.h"

#include "postmaster/bgworker.h"

extern BackgroundWorkerHandle *tsa_start_worker(int64 batch_id, int ncopies);
extern void tsa_enter_worker(Oid database);
extern bool tsa_keep_journal(void);
extern void tsa_begin(void);
extern void tsa_commit(void);
extern ErrorData *tsa_abort(void);
extern void tsa_become_role(Oid roleid);
extern void tsa_run_command(const char *sql);

extern PGDLLEXPORT void tsa_move_worker_main(Datum arg);

#endif							/* TSA_WORKER_H */
