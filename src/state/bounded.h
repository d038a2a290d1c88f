/*-------------------------------------------------------------------------
 *
 * bounded.h
 *	  Reading texts of any size, as far as needed.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BOUNDED_H
#define TSA_BOUNDED_H

#include "postgres.h"

/* Bytes of a text that are read. */
#define TSA_MAX_TEXT 8192

/* A setting or option of an array of them, see tsa_read_settings(). */
typedef struct TsaSetting
{
	char	   *name;			/* NULL: this one and others were not read */
	char	   *value;			/* NULL without "=" */
	bool		is_cut;
} TsaSetting;

extern bool tsa_is_short(Datum value);
extern struct varlena *tsa_head_of(Datum value);
extern Size tsa_bytes_of(Datum value);
extern void tsa_append_cut(StringInfo printed, Size bytes);
extern int	tsa_read_settings(Datum array, TsaSetting **settings);
extern void tsa_cut_string(char *text);
extern void tsa_cut_error(ErrorData *error);

#endif							/* TSA_BOUNDED_H */
