/*-------------------------------------------------------------------------
 *
 * sleep.c
 *	  Waiting for time to pass.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "move/common/sleep.h"

/*
 * Sleeps for so long, or until the process is woken up, and serves interrupts
 * before and after.  Less than a millisecond is not slept.
 */
void
tsa_sleep(double ms)
{
	CHECK_FOR_INTERRUPTS();
	if (ms < 1)
		return;
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 (long) ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}
