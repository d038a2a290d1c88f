/*-------------------------------------------------------------------------
 *
 * printable.c
 *	  Texts without control characters, for messages with names in them.
 *
 * No regular expression does this: before 16 one fails, with an error of its
 * own, while a cancel is pending, and callers who hold that back print too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "compat.h"
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

/* Is 0x80 to 0x9f what it is in Unicode?  Elsewhere these may be letters. */
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

/*
 * A text for a message, where a name that has line breaks could pass for other
 * lines of it, with statements that somebody else has thought of.
 */
char *
tsa_printable_text(const char *message)
{
	StringInfoData printed;

	initStringInfo(&printed);
	append_printable(&printed, message, strlen(message));
	return printed.data;
}

/* The same, for SQL. */
Datum
tsa_printable(PG_FUNCTION_ARGS)
{
	text	   *message = PG_GETARG_TEXT_PP(0);
	StringInfoData printed;

	initStringInfo(&printed);
	append_printable(&printed, VARDATA_ANY(message),
					 VARSIZE_ANY_EXHDR(message));
	PG_RETURN_TEXT_P(cstring_to_text_with_len(printed.data, printed.len));
}
