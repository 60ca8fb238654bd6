/* SPDX-License-Identifier: MIT */
/* imports.c -- puts wrappers in front of the C library's functions in a process
 * into which the library was loaded while it ran.
 *
 * The loader has bound the program's calls already, so the addresses in the
 * import tables of all modules are changed, and changed back at the end.  Tables
 * that are read-only since relocation are writable for that moment.  The loader
 * unloads nothing meanwhile, since this is called by dl_iterate_phdr.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/files.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/cpprofdata.h"
#include "lib/wrap/wrapped.h"

/* The functions that are wrapped so. */
static const char *const imports_names[] = {
	"pthread_create", "thrd_create"
};

#define N_IMPORTS (sizeof imports_names / sizeof *imports_names)

static struct import {
	uintptr_t ours, real;	/* 0: there is none */
} imports[N_IMPORTS];

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

/* The function with that name; NULL: it is none of them. */
static const struct import *
imports_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_IMPORTS; i++)
		if (strcmp(imports_names[i], name) == 0)
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
 * made yet leads back into the module.
 */
static bool
imports_is_real(const struct imports_module *module,
    const struct import *import, uintptr_t value)
{
	return value == import->real ||
	    value - module->code < module->code_end - module->code;
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
		uintptr_t value;

		if (number == 0 || (type != R_X86_64_JUMP_SLOT &&
		    type != R_X86_64_GLOB_DAT))
			continue;
		import = imports_find(module->lookup.strings +
		    module->lookup.symbols[number].st_name);
		if (import == NULL || import->ours == 0 || import->real == 0)
			continue;
		value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_ACQUIRE);
		if (is_on && imports_is_real(module, import, value))
			imports_write(module, slot, import->ours);
		else if (!is_on && value == import->ours)
			imports_write(module, slot, import->real);
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

static void
imports_look_up(void)
{
	struct dl_find_object own;
	struct lookup lookup;
	size_t i;

	if (_dl_find_object((void *)&imports, &own) != 0 ||
	    !lookup_open(own.dlfo_link_map, &lookup))
		return;
	for (i = 0; i < N_IMPORTS; i++) {
		const ElfW(Sym) *symbol = lookup_symbol(&lookup,
		    imports_names[i]);
		const uintptr_t real = (uintptr_t)dlsym(RTLD_DEFAULT,
		    imports_names[i]);

		imports[i].ours = symbol == NULL ? 0 : lookup.bias +
		    symbol->st_value;
		/* Of a library that was loaded with the program. */
		imports[i].real = real == imports[i].ours ? 0 : real;
	}
}

void
imports_wrap(bool is_on)
{
	if (is_on)
		imports_look_up();
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
