/*-------------------------------------------------------------------------
 *
 * timing.c
 *	  Timing reads while something is measured, even if track_io_timing is off.
 *
 * The server times reads if its variable track_io_timing is true.  To switch
 * that variable alone would be seen: by SHOW, pg_settings and
 * current_setting() in a function; by SET there, which would be undone; and by
 * SET LOCAL, SET in a function and subtransactions, which would keep true as
 * the value to restore later, and leave it there.  All of these, and the
 * settings passed to parallel workers, go by the variable that the parameter's
 * entry points to.  So the entry is given a variable of this library, and an
 * assign hook that sets the server's variable, too, unless something is being
 * measured.
 *
 * That is done in the postmaster before it starts other processes.  An entry
 * that points elsewhere or has an assign hook belongs to another library:
 * then the server's variable is switched as it is.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "wait/timing.h"

static bool setting = false;	/* the parameter's value */
static bool is_hidden = false;
static bool is_timing = false;

/* Assign hook of track_io_timing: true stays while something is measured. */
static void
assign_setting(bool value, void *extra)
{
	(void) extra;
	track_io_timing = value || is_timing;
}

/*
 * Takes the parameter over, while the library is preloaded.
 */
void
tsa_init_timing(void)
{
	struct config_generic *parameter = tsa_find_parameter("track_io_timing");
	struct config_bool *entry;

	if (parameter == NULL || parameter->vartype != PGC_BOOL)
		return;
	entry = tsa_bool_parameter(parameter);
	if (entry->variable != &track_io_timing || entry->assign_hook != NULL)
		return;
	setting = track_io_timing;
	entry->variable = &setting;
	entry->assign_hook = assign_setting;
	is_hidden = true;
}

/*
 * Has reads timed.  Returns the argument for tsa_end_timing().
 */
bool
tsa_begin_timing(void)
{
	bool		before = is_timing;

	if (!is_hidden && !before)
		setting = track_io_timing;
	is_timing = true;
	track_io_timing = true;
	return before;
}

/*
 * Leaves it to the parameter again, unless something around is measured.
 */
void
tsa_end_timing(bool before)
{
	is_timing = before;
	track_io_timing = setting || is_timing;
}
