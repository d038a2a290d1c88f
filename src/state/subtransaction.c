/*-------------------------------------------------------------------------
 *
 * subtransaction.c
 *	  Code that may fail without ending its transaction.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "state/bounded.h"
#include "state/subtransaction.h"

/*
 * Runs a function in a subtransaction, in the present memory context.  Returns
 * NULL, or the error that has undone it, in that context: the caller reacts,
 * and decides which errors to throw again.
 */
ErrorData *
tsa_try(TsaAction action, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		action(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		tsa_cut_error(error);
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}
