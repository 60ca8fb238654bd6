/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-address-lines.c -- what a profile gets from debug information, wherever
 * that lies and whatever its state.
 */
#include "tests/module-fixture.h"
#include "tests/skip.h"

#include <sys/mman.h>

#include "src/base/progress.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/lines/address_lines.h"
#include "src/symbols/lines/debug_lines.h"
#include "src/symbols/names/address_frames.h"

enum { STEP = 5, TEXT_MAX = 1 << 20 };

/* Makes a directory with "program", compiled from tests/programs/SOURCE. */
static void
make_program(char *directory, const char *command, const char *source)
{
	umask(022);	/* profiles name it: see make_copy */
	strcpy(directory, "/tmp/test-lines.XXXXXX");
	assert_non_null(mkdtemp(directory));
	if (!run("%.10s --version >/dev/null 2>&1", command) ||
	    !run("objcopy --version >/dev/null 2>&1"))
		skip_since("%s or objcopy not found", command);
	assert_true(run("%s -o %s/program '%s/tests/programs/%s' 2>/dev/null",
	                command, directory, getenv("srcdir"), source));
}

/*
 * A profile in which each STEP-th address of the code is a stack with one hit.
 */
static struct profile *
profile_of(const char *code, const char *path, const void *id, uint32_t size)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct tree_builder *builder = tree_builder_new(1, &error);
	struct address_frames *frames = address_frames_new(&error);
	struct elf_file file;
	GElf_Shdr text;

	profile_add_resource(profile, "cpu", "us", 1, &error);
	profile_add_module(profile, path, id, size, &error);
	assert_int_equal(elf_file_open(&file, code), ELF_FILE_OPEN);
	assert_non_null(elf_file_named_section(&file, ".text", &text));
	elf_file_close(&file);
	for (uint64_t at = 0; at < text.sh_size; at += STEP) {
		uint32_t frame = address_frames_add(frames, 0,
		    text.sh_addr + at, &error);
		uint32_t node = tree_builder_child(builder, NO_NODE, frame,
		                                   &error);

		tree_builder_add(builder, node, 0, 1, 1, &error);
	}
	profile->tree = tree_builder_finish(builder, &error);
	assert_int_equal(address_frames_finish(frames, profile, NULL, &error),
	                 0);
	address_frames_free(frames);
	tree_builder_free(builder);
	profile->n_warnings = 0;	/* of symbols */
	return profile;
}

static struct address_lines *
new_lines(const struct symbol_search *search)
{
	struct error error = { 0 };
	struct address_lines *lines = address_lines_new(search, &error);

	assert_non_null(lines);
	return lines;
}

static void
apply(struct address_lines *lines, struct profile *profile)
{
	struct error error = { 0 };

	if (address_lines_apply(lines, profile, LINES_ALL, NULL, &error) != 0)
		fail_msg("%s", error.text);
}

/* All frames with lines, "function file:line < ..." each; to be freed. */
static char *
describe(const struct profile *profile)
{
	char *text = calloc(1, TEXT_MAX), *end = text;

	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		if (!frame->has_debug_lines)
			continue;
		for (uint32_t k = 0; k < frame->n_locations; k++) {
			const struct location *at =
			    &profile->locations[frame->first_location + k];

			end += snprintf(end, 2000, "%s %s:%u < ",
			    names_text(profile->names, at->function),
			    at->file == NO_NAME ? "?" :
			    names_text(profile->names, at->file), at->line);
			assert_true(end < text + TEXT_MAX - 4000);
		}
		end += sprintf(end, "%llx\n",
		               (unsigned long long)frame->address);
	}
	return text;
}

static uint32_t
count_with_lines(const struct profile *profile)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->n_frames; i++)
		n += profile->frames[i].has_debug_lines;
	return n;
}

/* Describes the program in the directory by its own debug information. */
static char *
expected_of(const char *directory)
{
	struct address_lines *lines = new_lines(NULL);
	char path[80], *text;
	struct profile *profile;

	snprintf(path, sizeof path, "%s/program", directory);
	profile = profile_of(path, path, NULL, 0);
	apply(lines, profile);
	assert_true(count_with_lines(profile) > profile->n_frames / 2);
	assert_int_equal(profile->n_warnings, 0);
	text = describe(profile);
	profile_free(profile);
	address_lines_free(lines);
	return text;
}

/* Prints the first difference instead of both texts. */
static void
assert_same_lines(const char *text, const char *expected)
{
	while (*text != '\0' || *expected != '\0') {
		size_t n = strcspn(text, "\n"), m = strcspn(expected, "\n");

		if (n != m || memcmp(text, expected, n) != 0)
			fail_msg("%.*s\n--- expected:\n%.*s", (int)n, text,
			         (int)m, expected);
		text += n + (text[n] != '\0');
		expected += m + (expected[m] != '\0');
	}
}

/* Expects these lines of the program with this search. */
static void
assert_described(const char *code, const char *path, const void *id,
                 uint32_t id_size, const struct symbol_search *search,
                 const char *expected)
{
	struct address_lines *lines = new_lines(search);
	struct profile *profile = profile_of(code, path, id, id_size);
	char *text;

	apply(lines, profile);
	text = describe(profile);
	assert_same_lines(text, expected);
	free(text);
	profile_free(profile);
	address_lines_free(lines);
}

static void
lines_come_from_wherever_debug_information_lies(void **state)
{
	char directory[64], path[80], folder[100], *expected;
	unsigned char id[BUILD_ID_MAX];
	struct symbol_search search = { 0 };
	struct elf_file file;
	size_t size;

	(void)state;
	make_program(directory, "c++ -O2 -g", "inlines.cc");
	expected = expected_of(directory);
	snprintf(path, sizeof path, "%s/program", directory);
	assert_int_equal(elf_file_open(&file, path), ELF_FILE_OPEN);
	size = elf_file_build_id(&file, id);
	elf_file_close(&file);

	/* Symbols are kept, so the names stay. */
	assert_true(run("cd %s && objcopy --only-keep-debug program x.debug && "
	    "objcopy --strip-debug --add-gnu-debuglink=x.debug program",
	    directory));
	assert_described(path, path, id, (uint32_t)size, NULL, expected);
	if (size > 0) {
		snprintf(folder, sizeof folder, "%s/usr/lib/debug/.build-id/"
		         "%02x", directory, id[0]);
		assert_true(run("mkdir -p %s && cd %s && mv %s/x.debug "
		    "$(readelf -n %s | sed -n 's/.*Build ID: ..//p').debug",
		    folder, folder, directory, path));
		search.root = directory;
		assert_described(path, path, id, (uint32_t)size, &search,
		                 expected);
		assert_described(path, path, id, (uint32_t)size, NULL, "");
	}
	free(expected);
	remove_copy(directory);
}

static void
lines_of_another_build_are_not_used(void **state)
{
	char directory[64], path[80];
	struct address_lines *lines = new_lines(NULL);
	struct profile *profile;

	(void)state;
	make_program(directory, "cc -O2 -g", "inlines.c");
	snprintf(path, sizeof path, "%s/program", directory);
	profile = profile_of(path, path, "another", 7);
	apply(lines, profile);
	assert_int_equal(count_with_lines(profile), 0);
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0], "no debug information for "
	    "program; their lines and inlined calls are not shown");
	profile_free(profile);
	address_lines_free(lines);
	remove_copy(directory);
}

static void
lines_are_read_once(void **state)
{
	char directory[64], path[80], *first, *second;
	struct address_lines *lines = new_lines(NULL);
	struct profile *a, *b;

	(void)state;
	make_program(directory, "c++ -O2 -g", "inlines.cc");
	snprintf(path, sizeof path, "%s/program", directory);
	a = profile_of(path, path, NULL, 0);
	b = profile_of(path, path, NULL, 0);
	apply(lines, a);
	first = describe(a);
	remove_copy(directory);
	apply(lines, a);
	apply(lines, b);
	second = describe(b);
	assert_same_lines(first, second);
	assert_int_equal(a->n_warnings + b->n_warnings, 0);
	free(first);
	free(second);
	profile_free(a);
	profile_free(b);
	address_lines_free(lines);
}

static void
functions_keep_their_names_and_hits(void **state)
{
	char directory[64], path[80];
	struct address_lines *lines = new_lines(NULL);
	struct profile *profile, *without;
	uint32_t n_inlined = 0;

	(void)state;
	make_program(directory, "c++ -O2 -g", "inlines.cc");
	snprintf(path, sizeof path, "%s/program", directory);
	profile = profile_of(path, path, NULL, 0);
	without = profile_of(path, path, NULL, 0);
	apply(lines, profile);
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		assert_string_equal(
		    names_text(profile->names, profile->locations[
		        frame->first_location].function),
		    names_text(without->names, without->locations[
		        without->frames[i].first_location].function));
		n_inlined += frame->n_locations > 1;
	}
	assert_true(n_inlined > profile->n_frames / 4);
	profile_free(profile);
	profile_free(without);
	address_lines_free(lines);
	remove_copy(directory);
}

/* Functions local to the file have no linkage name of their own. */
static void
inlined_functions_have_whole_names(void **state)
{
	char directory[64], *text;

	(void)state;
	make_program(directory, "c++ -O2 -g", "inlines.cc");
	text = expected_of(directory);
	remove_copy(directory);
	assert_non_null(strstr(text, " records::seen(unsigned long) /"));
	assert_non_null(strstr(text, " (anonymous namespace)::hidden /"));
	assert_non_null(strstr(text, " (anonymous namespace)::doubler<int>::"
	                             "twice /"));
	assert_non_null(strstr(text, "::{lambda}::operator() /"));
	assert_null(strstr(text, " hidden /"));
	assert_null(strstr(text, "< operator()"));
	/* Named as by its symbol, which it has because of the pointer. */
	assert_non_null(strstr(text, "< copied(int) /"));
	assert_null(strstr(text, "< copied /"));
	free(text);
}

static void
interrupted_reading_can_be_done_again(void **state)
{
	char directory[64], path[80];
	struct address_lines *lines = new_lines(NULL);
	struct error error = { 0 }, none = { 0 };
	struct profile *profile;

	(void)state;
	make_program(directory, "cc -O2 -g", "inlines.c");
	snprintf(path, sizeof path, "%s/program", directory);
	profile = profile_of(path, path, NULL, 0);
	interrupt_requested = 1;
	assert_int_equal(address_lines_apply(lines, profile, LINES_ALL, NULL, &error),
	                 -1);
	assert_string_equal(error.text, "interrupted");
	interrupt_requested = 0;
	assert_int_equal(address_lines_apply(lines, profile, LINES_ALL, NULL, &none), 0);
	assert_true(count_with_lines(profile) > 0);
	profile_free(profile);
	address_lines_free(lines);
	remove_copy(directory);
}

/* Supplementary files */

static void
lines_come_from_a_shared_supplementary_file(void **state)
{
	char directory[64], path[80], *expected;
	struct profile *profile;
	struct address_lines *lines = new_lines(NULL);

	(void)state;
	if (!run("dwz --version >/dev/null 2>&1"))
		skip_since("dwz not found");
	make_program(directory, "c++ -O2 -gdwarf-4", "inlines.cc");
	expected = expected_of(directory);
	snprintf(path, sizeof path, "%s/program", directory);
	assert_true(run("cd %s && cp program other && "
	    "dwz -m common -r program other", directory));
	assert_described(path, path, NULL, 0, NULL, expected);
	assert_true(run("mv %s/common %s/gone", directory, directory));
	profile = profile_of(path, path, NULL, 0);
	apply(lines, profile);
	assert_int_equal(count_with_lines(profile), 0);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "refers to a file"));
	profile_free(profile);
	address_lines_free(lines);
	free(expected);
	remove_copy(directory);
}

/* Damaged modules */

/* Makes a small program that is mostly code and debug information. */
static size_t
read_small_program(unsigned char **image)
{
	char directory[64], path[80];
	size_t size;
	FILE *file;

	make_program(directory, "cc -O2 -g -nostdlib -static -no-pie "
	    "-fno-asynchronous-unwind-tables -Wl,--build-id=none,-e,main",
	    "inlines.c");
	snprintf(path, sizeof path, "%s/program", directory);
	file = fopen(path, "r");
	assert_non_null(file);
	*image = malloc(1 << 20);
	size = fread(*image, 1, 1 << 20, file);
	fclose(file);
	remove_copy(directory);
	return size;
}

/*
 * Reads lines of an image; returns the number of warnings, or UINT32_MAX if
 * there are no lines.
 */
static uint32_t
warnings_of_image(const unsigned char *image, size_t size)
{
	const uint64_t base = 0x401000;
	struct address_lines *lines = new_lines(NULL);
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct location nothing = { names_add(profile->names, "f", 1, &error),
		NO_NAME, 0, NO_NAME, 0, 0 };
	int descriptor = memfd_create("module", 0);
	uint32_t result;
	char path[64];

	assert_int_equal(write(descriptor, image, size), (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
	profile_add_module(profile, path, NULL, 0, &error);
	for (uint64_t at = base; at < base + 0x300; at += STEP)
		profile_add_frame(profile, 0, at, &nothing, 1, &error);
	apply(lines, profile);
	result = profile->n_warnings > 0 || count_with_lines(profile) > 0 ?
	    profile->n_warnings : UINT32_MAX;
	profile_free(profile);
	address_lines_free(lines);
	close(descriptor);
	return result;
}

static void
a_file_that_is_cut_does_no_harm(void **state)
{
	enum { CUTS = 400 };
	unsigned char *image;
	size_t size = read_small_program(&image);

	(void)state;
	assert_int_equal(warnings_of_image(image, size), 0);
	for (size_t i = 0; i < CUTS; i++)
		assert_int_equal(warnings_of_image(image, size * i / CUTS), 1);
	free(image);
}

/* Damages only some of the many places, since each takes a process. */
static void
a_damaged_file_does_no_harm(void **state)
{
	static const unsigned char values[] = { 0x00, 0x7f, 0x80, 0xff };
	enum { PLACES = 400 };
	unsigned char *image;
	size_t size = read_small_program(&image);

	(void)state;
	skip_if_quick();
	for (size_t i = 0; i < PLACES; i++) {
		size_t at = size * i / PLACES;
		unsigned char before = image[at];

		image[at] = values[i % 4];
		assert_in_range(warnings_of_image(image, size) + 1, 0, 2);
		image[at] = before;
	}
	free(image);
}

/* Frames of two copies of a program: n of the first, 2 of the second. */
static struct profile *
profile_of_two(const char *directory, uint32_t n, uint32_t offset)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct location location = { 0, NO_NAME, 0, NO_NAME, 0, 0 };

	location.function = names_add(profile->names, "f", 1, &error);
	for (uint32_t module = 0; module < 2; module++) {
		char path[80];

		snprintf(path, sizeof path, "%s/%s", directory,
		         module == 0 ? "program" : "copy");
		profile_add_module(profile, path, NULL, 0, &error);
		for (uint32_t i = 0; i < (module == 0 ? n : 2); i++) {
			uint32_t frame = profile_add_frame(profile, module,
			    0x1000 + i, &location, 1, &error);

			profile->frames[frame].function_offset = offset;
		}
	}
	assert_false(error.is_set);
	return profile;
}

/* Which of the two are chosen: 1, 2, or their sum. */
static int
chosen(const char *directory, uint32_t n, uint32_t offset, uint64_t most,
       uint64_t deferred[2])
{
	const struct symbol_search search = { 0 };
	struct profile *profile = profile_of_two(directory, n, offset);
	struct error error = { 0 };
	int result;

	/* The second time changes nothing. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(lines_choose(profile, &search, most, &error),
		                 0);
	result = !profile->frames[0].is_deferred +
	    2 * !profile->frames[n].is_deferred;
	assert_int_equal(profile->frames[0].is_deferred,
	                 profile->frames[n - 1].is_deferred);
	for (int i = 0; i < 2; i++)
		deferred[i] = profile->modules[i].deferred_bytes;
	profile_free(profile);
	return result;
}

static void
what_is_read_with_a_profile_is_chosen_by_size_and_frames(void **state)
{
	char directory[40], path[80];
	uint64_t size, deferred[2];
	struct elf_file file;

	(void)state;
	make_program(directory, "cc -O2 -g", "inlines.c");
	assert_true(run("cp %s/program %s/copy", directory, directory));
	snprintf(path, sizeof path, "%s/program", directory);
	assert_int_equal(elf_file_open(&file, path), ELF_FILE_OPEN);
	size = debug_lines_size(&file);
	elf_file_close(&file);
	assert_in_range(size, 1000, 1 << 20);

	assert_int_equal(chosen(directory, 3, 0, 2 * size, deferred), 3);
	assert_int_equal(deferred[0] + deferred[1], 0);
	/* With room for one, that with more frames; of equals by path. */
	assert_int_equal(chosen(directory, 3, 0, 2 * size - 1, deferred), 1);
	assert_int_equal(deferred[0], 0);
	assert_int_equal(deferred[1], size);
	assert_int_equal(chosen(directory, 1, 0, size, deferred), 2);
	assert_int_equal(chosen(directory, 2, 0, size, deferred), 2);
	assert_int_equal(chosen(directory, 3, 0, size - 1, deferred), 0);
	assert_int_equal(deferred[0] + deferred[1], 2 * size);
	/* Without a known build, only if names come from the file. */
	assert_int_equal(chosen(directory, 3, NO_OFFSET, 2 * size, deferred),
	                 0);
	assert_int_equal(deferred[0] + deferred[1], 0);
	/* Without debug information nothing is hidden. */
	assert_true(run("objcopy --strip-debug %s/program", directory));
	assert_int_equal(chosen(directory, 3, 0, size, deferred), 2);
	assert_int_equal(deferred[0] + deferred[1], 0);
	run("rm -r %s", directory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    lines_come_from_wherever_debug_information_lies),
		cmocka_unit_test(lines_of_another_build_are_not_used),
		cmocka_unit_test(lines_are_read_once),
		cmocka_unit_test(functions_keep_their_names_and_hits),
		cmocka_unit_test(inlined_functions_have_whole_names),
		cmocka_unit_test(interrupted_reading_can_be_done_again),
		cmocka_unit_test(lines_come_from_a_shared_supplementary_file),
		cmocka_unit_test(a_file_that_is_cut_does_no_harm),
		cmocka_unit_test(a_damaged_file_does_no_harm),
		cmocka_unit_test(
		    what_is_read_with_a_profile_is_chosen_by_size_and_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
