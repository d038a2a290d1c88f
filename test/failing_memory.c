/*-------------------------------------------------------------------------
 *
 * failing_memory.c
 *	  Lets one allocation of tablespace_advisor fail, for tests: a library to
 *	  preload into a server, after that one.
 *
 * What the extension's library calls to get memory, or to have the server get
 * some, is called through addresses that the linker has put into its tables.
 * These are replaced by functions that count the calls of a process.  The call
 * number failing_memory.at fails: malloc() and its like return NULL, functions
 * of the server end with "out of memory", as they would.  failing_memory.seen
 * is the number of calls since failing_memory.at was set.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include "postgres.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static int	fail_at = 0;
static int	seen = 0;

/* Is this the call that fails? */
static bool
fails(void)
{
	return fail_at > 0 && ++seen == fail_at;
}

typedef long (*Function) (long, long, long, long, long, long);

/* A function of the server that may raise an error. */
#define RAISES(name) \
static Function real_##name; \
static long \
failing_##name(long a, long b, long c, long d, long e, long f) \
{ \
	if (fails()) \
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), \
				errmsg("out of memory in %s", #name)); \
	return real_##name(a, b, c, d, e, f); \
}

/* A function of the C library that returns NULL. */
#define RETURNS_NULL(name) \
static Function real_##name; \
static long \
failing_##name(long a, long b, long c, long d, long e, long f) \
{ \
	return fails() ? 0 : real_##name(a, b, c, d, e, f); \
}

#define ALL(DO) \
	DO(palloc) DO(palloc0) DO(repalloc) DO(pstrdup) \
	DO(MemoryContextAlloc) DO(MemoryContextAllocZero) \
	DO(MemoryContextAllocExtended) DO(MemoryContextStrdup) \
	DO(InstrAlloc) DO(makeRangeVar) DO(RangeVarGetRelidExtended) \
	DO(RelationIdGetRelation) DO(RelationGetIndexList) \
	DO(find_all_inheritors) DO(lappend) DO(lappend_oid)

ALL(RAISES)
RETURNS_NULL(malloc)
RETURNS_NULL(calloc)
RETURNS_NULL(realloc)

static const struct
{
	const char *name;
	Function	stands_in;
	Function   *real;
}			functions[] =

{
#define ENTRY(name) {#name, failing_##name, &real_##name},
	ALL(ENTRY) ENTRY(malloc) ENTRY(calloc) ENTRY(realloc)
};

/* Replaces the addresses in one table. */
static int
replace(const ElfW(Rela) * table, size_t bytes, const ElfW(Sym) * symbols,
		const char *names, ElfW(Addr) base)
{
	long		page = sysconf(_SC_PAGESIZE);
	int			n = 0;

	for (size_t i = 0; i < bytes / sizeof(*table); i++)
	{
		const char *name = names + symbols[ELF64_R_SYM(table[i].r_info)].st_name;
		Function   *place = (Function *) (base + table[i].r_offset);

		for (int j = 0; j < lengthof(functions); j++)
		{
			if (strcmp(name, functions[j].name) != 0)
				continue;
			*functions[j].real = (Function) dlsym(RTLD_DEFAULT, name);
			if (mprotect((void *) ((uintptr_t) place & ~(page - 1)), page,
						 PROT_READ | PROT_WRITE) != 0)
				elog(FATAL, "mprotect: %m");
			*place = functions[j].stands_in;
			n++;
		}
	}
	return n;
}

static int
visit(struct dl_phdr_info *info, size_t size, void *count)
{
	const		ElfW(Dyn) * dynamic = NULL;
	const		ElfW(Sym) * symbols = NULL;
	const		ElfW(Rela) * calls = NULL;
	const		ElfW(Rela) * data = NULL;
	const char *names = NULL;
	size_t		calls_size = 0;
	size_t		data_size = 0;

	if (strstr(info->dlpi_name, "/tablespace_advisor.so") == NULL)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (void *) (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++)
		switch (dynamic->d_tag)
		{
			case DT_SYMTAB:
				symbols = (void *) dynamic->d_un.d_ptr;
				break;
			case DT_STRTAB:
				names = (void *) dynamic->d_un.d_ptr;
				break;
			case DT_JMPREL:
				calls = (void *) dynamic->d_un.d_ptr;
				break;
			case DT_PLTRELSZ:
				calls_size = dynamic->d_un.d_val;
				break;
			case DT_RELA:
				data = (void *) dynamic->d_un.d_ptr;
				break;
			case DT_RELASZ:
				data_size = dynamic->d_un.d_val;
				break;
		}
	*(int *) count += replace(calls, calls_size, symbols, names,
							  info->dlpi_addr);
	*(int *) count += replace(data, data_size, symbols, names,
							  info->dlpi_addr);
	return 1;
}

static void
begin_anew(int value, void *extra)
{
	seen = 0;
}

void
_PG_init(void)
{
	int			count = 0;

	DefineCustomIntVariable("failing_memory.at", "The allocation that fails.",
							NULL, &fail_at, 0, 0, INT_MAX, PGC_USERSET, 0,
							NULL, begin_anew, NULL);
	DefineCustomIntVariable("failing_memory.seen", "Allocations so far.",
							NULL, &seen, 0, 0, INT_MAX, PGC_USERSET, 0,
							NULL, NULL, NULL);
	(void) dl_iterate_phdr(visit, &count);
	elog(LOG, "failing_memory: %d addresses replaced", count);
	if (count < 10)
		elog(FATAL, "tablespace_advisor is not loaded");
}
