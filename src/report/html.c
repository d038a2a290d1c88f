/*-------------------------------------------------------------------------
 *
 * html.c
 *	  Text as part of an HTML page.
 *
 * All that is not ASCII becomes a number, so that a page looks the same under
 * all encodings of the database and of the client.
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

PG_FUNCTION_INFO_V1(tsa_html);

/*
 * Characters that nobody sees, that end lines, or that turn the direction of
 * writing: a name with these could pass for another, or for other text.
 */
static bool
is_invisible(pg_wchar c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
		(c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		(c >= 0x2060 && c <= 0x206f) || (c >= 0xfff0 && c <= 0xfffb) ||
		c == 0xfeff || (c >= 0xe0000 && c <= 0xe0fff) || c > 0x10ffff;
}

/* Appends a character such that it means itself in HTML. */
static void
append_character(StringInfo html, pg_wchar c)
{
	if (is_invisible(c))
		appendStringInfoChar(html, '?');
	else if (c >= 0x7f || strchr("&<>\"'`", (int) c) != NULL)
		appendStringInfo(html, "&#%u;", (unsigned) c);
	else
		appendStringInfoChar(html, (char) c);
}

/* html(text): the text, harmless as content and in quotes as an attribute */
Datum
tsa_html(PG_FUNCTION_ARGS)
{
	char	   *s = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			encoding = GetDatabaseEncoding();
	StringInfoData html;

	initStringInfo(&html);
	if (encoding != PG_SQL_ASCII && encoding != PG_UTF8)
		s = (char *) pg_do_encoding_conversion((unsigned char *) s,
											   (int) strlen(s), encoding,
											   PG_UTF8);
	while (*s != '\0')
	{
		if (encoding == PG_SQL_ASCII && IS_HIGHBIT_SET(*s))
		{
			appendStringInfoChar(&html, '?');
			s++;
			continue;
		}
		append_character(&html, utf8_to_unicode((unsigned char *) s));
		s += encoding == PG_SQL_ASCII ? 1 :
			pg_utf_mblen((unsigned char *) s);
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(html.data, html.len));
}
