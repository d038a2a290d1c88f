/*-------------------------------------------------------------------------
 *
 * children.h
 *	  Tables that inherit from a table that is to be moved.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CHILDREN_H
#define TSA_CHILDREN_H

#include "postgres.h"

extern void tsa_check_children(Oid target, const char *procedure);

#endif							/* TSA_CHILDREN_H */
