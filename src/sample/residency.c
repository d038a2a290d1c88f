/*-------------------------------------------------------------------------
 *
 * residency.c
 *	  Sizes of relations' files, and how much of them lies in shared buffers
 *	  and in the system's cache.
 *
 * No relation is opened or locked, so that nobody's AccessExclusive lock is
 * waited for: catalogs say where the files are, and the files are looked at
 * by the kernel's means.  A relation that is dropped or moved meanwhile has
 * no file, which is not an error.  Paths are made of numbers only.
 *
 * Shared buffers: the headers are read without their locks.  A header that
 * changes at that moment is counted wrongly, one block among many.
 *
 * The system's cache: see cached_pages.c.  A page of the system may be smaller
 * than a block; blocks are then counted in parts.
 *
 * Blocks read past shared buffers are not in them, so the system's cache is
 * counted twice: all its pages of a relation, and those that shared buffers do
 * not have.  Right after a block was read it is in both.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "sample/cached_pages.h"
#include "sample/file_bytes.h"
#include "sample/inventory.h"
#include "sample/residency.h"

/*
 * The system's cache is asked about so many bytes at a time.  Small, so that
 * a large file is looked at in many places: it takes about 1 us per page.
 */
#define PIECE_BYTES		INT64CONST(262144)

/* Buffer headers between two looks for interrupts */
#define HEADERS_PER_CHECK	8192

/* From so many on a pass over pg_class takes less time than looking them up. */
#define MANY_RELATIONS		5000

/* One relation that was asked for. */
typedef struct Residency
{
	RelFileLocator locator;		/* hash key */
	int64		file_bytes;		/* main fork, -1: no file */
	BlockNumber *shared;		/* its blocks in shared buffers, sorted */
	int64		shared_blocks;
	int64		shared_size;	/* room in "shared" */
	double		cache_blocks;	/* -1: not known */
	double		only_blocks;	/* of these those not in shared buffers */
} Residency;

PG_FUNCTION_INFO_V1(relations_residency);
PG_FUNCTION_INFO_V1(tsa_cached_share_of);

/*
 * Where the files of a relation are.  False if it has none in this database:
 * dropped, without storage, temporary, shared, or a catalog with a file that
 * only the relation map knows.  all: relations as read in one pass, NULL: none
 * were; others, such as sequences, are looked up.
 */
static bool
find_files(HTAB *all, Oid relation, RelFileLocator *locator)
{
	const TsaRelation *r = NULL;
	HeapTuple	tuple;
	Form_pg_class form;
	bool		found;

	if (all != NULL)
		r = tsa_find_relation(all, relation);
	if (r != NULL)
	{
		found = OidIsValid(r->filenode) &&
			r->persistence != RELPERSISTENCE_TEMP;
		if (found)
			*locator = tsa_make_locator(r->tablespace, MyDatabaseId,
										r->filenode);
		return found;
	}
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	found = RELKIND_HAS_STORAGE(form->relkind) && !form->relisshared &&
		form->relpersistence != RELPERSISTENCE_TEMP &&
		form->relfilenode != 0;
	if (found)
		*locator = tsa_make_locator(OidIsValid(form->reltablespace) ?
									form->reltablespace : MyDatabaseTableSpace,
									MyDatabaseId, form->relfilenode);
	ReleaseSysCache(tuple);
	return found;
}

/* For qsort(): by number. */
static int
compare_blocks(const void *a, const void *b)
{
	BlockNumber left = *(const BlockNumber *) a;
	BlockNumber right = *(const BlockNumber *) b;

	return (left > right) - (left < right);
}

/* Notes a block that is in shared buffers. */
static void
add_shared_block(Residency *entry, BlockNumber block)
{
	if (entry->shared_blocks == entry->shared_size)
	{
		entry->shared_size = Max(64, entry->shared_size * 2);
		entry->shared = entry->shared == NULL ?
			palloc(entry->shared_size * sizeof(BlockNumber)) :
			repalloc_huge(entry->shared,
						  entry->shared_size * sizeof(BlockNumber));
	}
	entry->shared[entry->shared_blocks++] = block;
}

/* Lists the blocks in shared buffers, of all relations in one scan. */
static void
list_shared_blocks(HTAB *relations)
{
	HASH_SEQ_STATUS all;
	Residency  *entry;

	for (int i = 0; i < NBuffers; i++)
	{
		BufferDesc *header = GetBufferDescriptor(i);
		RelFileLocator locator;

		if (i % HEADERS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (!(tsa_buffer_state(header) & BM_TAG_VALID))
			continue;
		if (tsa_buffer_fork(&header->tag) != MAIN_FORKNUM)
			continue;
		locator = tsa_buffer_locator(&header->tag);
		entry = hash_search(relations, &locator, HASH_FIND, NULL);
		if (entry != NULL)
			add_shared_block(entry, header->tag.blockNum);
	}
	hash_seq_init(&all, relations);
	while ((entry = hash_seq_search(&all)) != NULL)
		if (entry->shared_blocks > 1)
			qsort(entry->shared, entry->shared_blocks, sizeof(BlockNumber),
				  compare_blocks);
}

/* Pages of one relation in the system's cache */
typedef struct CacheCount
{
	int64		examined;		/* bytes looked at */
	int64		cached;			/* of these in the system's cache */
	int64		both;			/* of these in shared buffers, too */
	int64		next;			/* first shared block not yet passed */
} CacheCount;

/* Bytes in the cache of "length" ones that begin "offset" into a piece. */
static int64
cached_bytes(const unsigned char *pages, int64 offset, int64 length)
{
	int64		page = sysconf(_SC_PAGESIZE);
	int64		bytes = 0;

	for (int64 at = offset; at < offset + length;)
	{
		int64		end = Min((at / page + 1) * page, offset + length);

		if (pages[at / page] & 1)
			bytes += end - at;
		at = end;
	}
	return bytes;
}

/* Adds a piece of so many bytes that begins at "start" in the relation. */
static void
count_piece(Residency *entry, CacheCount *count, int64 start, int64 length,
			const unsigned char *pages)
{
	count->examined += length;
	count->cached += cached_bytes(pages, 0, length);
	for (; count->next < entry->shared_blocks; count->next++)
	{
		int64		at = (int64) entry->shared[count->next] * BLCKSZ - start;

		if (at >= length)
			break;
		if (at >= 0)
			count->both += cached_bytes(pages, at, Min(BLCKSZ, length - at));
	}
}

/*
 * Looks at every step'th piece of one segment of so many bytes; false if the
 * system does not show its cache.
 */
static bool
examine_segment(Residency *entry, int fd, int segment, int64 bytes,
				int64 step, unsigned char *pages, CacheCount *count)
{
	bool		known = true;

	/* begin elsewhere in each segment, lest a period is met */
	for (int64 offset = (segment % step) * PIECE_BYTES;
		 offset < bytes && known; offset += step * PIECE_BYTES)
	{
		size_t		length = Min(PIECE_BYTES, bytes - offset);

		CHECK_FOR_INTERRUPTS();
		known = tsa_look_at_pages(fd, offset, length, pages);
		if (known)
			count_piece(entry, count, segment * TSA_SEGMENT_BYTES + offset,
						length, pages);
	}
	return known;
}

/*
 * Finds the size of a relation, and counts its blocks in the system's cache, in
 * evenly spread pieces of some max_bytes if it is larger.  The first segment
 * is mostly the only one, and once it is open its size takes no other look.
 */
static void
count_system_blocks(Residency *entry, int64 max_bytes, unsigned char *pages)
{
	CacheCount	count = {0};
	char		path[MAXPGPATH];
	size_t		length;
	int64		step = 1;
	double		scale;

	tsa_make_file_path(path, entry->locator);
	length = strlen(path);
	for (int segment = 0;
		 segment == 0 || segment * TSA_SEGMENT_BYTES < entry->file_bytes;
		 segment++)
	{
		struct stat status;
		bool		is_open;
		bool		known;
		int			fd;

		tsa_name_segment(path, length, segment);
		fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
		is_open = fd >= 0 && fstat(fd, &status) == 0;
		known = is_open || errno == ENOENT;
		if (segment == 0)
		{
			entry->file_bytes = is_open && status.st_size < TSA_SEGMENT_BYTES ?
				status.st_size : tsa_fork_bytes(path, MAIN_FORKNUM);
			step = 1 + entry->file_bytes / max_bytes;
		}
		if (is_open)
			known = examine_segment(entry, fd, segment,
									Min(status.st_size, entry->file_bytes -
										segment * TSA_SEGMENT_BYTES),
									step, pages, &count);
		if (fd >= 0)
			CloseTransientFile(fd);
		if (!known)
			return;
	}
	scale = count.examined == 0 ? 0 :
		(double) entry->file_bytes / BLCKSZ / count.examined;
	entry->cache_blocks = count.cached * scale;
	entry->only_blocks = (count.cached - count.both) * scale;
}

/* Adds one row of the result; entry is NULL for a relation without files. */
static void
put_row(ReturnSetInfo *rsinfo, Oid relation, Residency *entry)
{
	Datum		values[5] = {0};
	bool		nulls[5] = {false, true, true, true, true};

	values[0] = ObjectIdGetDatum(relation);
	if (entry != NULL && entry->file_bytes >= 0)
	{
		values[1] = Int64GetDatum(entry->file_bytes / BLCKSZ);
		values[2] = Int64GetDatum(entry->shared_blocks);
		nulls[1] = nulls[2] = false;
		if (entry->cache_blocks >= 0)
		{
			values[3] = Int64GetDatum((int64) (entry->cache_blocks + 0.5));
			values[4] = Int64GetDatum((int64) (entry->only_blocks + 0.5));
			nulls[3] = nulls[4] = false;
		}
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * Looks at the files of relations, and at pages in shared buffers in one scan.
 * oids: as of an array, nulls: which are null, NULL: none; all: relations as
 * read in one pass, NULL: none were.  The result is by the same numbers, NULL:
 * no file is known.
 */
static Residency **
look_at_caches(HTAB *all, const Datum *oids, const bool *nulls, int n,
			   int64 max_bytes)
{
	HASHCTL		control = {
		.keysize = sizeof(RelFileLocator),
		.entrysize = sizeof(Residency),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *relations = hash_create("tablespace_advisor residency",
										Max(n, 16), &control,
										HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	unsigned char *pages = palloc(PIECE_BYTES / sysconf(_SC_PAGESIZE) + 1);
	Residency **entries = palloc0(Max(n, 1) * sizeof(Residency *));

	for (int i = 0; i < n; i++)
	{
		RelFileLocator locator;
		bool		known;

		if ((nulls != NULL && nulls[i]) ||
			!find_files(all, DatumGetObjectId(oids[i]), &locator))
			continue;
		entries[i] = hash_search(relations, &locator, HASH_ENTER, &known);
		if (known)
			continue;
		entries[i]->file_bytes = -1;
		entries[i]->shared = NULL;
		entries[i]->shared_blocks = entries[i]->shared_size = 0;
		entries[i]->cache_blocks = -1;
	}
	list_shared_blocks(relations);
	for (int i = 0; i < n; i++)
		if (entries[i] != NULL && entries[i]->cache_blocks < 0)
			count_system_blocks(entries[i], max_bytes, pages);
	return entries;
}

/* relations_residency(relations, max_bytes), see residency.sql */
Datum
relations_residency(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	HTAB	   *all;
	Residency **entries;
	Datum	   *oids;
	bool	   *nulls;
	int			n;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), OIDOID, sizeof(Oid), true,
					  TYPALIGN_INT, &oids, &nulls, &n);
	InitMaterializedSRF(fcinfo, 0);
	/* one pass over pg_class, in place of many look-ups */
	all = n > MANY_RELATIONS ? tsa_read_relations() : NULL;
	entries = look_at_caches(all, oids, nulls, n,
							 Max(PG_GETARG_INT64(1), PIECE_BYTES));
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			put_row(rsinfo, DatumGetObjectId(oids[i]), entries[i]);
	return (Datum) 0;
}

/*
 * The share of blocks outside of shared buffers that are in the system's cache:
 * pages in shared buffers are not read past them.  NAN: not known.
 */
static double
cached_share(double blocks, double shared_blocks, double only_blocks)
{
	if (blocks > shared_blocks)
		return only_blocks < 0 ? NAN :
			Min(1, only_blocks / (blocks - shared_blocks));
	return blocks > 0 ? 1 : NAN;
}

/* See residency.h. */
double *
tsa_cached_shares(HTAB *all, const Datum *oids, int n)
{
	int64		max_bytes = 67108864;
	Residency **entries = look_at_caches(all, oids, NULL, n, max_bytes);
	double	   *shares = palloc(Max(n, 1) * sizeof(double));

	for (int i = 0; i < n; i++)
	{
		const Residency *r = entries[i];
		int64		blocks;

		shares[i] = NAN;
		if (r == NULL || r->file_bytes < 0)
			continue;
		blocks = r->file_bytes / BLCKSZ;
		shares[i] = cached_share((double) blocks, (double) r->shared_blocks,
								 r->cache_blocks < 0 ? -1 : r->only_blocks);
	}
	return shares;
}

/* cached_share(blocks, shared_blocks, system_only_blocks) */
Datum
tsa_cached_share_of(PG_FUNCTION_ARGS)
{
	double		share;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	share = cached_share((double) PG_GETARG_INT64(0),
						 (double) PG_GETARG_INT64(1), PG_ARGISNULL(2) ? -1 :
						 (double) PG_GETARG_INT64(2));
	if (isnan(share))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(share);
}
