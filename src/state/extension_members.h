/*-------------------------------------------------------------------------
 *
 * extension_members.h
 *	  Functions and tables of other extensions, by OID.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_EXTENSION_MEMBERS_H
#define TSA_EXTENSION_MEMBERS_H

#include "postgres.h"

extern Oid	tsa_extension_function(const char *extension, const char *name,
								   Oid argument);
extern Oid	tsa_extension_table(const char *extension, const char *name);

#endif							/* TSA_EXTENSION_MEMBERS_H */
