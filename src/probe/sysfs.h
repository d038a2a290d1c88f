/*-------------------------------------------------------------------------
 *
 * sysfs.h
 *	  The facts in /sys about one block device.
 *
 * Pure: no server headers, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SYSFS_H
#define TSA_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifndef lengthof				/* the server has it, too */
#define lengthof(array) (sizeof(array) / sizeof((array)[0]))
#endif

/* answers of a system that need not know */
typedef enum TsaTri
{
	TSA_UNKNOWN = -1,
	TSA_NO = 0,
	TSA_YES = 1
} TsaTri;

/*
 * The kind of storage, in rising order of the speed to be expected: of a
 * device made of several the least is true.
 */
typedef enum TsaMedia
{
	TSA_MEDIA_UNKNOWN,
	TSA_MEDIA_NETWORK,
	TSA_MEDIA_ROTATIONAL,
	TSA_MEDIA_SOLID_STATE,
	TSA_MEDIA_MEMORY
} TsaMedia;

#define TSA_NAME_SIZE 128

/* a device with nothing below it that this machine can see */
typedef struct TsaDisk
{
	TsaMedia	media;
	TsaTri		redundant;		/* survives the failure of one part */
	TsaTri		is_volatile;	/* loses its contents without power */
	char		model[TSA_NAME_SIZE];
} TsaDisk;

static inline bool
tsa_starts_with(const char *string, const char *prefix)
{
	return strncmp(string, prefix, strlen(prefix)) == 0;
}

extern bool tsa_file_exists(const char *root, const char *path);
extern bool tsa_read_sys(const char *root, char *value, size_t size,
						 const char *format,...)
			__attribute__((format(printf, 4, 5)));
extern bool tsa_read_attribute(const char *root, const char *device,
							   const char *attribute, char *value,
							   size_t size);
extern long tsa_read_number(const char *root, const char *device,
							const char *attribute);
extern bool tsa_find_block_device(const char *root, unsigned major,
								  unsigned minor, char *name, size_t size);
extern bool tsa_find_mapped_device(const char *root, const char *label,
								   char *name, size_t size);
extern bool tsa_find_parent_disk(const char *root, const char *partition,
								 char *name, size_t size);
extern int	tsa_list_directory(const char *root, const char *device,
							   const char *subdirectory,
							   char (*names)[TSA_NAME_SIZE], int max);
extern void tsa_classify_disk(const char *root, const char *name,
							  TsaDisk *disk);

#endif							/* TSA_SYSFS_H */
