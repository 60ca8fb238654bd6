/* SPDX-License-Identifier: MIT */
/* imports.c -- puts wrappers in front of the C library's functions in a process
 * into which the library was loaded while it ran.
 *
 * The loader has bound the program's calls already, so the addresses in the
 * import tables of all modules are changed, and changed back at the end.  Only
 * functions that the chosen resources need are wrapped.  Tables that are
 * read-only since relocation are writable for that moment.  The loader unloads
 * nothing meanwhile, since this is called by dl_iterate_phdr.
 *
 * Copies of an address that the program has made meanwhile still lead to the
 * wrapper afterwards, and threads may be in one.  So the library stays loaded,
 * and its wrappers only call the real functions then.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/cpprofdata.h"
#include "lib/wrap/wrapped.h"

/* What functions are wrapped for. */
enum imports_group {
	IMPORTS_THREADS,
	IMPORTS_MEMORY,
	IMPORTS_IO,
	IMPORTS_WAITS,
	IMPORTS_LOCKS,
	IMPORTS_GROUPS
};

/*
 * The functions that are wrapped so.  The names are in place, and what is found
 * is elsewhere: in a table of pointers, the loader would write to each page of
 * it in every process, and few processes need it.
 */
static const struct import {
	char name[28];
	enum imports_group group;
} imports[] = {
	{ "pthread_create", IMPORTS_THREADS },
	{ "thrd_create", IMPORTS_THREADS },

#define IMPORT(group, name) { #name, IMPORTS_##group },
#define ALLOCATION(type, name, ...) IMPORT(MEMORY, name)
#define FREE(name, ...) IMPORT(MEMORY, name)
#define MAPPING(name, ...) IMPORT(MEMORY, name)
#define OTHER(type, name, ...) IMPORT(MEMORY, name)
#include "lib/wrap/memory.def"

#define IO(kind, name, ...) IMPORT(IO, name)
#define IO_ANY IO
#define IO_MESSAGES IO
#include "lib/wrap/io.def"
#define STDIO(direction, type, name, ...) IMPORT(IO, name)
#define STDIO_BY_HAND(name, ...) IMPORT(IO, name)
#include "lib/wrap/stdio.def"
	IMPORT(IO, fprintf) IMPORT(IO, printf)
	IMPORT(IO, __fprintf_chk) IMPORT(IO, __printf_chk)
	IMPORT(IO, fscanf) IMPORT(IO, scanf)
	IMPORT(IO, __isoc99_fscanf) IMPORT(IO, __isoc99_scanf)
	IMPORT(IO, __isoc23_fscanf) IMPORT(IO, __isoc23_scanf)

#define BLOCKING(type, name, ...) IMPORT(WAITS, name)
#define BLOCKING_ANY BLOCKING
#define BLOCKING_CONTROL(name) IMPORT(WAITS, name)
#define BLOCKING_FILES BLOCKING
#include "lib/wrap/blocking.def"
	IMPORT(WAITS, sigwait) IMPORT(WAITS, sigwaitinfo)
	IMPORT(WAITS, sigtimedwait)

#define LOCK(type, name, ...) IMPORT(LOCKS, name)
#define LOCK_TRY LOCK
#define LOCK_LEAVE LOCK
#define LOCK_CONDITION(name, ...) IMPORT(LOCKS, name)
#define LOCK_SIGNAL LOCK
#define LOCK_SEMAPHORE(name, ...) IMPORT(LOCKS, name)
#define LOCK_JOIN LOCK
#define LOCK_BY_HAND LOCK
#include "lib/wrap/locks.def"
};

#define N_IMPORTS (sizeof imports / sizeof *imports)

static struct found_import {
	uintptr_t ours, real;	/* 0: there is none */
} found_imports[N_IMPORTS] BIG_TABLE;

static struct lookup own;
static bool is_wrapped[IMPORTS_GROUPS];
static uint64_t n_loaded;	/* modules ever loaded, when last looked */

/* A module's dynamic section. */
struct imports_module {
	struct lookup lookup;
	struct imports_relocations {
		const ElfW(Rela) *first;
		size_t size;
	} all, calls;
	uintptr_t code, code_end;	/* where it is mapped */
	uintptr_t relro, relro_end;
};

static void
imports_read_module(const struct dl_phdr_info *info,
    struct imports_module *module)
{
	const ElfW(Dyn) *entry = NULL;
	struct link_map map = { .l_addr = info->dlpi_addr };
	ElfW(Half) i;

	memset(module, 0, sizeof *module);
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const uintptr_t at = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_DYNAMIC)
			entry = (const ElfW(Dyn) *)at;
		if (header->p_type == PT_GNU_RELRO) {
			module->relro = at & -(uintptr_t)CPPROFDATA_PAGE;
			module->relro_end = (at + header->p_memsz) &
			    -(uintptr_t)CPPROFDATA_PAGE;
		}
		if (header->p_type == PT_LOAD &&
		    (header->p_flags & PF_X) != 0) {
			module->code = at;
			module->code_end = at + header->p_memsz;
		}
	}
	map.l_ld = (ElfW(Dyn) *)(uintptr_t)entry;
	if (entry == NULL || !lookup_open(&map, &module->lookup)) {
		module->lookup.symbols = NULL;
		return;
	}
	for (; entry->d_tag != DT_NULL; entry++) {
		uintptr_t at = entry->d_un.d_ptr;

		if (at < info->dlpi_addr)
			at += info->dlpi_addr;
		if (entry->d_tag == DT_RELA)
			module->all.first = (const ElfW(Rela) *)at;
		else if (entry->d_tag == DT_RELASZ)
			module->all.size = entry->d_un.d_val;
		else if (entry->d_tag == DT_JMPREL)
			module->calls.first = (const ElfW(Rela) *)at;
		else if (entry->d_tag == DT_PLTRELSZ)
			module->calls.size = entry->d_un.d_val;
	}
}

/*
 * The function with that name; NULL: it is none of them.  Most names are not
 * even in this library's hash table.
 */
static const struct import *
imports_find(const char *name)
{
	size_t i;

	if (lookup_symbol(&own, name) == NULL)
		return NULL;
	for (i = 0; i < N_IMPORTS; i++)
		if (strcmp(imports[i].name, name) == 0)
			return &imports[i];
	return NULL;
}

static void
imports_write(const struct imports_module *module, uintptr_t slot,
    uintptr_t value)
{
	const uintptr_t page = slot & -(uintptr_t)CPPROFDATA_PAGE;
	const bool is_locked = slot >= module->relro &&
	    slot < module->relro_end;

	if (is_locked && mprotect((void *)page, CPPROFDATA_PAGE,
	    PROT_READ | PROT_WRITE) != 0)
		return;
	__atomic_store_n((uintptr_t *)slot, value, __ATOMIC_RELEASE);
	if (is_locked)
		mprotect((void *)page, CPPROFDATA_PAGE, PROT_READ);
}

/*
 * Whether the slot leads to the real function, or will: a call that has not been
 * made yet leads back into the module.  A pointer in data is one of the
 * program's own only if it is that function's.
 */
static bool
imports_is_real(const struct imports_module *module,
    const struct found_import *found, uint64_t type, uintptr_t value)
{
	return value == found->real || (type == R_X86_64_JUMP_SLOT &&
	    value - module->code < module->code_end - module->code);
}

static void
imports_change(const struct imports_module *module,
    const struct imports_relocations *relocations, bool is_on)
{
	const size_t n = relocations->first == NULL ? 0 :
	    relocations->size / sizeof *relocations->first;
	size_t i;

	for (i = 0; i < n; i++) {
		const ElfW(Rela) *one = &relocations->first[i];
		const uint64_t type = ELF64_R_TYPE(one->r_info);
		const uint64_t number = ELF64_R_SYM(one->r_info);
		const uintptr_t slot = module->lookup.bias + one->r_offset;
		const struct import *import;
		const struct found_import *found;
		uintptr_t value;

		if (number == 0 || (type != R_X86_64_JUMP_SLOT &&
		    type != R_X86_64_GLOB_DAT && type != R_X86_64_64))
			continue;
		import = imports_find(module->lookup.strings +
		    module->lookup.symbols[number].st_name);
		if (import == NULL)
			continue;
		found = &found_imports[import - imports];
		if (found->ours == 0 || found->real == 0)
			continue;
		value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_ACQUIRE);
		if (is_on && is_wrapped[import->group] &&
		    imports_is_real(module, found, type, value))
			imports_write(module, slot, found->ours);
		else if (!is_on && value == found->ours)
			imports_write(module, slot, found->real);
	}
}

static int
imports_change_module(struct dl_phdr_info *info, size_t size, void *is_on)
{
	struct imports_module module;

	(void)size;
	n_loaded = info->dlpi_adds;
	imports_read_module(info, &module);
	if (module.lookup.symbols == NULL ||
	    ((uintptr_t)module.lookup.symbols >= process.own_start &&
	    (uintptr_t)module.lookup.symbols < process.own_end))
		return 0;
	imports_change(&module, &module.all, *(bool *)is_on);
	imports_change(&module, &module.calls, *(bool *)is_on);
	return 0;
}

static bool
imports_look_up(void)
{
	struct dl_find_object object;
	const ElfW(Sym) *symbol;
	size_t i;

	if (_dl_find_object((void *)&imports, &object) != 0 ||
	    !lookup_open(object.dlfo_link_map, &own))
		return false;
	for (i = 0; i < N_IMPORTS; i++) {
		symbol = lookup_symbol(&own, imports[i].name);
		found_imports[i].ours = symbol == NULL ? 0 : own.bias +
		    symbol->st_value;
		found_imports[i].real = (uintptr_t)lookup_first(imports[i].name);
	}
	return true;
}

static void
imports_choose_groups(void)
{
	is_wrapped[IMPORTS_THREADS] = true;
	is_wrapped[IMPORTS_MEMORY] = resource_is_wanted(RESOURCE_ALLOC_BYTES) ||
	    resource_is_wanted(RESOURCE_ALLOCS);
	is_wrapped[IMPORTS_IO] = io_is_wanted();
	is_wrapped[IMPORTS_WAITS] = resource_is_wanted(RESOURCE_REAL);
	is_wrapped[IMPORTS_LOCKS] = resource_is_wanted(RESOURCE_REAL) ||
	    resource_is_wanted(RESOURCE_BLAME);
}

void
imports_wrap(bool is_on)
{
	if (is_on && !imports_look_up())
		return;
	imports_choose_groups();
	if (own.symbols != NULL)
		dl_iterate_phdr(imports_change_module, &is_on);
}

static int
imports_count(struct dl_phdr_info *info, size_t size, void *n)
{
	(void)size;
	*(uint64_t *)n = info->dlpi_adds;
	return 1;
}

void
imports_wrap_new(void)
{
	uint64_t n = n_loaded;
	bool is_on = true;

	dl_iterate_phdr(imports_count, &n);
	if (n != n_loaded)
		dl_iterate_phdr(imports_change_module, &is_on);
}
