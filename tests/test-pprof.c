/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-pprof.c -- profiles made by hand, good, odd, damaged and cut. */
#include "tests/reader-fixture.h"

#include <link.h>
#include <sys/auxv.h>
#include <zlib.h>

extern const struct format format_pprof;

/* ---- writing protobufs ---- */

static void
put_varint(struct buffer *buffer, uint64_t value)
{
	do {
		buffer_number(buffer, (value & 0x7f) |
		              (value > 0x7f ? 0x80 : 0), 1);
		value >>= 7;
	} while (value > 0);
}

static void
put_number(struct buffer *buffer, uint32_t field, uint64_t value)
{
	put_varint(buffer, field << 3);
	put_varint(buffer, value);
}

static void
put_bytes(struct buffer *buffer, uint32_t field, const void *bytes, size_t n)
{
	put_varint(buffer, field << 3 | 2);
	put_varint(buffer, n);
	buffer_add(buffer, bytes, n);
}

/* A message of numbers: field, value pairs up to field 0. */
static void
put_message(struct buffer *buffer, uint32_t field, const uint64_t *pairs)
{
	struct buffer message = { .n = 0 };

	for (; *pairs != 0; pairs += 2)
		put_number(&message, (uint32_t)pairs[0], pairs[1]);
	put_bytes(buffer, field, message.bytes, message.n);
}

#define MESSAGE(buffer, field, ...) \
	put_message(buffer, field, (const uint64_t[]){ __VA_ARGS__, 0 })

/* ---- pieces of profiles ---- */

enum { TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, TIME = 9,
       DURATION = 10, COMMENT = 13, DEFAULT = 14 };

/* Strings by number; 0 is empty. */
enum { S_NONE, S_SAMPLES, S_COUNT, S_CPU, S_NANOSECONDS, S_MAIN, S_WORK,
       S_INLINED, S_FILE, S_PATH, S_THREAD, S_ONE, S_TWO, S_MANGLED, S_ID,
       S_OTHER, S_BYTES };

static const char *const strings[] = { "", "samples", "count", "cpu",
	"nanoseconds", "main", "work", "inlined", "work.c", "/gone/prog",
	"thread", "one", "two", "_ZN1a1bEi", "0a0b", "other", "bytes", NULL };

static void
put_strings(struct buffer *buffer)
{
	for (size_t i = 0; strings[i] != NULL; i++)
		put_bytes(buffer, STRING, strings[i], strlen(strings[i]));
}

static void
put_types(struct buffer *buffer)
{
	MESSAGE(buffer, TYPE, 1, S_SAMPLES, 2, S_COUNT);
	MESSAGE(buffer, TYPE, 1, S_CPU, 2, S_NANOSECONDS);
}

/* A sample of packed locations, ended by 0, innermost first; thread 0: none. */
static void
put_sample(struct buffer *buffer, const uint64_t *ids, uint64_t count,
           uint64_t thread)
{
	struct buffer message = { .n = 0 }, packed = { .n = 0 };

	for (; *ids != 0; ids++)
		put_varint(&packed, *ids);
	put_bytes(&message, 1, packed.bytes, packed.n);
	packed.n = 0;
	put_varint(&packed, count);
	put_varint(&packed, count * 10);
	put_bytes(&message, 2, packed.bytes, packed.n);
	if (thread != 0)
		MESSAGE(&message, 3, 1, S_THREAD, 2, thread);
	put_bytes(buffer, SAMPLE, message.bytes, message.n);
}

#define IDS(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

/* Location `id` with lines of functions, innermost first. */
static void
put_location(struct buffer *buffer, uint64_t id, uint64_t mapping,
             const uint64_t *functions)
{
	struct buffer message = { .n = 0 };

	put_number(&message, 1, id);
	put_number(&message, 2, mapping);
	put_number(&message, 3, 0x401000 + id);
	for (; *functions != 0; functions++)
		MESSAGE(&message, 4, 1, *functions, 2, 10 + *functions);
	put_bytes(buffer, LOCATION, message.bytes, message.n);
}

/* Locations 1 main, 2 work with something inlined, 3 C++, 4 only an address. */
static void
put_tables(struct buffer *buffer)
{
	MESSAGE(buffer, MAPPING, 1, 1, 2, 0x401000, 3, 0x409000, 4, 0x1000,
	        5, S_PATH, 6, S_ID);
	put_location(buffer, 1, 1, IDS(1));
	put_location(buffer, 2, 1, IDS(3, 2));
	put_location(buffer, 3, 0, IDS(4));
	put_location(buffer, 4, 1, (const uint64_t[]){ 0 });
	MESSAGE(buffer, FUNCTION, 1, 1, 2, S_MAIN, 4, S_FILE);
	MESSAGE(buffer, FUNCTION, 1, 2, 2, S_WORK, 4, S_FILE);
	MESSAGE(buffer, FUNCTION, 1, 3, 2, S_INLINED);
	MESSAGE(buffer, FUNCTION, 1, 4, 3, S_MANGLED);
}

static void
put_profile(struct buffer *buffer)
{
	put_types(buffer);
	put_sample(buffer, IDS(2, 1), 3, S_ONE);
	put_sample(buffer, IDS(3, 2, 1), 4, S_TWO);
	put_sample(buffer, IDS(4, 1), 1, S_ONE);
	put_sample(buffer, IDS(1), 2, 0);
	put_tables(buffer);
	put_strings(buffer);
	put_number(buffer, TIME, 1000);
	put_number(buffer, DURATION, 500);
}

static struct profile *
read_buffer(const struct buffer *buffer)
{
	return must_read(&format_pprof, buffer->bytes, buffer->n);
}

static void
expect_error(const struct buffer *buffer, const char *expected)
{
	must_refuse(&format_pprof, buffer->bytes, buffer->n, expected);
}

/* ---- tests ---- */

static void
pprof_gives_stacks_resources_and_the_process(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_profile(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[0].name, "cpu");
	assert_string_equal(profile->resources[0].gtick, "nanosecond");
	assert_string_equal(profile->resources[1].name, "samples");
	assert_string_equal(profile->resources[1].gtick, "");
	assert_int_equal(hits_of(profile, 0, "main;work|inlined"), 30);
	assert_int_equal(hits_of(profile, 1, "main;work|inlined"), 3);
	assert_int_equal(hits_of(profile, 0, "main;work|inlined;a::b(int)"),
	                 40);
	assert_int_equal(hits_of(profile, 1, "main;prog+0x1004"), 1);
	assert_int_equal(hits_of(profile, 1, "main"), 2);
	assert_string_equal(profile->processes[0].program, "/gone/prog");
	assert_int_equal(profile->processes[0].end_ns, 1500);
	assert_int_equal(profile->n_warnings, 1);	/* the module is gone */
	profile_free(profile);
}

static void
pprof_frames_keep_modules_addresses_files_and_lines(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;
	bool is_available = false;

	(void)state;
	put_profile(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_modules, 1);
	assert_int_equal(profile->modules[0].build_id_size, 2);
	assert_int_equal(profile->modules[0].build_id[1], 0x0b);
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		const struct location *l = &profile->locations[
		    frame->first_location];

		if (frame->n_locations != 2)
			continue;
		is_available = true;
		assert_int_equal(frame->address, 0x1002);
		assert_int_equal(frame->module, 0);
		assert_int_equal(l[0].line, 12);
		assert_string_equal(names_text(profile->names, l[0].file),
		                    "work.c");
		assert_int_equal(l[1].line, 13);
		assert_int_equal(l[1].file, NO_NAME);
	}
	assert_true(is_available);
	profile_free(profile);
}

/* Not where calls are inlined, of which the writer may lack some. */
static void
pprof_lines_that_the_writer_looked_up_are_final(void **state)
{
	(void)state;
	for (uint64_t has_lines = 0; has_lines < 2; has_lines++) {
		struct buffer buffer = { .n = 0 };
		struct profile *profile;
		uint32_t n = 0;

		put_types(&buffer);
		put_sample(&buffer, IDS(3, 2, 1), 1, 0);
		MESSAGE(&buffer, MAPPING, 1, 1, 2, 0x401000, 3, 0x409000,
		        5, S_PATH, 9, has_lines);
		put_location(&buffer, 1, 1, IDS(1));
		put_location(&buffer, 2, 1, IDS(3, 2));
		put_location(&buffer, 3, 0, IDS(1));
		MESSAGE(&buffer, FUNCTION, 1, 1, 2, S_MAIN);
		MESSAGE(&buffer, FUNCTION, 1, 2, 2, S_WORK);
		MESSAGE(&buffer, FUNCTION, 1, 3, 2, S_INLINED);
		put_strings(&buffer);
		profile = read_buffer(&buffer);
		for (uint32_t i = 0; i < profile->n_frames; i++) {
			const struct frame *frame = &profile->frames[i];

			assert_int_equal(frame->has_debug_lines,
			    has_lines && frame->module == 0 &&
			    frame->n_locations == 1);
			n += frame->has_debug_lines;
		}
		assert_int_equal(n, has_lines);
		profile_free(profile);
	}
}

static void
pprof_locations_keep_the_outermost_and_255_lines(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;
	const struct frame *frame;
	const struct location *locations;
	uint64_t functions[301] = { 0 };

	(void)state;
	functions[0] = 3;	/* innermost first */
	for (int i = 1; i < 299; i++)
		functions[i] = 2;
	functions[299] = 1;
	put_types(&buffer);
	put_tables(&buffer);
	put_location(&buffer, 5, 1, functions);
	put_sample(&buffer, IDS(5), 3, 0);
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	frame = &profile->frames[profile->tree->label[0]];
	locations = &profile->locations[frame->first_location];
	assert_int_equal(frame->n_locations, 256);
	assert_string_equal(names_text(profile->names, locations[0].function),
	                    "main");
	assert_string_equal(names_text(profile->names, locations[1].function),
	                    "work");
	assert_string_equal(names_text(profile->names,
	                               locations[255].function), "inlined");
	assert_non_null(strstr(profile->warnings[profile->n_warnings - 1],
	                       "300 inlined calls"));
	profile_free(profile);
}

static void
pprof_labels_of_threads_become_sections(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_profile(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_threads, 2);
	assert_string_equal(profile->threads[0].name, "one");
	assert_string_equal(profile->threads[1].name, "two");
	assert_int_equal(profile->n_sections, 3);
	assert_int_equal(profile->sections[2].thread, NO_THREAD);
	assert_int_equal(profile->sections[2].end, profile->tree->n_nodes);
	profile_free(profile);
}

static void
pprof_without_threads_has_no_sections(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_types(&buffer);
	put_sample(&buffer, IDS(1), 3, 0);
	put_tables(&buffer);
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_sections, 0);
	assert_int_equal(profile->tree->n_nodes, 1);
	assert_int_equal(profile->tree->deepest, 1);
	profile_free(profile);
}

static void
pprof_default_type_comes_first(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_profile(&buffer);
	put_number(&buffer, DEFAULT, S_SAMPLES);
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].name, "samples");
	assert_int_equal(hits_of(profile, 0, "main"), 2);
	assert_int_equal(hits_of(profile, 1, "main"), 20);
	profile_free(profile);
}

/*
 * cpprof's own export, which says so in comments, with the raw samples made
 * the default type: they are no resource, whichever column they are in.
 */
static void
pprof_raw_samples_of_our_own_may_come_first(void **state)
{
	static const char *const comments[] = { "# cpprof 1",
		"# resource: cpu; gtick=ns; interval=10" };

	(void)state;
	for (uint64_t type = S_SAMPLES; type <= S_CPU;
	     type += S_CPU - S_SAMPLES) {
		struct buffer buffer = { .n = 0 };
		struct profile *profile;
		uint64_t n = 0;

		put_profile(&buffer);
		while (strings[n] != NULL)
			n++;
		for (size_t i = 0; i < 2; i++) {
			put_bytes(&buffer, STRING, comments[i],
			          strlen(comments[i]));
			put_number(&buffer, COMMENT, n + i);
		}
		put_number(&buffer, DEFAULT, type);
		profile = read_buffer(&buffer);
		assert_int_equal(profile->n_resources, 1);
		assert_int_equal(profile->tree->n_resources, 1);
		assert_string_equal(profile->resources[0].name, "cpu");
		assert_string_equal(profile->resources[0].gtick, "ns");
		assert_int_equal(profile->resources[0].interval, 10);
		assert_int_equal(hits_of(profile, 0, "main;work|inlined"), 3);
		assert_int_equal(hits_of(profile, 0, "main"), 2);
		profile_free(profile);
	}
}

/*
 * Addresses of a mapping that begins where the file does lie elsewhere than
 * their bytes; a mapping of everything says that they are addresses already.
 */
static void
pprof_takes_addresses_of_a_mapping_of_everything_as_they_are(void **state)
{
	const ElfW(Phdr) *segment = (const void *)getauxval(AT_PHDR);
	unsigned long left = getauxval(AT_PHNUM);

	(void)state;
	while (left > 0 && (segment->p_type != PT_LOAD ||
	       segment->p_offset == segment->p_vaddr ||
	       segment->p_filesz == 0)) {
		segment++;
		left--;
	}
	if (left == 0)
		skip_since("this program lies in its file as in memory");
	for (int is_whole = 0; is_whole <= 1; is_whole++) {
		struct buffer buffer = { .n = 0 };
		struct buffer location = { .n = 0 };
		struct profile *profile;

		put_types(&buffer);
		put_sample(&buffer, IDS(4), 1, 0);
		MESSAGE(&buffer, MAPPING, 1, 1, 2, 0, 3, is_whole ?
		        UINT64_MAX : UINT64_MAX - 1, 4, 0, 5, S_PATH);
		put_number(&location, 1, 4);
		put_number(&location, 2, 1);
		put_number(&location, 3, segment->p_offset);
		put_bytes(&buffer, LOCATION, location.bytes, location.n);
		for (size_t i = 0; strings[i] != NULL; i++) {
			const char *text = i != S_PATH ? strings[i] :
			                   "/proc/self/exe";

			put_bytes(&buffer, STRING, text, strlen(text));
		}
		profile = read_buffer(&buffer);
		assert_int_equal(profile->frames[0].module, 0);
		assert_int_equal(profile->frames[0].address, is_whole ?
		                 segment->p_offset : segment->p_vaddr);
		profile_free(profile);
	}
}

/* Raw samples of all nodes. */
static uint64_t
raw_samples(const struct profile *profile, uint32_t r)
{
	const uint64_t *samples = profile->tree->samples[r];

	return sample_tree_total(profile->tree, samples != NULL ? samples :
	                         profile->tree->hits[r]);
}

static void
pprof_raw_samples_are_what_the_file_counts(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_profile(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(raw_samples(profile, 0), 10);
	assert_int_equal(raw_samples(profile, 1), 10);
	profile_free(profile);

	buffer.n = 0;			/* one type: records are counted */
	MESSAGE(&buffer, TYPE, 1, S_OTHER, 2, S_BYTES);
	MESSAGE(&buffer, SAMPLE, 1, 1, 2, 500);
	MESSAGE(&buffer, SAMPLE, 1, 1, 2, 300);
	MESSAGE(&buffer, SAMPLE, 1, 2, 1, 1, 2, 0);
	put_tables(&buffer);
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].gtick, "byte");
	assert_int_equal(hits_of(profile, 0, "main"), 800);
	assert_int_equal(hits_of(profile, 0, "main;work|inlined"), 0);
	assert_int_equal(raw_samples(profile, 0), 2);
	profile_free(profile);
}

static void
pprof_takes_any_order_of_fields_and_ids_of_any_size(void **state)
{
	struct buffer buffer = { .n = 0 };
	const uint64_t big = 0xffffffff81000000;
	struct profile *profile;

	(void)state;
	put_strings(&buffer);
	put_tables(&buffer);
	put_location(&buffer, big, 0, IDS(2));
	put_sample(&buffer, IDS(big, 1), 3, 0);
	put_sample(&buffer, IDS(2, big, 1), 4, 0);
	put_types(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 1, "main;work"), 3);
	assert_int_equal(hits_of(profile, 1, "main;work;work|inlined"), 4);
	profile_free(profile);
}

static void
pprof_samples_may_come_before_all_that_they_name(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_sample(&buffer, IDS(2, 1), 3, S_ONE);
	put_sample(&buffer, IDS(2, 1), 4, S_ONE);
	assert_int_equal(format_pprof.probe(buffer.bytes, buffer.n),
	                 PROBE_MAYBE);
	put_types(&buffer);
	put_tables(&buffer);
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_resources, 2);
	assert_int_equal(profile->tree->n_resources, 2);
	assert_int_equal(hits_of(profile, 0, "main;work|inlined"), 70);
	assert_int_equal(raw_samples(profile, 0), 7);
	profile_free(profile);
}

/*
 * Shared frames are found by comparing bytes, which may be parts of numbers.
 */
static void
pprof_ids_that_end_alike_are_told_apart(void **state)
{
	enum { ENDS_IN_1 = 0x81, ENDS_IN_1_TOO = 0x4081 };
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_types(&buffer);
	put_sample(&buffer, IDS(3, 2, ENDS_IN_1), 1, 0);
	put_sample(&buffer, IDS(3, 2, 1), 2, 0);
	put_sample(&buffer, IDS(2, ENDS_IN_1_TOO), 4, 0);
	put_sample(&buffer, IDS(3, 2, ENDS_IN_1), 8, 0);
	put_sample(&buffer, IDS(2, ENDS_IN_1), 16, 0);
	put_sample(&buffer, IDS(2, ENDS_IN_1), 32, 0);
	put_sample(&buffer, IDS(2, ENDS_IN_1), 64, S_ONE);
	put_sample(&buffer, IDS(3, 3, 3, 3, 2, 2, 2, 2, 2, 1), 128, S_ONE);
	put_sample(&buffer, IDS(3, 2, 2, 2, 2, 2, 1), 256, S_ONE);
	put_tables(&buffer);
	put_location(&buffer, ENDS_IN_1, 0, IDS(2));
	put_location(&buffer, ENDS_IN_1_TOO, 0, IDS(1));
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 1, "work;work|inlined;a::b(int)"),
	                 1 + 8);
	assert_int_equal(hits_of(profile, 1, "main;work|inlined;a::b(int)"),
	                 2);
	assert_int_equal(hits_of(profile, 1, "main;work|inlined"), 4);
	assert_int_equal(hits_of(profile, 1, "work;work|inlined"),
	                 16 + 32 + 64);
	assert_int_equal(hits_of(profile, 1, "main;work|inlined;work|inlined;"
	                         "work|inlined;work|inlined;work|inlined;"
	                         "a::b(int)"), 256);
	assert_int_equal(profile->n_sections, 2);
	profile_free(profile);
}

/* A sample's ids may come packed, one by one, or both. */
static void
pprof_ids_need_not_be_packed(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_types(&buffer);
	put_sample(&buffer, IDS(2, 1), 1, 0);
	MESSAGE(&buffer, SAMPLE, 1, 2, 1, 1, 2, 2, 2, 20);
	MESSAGE(&buffer, SAMPLE, 1, 3, 2, 4, 1, 2, 2, 40, 1, 1);
	put_tables(&buffer);
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->tree->n_nodes, 3);
	assert_int_equal(hits_of(profile, 1, "main;work|inlined"), 3);
	assert_int_equal(hits_of(profile, 0, "main;work|inlined;a::b(int)"),
	                 40);
	profile_free(profile);
}

static void
pprof_locations_of_one_address_stay_apart_in_the_tree(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_types(&buffer);
	put_sample(&buffer, IDS(5), 1, 0);
	put_sample(&buffer, IDS(6), 2, 0);
	MESSAGE(&buffer, LOCATION, 1, 5, 3, 0x77);
	MESSAGE(&buffer, LOCATION, 1, 6, 3, 0x77);
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->tree->n_nodes, 2);
	assert_int_not_equal(profile->tree->label[0],
	                     profile->tree->label[1]);
	assert_int_equal(hits_of(profile, 1, "0x77"), 3);
	profile_free(profile);
}

static void
pprof_samples_without_a_stack_count(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_types(&buffer);
	put_sample(&buffer, (const uint64_t[]){ 0 }, 3, 0);
	put_sample(&buffer, IDS(1), 1, 0);
	put_tables(&buffer);
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 1, "[no stack]"), 3);
	profile_free(profile);
}

static void
pprof_types_of_one_name_are_told_apart(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	MESSAGE(&buffer, TYPE, 1, S_CPU, 2, S_COUNT);
	MESSAGE(&buffer, TYPE, 1, S_CPU, 2, S_NANOSECONDS);
	put_sample(&buffer, IDS(1), 1, 0);
	put_tables(&buffer);
	put_strings(&buffer);
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].name, "cpu-2");
	assert_string_equal(profile->resources[0].gtick, "nanosecond");
	assert_string_equal(profile->resources[1].name, "cpu");
	profile_free(profile);
}

/* Types are samples and cpu, which has ten times as many. */
static void
pprof_a_type_below_zero_spoils_no_other(void **state)
{
	static struct buffer buffer;
	struct buffer message = { .n = 0 }, packed = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_types(&buffer);
	put_sample(&buffer, IDS(1), 3, 0);
	put_varint(&packed, 1);
	put_bytes(&message, 1, packed.bytes, packed.n);
	packed.n = 0;
	put_varint(&packed, 4);
	put_varint(&packed, (uint64_t)-40);
	put_bytes(&message, 2, packed.bytes, packed.n);
	put_bytes(&buffer, SAMPLE, message.bytes, message.n);
	MESSAGE(&buffer, LOCATION, 1, 1, 3, 0x10);
	put_strings(&buffer);
	profile = must_read(&format_pprof, buffer.bytes, buffer.n);
	assert_int_equal(profile->n_resources, 1);
	assert_string_equal(profile->resources[0].name, "samples");
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->hits[0]), 7);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0],
	                       "a value of cpu is below zero"));
	profile_free(profile);
}

static void
pprof_refuses_what_does_not_fit_with_its_offset(void **state)
{
	struct buffer good = { .n = 0 }, buffer;

	(void)state;
	put_types(&good);
	put_sample(&good, IDS(1), 1, 0);
	assert_int_equal(good.n, 0x15);

	buffer = good;
	MESSAGE(&buffer, SAMPLE, 1, 1, 2, 1);
	expect_error(&buffer, "in: 0x15: a sample of 1 value, expected 2");

	buffer = good;
	MESSAGE(&buffer, SAMPLE, 1, 0, 2, 1, 2, 1);
	expect_error(&buffer, "in: 0x15: location 0");

	buffer = good;
	buffer_add(&buffer, "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1",
	           12);
	expect_error(&buffer, "in: 0x15: expected a field of a profile");

	buffer = good;
	buffer_add(&buffer, "\x22\x02\x08\xff", 4);
	expect_error(&buffer, "in: 0x15: expected a location");

	buffer = good;
	buffer_add(&buffer, "\x32\xff\xff\xff\xff\x7f", 6);
	expect_error(&buffer, "in: 0x15: a field of more than 256 MiB");

	buffer = good;
	put_strings(&buffer);
	expect_error(&buffer, "location 1 is missing or has no name");

	buffer.n = 0;
	put_types(&buffer);
	put_strings(&buffer);
	expect_error(&buffer, "in: no samples in it");

	buffer.n = 0;
	MESSAGE(&buffer, TYPE, 1, S_CPU, 2, S_COUNT);
	put_sample(&buffer, IDS(1), 1, 0);
	put_tables(&buffer);
	put_strings(&buffer);
	expect_error(&buffer, "samples of 2 values, but 1 sample type");

	buffer.n = 0;
	put_profile(&buffer);
	put_profile(&buffer);
	expect_error(&buffer, "several profiles, one after the other in one "
	             "file; give each a file of its own");
}

static void
pprof_refuses_sums_over_64_bits(void **state)
{
	struct buffer buffer = { .n = 0 };

	(void)state;
	MESSAGE(&buffer, TYPE, 1, S_CPU, 2, S_COUNT);
	for (int i = 0; i < 3; i++)
		MESSAGE(&buffer, SAMPLE, 1, 1, 2, INT64_MAX);
	put_tables(&buffer);
	put_strings(&buffer);
	expect_error(&buffer, "the sum of hits exceeds 64 bits");
}

static void
pprof_is_told_by_its_contents(void **state)
{
	static const char *const others[] = { "", "\n", "\n\n\n\n", "a;b 1\n",
		"# cpprof 1\n", "\n\x02hi", "\x1f\x8b" };
	struct buffer buffer = { .n = 0 };

	(void)state;
	put_profile(&buffer);
	assert_int_equal(format_pprof.probe(buffer.bytes, buffer.n),
	                 PROBE_SURE);
	assert_int_equal(format_pprof.probe(buffer.bytes, 20), PROBE_SURE);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(format_pprof.probe(others[i],
		                                    strlen(others[i])),
		                 PROBE_NO);
}

static void
pprof_types_need_no_names(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct profile *profile;

	(void)state;
	put_bytes(&buffer, TYPE, "", 0);
	assert_int_equal(format_pprof.probe(buffer.bytes, buffer.n), PROBE_NO);
	put_bytes(&buffer, TYPE, "", 0);
	put_sample(&buffer, IDS(2, 1), 3, 0);
	put_tables(&buffer);
	put_strings(&buffer);
	assert_int_equal(format_pprof.probe(buffer.bytes, buffer.n),
	                 PROBE_MAYBE);
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].name, "value2");
	assert_int_equal(hits_of(profile, 0, "main;work|inlined"), 30);
	profile_free(profile);
}

static void
pprof_cut_keeps_the_samples_that_are_whole(void **state)
{
	struct buffer buffer = { .n = 0 };
	struct error error = { 0 };
	struct profile *profile;
	size_t all;

	(void)state;
	put_profile(&buffer);
	all = buffer.n;
	cut_at_every_byte(&format_pprof, buffer.bytes, buffer.n);
	/* In the strings: some names are there, others are not. */
	profile = read_memory(&format_pprof, buffer.bytes, all > 115 ? all - 115 : 0,
	                      &error);
	assert_non_null(profile);
	assert_non_null(strstr(profile->warnings[0], "the input is cut short"));
	assert_int_equal(hits_of(profile, 1, "[function 1]"), 2);
	profile_free(profile);
}

static size_t
pack(const struct buffer *buffer, void *to, size_t room)
{
	z_stream stream = { 0 };

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8,
	                              Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (Bytef *)(uintptr_t)buffer->bytes;
	stream.avail_in = (uInt)buffer->n;
	stream.next_out = to;
	stream.avail_out = (uInt)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

static void
pprof_packed_and_cut_keeps_what_is_whole(void **state)
{
	struct buffer buffer = { .n = 0 };
	char packed[4096];
	size_t size;

	(void)state;
	put_profile(&buffer);
	size = pack(&buffer, packed, sizeof packed);
	for (size_t cut = 4; cut <= size; cut++) {
		struct read_options options = { 0 };
		struct error error = { 0 };
		struct source *source = source_of_memory("in", packed, cut,
		                                         &error);
		struct profile *profile = format_pprof.read(source, &options,
		                                            &error);

		assert_int_equal(profile == NULL, error.is_set);
		if (profile != NULL) {
			check_tree(profile);
			assert_int_equal(cut < size, strstr(
			    profile->warnings[0], "cut short") != NULL);
		}
		profile_free(profile);
		source_close(source);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pprof_gives_stacks_resources_and_the_process),
		cmocka_unit_test(
		    pprof_frames_keep_modules_addresses_files_and_lines),
		cmocka_unit_test(pprof_lines_that_the_writer_looked_up_are_final),
		cmocka_unit_test(
		    pprof_locations_keep_the_outermost_and_255_lines),
		cmocka_unit_test(pprof_labels_of_threads_become_sections),
		cmocka_unit_test(pprof_without_threads_has_no_sections),
		cmocka_unit_test(pprof_default_type_comes_first),
		cmocka_unit_test(
		    pprof_samples_may_come_before_all_that_they_name),
		cmocka_unit_test(pprof_ids_that_end_alike_are_told_apart),
		cmocka_unit_test(pprof_ids_need_not_be_packed),
		cmocka_unit_test(pprof_raw_samples_of_our_own_may_come_first),
		cmocka_unit_test(
		    pprof_takes_addresses_of_a_mapping_of_everything_as_they_are),
		cmocka_unit_test(pprof_raw_samples_are_what_the_file_counts),
		cmocka_unit_test(
		    pprof_takes_any_order_of_fields_and_ids_of_any_size),
		cmocka_unit_test(
		    pprof_locations_of_one_address_stay_apart_in_the_tree),
		cmocka_unit_test(pprof_samples_without_a_stack_count),
		cmocka_unit_test(pprof_types_of_one_name_are_told_apart),
		cmocka_unit_test(pprof_a_type_below_zero_spoils_no_other),
		cmocka_unit_test(
		    pprof_refuses_what_does_not_fit_with_its_offset),
		cmocka_unit_test(pprof_refuses_sums_over_64_bits),
		cmocka_unit_test(pprof_is_told_by_its_contents),
		cmocka_unit_test(pprof_types_need_no_names),
		cmocka_unit_test(pprof_cut_keeps_the_samples_that_are_whole),
		cmocka_unit_test(pprof_packed_and_cut_keeps_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
