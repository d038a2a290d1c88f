/*-------------------------------------------------------------------------
 *
 * bounded.c
 *	  Reading texts of any size, as far as needed.
 *
 * Settings, options, expressions and error messages can have a gigabyte, and
 * their authors need no rights for that.  One whole copy of such a text, or a
 * function that allocates a multiple of it, is an error for the reader.  So
 * all texts that others can write are read here: the size is known without
 * detoasting, and of a longer text only the first bytes are fetched.
 *
 * A text that was compressed by LZ4 and stored out of line can only be fetched
 * as a whole.  Beyond a megabyte nothing of it is read.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/toast_compression.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "state/bounded.h"

PG_FUNCTION_INFO_V1(tsa_short_tree);
PG_FUNCTION_INFO_V1(tsa_read_settings_sql);
PG_FUNCTION_INFO_V1(tsa_reset_setting);
PG_FUNCTION_INFO_V1(tsa_setting_source);

#define MAX_LZ4_BYTES (1024 * 1024)

/* The bytes of a text, array or node tree without its header, not detoasted. */
Size
tsa_bytes_of(Datum value)
{
	return toast_raw_datum_size(value) - VARHDRSZ;
}

/* Is a value short enough to be read as a whole? */
bool
tsa_is_short(Datum value)
{
	return tsa_bytes_of(value) <= TSA_MAX_TEXT;
}

/* Would the first bytes of a value cost all of it? */
static bool
is_lz4_of_any_size(Datum value)
{
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)))
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, DatumGetPointer(value));
	return (int32) VARATT_EXTERNAL_GET_EXTSIZE(pointer) <
		pointer.	va_rawsize - (int32) VARHDRSZ &&
				VARATT_EXTERNAL_GET_COMPRESS_METHOD(pointer) ==
	TOAST_LZ4_COMPRESSION_ID &&
	VARATT_EXTERNAL_GET_EXTSIZE(pointer) > MAX_LZ4_BYTES;
}

/*
 * The first TSA_MAX_TEXT bytes of a value, all of a shorter one, with a header
 * of four bytes; NULL if these cannot be read without the others.
 */
struct varlena *
tsa_head_of(Datum value)
{
	struct varlena *pointer = (struct varlena *) DatumGetPointer(value);

	if (tsa_is_short(value))
		return pg_detoast_datum(pointer);
	if (is_lz4_of_any_size(value))
		return NULL;
	return pg_detoast_datum_slice(pointer, 0, TSA_MAX_TEXT);
}

/* The end of a text that was cut; bytes: of the whole. */
void
tsa_append_cut(StringInfo printed, Size bytes)
{
	appendStringInfo(printed, "... (cut, %zu bytes in all)", bytes);
}

/* The name and the value of "name=value", of which so many bytes are there. */
static void
split_setting(const char *text, int length, TsaSetting *setting)
{
	const char *equals = memchr(text, '=', length);
	int			name = equals != NULL ? equals - text : length;

	if (equals == NULL && setting->is_cut)
		return;
	setting->name = pnstrdup(text, name);
	if (equals != NULL)
		setting->value = pnstrdup(equals + 1,
								  pg_mbcliplen(equals + 1, length - name - 1,
											   length - name - 1));
}

/*
 * Takes settings from an array, of which the end may be missing, until there
 * are no more or one is not whole.  Returns how many.  The array is laid out as
 * array.h says; its elements are not compressed.
 */
static int
take_settings(ArrayType *array, TsaSetting *settings)
{
	char	   *next = ARR_DATA_PTR(array);
	char	   *end = (char *) array + VARSIZE(array);
	int			n = ARR_DIMS(array)[0];

	for (int i = 0; i < n; i++)
	{
		TsaSetting *setting = &settings[i];
		Size		size;

		next = (char *) TYPEALIGN(ALIGNOF_INT, next);
		setting->is_cut = end - next < VARHDRSZ || VARATT_IS_EXTERNAL(next) ||
			VARATT_IS_COMPRESSED(next);
		if (setting->is_cut)
			return i + 1;
		size = VARSIZE_ANY(next);
		setting->is_cut = size > (Size) (end - next);
		split_setting(VARDATA_ANY(next),
					  Min(size, (Size) (end - next)) -
					  (VARDATA_ANY(next) - next), setting);
		if (setting->is_cut)
		{
			/* nothing is known of those behind it */
			if (i + 1 == n || setting->name == NULL)
				return i + 1;
			settings[i + 1].is_cut = true;
			return i + 2;
		}
		next += size;
	}
	return n;
}

/*
 * The settings or options in an array of "name=value", as in pg_proc.proconfig;
 * returns their number.  The last one that was read may be cut.  If others were
 * not read, a row without a name stands for them.
 */
int
tsa_read_settings(Datum value, TsaSetting **settings)
{
	ArrayType  *array = (ArrayType *) tsa_head_of(value);

	if (array != NULL && ARR_NDIM(array) == 0)
		return 0;
	if (array == NULL || ARR_NDIM(array) != 1 || ARR_HASNULL(array) ||
		ARR_ELEMTYPE(array) != TEXTOID)
	{
		*settings = palloc0(sizeof(TsaSetting));
		(*settings)->is_cut = true;
		return 1;
	}
	/* each takes some bytes of those that were read, but for the last */
	*settings = palloc0(sizeof(TsaSetting) *
						(Min(ARR_DIMS(array)[0], TSA_MAX_TEXT) + 1));
	return take_settings(array, *settings);
}

/*
 * read_settings(settings): a row per "name=value" of an array, cut to a bounded
 * length.
 */
Datum
tsa_read_settings_sql(PG_FUNCTION_ARGS)
{
	TsaSetting *settings;
	int			n = tsa_read_settings(PG_GETARG_DATUM(0), &settings);
	ReturnSetInfo *result;

	InitMaterializedSRF(fcinfo, 0);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	for (int i = 0; i < n; i++)
	{
		const TsaSetting *setting = &settings[i];
		Datum		values[3] = {0};
		bool		nulls[3] = {setting->name == NULL, setting->value == NULL,
		false};

		if (!nulls[0])
			values[0] = CStringGetTextDatum(setting->name);
		if (!nulls[1])
			values[1] = CStringGetTextDatum(setting->value);
		values[2] = BoolGetDatum(setting->is_cut);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* short_tree(tree): NULL in the place of a longer one. */
Datum
tsa_short_tree(PG_FUNCTION_ARGS)
{
	Datum		value = PG_GETARG_DATUM(0);

	if (!tsa_is_short(value))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(value);
}

/* reset_setting(name): as far as it is read. */
Datum
tsa_reset_setting(PG_FUNCTION_ARGS)
{
	const char *value =
	GetConfigOptionResetString(NameStr(*PG_GETARG_NAME(0)));
	int			length;

	if (value == NULL)
		PG_RETURN_NULL();
	length = pg_mbcliplen(value, strnlen(value, TSA_MAX_TEXT), TSA_MAX_TEXT);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(value, length));
}

/* setting_source(name): pg_settings would copy all values. */
Datum
tsa_setting_source(PG_FUNCTION_ARGS)
{
	struct config_generic *parameter =
	tsa_find_parameter(NameStr(*PG_GETARG_NAME(0)));

	if (parameter == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(GucSource_Names[parameter->source]));
}

/* Cuts a string where it is; NULL is none. */
void
tsa_cut_string(char *text)
{
	StringInfoData mark;
	Size		length = text == NULL ? 0 : strlen(text);
	int			kept;

	if (length <= TSA_MAX_TEXT)
		return;
	initStringInfo(&mark);
	tsa_append_cut(&mark, length);
	kept = pg_mbcliplen(text, TSA_MAX_TEXT, TSA_MAX_TEXT - mark.len);
	memcpy(&text[kept], mark.data, mark.len + 1);
	pfree(mark.data);
}

/*
 * Cuts the texts of an error where they are: a function of an index, or another
 * extension, may have raised it.
 */
void
tsa_cut_error(ErrorData *error)
{
	tsa_cut_string(error->message);
	tsa_cut_string(error->detail);
	tsa_cut_string(error->detail_log);
	tsa_cut_string(error->hint);
	tsa_cut_string(error->context);
	tsa_cut_string(error->internalquery);
}
