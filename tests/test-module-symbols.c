/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-module-symbols.c -- symbols of real modules: this program, its stripped
 * copies, libc, the vdso, and the vdso damaged in every place.
 */
#include "tests/module-fixture.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "src/symbols/elf/elf_file.h"
#include "src/symbols/names/program.h"

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
		skip_since("no vDSO");
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
	snprintf(text, sizeof text, "%s/tests/test-module-symbols.c",
	         source != NULL ? source : ".");
	module_symbols_free(module_of(text, NULL, 0, NULL,
	                              MODULE_SYMBOLS_UNREADABLE));
}

static void
module_cache_reads_each_module_once(void **state)
{
	struct error error = { 0 };
	struct module_cache *cache = module_cache_new(NULL, &error);
	const struct module there = { .path = own_path() };
	const struct module other = { .path = own_path(), .build_id = "id",
		.build_id_size = 2 };
	struct module_symbols *own, *gone;
	enum module_symbols_state how;
	bool is_first;

	(void)state;
	assert_non_null(cache);
	own = module_cache_get(cache, &there, &how, &is_first, &error);
	assert_true(is_first);
	assert_int_equal(how, MODULE_SYMBOLS_READ);
	gone = module_cache_get(cache, &other, &how, &is_first, &error);
	assert_true(is_first);
	assert_int_equal(how, MODULE_SYMBOLS_DIFFER);
	assert_ptr_not_equal(own, gone);
	assert_ptr_equal(own, module_cache_get(cache, &there, &how,
	    &is_first, &error));
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
 * Every stub of this program whose slot is filled must have the name under
 * which the loader finds the function in the slot.
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
	skip_since("not x86-64");
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

/* directory/own stripped, its symbols in directory/own.debug by link. */
static void
strip_copy(const char *directory)
{
	assert_true(run("cd %s && exec 2>/dev/null && "
	    "objcopy --only-keep-debug own own.debug && "
	    "objcopy --strip-all --add-gnu-debuglink=own.debug own",
	    directory));
}

/* expected: "" where only stubs have names. */
static void
assert_marker(const char *directory, const char *debug_directory,
              const char *expected)
{
	char path[PATH_MAX];
	struct module_symbols *module;

	snprintf(path, sizeof path, "%s/own", directory);
	module = module_of(path, NULL, 0, debug_directory,
	                   *expected != '\0' ? MODULE_SYMBOLS_READ :
	                   MODULE_SYMBOLS_NONE);
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
	assert_int_equal(answer, MODULE_SYMBOLS_NONE);
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
		skip_since("the linker gives no build-id");
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

/* One that was removed since, or that only another process sees. */
static void
held_debug_file_is_found_by_build_id(void **state)
{
	struct error error = { 0 };
	struct held_files held = { 0 };
	struct symbol_search search = { .debug_directory = "/nowhere" };
	char directory[64], path[PATH_MAX];
	int fd;

	(void)state;
	make_copy(directory, "");
	strip_copy(directory);
	snprintf(path, sizeof path, "%s/own.debug", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	held = (struct held_files){ &fd, 1 };
	snprintf(path, sizeof path, "%s/own", directory);
	for (int holds = 0; holds < 2; holds++) {
		enum module_symbols_state answer;
		struct module_symbols *module;

		search.held = holds ? &held : NULL;
		module = module_symbols_new(path, NULL, 0, &search, &error);
		assert_int_equal(module_symbols_read(module, &answer, &error),
		                 0);
		assert_int_equal(answer, holds ? MODULE_SYMBOLS_READ :
		                 MODULE_SYMBOLS_NONE);
		module_symbols_free(module);
	}
	close(fd);
	remove_copy(directory);
}

/* Damaged modules */

/* Reads a module and looks up many addresses; the answers do not matter. */
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
		skip_since("no vDSO");
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
		cmocka_unit_test(held_debug_file_is_found_by_build_id),
		cmocka_unit_test(modules_are_sought_below_a_root_first),
		cmocka_unit_test(
		    module_symbols_survives_truncation_at_every_byte),
		cmocka_unit_test(module_symbols_survives_damage_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
