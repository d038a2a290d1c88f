/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Differences between the supported server versions (15 to 18).
 *
 * This is the only file that says PG_VERSION_NUM.  Wrappers have the
 * signature of the newest version where that is possible.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COMPAT_H
#define TSA_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "tablespace_advisor needs PostgreSQL 15 or later"
#endif

/* 16 gave the number in a relation's file name a type of its own. */
#if PG_VERSION_NUM < 160000
typedef Oid RelFileNumber;
#define InvalidRelFileNumber	((RelFileNumber) InvalidOid)
#define RelFileNumberIsValid(n) ((n) != InvalidRelFileNumber)
#else
#include "common/relpath.h"
#endif

#endif							/* TSA_COMPAT_H */
