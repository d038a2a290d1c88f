/*-------------------------------------------------------------------------
 *
 * wait.c
 *	  Registration of the stage that measures read waits.
 *
 * docs/internals/wait.md describes it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "wait/hooks.h"
#include "wait/parameters.h"
#include "wait/shared.h"
#include "wait/timing.h"
#include "wait/utility.h"
#include "wait/wait.h"

/*
 * Defines the parameters.  If the library is being preloaded, requests shared
 * memory and takes the hooks; otherwise nothing is measured.
 */
void
tsa_init_waits(void)
{
	tsa_define_wait_parameters();
	if (!process_shared_preload_libraries_in_progress)
		return;
	tsa_init_timing();
	tsa_init_wait_memory();
	tsa_init_wait_hooks();
	tsa_init_wait_utility();
}
