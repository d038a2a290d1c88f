/*-------------------------------------------------------------------------
 *
 * ledger.h
 *	  Reads and their waits, per relation and per statement: the keys, the
 *	  entries, and three tables of fixed size that hold them.
 *
 * Pure: no server header.  Each backend has a small ledger, shared memory has
 * a large one, and the small one is merged into it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LEDGER_H
#define TSA_LEDGER_H

#include "wait/fixed_table.h"
#include "wait/histogram.h"

/* Classes of readers.  read.c has the names. */
typedef enum TsaWaitClass
{
	TSA_WAIT_APPLICATION,
	TSA_WAIT_EXPORT,
	TSA_WAIT_MAINTENANCE,
	TSA_WAIT_PLANNING,
	TSA_WAIT_MOVER,
	TSA_WAIT_EXTENSION			/* its other workers: samples */
} TsaWaitClass;

/* How a relation is read. */
typedef enum TsaWaitAccess
{
	TSA_ACCESS_ALL,				/* of a statement: its total */
	TSA_ACCESS_INDEX,
	TSA_ACCESS_HEAP_BY_INDEX,
	TSA_ACCESS_HEAP_BY_BITMAP,
	TSA_ACCESS_SEQUENTIAL,
	TSA_ACCESS_MODIFIED,
	TSA_ACCESS_TOAST,
	TSA_ACCESS_OTHER,
	TSA_ACCESS_UTILITY,
	TSA_ACCESS_UNATTRIBUTED
} TsaWaitAccess;

typedef struct TsaWaitFigures
{
	uint64_t	calls;
	uint64_t	hits;			/* blocks in shared buffers */
	uint64_t	reads;			/* blocks not there */
	uint64_t	waited_ns;
} TsaWaitFigures;

typedef struct TsaRelationKey
{
	uint32_t	dbid;
	uint32_t	relid;			/* 0: not known, or no room for it */
	uint32_t	class;
	uint32_t	access;
} TsaRelationKey;

typedef struct TsaRelationEntry
{
	TsaRelationKey key;
	TsaWaitFigures figures;
	uint64_t	histogram[TSA_HISTOGRAM_BUCKETS];	/* of reads of one block */
	int64_t		since;			/* when the entry was made */
	int64_t		changed;		/* when it was added to last */
} TsaRelationEntry;

typedef struct TsaStatementKey
{
	uint64_t	queryid;
	uint32_t	dbid;
	uint32_t	userid;
	uint32_t	toplevel;
	uint32_t	class;
} TsaStatementKey;

typedef struct TsaStatementEntry
{
	TsaStatementKey key;
	TsaWaitFigures figures;
	uint64_t	total_ns;
	double		recent;			/* waited for, older parts weigh less */
	int64_t		since;
	uint64_t	nshares;		/* its entries in the table of shares */
} TsaStatementEntry;

/* A statement's reads of a relation. */
typedef struct TsaShareKey
{
	TsaStatementKey statement;
	uint32_t	relid;
	uint32_t	access;
} TsaShareKey;

typedef struct TsaShareEntry
{
	TsaShareKey key;
	TsaWaitFigures figures;
	int64_t		since;
} TsaShareEntry;

typedef struct TsaLedgerSize
{
	uint32_t	relations;
	uint32_t	statements;
	uint32_t	shares;
} TsaLedgerSize;

typedef struct TsaLedger
{
	TsaFixedTable relations;
	TsaFixedTable statements;
	TsaFixedTable shares;
	bool		makes_room;		/* give up the least useful if full */
	int64_t		since;
	int64_t		reclaimed_at;	/* when relations were last looked through */
	uint64_t	seen;			/* executions */
	uint64_t	measured;
	uint64_t	overflowed;
	uint64_t	reclaimed;
	uint64_t	evicted;
	uint64_t	lost_reads;
} TsaLedger;

extern size_t tsa_ledger_bytes(TsaLedgerSize size);
extern void tsa_ledger_init(TsaLedger *ledger, void *memory,
							TsaLedgerSize size, bool makes_room, int64_t now);
extern void tsa_ledger_add_relation(TsaLedger *ledger,
									const TsaRelationKey *key,
									const TsaWaitFigures *figures,
									const uint64_t *histogram, int64_t now);
extern void tsa_ledger_add_statement(TsaLedger *ledger,
									 const TsaStatementKey *key,
									 const TsaWaitFigures *figures,
									 uint64_t total_ns, int64_t now);
extern void tsa_ledger_add_share(TsaLedger *ledger, const TsaShareKey *key,
								 const TsaWaitFigures *figures, int64_t now);
extern void tsa_ledger_merge(TsaLedger *into, TsaLedger *from, int64_t now);

#endif							/* TSA_LEDGER_H */
