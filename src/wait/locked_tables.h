/*-------------------------------------------------------------------------
 *
 * locked_tables.h
 *	  The reads of a transaction by table, looked at when it ends.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_LOCKED_TABLES_H
#define TSA_WAIT_LOCKED_TABLES_H

#include "wait/frame.h"

/* The reader. */
typedef struct TsaReader
{
	TsaWaitClass class;
	TsaWaitAccess access;
	const TsaStatementKey *statement;	/* or NULL */
} TsaReader;

/* The counters of the process when somebody looked last. */
typedef struct TsaWaitLook
{
	TsaWaitCounters seen;
	TsaWaitCounters accounted;
} TsaWaitLook;

extern void tsa_forget_tables(void);
extern TsaWaitCounters tsa_look(TsaWaitLook *look);
extern void tsa_add_table(Oid relid, const TsaReader *reader,
						  const TsaWaitCounters *own, uint64 *left);
extern void tsa_add_locked_tables(const TsaReader *reader,
								  const TsaWaitCounters *own, uint64 *left);

#endif							/* TSA_WAIT_LOCKED_TABLES_H */
