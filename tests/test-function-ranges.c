/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-function-ranges.c -- functions with unwind tables but no symbols. */
#include "tests/module-fixture.h"

#include "src/symbols/elf/elf_file.h"
#include "src/symbols/names/address_frames.h"
#include "src/symbols/unwind/stack_unwinder.h"

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

	assert_int_equal(unwind_ranges_add(ranges, file, &error), 0);
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

/* An .eh_frame being built. */
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
	cie = put_cie(&frame, 3, "zPLR", "\x0b" "\x00" "personal"
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
without_unwind_tables_code_tells_where_functions_start(void **state)
{
	const uint64_t start = own_address(static_marker);
	struct module_symbols *module;
	char directory[64], path[PATH_MAX];

	(void)state;
	make_copy(directory, "--strip-all --remove-section .eh_frame "
	                     "--remove-section .eh_frame_hdr");
	snprintf(path, sizeof path, "%s/own", directory);
	module = module_of(path, NULL, 0, NULL, MODULE_SYMBOLS_NONE);
#if defined __x86_64__
	assert_name(module, start, "");
	assert_int_equal(symbol_at(module, start)->start, start);
	assert_ptr_equal(symbol_at(module, start + 1),
	                 symbol_at(module, start));
#else
	assert_name(module, start, NULL);
#endif
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    function_ranges_agree_with_libgcc_all_over_libc),
		cmocka_unit_test(function_ranges_reads_every_known_form),
		cmocka_unit_test(
		    function_ranges_passes_over_what_it_does_not_know),
		cmocka_unit_test(stripped_functions_are_one_name_each),
		cmocka_unit_test(
		    without_unwind_tables_code_tells_where_functions_start),
		cmocka_unit_test(
		    symbols_without_size_end_where_other_functions_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
