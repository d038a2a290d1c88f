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

#endif							/* TSA_COMPAT_H */
