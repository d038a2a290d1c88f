/*-------------------------------------------------------------------------
 *
 * mount_storage.c
 *	  The storage under a mount.
 *
 * Pure module: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <stdarg.h>
#include <stdio.h>

#include "probe/mount_storage.h"

/* Adds a warning, unless there is no room for more. */
void
tsa_add_warning(TsaStorage *storage, const char *format,...)
{
	va_list		args;

	if (storage->nwarnings == TSA_MAX_WARNINGS)
		return;
	va_start(args, format);
	vsnprintf(storage->warnings[storage->nwarnings++], TSA_WARNING_SIZE,
			  format, args);
	va_end(args);
}

/* Name of a medium as users see it. */
const char *
tsa_get_media_name(TsaMedia media)
{
	switch (media)
	{
		case TSA_MEDIA_NETWORK:
			return "network";
		case TSA_MEDIA_ROTATIONAL:
			return "rotational";
		case TSA_MEDIA_SOLID_STATE:
			return "solid state";
		case TSA_MEDIA_MEMORY:
			return "memory";
		case TSA_MEDIA_UNKNOWN:
			break;
	}
	return "unknown";
}
