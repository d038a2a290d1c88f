/*-------------------------------------------------------------------------
 *
 * now.c
 *	  State that the hooks need in every execution.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "wait/now.h"

TsaNow		tsa_now = {
	.track_waits = true,
	.track_waits_sample = 10
};
