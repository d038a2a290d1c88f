/*-------------------------------------------------------------------------
 *
 * advise.h Advice for the stages that move.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ADVISE_H
#define TSA_ADVISE_H

#include "postgres.h"

#include "state/state.h"

extern void tsa_advice_open(TsaState *state, Oid target,
							const char *tablespace, bool moves_only);

#endif							/* TSA_ADVISE_H */
