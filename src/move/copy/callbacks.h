/*-------------------------------------------------------------------------
 *
 * callbacks.h
 *	  The order and the callbacks of the live copy: the engine knows neither
 *	  the journal nor the worker that runs it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CALLBACKS_H
#define TSA_CALLBACKS_H

#include "postgres.h"

#include "compat.h"
#include "move/common/kept_copy.h"
#include "move/common/limits.h"
#include "move/common/lsn_ranges.h"
#include "move/common/progress.h"

/* A relation to be moved, and how. */
typedef struct TsaCopyOrder
{
	Oid			relid;
	char		kind;			/* relkind of relid */
	Oid			source_tablespace;	/* never 0 */
	Oid			target_tablespace;	/* never 0 */
	int			lock_timeout_ms;
	TsaLimits	limits;			/* when it begins */
	int64		call_id;		/* copies of one call share them */
	double		waits_ms;		/* that moves waited for locks lately; 0: not
								 * known, or nothing is to end by a time */
	int			nindexes;		/* of a table: these move along */
	Oid		   *indexes;
	NameData   *index_names;	/* when they were last looked at, or empty */
	int			nkept;			/* of a copy that was interrupted */
	TsaKeptCopy *kept;
	TsaLsnRanges kept_lsns;		/* all images in these were written */
	int64		kept_compared;	/* bytes that it has compared */
} TsaCopyOrder;

/*
 * The engine's durable notes, and its questions.  All but "report" and the
 * last two of the functions are called in a transaction of the engine's; their
 * writes must commit or roll back with it.
 */
typedef struct TsaCopyCallbacks
{
	void	   *arg;			/* of each function */

	/*
	 * The copy has this storage, created or kept: to be dropped unless a
	 * switch commits.  lsns, compared: of the mark that it goes on with.
	 */
	void		(*storage_made) (void *arg, const TsaKeptCopy *made, int n,
								 const TsaLsnRanges *lsns, int64 compared);

	/*
	 * How far it is, and where all images were written: for a copy that goes
	 * on with it
	 */
	void		(*mark) (void *arg, const TsaKeptCopy *made, int n,
						 const TsaLsnRanges *lsns,
						 const TsaMoveProgress *progress);

	/* it has been dropped: the copy starts over */
	void		(*storage_dropped) (void *arg);

	/* a switch may follow, in which nothing is to be waited for */
	void		(*before_switch) (void *arg);

	/*
	 * The new storage becomes the relations' own, if this (sub)transaction
	 * commits; their old storage is to be dropped later.
	 */
	void		(*switching) (void *arg, const RelFileLocator *old_storage,
							  int n);

	/* shows the figures; often called, so it has to be cheap */
	void		(*report) (void *arg, const TsaMoveProgress *progress);

	/* the copy pauses by request, or goes on */
	void		(*paused) (void *arg, bool paused);

	/* these indexes move along now */
	void		(*indexes_changed) (void *arg, const Oid *indexes, int n);

	/*
	 * The limits as they are now, and how many bytes of the other moves of
	 * the same call are left
	 */
	void		(*read_limits) (void *arg, TsaLimits *limits,
								int64 *others_left);

	/* has somebody asked for a pause? */
	bool		(*pause_is_requested) (void *arg);

	/*
	 * Prepared transactions with a lock on the relation, or with this ID if
	 * it is valid, for people, or NULL
	 */
	char	   *(*find_prepared_blockers) (void *arg, Oid relid,
										   TransactionId xid);

	/* outside any transaction: the switch has been committed */
	void		(*switched) (void *arg, const RelFileLocator *old_storage,
							 int n);

	/* outside any transaction: the move will take longer than a moment */
	void		(*takes_longer) (void *arg);
} TsaCopyCallbacks;

/* The result of a copy that has moved its relation, or is suspended. */
typedef struct TsaCopyResult
{
	bool		is_suspended;	/* its time window has closed */
	TsaMoveProgress figures;
	bool		keeps_old;		/* one old file, which may be dropped later */
	RelFileLocator old_file;	/* if so */
	bool		old_answers;	/* old files are on devices that answer */
} TsaCopyResult;

#endif							/* TSA_CALLBACKS_H */
