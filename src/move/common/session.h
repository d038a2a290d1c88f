/*-------------------------------------------------------------------------
 *
 * session.h
 *	  The session of a background worker: its transactions and the role it has
 *	  taken on.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SESSION_H
#define TSA_SESSION_H

#include "postgres.h"

#include "utils/palloc.h"

/*
 * A worker's session.  Outside any transaction the current memory context is
 * the session's, which outlives transactions; the worker empties it between
 * jobs.
 */
typedef struct TsaSession
{
	MemoryContext context;

	/* after an abort, which has released all session-level locks */
	void		(*after_abort) (struct TsaSession *session);
	/* now and then while a job waits for others without a lock; may be NULL */
	void		(*waits) (struct TsaSession *session);
	void	   *arg;			/* of these functions */
} TsaSession;

extern void tsa_init_session(TsaSession *session);
extern void tsa_begin(void);
extern void tsa_commit(const TsaSession *session);
extern ErrorData *tsa_abort(TsaSession *session);
extern void tsa_become_role(const TsaSession *session, Oid roleid);

/* [T] The transaction's commit will not wait for its flush. */
extern void tsa_commit_lazily(void);

#endif							/* TSA_SESSION_H */
