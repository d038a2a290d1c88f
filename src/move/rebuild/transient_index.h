/*-------------------------------------------------------------------------
 *
 * transient_index.h
 *	  Removes the transient indexes that rebuilds have left.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TRANSIENT_INDEX_H
#define TSA_TRANSIENT_INDEX_H

#include "postgres.h"

#include "move/common/session.h"

extern void tsa_drop_transient_indexes(TsaSession *session);

#endif							/* TSA_TRANSIENT_INDEX_H */
