/*-------------------------------------------------------------------------
 *
 * marks.h
 *	  Marks as the journal has them: see copy/resume.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_MARKS_H
#define TSA_MARKS_H

#include "postgres.h"

#include "move/common/kept_copy.h"
#include "move/common/lsn_ranges.h"
#include "move/common/progress.h"

/*
 * Reads the columns "mark" and "mark_lsns" of the result's only row: how many
 * blocks of each of n files are there, and the ranges.
 */
extern void tsa_mark_of_result(int n, TsaKeptCopy *kept, TsaLsnRanges *lsns);

/* What to write into the columns blocks and lsns. */
extern Datum tsa_mark_blocks(const TsaKeptCopy *made, int n);
extern Datum tsa_mark_lsns(const TsaLsnRanges *lsns);

/* [T] So much of the new storage has been copied. */
extern void tsa_job_add_mark(int64 job_id, const TsaKeptCopy *made, int n,
							 const TsaLsnRanges *lsns,
							 const TsaMoveProgress *progress);

#endif							/* TSA_MARKS_H */
