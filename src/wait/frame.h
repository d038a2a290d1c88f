/*-------------------------------------------------------------------------
 *
 * frame.h
 *	  An execution that is being measured.
 *
 * A frame belongs to an EState, and lives outside of its memory contexts.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WAIT_FRAME_H
#define TSA_WAIT_FRAME_H

#include "postgres.h"

#include "executor/execdesc.h"
#include "nodes/execnodes.h"
#include "utils/relcache.h"

#include "wait/ledger.h"
#include "wait/now.h"

#define TSA_NONE (-1)

/* A plan node that is looked at, found by its plan_node_id. */
typedef struct TsaWaitNode
{
	PlanState  *state;			/* NULL: not looked at */
	ExecProcNodeMtd execute;	/* the node's own function */
	uint64		seen_reads;		/* of a node that counts buffers itself */
	uint64		seen_ns;
	int32		heap;			/* numbers of slots, or TSA_NONE */
	int32		index;
	uint8		access;			/* to the heap */
	bool		started;
	bool		under_append;
} TsaWaitNode;

/* A relation that the execution reads. */
typedef struct TsaWaitSlot
{
	Relation	relation;		/* open, or NULL for TOAST */
	Oid			relid;
	int32		account;		/* the first one, or TSA_NONE */
	uint64		seen_fetched;	/* its counters when looked at last */
	uint64		seen_hits;
	uint64		hits;			/* by this execution */
	uint64		credit;			/* misses that no read was charged for yet */
	uint8		access;			/* unless the running node says otherwise */
	bool		is_index;
	bool		is_result;		/* modified by the statement, or its index */
	bool		has_toast;		/* its TOAST table has slots */
} TsaWaitSlot;

/* The reads of a relation by one kind of access. */
typedef struct TsaWaitAccount
{
	Oid			relid;
	int32		next;			/* of the same slot, or TSA_NONE */
	uint8		access;
	TsaWaitFigures figures;
} TsaWaitAccount;

/* An array that grows by malloc(), so that a failure is no error. */
typedef struct TsaWaitArray
{
	void	   *items;
	int32		n;
	int32		max;
} TsaWaitArray;

/* pgBufferUsage at some moment, as far as it is needed. */
typedef struct TsaWaitCounters
{
	uint64		reads;
	uint64		ns;
	uint64		hits;
	uint64		local_reads;
} TsaWaitCounters;

typedef struct TsaFrame
{
	struct TsaFrame *next;		/* in its bucket, or in the list of free ones */
	EState	   *estate;
	TsaStatementKey statement;
	uint32		weight;			/* 0: only for the statement around it */
	uint64		slow_key;		/* of its statement in slow.c, or 0 */
	bool		all_nested;		/* all executions in it are measured */
	bool		has_gather;
	bool		is_worker;		/* of a parallel query */
	int32		running;		/* the node that is being executed */
	int32		remainder;		/* the node that reads if none is */
	int32		last_account;
	uint64		progress;		/* tsa_read_progress() when looked last */
	TsaWaitCounters seen;
	TsaWaitFigures total;		/* with nested executions */
	uint64		elapsed_ns;
	/* from here on kept in free frames */
	TsaWaitArray nodes;			/* TsaWaitNode, by plan_node_id */
	TsaWaitArray slots;			/* TsaWaitSlot */
	TsaWaitArray accounts;		/* TsaWaitAccount */
	TsaWaitArray nested;		/* TsaWaitAccount of nested executions */
	TsaWaitArray map;			/* int32: many slots by OID, open addressing */
} TsaFrame;

#define TSA_NODE(frame, i) (((TsaWaitNode *) (frame)->nodes.items) + (i))
#define TSA_SLOT(frame, i) (((TsaWaitSlot *) (frame)->slots.items) + (i))
#define TSA_ACCOUNT(frame, i) \
	(((TsaWaitAccount *) (frame)->accounts.items) + (i))

extern TsaFrame *tsa_frame_open(const QueryDesc *query, uint32 weight,
								bool toplevel);
extern TsaFrame *tsa_frame_look_up(const EState *estate);
extern void tsa_frame_release(TsaFrame *frame);
extern TsaFrame *tsa_frame_any(void);
extern bool tsa_array_grow(TsaWaitArray *array, size_t item, int32 n);
extern void tsa_for_bitmap_scans(TsaFrame *frame, PlanState *state,
								 void (*scan) (TsaFrame *frame,
											   TsaWaitNode *node, void *arg),
								 void *arg);

/*
 * The frame of an execution, or NULL if it is not measured.
 */
static inline TsaFrame *
tsa_frame_find(const EState *estate)
{
	return likely(tsa_now.nframes == 0) ? NULL : tsa_frame_look_up(estate);
}

#endif							/* TSA_WAIT_FRAME_H */
