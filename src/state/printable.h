/*-------------------------------------------------------------------------
 *
 * printable.h
 *	  Texts without control characters.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PRINTABLE_H
#define TSA_PRINTABLE_H

#include "postgres.h"

extern char *tsa_printable_text(const char *message);

#endif							/* TSA_PRINTABLE_H */
