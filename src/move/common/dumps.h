/*-------------------------------------------------------------------------
 *
 * dumps.h
 *	  Sessions with helpers that must not meet a request for an exclusive lock.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DUMPS_H
#define TSA_DUMPS_H

#include "postgres.h"

extern int	tsa_find_dump(Oid relid);

#endif							/* TSA_DUMPS_H */
