/*-------------------------------------------------------------------------
 *
 * assume_tablespace.h
 *	  Advice as if there were other tablespaces.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ASSUME_TABLESPACE_H
#define TSA_ASSUME_TABLESPACE_H

extern void tsa_forget_tablespaces(void);
extern Oid	tsa_assumed_tablespace_oid(const char *name);
extern const char *tsa_assumed_tablespace_name(Oid oid);

#endif							/* TSA_ASSUME_TABLESPACE_H */
