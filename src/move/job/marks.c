/*-------------------------------------------------------------------------
 *
 * marks.c
 *	  Marks as the journal has them: see copy/resume.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/pg_lsn.h"

#include "move/job/journal.h"
#include "move/job/marks.h"
#include "state/statement.h"

/*
 * An array of 8-byte values in a column of the result's only row, and how many
 * there are.
 */
static Datum *
read_array(const char *column, Oid type, int *n)
{
	Datum		array = tsa_result_column(0, column);
	Datum	   *elems = NULL;

	*n = 0;
	if (array != (Datum) 0)
		deconstruct_array(DatumGetArrayTypeP(array), type, sizeof(int64),
						  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elems, NULL, n);
	return elems;
}

/*
 * See marks.h.  It is none if it does not have as many numbers as there are
 * files, or has more ranges than there may be.
 */
void
tsa_mark_of_result(int n, TsaKeptCopy *kept, TsaLsnRanges *lsns)
{
	int			nblocks;
	int			nends;
	Datum	   *blocks = read_array("mark", INT8OID, &nblocks);
	Datum	   *ends = read_array("mark_lsns", PG_LSNOID, &nends);

	lsns->n = 0;
	if (nblocks != n || nends % 2 != 0 || nends > 2 * TSA_LSN_RANGES)
		return;
	for (int i = 0; i < n; i++)
		kept[i].blocks = (BlockNumber) DatumGetInt64(blocks[i]);
	for (int i = 0; i < nends; i += 2)
		tsa_lsn_ranges_add(lsns, DatumGetLSN(ends[i]),
						   DatumGetLSN(ends[i + 1]));
}

/*
 * Makes an array of 8-byte values.
 */
static Datum
make_array(Datum *elems, int n, Oid type)
{
	return PointerGetDatum(construct_array(elems, n, type, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * See marks.h.
 */
Datum
tsa_mark_blocks(const TsaKeptCopy *made, int n)
{
	Datum	   *elems = palloc(sizeof(Datum) * Max(n, 1));

	for (int i = 0; i < n; i++)
		elems[i] = Int64GetDatum((int64) made[i].blocks);
	return make_array(elems, n, INT8OID);
}

/*
 * See marks.h: where each range begins and where it ends.
 */
Datum
tsa_mark_lsns(const TsaLsnRanges *lsns)
{
	Datum		elems[2 * TSA_LSN_RANGES];
	int			n = 0;

	for (int i = 0; i < lsns->n; i++)
	{
		elems[n++] = LSNGetDatum(lsns->range[i].from);
		elems[n++] = LSNGetDatum(lsns->range[i].to);
	}
	return make_array(elems, n, PG_LSNOID);
}

/*
 * See marks.h: the blocks that each of n files has (made), the WAL of their
 * images (lsns), and the copy's sums.
 */
void
tsa_job_add_mark(int64 job_id, const TsaKeptCopy *made, int n,
				 const TsaLsnRanges *lsns, const TsaMoveProgress *progress)
{
	static TsaStatement query = {
		"INSERT INTO tablespace_advisor.job_mark"
		" (job_id, blocks, bytes_done, blocks_again, lsns, bytes_compared)"
		" VALUES ($1, $2, $3, $4, $5, $6)",
		6, {INT8OID, INT8ARRAYOID, INT8OID, INT8OID, PG_LSNARRAYOID, INT8OID},
		NULL
	};
	int64		blocks = 0;
	Datum		values[6];

	for (int i = 0; i < n; i++)
		blocks += made[i].blocks;
	values[0] = Int64GetDatum(job_id);
	values[1] = tsa_mark_blocks(made, n);
	values[2] = Int64GetDatum(blocks * BLCKSZ);
	values[3] = Int64GetDatum(progress->blocks_again);
	values[4] = tsa_mark_lsns(lsns);
	values[5] = Int64GetDatum(progress->bytes_compared);
	tsa_journal_update(&query, values, NULL);
}
