/*-------------------------------------------------------------------------
 *
 * printable.c
 *	  Texts without control characters, for messages with names in them.
 *
 * No regular expression does this: before 16 one fails, with an error of its
 * own, while a cancel is pending, and callers that hold that back print too.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "compat.h"
#include "state/bounded.h"
#include "state/printable.h"

PG_FUNCTION_INFO_V1(tsa_printable);

/* Does a character end a line, control, or turn the direction of writing? */
static bool
is_control(pg_wchar c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c ||
		c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
		(c >= 0x2066 && c <= 0x2069);
}

/* Are 0x80 to 0x9f controls as in Unicode?  Elsewhere these may be letters. */
static bool
has_c1_controls(int encoding)
{
	return (encoding >= PG_LATIN1 && encoding <= PG_LATIN10) ||
		(encoding >= PG_ISO_8859_5 && encoding <= PG_ISO_8859_8);
}

/* The bytes of the first character, negative if it is not printed. */
static int
character_length(const unsigned char *c, int left, int encoding)
{
	int			length;

	if (*c < 0x80 || has_c1_controls(encoding))
		return is_control(*c) ? -1 : 1;
	if (encoding != PG_UTF8)
		return 1;
	length = pg_utf_mblen(c);
	if (length > left || !pg_utf8_islegal(c, length))
		return -1;
	return is_control(utf8_to_unicode(c)) ? -length : length;
}

/* A text of so many bytes, with a question mark for each such character. */
static void
append_printable(StringInfo printed, const char *c, int length)
{
	const char *end = c + length;
	int			encoding = GetDatabaseEncoding();

	while (c < end)
	{
		int			bytes = character_length((const unsigned char *) c,
											 end - c, encoding);

		if (bytes < 0)
			appendStringInfoChar(printed, '?');
		else
			appendBinaryStringInfo(printed, c, bytes);
		c += abs(bytes);
	}
}

/* A text of so many bytes, of which no more than the first are printed. */
static void
append_head(StringInfo printed, const char *head, Size bytes)
{
	int			kept = bytes <= TSA_MAX_TEXT ? (int) bytes :
	pg_mbcliplen(head, TSA_MAX_TEXT, TSA_MAX_TEXT);

	append_printable(printed, head, kept);
	if ((Size) kept < bytes)
		tsa_append_cut(printed, bytes);
}

/*
 * A text for a message, where a name that has line breaks could pass for other
 * lines of it, with statements that somebody else has thought of.  At most the
 * first 8 kB.
 */
char *
tsa_printable_text(const char *message)
{
	StringInfoData printed;

	initStringInfo(&printed);
	append_head(&printed, message, strlen(message));
	return printed.data;
}

/* printable(message): tsa_printable_text() of its first 8 kB. */
Datum
tsa_printable(PG_FUNCTION_ARGS)
{
	Datum		message = PG_GETARG_DATUM(0);
	struct varlena *head = tsa_head_of(message);
	StringInfoData printed;

	initStringInfo(&printed);
	if (head == NULL)
		tsa_append_cut(&printed, tsa_bytes_of(message));
	else
		append_head(&printed, VARDATA_ANY(head), tsa_bytes_of(message));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(printed.data, printed.len));
}
