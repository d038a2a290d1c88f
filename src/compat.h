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

/* 16 has one function for all kinds of objects. */
#if PG_VERSION_NUM < 160000
#define tsa_owns_relation(relid, roleid) \
	pg_class_ownercheck(relid, roleid)
#define tsa_tablespace_create_aclcheck(tablespace, roleid) \
	pg_tablespace_aclcheck(tablespace, roleid, ACL_CREATE)
#else
#define tsa_owns_relation(relid, roleid) \
	object_ownercheck(RelationRelationId, relid, roleid)
#define tsa_tablespace_create_aclcheck(tablespace, roleid) \
	object_aclcheck(TableSpaceRelationId, tablespace, roleid, ACL_CREATE)
#endif

/* 18 lost the argument "run_once". */
#if PG_VERSION_NUM < 180000
#define tsa_portal_run(portal, dest) \
	PortalRun(portal, FETCH_ALL, true, true, dest, dest, NULL)
#else
#define tsa_portal_run(portal, dest) \
	PortalRun(portal, FETCH_ALL, true, dest, dest, NULL)
#endif

#endif							/* TSA_COMPAT_H */
