/*-------------------------------------------------------------------------
 *
 * target.h
 *	  The files that a probe reads and writes.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TARGET_H
#define TSA_TARGET_H

#include "datatype/timestamp.h"
#include "storage/fd.h"

#include "probe/aio.h"
#include "probe/measure.h"

#define TSA_MAX_PROBE_FILES 32

/* the file is laid out in chunks of this size, so many in flight */
#define TSA_LAYOUT_CHUNK	UINT64CONST(524288)
#define TSA_LAYOUT_DEPTH	4

typedef struct TsaProbeTarget
{
	Oid			tablespace;
	char	   *name;
	char	   *device;			/* NULL where there is none */

	int			nfiles;
	TsaIoFile	direct[TSA_MAX_PROBE_FILES];	/* opened with O_DIRECT */
	TsaIoFile	cached[TSA_MAX_PROBE_FILES];	/* the same without */
	uint64		bytes;			/* of all files together */
	File		scratch;		/* its owner under mode scratch, else 0 */

	/* facts about them */
	bool		no_direct;		/* O_DIRECT was refused */
	bool		in_memory;
	double		untrusted_share;	/* not data on the device */
	char	   *stat_path;		/* device counters, or NULL */

	/* progress messages */
	TimestampTz started_at;
	TimestampTz told_at;
} TsaProbeTarget;

/* target.c */
extern void tsa_target_close(TsaProbeTarget *target);
extern void tsa_target_open_file(TsaProbeTarget *target, const char *path,
								 int flags);
extern void tsa_target_inspect(TsaProbeTarget *target);
extern void tsa_target_progress(TsaProbeTarget *target, const char *what);
extern void tsa_probe_sleep(long ms);

/* scratch.c */
extern void tsa_scratch_open(TsaProbeTarget *target, uint64 bytes);
extern void tsa_scratch_lay_out(TsaProbeTarget *target, TsaAioEngine *engine,
								int max_iops);

/* existing.c */
extern bool tsa_existing_open(TsaProbeTarget *target);

#endif							/* TSA_TARGET_H */
