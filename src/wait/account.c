/*-------------------------------------------------------------------------
 *
 * account.c
 *	  Reads of a relation by an execution, by one kind of access.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "wait/account.h"
#include "wait/local.h"

/*
 * The account of a slot and a kind of access, or, without a slot, of a
 * relation.  TSA_NONE without memory.
 */
int32
tsa_find_account(TsaFrame *frame, int32 slot, Oid relid,
				 TsaWaitAccess access)
{
	int32		number = slot == TSA_NONE ? 0 : TSA_SLOT(frame, slot)->account;

	if (slot == TSA_NONE)
	{
		while (number < frame->accounts.n &&
			   TSA_ACCOUNT(frame, number)->relid != relid)
			number++;
		if (number == frame->accounts.n)
			number = TSA_NONE;
	}
	else
		while (number != TSA_NONE &&
			   TSA_ACCOUNT(frame, number)->access != access)
			number = TSA_ACCOUNT(frame, number)->next;
	if (number != TSA_NONE)
		return number;
	if (!tsa_array_grow(&frame->accounts, sizeof(TsaWaitAccount),
						frame->accounts.n + 1))
		return TSA_NONE;
	number = frame->accounts.n - 1;
	TSA_ACCOUNT(frame, number)->relid = relid;
	TSA_ACCOUNT(frame, number)->access = access;
	TSA_ACCOUNT(frame, number)->next = TSA_NONE;
	if (slot != TSA_NONE)
	{
		TSA_ACCOUNT(frame, number)->next = TSA_SLOT(frame, slot)->account;
		TSA_SLOT(frame, slot)->account = number;
	}
	return number;
}

/*
 * Adds reads to an account, to its relation and to the execution's total.
 * is_single: it was one block, with its own time.
 */
void
tsa_add_reads(TsaFrame *frame, int32 number, uint64 reads, uint64 ns,
			  bool is_single)
{
	uint64		histogram[TSA_HISTOGRAM_BUCKETS] = {0};
	TsaWaitAccount *account;
	TsaWaitFigures figures = {
		.reads = reads * frame->weight,
		.waited_ns = ns * frame->weight
	};

	frame->total.reads += reads;
	frame->total.waited_ns += ns;
	if (number == TSA_NONE)
		return;
	account = TSA_ACCOUNT(frame, number);
	account->figures.reads += reads;
	account->figures.waited_ns += ns;
	frame->last_account = number;
	if (frame->weight == 0)
		return;
	histogram[tsa_histogram_bucket(ns)] = frame->weight;
	tsa_local_add_relation(account->relid, frame->statement.class,
						   account->access, &figures,
						   is_single ? histogram : NULL);
}
