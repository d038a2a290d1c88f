/*-------------------------------------------------------------------------
 *
 * subtransaction.h
 *	  Code that may fail without ending its transaction.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SUBTRANSACTION_H
#define TSA_SUBTRANSACTION_H

#include "postgres.h"

typedef void (*TsaAction) (void *arg);

extern ErrorData *tsa_try(TsaAction action, void *arg);

#endif							/* TSA_SUBTRANSACTION_H */
