/*-------------------------------------------------------------------------
 *
 * reach.h
 *	  Does the device answer on which a move has left a file?
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_REACH_H
#define TSA_REACH_H

#include "postgres.h"

#include "compat.h"

extern bool tsa_file_answers(RelFileLocator locator);
extern bool tsa_file_syncs(RelFileLocator locator);
extern void tsa_give_up_file(RelFileLocator locator);

#endif							/* TSA_REACH_H */
