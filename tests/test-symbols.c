/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-symbols.c -- tables made by hand; then real modules: this program, its
 * stripped copies, libc, the vdso, and the vdso damaged in every place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/symbols/address_frames.h"
#include "src/symbols/demangle.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/function_ranges.h"
#include "src/symbols/module_cache.h"
#include "src/symbols/module_symbols.h"
#include "src/symbols/symbol_table.h"

/* Symbol tables */

static struct symbol_table *
table_of(const struct symbol *symbols, size_t n)
{
	struct error error = { 0 };
	struct symbol_table *table = symbol_table_new(&error);

	assert_non_null(table);
	for (size_t i = 0; i < n; i++) {
		struct symbol symbol = symbols[i];

		if (symbol.limit == 0)
			symbol.limit = 0x1000;
		assert_int_equal(symbol_table_add(table, &symbol, &error), 0);
	}
	assert_int_equal(symbol_table_sort(table, &error), 0);
	return table;
}

static const char *
name_at(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);

	return symbol != NULL ? symbol->name : "none";
}

static void
symbol_table_knows_nothing_outside_symbols(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .size = 16, .name = "a" },
		{ .start = 0x200, .size = 16, .name = "b" },
	};
	struct symbol_table *table = table_of(symbols, 2);

	(void)state;
	assert_string_equal(name_at(table, 0xff), "none");
	assert_string_equal(name_at(table, 0x100), "a");
	assert_string_equal(name_at(table, 0x10f), "a");
	assert_string_equal(name_at(table, 0x110), "none");
	assert_string_equal(name_at(table, 0x200), "b");
	assert_string_equal(name_at(table, UINT64_MAX), "none");
	symbol_table_free(table);
}

static void
symbol_table_prefers_the_inner_of_nested_functions(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .size = 0x100, .name = "outer" },
		{ .start = 0x140, .size = 0x20, .name = "inner" },
		{ .start = 0x150, .size = 0x30, .name = "across" },
	};
	struct symbol_table *table = table_of(symbols, 3);

	(void)state;
	assert_string_equal(name_at(table, 0x13f), "outer");
	assert_string_equal(name_at(table, 0x140), "inner");
	assert_string_equal(name_at(table, 0x150), "across");
	assert_string_equal(name_at(table, 0x17f), "across");
	assert_string_equal(name_at(table, 0x180), "outer");
	assert_string_equal(name_at(table, 0x1ff), "outer");
	assert_string_equal(name_at(table, 0x200), "none");
	symbol_table_free(table);
}

static void
symbol_table_extends_unsized_symbols_to_the_next(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .name = "_init", .limit = 0x110 },
		{ .start = 0x200, .name = "start" },
		{ .start = 0x280, .size = 0x10, .name = "sized" },
		{ .start = 0x300, .name = "label", .is_label = true },
	};
	struct symbol_table *table = table_of(symbols, 4);

	(void)state;
	assert_string_equal(name_at(table, 0x10f), "_init");
	assert_string_equal(name_at(table, 0x110), "none");
	assert_string_equal(name_at(table, 0x27f), "start");
	assert_string_equal(name_at(table, 0x290), "none");
	assert_string_equal(name_at(table, 0xfff), "label");
	assert_string_equal(name_at(table, 0x1000), "none");
	symbol_table_free(table);
}

static void
symbol_table_prefers_functions_over_labels_inside_them(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .size = 0x40, .name = "function" },
		{ .start = 0x120, .name = "loop", .is_label = true },
		{ .start = 0x100, .name = "a", .is_label = true },
	};
	struct symbol_table *table = table_of(symbols, 3);

	(void)state;
	assert_string_equal(name_at(table, 0x100), "function");
	assert_string_equal(name_at(table, 0x130), "function");
	symbol_table_free(table);
}

static void
symbol_table_chooses_one_alias_in_any_order(void **state)
{
	struct symbol symbols[] = {
		{ .start = 0x100, .size = 8, .name = "x", .is_local = true },
		{ .start = 0x100, .size = 8, .name = "__read" },
		{ .start = 0x100, .size = 8, .name = "read_it" },
		{ .start = 0x100, .size = 8, .name = "reae" },
		{ .start = 0x100, .size = 8, .name = "read" },
	};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct symbol first = symbols[0];
		struct symbol_table *table = table_of(symbols, 5);

		assert_string_equal(name_at(table, 0x104), "read");
		symbol_table_free(table);
		memmove(symbols, symbols + 1, 4 * sizeof *symbols);
		symbols[4] = first;
	}
}

static void
symbol_table_bounds_sizes_by_the_section(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .size = UINT64_MAX, .name = "huge" },
		{ .start = 0x1000, .size = 8, .name = "beyond" },
	};
	struct symbol_table *table = table_of(symbols, 2);

	(void)state;
	assert_string_equal(name_at(table, 0xfff), "huge");
	assert_string_equal(name_at(table, 0x1000), "none");
	symbol_table_free(table);
}

/* Quadratic work would take hours here. */
static void
symbol_table_sorts_deep_nesting_fast(void **state)
{
	enum { N = 300000 };
	struct error error = { 0 };
	struct symbol_table *table = symbol_table_new(&error);

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		struct symbol symbol = { .start = i, .size = 2 * N - 2 * i,
			.limit = 2 * N, .name = i % 2 ? "odd" : "even" };

		assert_int_equal(symbol_table_add(table, &symbol, &error), 0);
	}
	assert_int_equal(symbol_table_sort(table, &error), 0);
	assert_string_equal(name_at(table, 5), "odd");
	assert_string_equal(name_at(table, N - 1), "odd");
	assert_string_equal(name_at(table, N + 1), "even");
	assert_string_equal(name_at(table, 2 * N - 1), "even");
	symbol_table_free(table);
}

/* Names */

static void
assert_demangled(const char *symbol, const char *expected)
{
	struct error error = { 0 };
	char *name = demangle(symbol, &error);

	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

static void
demangle_reads_cplusplus_rust_and_d(void **state)
{
	(void)state;
	assert_demangled("_Znwm", "operator new(unsigned long)");
	assert_demangled("_ZNK2db6record4findERKi",
	    "db::record::find(int const&) const");
	assert_demangled("_ZN4core3fmt5Write9write_str17h0123456789abcdefE",
	    "core::fmt::Write::write_str");
	assert_demangled("_RNvCs1234_7mycrate4main", "mycrate::main");
	assert_demangled("_D3std5stdio7writelnFAyaZv",
	    "std.stdio.writeln(immutable(char)[])");
}

static void
demangle_leaves_other_names(void **state)
{
	(void)state;
	assert_demangled("main", "main");
	assert_demangled("_Z", "_Z");
	assert_demangled("_Zfoo", "_Zfoo");
	assert_demangled("_D", "_D");
	assert_demangled("i", "i");
	assert_demangled("", "");
}

static void
demangle_drops_versions_and_cold_parts(void **state)
{
	(void)state;
	assert_demangled("memcpy@@GLIBC_2.14", "memcpy");
	assert_demangled("sort.cold", "sort");
	assert_demangled("sort.cold.12", "sort");
	assert_demangled("_Z1fi.cold", "f(int)");
	assert_demangled("sort.constprop.0", "sort.constprop.0");
	assert_demangled(".cold", ".cold");
	assert_demangled("12", "12");
}

/*
 * void f(A<T0, T0>) where each T is a pair of the one before: 30 levels would
 * be gigabytes.
 */
static void
demangle_gives_up_text_that_doubles(void **state)
{
	char symbol[1000] = "_Z1f1PIiiE";
	size_t length = strlen(symbol);

	(void)state;
	assert_demangled(symbol, "f(P<int, int>)");
	for (int level = 0; level < 30; level++) {
		char reference[8];

		/* Substitutions: P is S_, P<int, int> S0_, then one a level. */
		snprintf(reference, sizeof reference, "S%c_",
		    level < 10 ? '0' + level : 'A' + level - 10);
		length += (size_t)snprintf(symbol + length,
		    sizeof symbol - length, "S_I%s%sE", reference, reference);
		if (level == 1)
			assert_demangled(symbol, "f(P<int, int>, "
			    "P<P<int, int>, P<int, int> >, "
			    "P<P<P<int, int>, P<int, int> >, "
			    "P<P<int, int>, P<int, int> > >)");
	}
	assert_demangled(symbol, symbol);
}

static void
demangle_survives_long_names(void **state)
{
	static const char *const repeated[] = { "P", "I", "N1A", "S_", "1fI",
		"Dp", "XspT_", "F", "_", "(", "Q", "G", "A1_" };
	static const char *const heads[] = { "_Z1f", "_ZN", "_RNvC1a1bI",
		"_D1a", "_R", "x" };
	struct error error = { 0 };
	char *symbol = malloc(3 * DEMANGLED_MAX);
	char *name;

	(void)state;
	for (size_t head = 0; head < 6; head++)
		for (size_t i = 0; i < 13; i++) {
			size_t n = (size_t)sprintf(symbol, "%s", heads[head]);

			while (n + 8 < MANGLED_MAX)
				n += (size_t)sprintf(symbol + n, "%s",
				                     repeated[i]);
			name = demangle(symbol, &error);
			assert_non_null(name);
			free(name);
		}
	memset(symbol, 'x', 3 * DEMANGLED_MAX - 1);
	symbol[3 * DEMANGLED_MAX - 1] = '\0';
	name = demangle(symbol, &error);
	assert_int_equal(strlen(name), DEMANGLED_MAX);
	assert_string_equal(name + DEMANGLED_MAX - 4, "x...");
	free(name);
	free(symbol);
}

/* Modules.  Something of this program to look up: */

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

static uint64_t
file_address(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	assert_int_not_equal(0, dladdr1(address, &info, (void **)&map,
	                                RTLD_DL_LINKMAP));
	return (uint64_t)(uintptr_t)address - map->l_addr;
}

/* This program's file; "/proc/self/exe" would be valgrind's below it. */
static const char *
own_path(void)
{
	static char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	assert_true(length > 0);
	path[length] = '\0';
	return path;
}

static uint64_t
own_address(int (*function)(int))
{
	return file_address((const void *)(uintptr_t)function);
}

static struct module_symbols *
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

static const struct symbol *
symbol_at(struct module_symbols *module, uint64_t address)
{
	struct error error = { 0 };
	const struct symbol *symbol;

	assert_int_equal(module_symbols_find(module, address, &symbol,
	                                     &error), 0);
	return symbol;
}

/* expected: "" of a function without a name, NULL outside of functions. */
static void
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

static void
module_symbols_names_own_functions(void **state)
{
	struct module_symbols *module = module_of(own_path(), NULL, 0,
	    NULL, MODULE_SYMBOLS_READ);
	uint64_t marker = own_address(static_marker);

	(void)state;
	assert_name(module, marker, "static_marker");
	assert_name(module, marker + 1, "static_marker");
	assert_name(module, own_address(global_marker), "global_marker");
	assert_name(module, 1, NULL);
	assert_name(module, UINT64_MAX, NULL);
	module_symbols_free(module);
}

static void
module_symbols_names_libc(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	struct module_symbols *module;
	void *qsort_address, *strlen_address;
	Dl_info info;

	(void)state;
	assert_non_null(libc);
	qsort_address = dlsym(libc, "qsort");
	strlen_address = dlsym(libc, "__libc_start_main");
	assert_int_not_equal(dladdr(qsort_address, &info), 0);
	module = module_of(info.dli_fname, NULL, 0, NULL,
	                   MODULE_SYMBOLS_READ);
	assert_name(module, file_address(qsort_address), "qsort");
	assert_name(module, file_address(strlen_address),
	            "__libc_start_main");
	module_symbols_free(module);
	dlclose(libc);
}

static void
module_symbols_names_the_vdso(void **state)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	struct module_symbols *module;
	struct elf_file file;
	unsigned char id[BUILD_ID_MAX];
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *address;
	size_t size;

	(void)state;
	if (base == NULL || vdso == NULL)
		skip();
	address = dlsym(vdso, "__vdso_clock_gettime");
	assert_non_null(address);
	assert_int_equal(elf_file_open_own_vdso(&file), ELF_FILE_OPEN);
	size = elf_file_build_id(&file, id);
	elf_file_close(&file);
	module = module_of("[vdso]", id, size, NULL, MODULE_SYMBOLS_READ);
	/* clock_gettime is a weak alias of it. */
	assert_name(module, (uint64_t)((char *)address - base),
	            "clock_gettime");
	module_symbols_free(module);
	id[0] ^= 1;
	module_symbols_free(module_of("linux-vdso.so.1", id, size, NULL,
	                              MODULE_SYMBOLS_DIFFER));
	dlclose(vdso);
}

static void
module_symbols_tells_why_there_are_none(void **state)
{
	const char *source = getenv("srcdir");
	char text[PATH_MAX];

	(void)state;
	module_symbols_free(module_of("/nowhere/lib.so", "abc", 3, NULL,
	                              MODULE_SYMBOLS_MISSING));
	module_symbols_free(module_of(own_path(), "abc", 3, NULL,
	                              MODULE_SYMBOLS_DIFFER));
	module_symbols_free(module_of("/", NULL, 0, NULL,
	                              MODULE_SYMBOLS_UNREADABLE));
	module_symbols_free(module_of("/dev/null", NULL, 0, NULL,
	                              MODULE_SYMBOLS_UNREADABLE));
	module_symbols_free(module_of("", NULL, 0, NULL,
	                              MODULE_SYMBOLS_MISSING));
	snprintf(text, sizeof text, "%s/tests/test-symbols.c",
	         source != NULL ? source : ".");
	module_symbols_free(module_of(text, NULL, 0, NULL,
	                              MODULE_SYMBOLS_UNREADABLE));
}

static void
module_cache_reads_each_module_once(void **state)
{
	struct error error = { 0 };
	struct module_cache *cache = module_cache_new(NULL, &error);
	struct module_symbols *own, *gone;
	enum module_symbols_state how;
	bool is_first;

	(void)state;
	assert_non_null(cache);
	own = module_cache_get(cache, own_path(), NULL, 0, &how, &is_first,
	                       &error);
	assert_true(is_first);
	assert_int_equal(how, MODULE_SYMBOLS_READ);
	gone = module_cache_get(cache, own_path(), "id", 2, &how, &is_first,
	                        &error);
	assert_true(is_first);
	assert_int_equal(how, MODULE_SYMBOLS_DIFFER);
	assert_ptr_not_equal(own, gone);
	assert_ptr_equal(own, module_cache_get(cache, own_path(), NULL, 0,
	    &how, &is_first, &error));
	assert_false(is_first);
	assert_int_equal(how, MODULE_SYMBOLS_READ);
	module_cache_free(cache);
}

/* The slot that a stub in memory jumps through, or NULL. */
static void **
slot_of_stub(const unsigned char *stub)
{
	for (size_t at = 0; at < 6; at++)
		if (stub[at] == 0xff && stub[at + 1] == 0x25) {
			int32_t distance;

			memcpy(&distance, stub + at + 2, sizeof distance);
			return (void **)(uintptr_t)(stub + at + 6 + distance);
		}
	return NULL;
}

/* Whether a slot holds a function, and not yet its own stub's second half. */
static bool
is_filled(const void *contents)
{
	Dl_info info, own;

	assert_int_not_equal(0, dladdr((void *)(uintptr_t)own_path, &own));
	return dladdr(contents, &info) != 0 && info.dli_fbase != own.dli_fbase;
}

/*
 * Every stub of this program whose slot is filled must bear the name under
 * which the loader would find what the slot holds.
 */
static void
module_symbols_names_plt_stubs(void **state)
{
	static const char *const sections[] = { ".plt", ".plt.sec",
		".plt.got" };
	struct module_symbols *module = module_of(own_path(), NULL, 0,
	    NULL, MODULE_SYMBOLS_READ);
	uintptr_t bias = (uintptr_t)static_marker -
	    own_address(static_marker);
	struct elf_file file;
	size_t n_named = 0, n_filled = 0;

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	assert_int_equal(elf_file_open(&file, own_path()), ELF_FILE_OPEN);
	for (size_t i = 0; i < 3; i++) {
		GElf_Shdr header;

		if (elf_file_named_section(&file, sections[i],
		                           &header) == NULL)
			continue;
		for (uint64_t at = 0; at + 16 <= header.sh_size; at += 16) {
			uint64_t address = header.sh_addr + at;
			const struct symbol *symbol =
			    symbol_at(module, address);
			void **slot = slot_of_stub(
			    (unsigned char *)(bias + address));

			if (symbol == NULL || *symbol->name == '\0')
				continue;
			assert_true(symbol->is_stub);
			n_named++;
			if (slot == NULL || !is_filled(*slot))
				continue;
			n_filled++;
			assert_ptr_equal(*slot,
			    dlsym(RTLD_DEFAULT, symbol->name));
		}
	}
	elf_file_close(&file);
	module_symbols_free(module);
	assert_true(n_named >= 10);
	assert_true(n_filled >= 10);
}

/* Stripped modules */

/* Runs a command; whether it succeeded. */
__attribute__((format(printf, 1, 2))) static bool
run(const char *format, ...)
{
	char command[4 * PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof command, format, arguments);
	va_end(arguments);
	return system(command) == 0;
}

/* A new directory with "own", a copy of this program without the option. */
static void
make_copy(char *directory, const char *objcopy_option)
{
	strcpy(directory, "/tmp/test-symbols.XXXXXX");
	assert_non_null(mkdtemp(directory));
	if (!run("objcopy --version >/dev/null 2>&1"))
		skip();
	assert_true(run("objcopy %s '%s' %s/own 2>/dev/null",
	                objcopy_option, own_path(), directory));
}

static void
remove_copy(const char *directory)
{
	assert_true(run("rm -r %s", directory));
}

/* directory/own stripped, its symbols in directory/own.debug by link. */
static void
strip_copy(const char *directory)
{
	assert_true(run("cd %s && exec 2>/dev/null && "
	    "objcopy --only-keep-debug own own.debug && "
	    "objcopy --strip-all --add-gnu-debuglink=own.debug own",
	    directory));
}

static void
assert_marker(const char *directory, const char *debug_directory,
              const char *expected)
{
	char path[PATH_MAX];
	struct module_symbols *module;

	snprintf(path, sizeof path, "%s/own", directory);
	module = module_of(path, NULL, 0, debug_directory,
	                   MODULE_SYMBOLS_READ);
	assert_name(module, own_address(static_marker), expected);
	module_symbols_free(module);
}

static void
debug_link_is_followed_if_the_build_id_agrees(void **state)
{
	char directory[64];

	(void)state;
	make_copy(directory, "");
	strip_copy(directory);
	assert_marker(directory, NULL, "static_marker");
	assert_true(run("mkdir %s/.debug && mv %s/own.debug %s/.debug/",
	                directory, directory, directory));
	assert_marker(directory, NULL, "static_marker");
	assert_true(run("objcopy --remove-section .note.gnu.build-id "
	    "%s/.debug/own.debug 2>/dev/null", directory));
	assert_marker(directory, NULL, "");
	remove_copy(directory);
}

static void
debug_link_is_followed_if_the_checksum_agrees(void **state)
{
	char directory[64], global[80];

	(void)state;
	make_copy(directory, "--remove-section .note.gnu.build-id");
	strip_copy(directory);
	assert_marker(directory, NULL, "static_marker");
	assert_true(run("mkdir -p %s/global%s", directory, directory));
	assert_true(run("mv %s/own.debug %s/global%s/", directory, directory,
	                directory));
	assert_marker(directory, NULL, "");
	snprintf(global, sizeof global, "%s/global", directory);
	assert_marker(directory, global, "static_marker");
	assert_true(run("echo >>%s%s/own.debug", global, directory));
	assert_marker(directory, global, "");
	remove_copy(directory);
}

/* As on another machine: program and debug file lie below a directory. */
static void
modules_are_sought_below_a_root_first(void **state)
{
	struct error error = { 0 };
	struct symbol_search search = { .debug_directory = "/debug" };
	enum module_symbols_state answer;
	struct module_symbols *module;
	char directory[64];

	(void)state;
	make_copy(directory, "");
	strip_copy(directory);
	assert_true(run("cd %s && mkdir -p bin debug/bin && mv own bin/ && "
	    "mv own.debug debug/bin/", directory));
	search.root = directory;
	module = module_symbols_new("/bin/own", NULL, 0, &search, &error);
	assert_int_equal(module_symbols_read(module, &answer, &error), 0);
	assert_int_equal(answer, MODULE_SYMBOLS_READ);
	assert_name(module, own_address(static_marker), "static_marker");
	module_symbols_free(module);
	assert_true(run("mv %s/bin/own %s/", directory, directory));
	module = module_symbols_new("/elsewhere/own", NULL, 0, &search,
	                            &error);
	assert_int_equal(module_symbols_read(module, &answer, &error), 0);
	assert_int_equal(answer, MODULE_SYMBOLS_READ);
	module_symbols_free(module);
	assert_true(run("echo no program >%s/own", directory));
	module = module_symbols_new("/elsewhere/own", NULL, 0, &search,
	                            &error);
	assert_int_equal(module_symbols_read(module, &answer, &error), 0);
	assert_int_equal(answer, MODULE_SYMBOLS_UNREADABLE);
	module_symbols_free(module);
	remove_copy(directory);
}

static void
debug_file_is_found_by_build_id_alone(void **state)
{
	char directory[64], folder[PATH_MAX], path[PATH_MAX], hex[3];
	unsigned char id[BUILD_ID_MAX];
	struct elf_file file;
	struct module_symbols *module;
	size_t size;

	(void)state;
	assert_int_equal(elf_file_open(&file, own_path()), ELF_FILE_OPEN);
	size = elf_file_build_id(&file, id);
	elf_file_close(&file);
	if (size == 0)
		skip();
	make_copy(directory, "--only-keep-debug");
	snprintf(folder, sizeof folder, "%s/.build-id/%02x", directory, id[0]);
	strcpy(path, folder);
	strcat(path, "/");
	for (size_t i = 1; i < size; i++) {
		snprintf(hex, sizeof hex, "%02x", id[i]);
		strcat(path, hex);
	}
	assert_true(run("mkdir -p %s && mv %s/own %s.debug", folder,
	                directory, path));
	module = module_of("/gone/own", id, size, directory,
	                   MODULE_SYMBOLS_READ);
	assert_name(module, own_address(static_marker), "static_marker");
	module_symbols_free(module);
	id[size - 1] ^= 1;
	module_symbols_free(module_of("/gone/own", id, size, directory,
	                              MODULE_SYMBOLS_MISSING));
	remove_copy(directory);
}

/* Functions without symbols */

/* libgcc's: the unwind table of an address, and where its function starts. */
struct dwarf_eh_bases {
	void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);

static struct symbol_table *
ranges_of(const struct elf_file *file)
{
	struct error error = { 0 };
	struct symbol_table *ranges = symbol_table_new(&error);

	assert_int_equal(function_ranges_add(ranges, file, &error), 0);
	assert_int_equal(symbol_table_sort(ranges, &error), 0);
	return ranges;
}

static void
function_ranges_agree_with_libgcc_all_over_libc(void **state)
{
	struct link_map *map = dlopen("libc.so.6", RTLD_NOW);
	struct symbol_table *ranges;
	struct elf_file file;
	size_t n_inside = 0, n_outside = 0;
	GElf_Shdr text;

	(void)state;
	assert_non_null(map);
	assert_int_equal(elf_file_open(&file, map->l_name), ELF_FILE_OPEN);
	assert_non_null(elf_file_named_section(&file, ".text", &text));
	ranges = ranges_of(&file);
	for (uint64_t i = 0; i < text.sh_size; i++) {
		uint64_t address = text.sh_addr + i;
		const struct symbol *range = symbol_table_find(ranges,
		                                               address);
		struct dwarf_eh_bases bases;

		if (_Unwind_Find_FDE((void *)(map->l_addr + address),
		                     &bases) == NULL) {
			assert_null(range);
			n_outside++;
			continue;
		}
		assert_non_null(range);
		assert_int_equal(range->start,
		    (uintptr_t)bases.function - map->l_addr);
		n_inside++;
	}
	assert_true(n_inside > text.sh_size / 2);
	assert_true(n_outside > 0);
	symbol_table_free(ranges);
	elf_file_close(&file);
	dlclose(map);
}

/* An .eh_frame in the making. */
struct eh_frame {
	unsigned char bytes[512];
	size_t n;
};

static void
put(struct eh_frame *frame, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		frame->bytes[frame->n++] = (unsigned char)(number >> 8 * i);
}

/* Returns its offset. */
static size_t
put_cie(struct eh_frame *frame, unsigned version, const char *letters,
        const char *data, size_t size)
{
	size_t begin = frame->n, letters_size = strlen(letters) + 1;

	put(frame, 4 + 1 + letters_size + 3 + size, 4);
	put(frame, 0, 4);
	put(frame, version, 1);
	memcpy(frame->bytes + frame->n, letters, letters_size);
	frame->n += letters_size;
	put(frame, 1, 1);		/* unit of code, of data, and where */
	put(frame, 0x78, 1);		/* the return address is */
	put(frame, 16, 1);
	memcpy(frame->bytes + frame->n, data, size);
	frame->n += size;
	return begin;
}

static void
put_fde(struct eh_frame *frame, size_t cie, uint64_t start, uint64_t size,
        size_t number_size)
{
	put(frame, 4 + 2 * number_size, 4);
	put(frame, frame->n - cie, 4);
	put(frame, start, number_size);
	put(frame, size, number_size);
}

/* A copy of this program with that .eh_frame. */
static struct symbol_table *
ranges_in(const struct eh_frame *frame)
{
	char directory[64], path[PATH_MAX];
	struct symbol_table *ranges;
	struct elf_file elf;
	FILE *file;

	make_copy(directory, "--strip-all");
	snprintf(path, sizeof path, "%s/section", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(frame->bytes, 1, frame->n, file),
	                 frame->n);
	assert_int_equal(fclose(file), 0);
	assert_true(run("objcopy --update-section .eh_frame=%s %s/own "
	    "2>/dev/null", path, directory));
	snprintf(path, sizeof path, "%s/own", directory);
	assert_int_equal(elf_file_open(&elf, path), ELF_FILE_OPEN);
	ranges = ranges_of(&elf);
	elf_file_close(&elf);
	remove_copy(directory);
	return ranges;
}

static void
assert_range(const struct symbol_table *ranges, uint64_t start, uint64_t end)
{
	const struct symbol *range = symbol_table_find(ranges, start);

	assert_non_null(range);
	assert_int_equal(range->start, start);
	assert_ptr_equal(symbol_table_find(ranges, end - 1), range);
	assert_null(symbol_table_find(ranges, start - 1));
	assert_null(symbol_table_find(ranges, end));
}

static void
function_ranges_reads_every_known_form(void **state)
{
	struct eh_frame frame = { 0 };
	struct symbol_table *ranges;
	size_t cie;

	(void)state;
	cie = put_cie(&frame, 1, "", "", 0);
	put_fde(&frame, cie, 0x1000000, 0x40, 8);
	put(&frame, 0, 4);		/* the end of one object's list */
	cie = put_cie(&frame, 3, "zPLR", "\x0c" "\x00" "personal"
	                                   "\x1b" "\x03", 12);
	put_fde(&frame, cie, 0x2000000, 0x10, 4);
	cie = put_cie(&frame, 1, "zRSB", "\x01" "\x0a", 2);
	put_fde(&frame, cie, 0x7000, 0x20, 2);
	put(&frame, UINT32_MAX, 4);
	put(&frame, 8, 8);
	put(&frame, frame.n - cie, 4);
	put(&frame, 0x6000, 2);
	put(&frame, 0x30, 2);
	ranges = ranges_in(&frame);
	assert_int_equal(symbol_table_count(ranges), 4);
	assert_range(ranges, 0x1000000, 0x1000040);
	assert_range(ranges, 0x2000000, 0x2000010);
	assert_range(ranges, 0x7000, 0x7020);
	assert_range(ranges, 0x6000, 0x6030);
	symbol_table_free(ranges);
}

static void
function_ranges_passes_over_what_it_does_not_know(void **state)
{
	struct eh_frame frame = { 0 };
	struct symbol_table *ranges;
	size_t cie;

	(void)state;
	cie = put_cie(&frame, 9, "", "", 0);
	put_fde(&frame, cie, 0x1000, 0x10, 8);
	cie = put_cie(&frame, 1, "zX", "\x00", 1);
	put_fde(&frame, cie, 0x2000, 0x10, 8);
	cie = put_cie(&frame, 1, "zR", "\x01" "\x9b", 2);	/* indirect */
	put_fde(&frame, cie, 0x3000, 0x10, 8);
	cie = put_cie(&frame, 1, "zR", "\x01" "\x01", 2);	/* LEB128 */
	put_fde(&frame, cie, 0x4000, 0x10, 8);
	cie = put_cie(&frame, 1, "zLLLLLLLLR", "\x01" "\x00", 2);
	put_fde(&frame, cie, 0x5000, 0x10, 8);
	cie = put_cie(&frame, 1, "", "", 0);
	put_fde(&frame, cie, 0x6000, 0, 8);
	put_fde(&frame, cie, UINT64_MAX - 8, 16, 8);
	put_fde(&frame, cie + 4, 0x7000, 0x10, 8);
	put_fde(&frame, frame.n + 5, 0x7000, 0x10, 8);
	put_fde(&frame, cie, 0x8000, 0x10, 4);	/* cut off */
	put_fde(&frame, cie, 0x9000, 0x10, 8);
	put(&frame, 100, 4);		/* beyond the section */
	put(&frame, frame.n - cie, 4);
	put(&frame, 0xa000, 8);
	put(&frame, 0x10, 8);
	ranges = ranges_in(&frame);
	assert_int_equal(symbol_table_count(ranges), 1);
	assert_range(ranges, 0x9000, 0x9010);
	symbol_table_free(ranges);
}

static void
assert_frame(const struct profile *profile, uint32_t frame, uint64_t address,
             uint64_t shown)
{
	uint32_t location = profile->frames[frame].first_location;
	char expected[32];

	snprintf(expected, sizeof expected, "own+0x%llx",
	         (unsigned long long)shown);
	assert_string_equal(expected, names_text(profile->names,
	    profile->locations[location].function));
	assert_int_equal(profile->frames[frame].address, address);
}

static void
stripped_functions_are_one_name_each(void **state)
{
	const uint64_t marker = own_address(static_marker);
	const uint64_t other = own_address(global_marker);
	const uint64_t addresses[] = { marker, marker + 1, other, other + 2,
		1, 2, UINT64_MAX };
	const uint64_t shown[] = { marker, marker, other, other,
		1, 2, UINT64_MAX };
	struct error error = { 0 };
	struct address_frames *frames = address_frames_new(&error);
	struct profile *profile = profile_new(&error);
	char directory[64], path[PATH_MAX];

	(void)state;
	make_copy(directory, "--strip-all");
	snprintf(path, sizeof path, "%s/own", directory);
	assert_int_equal(profile_add_module(profile, path, NULL, 0, &error),
	                 0);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(address_frames_add(frames, 0, addresses[i],
		                                    &error), i);
	assert_int_equal(address_frames_finish(frames, profile, NULL, &error),
	                 0);
	for (uint32_t i = 0; i < 7; i++)
		assert_frame(profile, i, addresses[i], shown[i]);
	address_frames_free(frames);
	profile_free(profile);
	remove_copy(directory);
}

static void
without_unwind_tables_each_address_stands_alone(void **state)
{
	struct module_symbols *module;
	char directory[64], path[PATH_MAX];

	(void)state;
	make_copy(directory, "--strip-all --remove-section .eh_frame "
	                     "--remove-section .eh_frame_hdr");
	snprintf(path, sizeof path, "%s/own", directory);
	module = module_of(path, NULL, 0, NULL, MODULE_SYMBOLS_READ);
	assert_name(module, own_address(static_marker), NULL);
	module_symbols_free(module);
	remove_copy(directory);
}

/* The only symbol is at the start of .text, and would reach to its end. */
static void
symbols_without_size_end_where_other_functions_start(void **state)
{
	struct module_symbols *module;
	struct elf_file file;
	char directory[64], path[PATH_MAX];
	GElf_Shdr text;

	(void)state;
	assert_int_equal(elf_file_open(&file, own_path()), ELF_FILE_OPEN);
	assert_non_null(elf_file_named_section(&file, ".text", &text));
	elf_file_close(&file);
	make_copy(directory,
	          "--strip-all --add-symbol first=.text:0,function");
	snprintf(path, sizeof path, "%s/own", directory);
	module = module_of(path, NULL, 0, NULL, MODULE_SYMBOLS_READ);
	assert_name(module, text.sh_addr, "first");
	assert_name(module, text.sh_addr + 1, "first");
	assert_name(module, own_address(static_marker), "");
	module_symbols_free(module);
	remove_copy(directory);
}

/* Damaged modules */

/* Reads a module and asks about many addresses; the answers do not matter. */
static void
read_image(const unsigned char *image, size_t size)
{
	const struct symbol_search nowhere = { .debug_directory = "/nowhere" };
	char path[64];
	struct error error = { 0 };
	enum module_symbols_state state;
	struct module_symbols *module;
	int descriptor = memfd_create("module", 0);

	assert_true(descriptor >= 0);
	assert_int_equal(write(descriptor, image, size), (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
	module = module_symbols_new(path, NULL, 0, &nowhere, &error);
	assert_int_equal(module_symbols_read(module, &state, &error), 0);
	for (uint64_t address = 0; address < size; address += 64) {
		const struct symbol *symbol = symbol_at(module, address);

		if (symbol != NULL)
			free(module_symbols_name(symbol, &error));
	}
	assert_false(error.is_set);
	module_symbols_free(module);
	close(descriptor);
}

static size_t
vdso_image(unsigned char **image)
{
	const unsigned char *base =
	    (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
	size_t size;

	if (base == NULL)
		skip();
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	*image = malloc(size);
	memcpy(*image, base, size);
	return size;
}

static void
module_symbols_survives_truncation_at_every_byte(void **state)
{
	unsigned char *image;
	size_t size = vdso_image(&image);

	(void)state;
	for (size_t i = 0; i < size; i++)
		read_image(image, i);
	free(image);
}

static void
module_symbols_survives_damage_at_every_byte(void **state)
{
	unsigned char *image;
	size_t size = vdso_image(&image);

	(void)state;
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = image[i];

		image[i] = 0xff;
		read_image(image, size);
		image[i] = byte ^ 1;
		read_image(image, size);
		image[i] = byte;
	}
	free(image);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbol_table_knows_nothing_outside_symbols),
		cmocka_unit_test(
		    symbol_table_prefers_the_inner_of_nested_functions),
		cmocka_unit_test(
		    symbol_table_extends_unsized_symbols_to_the_next),
		cmocka_unit_test(
		    symbol_table_prefers_functions_over_labels_inside_them),
		cmocka_unit_test(symbol_table_chooses_one_alias_in_any_order),
		cmocka_unit_test(symbol_table_bounds_sizes_by_the_section),
		cmocka_unit_test(symbol_table_sorts_deep_nesting_fast),
		cmocka_unit_test(demangle_reads_cplusplus_rust_and_d),
		cmocka_unit_test(demangle_leaves_other_names),
		cmocka_unit_test(demangle_drops_versions_and_cold_parts),
		cmocka_unit_test(demangle_gives_up_text_that_doubles),
		cmocka_unit_test(demangle_survives_long_names),
		cmocka_unit_test(module_symbols_names_own_functions),
		cmocka_unit_test(module_symbols_names_libc),
		cmocka_unit_test(module_symbols_names_the_vdso),
		cmocka_unit_test(module_symbols_tells_why_there_are_none),
		cmocka_unit_test(module_cache_reads_each_module_once),
		cmocka_unit_test(module_symbols_names_plt_stubs),
		cmocka_unit_test(
		    debug_link_is_followed_if_the_build_id_agrees),
		cmocka_unit_test(
		    debug_link_is_followed_if_the_checksum_agrees),
		cmocka_unit_test(debug_file_is_found_by_build_id_alone),
		cmocka_unit_test(modules_are_sought_below_a_root_first),
		cmocka_unit_test(
		    function_ranges_agree_with_libgcc_all_over_libc),
		cmocka_unit_test(function_ranges_reads_every_known_form),
		cmocka_unit_test(
		    function_ranges_passes_over_what_it_does_not_know),
		cmocka_unit_test(stripped_functions_are_one_name_each),
		cmocka_unit_test(
		    without_unwind_tables_each_address_stands_alone),
		cmocka_unit_test(
		    symbols_without_size_end_where_other_functions_start),
		cmocka_unit_test(
		    module_symbols_survives_truncation_at_every_byte),
		cmocka_unit_test(module_symbols_survives_damage_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
