/*-------------------------------------------------------------------------
 *
 * relation.h
 *	  Names, rights and space of relations and tablespaces.
 *
 * Everything here is to be called in a transaction.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RELATION_H
#define TSA_RELATION_H

#include "postgres.h"

/* names.c */
extern const char *tsa_tablespace_name(Oid tablespace);
extern const char *tsa_printable_tablespace(Oid tablespace);
extern const char *tsa_relation_name(Oid relid);
extern const char *tsa_relation_kind_name(char kind);

/* rights.c */
extern void tsa_check_move_rights(Oid heapid, Oid target_tablespace);

/* space.c */
extern const char *tsa_pretty_size(int64 bytes);
extern void tsa_check_free_space(Oid tablespace, int64 needed);

#endif							/* TSA_RELATION_H */
