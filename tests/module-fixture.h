/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module-fixture.h -- this program as a module: its own file, its functions,
 * and copies changed by objcopy.
 */
#ifndef CPPROF_TESTS_MODULE_FIXTURE_H
#define CPPROF_TESTS_MODULE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/symbols/names/program.h"
#include "tests/skip.h"

/*
 * A function of this program to look up; only one file of a program may
 * include this header.
 */
int global_marker(int n);

__attribute__((noinline)) static int
static_marker(int n)
{
	return n + 1;
}

__attribute__((noinline)) int
global_marker(int n)
{
	return static_marker(n) * 3;
}

static inline uint64_t
file_address(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	assert_int_not_equal(0, dladdr1(address, &info, (void **)&map,
	                                RTLD_DL_LINKMAP));
	return (uint64_t)(uintptr_t)address - map->l_addr;
}

/* This program's file; "/proc/self/exe" would be valgrind's below it. */
static inline const char *
own_path(void)
{
	static char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	assert_true(length > 0);
	path[length] = '\0';
	return path;
}

static inline uint64_t
own_address(int (*function)(int))
{
	return file_address((const void *)(uintptr_t)function);
}

static inline struct module_symbols *
module_of(const char *path, const void *id, size_t id_size,
          const char *debug_directory, enum module_symbols_state expected)
{
	struct error error = { 0 };
	enum module_symbols_state state;
	struct symbol_search search = { .debug_directory = debug_directory };
	struct module_symbols *module = module_symbols_new(path, id, id_size,
	    &search, &error);

	assert_non_null(module);
	assert_int_equal(module_symbols_read(module, &state, &error), 0);
	assert_int_equal(state, expected);
	return module;
}

static inline const struct symbol *
symbol_at(struct module_symbols *module, uint64_t address)
{
	struct error error = { 0 };
	const struct symbol *symbol;

	assert_int_equal(module_symbols_find(module, address, &symbol,
	                                     &error), 0);
	return symbol;
}

/* expected: "" for a function without a name, NULL outside of functions. */
static inline void
assert_name(struct module_symbols *module, uint64_t address,
            const char *expected)
{
	struct error error = { 0 };
	const struct symbol *symbol = symbol_at(module, address);
	char *name;

	if (expected == NULL) {
		assert_null(symbol);
		return;
	}
	assert_non_null(symbol);
	name = module_symbols_name(symbol, &error);
	assert_string_equal(name, expected);
	free(name);
}

/* Runs a command; returns whether it succeeded. */
__attribute__((format(printf, 1, 2))) static inline bool
run(const char *format, ...)
{
	char command[4 * PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof command, format, arguments);
	va_end(arguments);
	return system(command) == 0;
}

/*
 * Makes a directory with "own", a copy of this program made by objcopy with
 * this option.  Every user may read it, as profiles without build IDs require
 * of the files that they name, whatever the umask of this user.
 */
static inline void
make_copy(char *directory, const char *objcopy_option)
{
	strcpy(directory, "/tmp/test-module.XXXXXX");
	assert_non_null(mkdtemp(directory));
	if (!run("objcopy --version >/dev/null 2>&1"))
		skip();
	umask(022);
	assert_true(run("objcopy %s '%s' %s/own 2>/dev/null",
	                objcopy_option, own_path(), directory));
}

static inline void
remove_copy(const char *directory)
{
	assert_true(run("rm -r %s", directory));
}

#endif
