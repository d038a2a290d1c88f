/*-------------------------------------------------------------------------
 *
 * page_cache.c
 *	  Says which blocks of files the system's cache holds, fills it, and takes
 *	  blocks out of it.
 *
 * Lines on standard input:
 *	  fill PATH					reads it block by block: what is read at once
 *								is dropped at once
 *	  held PATH					prints "FIRST COUNT" for each run of missing blocks
 *	  drop PATH FIRST COUNT		COUNT 0: to the end of the file
 * Each answer ends with a line of its own, "done".  Blocks are of 8 kB.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 8192

/* Prints the runs of blocks of which any page is missing. */
static void
print_missing(int fd)
{
	size_t		page = (size_t) sysconf(_SC_PAGESIZE);
	size_t		per_block = BLOCK / page;
	struct stat status;
	size_t		pages;
	size_t		blocks;
	size_t		first = 0;
	size_t		run = 0;
	unsigned char *held;
	void	   *map;

	if (fstat(fd, &status) != 0 || status.st_size < BLOCK)
		return;
	blocks = (size_t) status.st_size / BLOCK;
	pages = blocks * per_block;
	map = mmap(NULL, pages * page, PROT_READ, MAP_SHARED, fd, 0);
	held = calloc(pages + per_block, 1);
	if (map == MAP_FAILED || held == NULL ||
		mincore(map, pages * page, held) != 0)
	{
		perror("mincore");
		exit(1);
	}
	for (size_t i = 0; i <= blocks; i++)
	{
		int			missing = 0;

		for (size_t j = 0; i < blocks && j < per_block; j++)
			missing |= !(held[i * per_block + j] & 1);
		if (missing && run++ == 0)
			first = i;
		if (!missing && run > 0)
		{
			printf("%zu %zu\n", first, run);
			run = 0;
		}
	}
	munmap(map, pages * page);
	free(held);
}

/* Reads a file without read-ahead. */
static void
fill(int fd)
{
	char		block[BLOCK];
	off_t		offset = 0;

	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	while (pread(fd, block, BLOCK, offset) == BLOCK)
		offset += BLOCK;
}

int
main(void)
{
	char		line[4200];

	while (fgets(line, sizeof(line), stdin) != NULL)
	{
		char		word[8];
		char		path[4096];
		long		first = 0;
		long		count = 0;
		int			fd;

		if (sscanf(line, "%7s %4095s %ld %ld", word, path, &first, &count) < 2 ||
			(fd = open(path, O_RDONLY)) < 0)
		{
			perror(line);
			return 1;
		}
		if (strcmp(word, "held") == 0)
			print_missing(fd);
		else if (strcmp(word, "fill") == 0)
			fill(fd);
		else
			posix_fadvise(fd, first * BLOCK, count * BLOCK,
						  POSIX_FADV_DONTNEED);
		close(fd);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
