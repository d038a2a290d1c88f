/*-------------------------------------------------------------------------
 *
 * wal_compression.c
 *	  How the workers of moves compress page images in WAL.
 *
 * A move writes nothing but page images, as many bytes as the relation has;
 * the server's own wal_compression is chosen for a load of another kind.
 * Compressing changes how an image is stored in its record, which the server
 * decides for each image and which any reader of WAL copes with: nothing in
 * the copy depends on it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/guc.h"

#include "move/worker/wal_compression.h"

typedef enum WalCompression
{
	COMPRESS_AS_SERVER,
	COMPRESS_OFF,
	COMPRESS_PGLZ,
	COMPRESS_LZ4,
	COMPRESS_ZSTD
} WalCompression;

/* The methods that the server was built with, under its names. */
static const struct config_enum_entry choices[] = {
	{"server", COMPRESS_AS_SERVER, false},
	{"off", COMPRESS_OFF, false},
	{"pglz", COMPRESS_PGLZ, false},
#ifdef USE_LZ4
	{"lz4", COMPRESS_LZ4, false},
#endif
#ifdef USE_ZSTD
	{"zstd", COMPRESS_ZSTD, false},
#endif
	{NULL, 0, false}
};

/* tablespace_advisor.wal_compression */
static int	wal_compression_of_moves = COMPRESS_AS_SERVER;

/*
 * Registers the configuration parameter.
 */
void
tsa_init_wal_compression(void)
{
	DefineCustomEnumVariable("tablespace_advisor.wal_compression",
							 "Sets how moves compress page images in the write-ahead log.",
							 "\"server\" means as the parameter wal_compression says.",
							 &wal_compression_of_moves, COMPRESS_AS_SERVER,
							 choices, PGC_SIGHUP, 0, NULL, NULL, NULL);
}

/*
 * Makes the parameter apply to this process.  To be called before each job;
 * once the parameter is "server" again, the server's setting applies.
 */
void
tsa_wal_compression_apply(void)
{
	static bool applied = false;

	if (wal_compression_of_moves == COMPRESS_AS_SERVER)
	{
		if (applied)
			SetConfigOption("wal_compression",
							GetConfigOptionResetString("wal_compression"),
							PGC_SUSET, PGC_S_SESSION);
		applied = false;
		return;
	}
	for (int i = 0; choices[i].name != NULL; i++)
		if (choices[i].val == wal_compression_of_moves)
			SetConfigOption("wal_compression", choices[i].name, PGC_SUSET,
							PGC_S_SESSION);
	applied = true;
}
