/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-merged.c -- the file of merged profiles. */
#include "tests/reader-fixture.h"

#include <inttypes.h>

#include "src/base/writer.h"
#include "src/formats/merged/merged_file.h"
#include "src/profile/fleet.h"
#include "src/profile/large_array.h"
#include "src/profile/sections.h"

extern const struct format format_merged, format_collapsed;

/* ---- a file that is built number by number ---- */

static void
add_number(struct buffer *buffer, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		buffer_number(buffer, (number & 0x7f) | 0x80, 1);
	buffer_number(buffer, number, 1);
}

static void
add_string(struct buffer *buffer, const char *text)
{
	add_number(buffer, strlen(text));
	buffer_add(buffer, text, strlen(text));
}

/* What the tests change of a file that is right. */
struct changes {
	uint64_t interval, location, level, label, row, member, group_hits,
	    part, by_hits;
};

static const struct changes right = {
	.interval = 10, .location = 1, .level = 1, .label = 1, .row = 1,
	.member = 0, .group_hits = 3, .part = 5, .by_hits = 2,
};

/*
 * Stacks a;b with 4 hits and a;c with 3, of two members, counted by host: 2 of
 * b are web's.
 */
static void
build(struct buffer *file, const struct changes *change)
{
	file->n = 0;
	buffer_add(file, MERGED_MAGIC, strlen(MERGED_MAGIC));
	add_number(file, 2);			/* members */
	add_number(file, 0);			/* with warnings */
	for (int g = 0; g < 32; g++)
		add_number(file, g == 5 || g == 9);
	add_number(file, MERGED_TEXT);
	add_string(file, "prog");
	add_number(file, MERGED_NO_TEXT);
	add_number(file, MERGED_TEXTS_DIFFER);
	for (int i = 0; i < 4; i++)
		add_number(file, (uint64_t)i + 1000);
	add_number(file, 0);
	add_number(file, 0);			/* tallies */
	add_number(file, 1);			/* resources */
	add_string(file, "cpu");
	add_string(file, "microsecond");
	add_number(file, change->interval);
	add_number(file, 2);
	for (int i = 0; i < 5; i++)
		add_number(file, 0);
	add_number(file, 0);			/* sources */
	add_number(file, 1);			/* members listed */
	add_string(file, "id");
	add_string(file, "file");
	add_number(file, MERGED_TEXT);		/* key, values */
	add_string(file, "host");
	add_number(file, 1);
	add_string(file, "web");
	add_number(file, 3);			/* names: what they share */
	for (int i = 0; i < 3; i++)
		add_number(file, 0);
	add_string(file, "a");
	add_string(file, "b");
	add_string(file, "c");
	add_number(file, 0);			/* modules */
	add_number(file, 3);			/* frames: modules, addresses, */
	for (int i = 0; i < 12; i++)		/* offsets, flags */
		add_number(file, 0);
	add_number(file, change->location);	/* their locations */
	add_number(file, 1);
	add_number(file, 1);
	for (int i = 0; i < 3; i++)
		add_number(file, (uint64_t)i);	/* functions */
	for (int i = 0; i < 6; i++)
		add_number(file, 0);		/* files, lines */
	add_number(file, 3);			/* nodes: levels */
	add_number(file, 0);
	add_number(file, 0);
	add_number(file, change->level);
	add_number(file, 0);			/* frames */
	add_number(file, change->label);
	add_number(file, 2);
	add_number(file, 0);			/* no returns */
	add_number(file, 2);			/* rows */
	add_number(file, 1);
	add_number(file, change->row);
	add_number(file, 4);
	add_number(file, 3);
	add_number(file, 1);			/* samples are hits */
	add_number(file, 5);			/* the most, and whose */
	add_number(file, 4);
	add_number(file, 3);
	add_number(file, change->member);
	add_number(file, 0);
	add_number(file, 0);
	add_number(file, 2);			/* groups: codes, rows, hits */
	add_number(file, change->part << 8);
	add_number(file, 4 << 8);
	add_number(file, 1);
	add_number(file, 2);
	add_number(file, 4);
	add_number(file, change->group_hits);
	add_number(file, 1);			/* by host */
	add_number(file, 0);
	add_number(file, 1);
	add_number(file, change->by_hits);
	add_number(file, change->by_hits);
}

static void
merged_reads_sum_and_sections(void **state)
{
	static struct buffer file;
	struct profile *profile;
	const struct fleet *fleet;

	(void)state;
	build(&file, &right);
	profile = must_read(&format_merged, file.bytes, file.n);
	assert_int_equal(hits_of(profile, 0, "a;b"), 4);
	assert_int_equal(hits_of(profile, 0, "a;c"), 3);
	assert_int_equal(profile->resources[0].interval, 10);
	assert_int_equal(profile->n_sections, 2);
	assert_int_equal(profile->sections[0].label_set, 0);
	assert_int_equal(profile->sections[1].label_set, NO_LABELS);
	assert_true(sections_has_key(profile, "host"));
	assert_string_equal(profile->processes[0].program, "prog");
	assert_null(profile->processes[0].host);
	fleet = profile->fleet;
	assert_int_equal(fleet->n_members, 2);
	assert_int_equal(fleet->resources[0].most_hits[1], 4);
	assert_string_equal(fleet->members[0].name, "file");
	profile_free(profile);
}

static void
merged_refuses_what_does_not_fit(void **state)
{
	static struct buffer file;
	const struct {
		size_t member;		/* of struct changes */
		uint64_t value;
		const char *why;
	} cases[] = {
#define MEMBER(name) offsetof(struct changes, name)
		{ MEMBER(interval), 0, "an interval of 0" },
		{ MEMBER(location), 0, "a frame without a location" },
		{ MEMBER(location), UINT32_MAX, "more locations than bytes" },
		{ MEMBER(level), 3, "a node outside the outermost one" },
		{ MEMBER(label), 2, "nodes out of order" },
		{ MEMBER(label), 3, "no such frame" },
		{ MEMBER(row), 0, "no such node" },
		{ MEMBER(row), 2, "no such node" },
		{ MEMBER(row), UINT64_MAX, "no such node" },
		{ MEMBER(member), 1, "no such member" },
		{ MEMBER(group_hits), 2, "groups that are less than their sum" },
		{ MEMBER(group_hits), 4, "parts that are more than their sum" },
		{ MEMBER(part), 32, "no such part" },
		{ MEMBER(by_hits), 5, "parts that are more than their sum" },
#undef MEMBER
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct changes change = right;

		memcpy((char *)&change + cases[i].member, &cases[i].value,
		       sizeof cases[i].value);
		build(&file, &change);
		must_refuse(&format_merged, file.bytes, file.n, cases[i].why);
	}
	build(&file, &right);
	buffer_number(&file, 0, 1);
	must_refuse(&format_merged, file.bytes, file.n, "more bytes");
	file.n--;
	buffer_add(&file, file.bytes, file.n);
	must_refuse(&format_merged, file.bytes, file.n, "another one follows");
	must_refuse(&format_merged, "cpprof merged profile 23\n", 25,
	            "of version 23");
	must_refuse(&format_merged, "cpprof merged profile \n", 23,
	            "first line is not");
}

static void
merged_refuses_long_numbers(void **state)
{
	static const unsigned char numbers[][12] = {
		{ 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 },
		{ 11, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		  0x80, 1 },
		{ 2, 0x80, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct buffer file = { .n = 0 };

		buffer_add(&file, MERGED_MAGIC, strlen(MERGED_MAGIC));
		buffer_add(&file, numbers[i] + 1, numbers[i][0]);
		must_refuse(&format_merged, file.bytes, file.n,
		            "no number of 64 bits");
	}
}

static void
merged_refuses_every_cut(void **state)
{
	static struct buffer file;

	(void)state;
	build(&file, &right);
	cut_at_every_byte(&format_merged, file.bytes, file.n);
	for (size_t cut = 0; cut < file.n; cut++)
		must_refuse(&format_merged, file.bytes, cut, "");
}

/* Where a line is missing, or has more, the tables are found. */
static void
merged_knows_a_damaged_first_line(void **state)
{
	const size_t line = strlen(MERGED_MAGIC);
	static struct buffer file;

	(void)state;
	build(&file, &right);
	for (size_t at = 0; at < line; at++)
		for (int byte = 0; byte < 256; byte++) {
			unsigned char was = file.bytes[at];

			file.bytes[at] = (unsigned char)byte;
			assert_int_equal(format_merged.probe(file.bytes,
			                                     file.n),
			                 PROBE_SURE);
			file.bytes[at] = was;
		}
	for (size_t cut = 0; cut <= line; cut++) {
		assert_int_equal(format_merged.probe(file.bytes + cut,
		                                     file.n - cut),
		                 PROBE_SURE);
		if (cut > 0)
			must_refuse(&format_merged, file.bytes + cut,
			            file.n - cut, "a damaged merged profile");
	}
	memset(file.bytes, 'x', line - 1);
	must_refuse(&format_merged, file.bytes, file.n,
	            "first line is not \"cpprof merged profile 1\"");
	assert_int_equal(format_merged.probe(file.bytes, file.n), PROBE_SURE);
	/* Bytes that are no tables, and no line that is like it. */
	for (size_t n = line; n < file.n; n++)
		file.bytes[n] = 0;
	assert_int_equal(format_merged.probe(file.bytes, file.n), PROBE_NO);
}

/* Where the bytes after it are not enough for that, the line must be like it. */
static void
merged_leaves_text_to_others(void **state)
{
	static const char *const texts[] = {
		"cpprof merged profile 2\na;b 3\n",
		"Cpprof merged profile 1\n",
		"cpprof;merge;d profile 1\na;b 3\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(format_merged.probe(texts[i],
		                                     strlen(texts[i])),
		                 PROBE_NO);
	assert_int_equal(format_merged.probe("cpprof merged profile 2\n\1\0",
	                                     26), PROBE_SURE);
}

static void
merged_reads_an_empty_name(void **state)
{
	static struct buffer file;
	struct profile *profile;
	unsigned char *at;

	(void)state;
	build(&file, &right);
	/* The rest of the names: "a", "b", "c". */
	at = memmem(file.bytes, file.n, "\1a\1b\1c", 6);
	assert_non_null(at);
	*at = 0;
	file.n--;
	memmove(at + 1, at + 2, file.n - (size_t)(at + 1 - file.bytes));
	profile = must_read(&format_merged, file.bytes, file.n);
	assert_int_equal(hits_of(profile, 0, ";b"), 4);
	profile_free(profile);
}

/* Any change of a byte is refused, or read as another profile. */
static void
merged_survives_changed_bytes(void **state)
{
	static struct buffer file;

	(void)state;
	build(&file, &right);
	keep_seed(file.bytes, file.n);
	for (size_t at = 0; at < file.n; at++)
		for (int bit = 0; bit < 8; bit++) {
			struct error error = { 0 };
			struct profile *profile;

			file.bytes[at] ^= (unsigned char)(1 << bit);
			profile = read_memory(&format_merged, file.bytes,
			                      file.n, &error);
			assert_int_equal(profile == NULL, error.is_set);
			if (profile != NULL)
				check_tree(profile);
			profile_free(profile);
			file.bytes[at] ^= (unsigned char)(1 << bit);
		}
}

/* ---- written and read again ---- */

/* A writer_function that keeps the bytes. */
static int
keep_bytes(void *context, const char *bytes, size_t n)
{
	buffer_add(context, bytes, n);
	return 0;
}

/* Adds a text profile as a member. */
static int
add_text(struct fleet *fleet, const char *text, const char *id,
         struct error *error)
{
	const struct fleet_identity identity = { id, "file", "thread" };
	const struct read_options options = { 0 };
	struct source *source = source_of_memory("in", text, strlen(text),
	                                         error);
	struct profile *profile = source == NULL ? NULL :
	    format_collapsed.read(source, &options, error);
	int result = profile == NULL ? -1 :
	    fleet_add_profile(fleet, profile, &identity, error);

	source_close(source);
	profile_free(profile);
	return result;
}

/* Merges two profiles and writes the sum to the buffer. */
static int
merge_and_write(struct buffer *file, struct error *error)
{
	struct profile *sum = profile_new(error);
	struct fleet *fleet = sum == NULL ? NULL : fleet_new(sum, error);
	static struct writer writer;
	int result = -1;

	file->n = 0;
	writer_start(&writer, keep_bytes, file);
	if (fleet != NULL &&
	    add_text(fleet, "# cpprof 1\n# resource: cpu; gtick=us; interval=7\n"
	             "a;b 4\na;c 2\n", "one", error) == 0 &&
	    add_text(fleet, "# cpprof 1\n# resource: cpu; gtick=us; interval=7\n"
	             "a;b 1\nd 5\n", "two", error) == 0 &&
	    fleet_order(fleet, error) == 0 &&
	    merged_write(fleet, &writer, error) == 0)
		result = writer_flush(&writer);
	profile_free(sum);
	return result;
}

static void
merged_reads_what_is_written(void **state)
{
	static struct buffer file;
	struct error error = { 0 };
	struct profile *profile;

	(void)state;
	assert_int_equal(merge_and_write(&file, &error), 0);
	profile = must_read(&format_merged, file.bytes, file.n);
	assert_int_equal(hits_of(profile, 0, "a;b"), 5);
	assert_int_equal(hits_of(profile, 0, "d"), 5);
	assert_int_equal(profile->fleet->n_listed, 2);
	profile_free(profile);
}

/* A member, and what its stacks do not tell. */
struct told {
	const char *text, *id;
	const char *sources[2];		/* of its resources */
	struct process process;
	uint64_t returns[2];		/* of nodes a and a;b */
	uint64_t lost;			/* of its last resource */
};

static struct profile *
profile_of(const struct told *told)
{
	const struct read_options options = { 0 };
	struct error error = { 0 };
	struct source *source = source_of_memory("in", told->text,
	    strlen(told->text), &error);
	struct profile *profile = format_collapsed.read(source, &options,
	                                                &error);
	uint32_t last = profile->n_resources - 1;

	source_close(source);
	for (uint32_t r = 0; r < profile->n_resources; r++)
		profile_add_source(profile, &profile->resources[r],
		                   told->sources[r], &error);
	profile_add_process(profile, &told->process, &error);
	profile_add_loss(profile, last, LOSS_NO_ROOM, told->lost, &error);
	assert_int_equal(profile->tree->n_nodes, 2);
	large_array_zeroed(&profile->tree->returns, 2, sizeof(uint64_t),
	                   &error);
	memcpy(profile->tree->returns, told->returns, sizeof told->returns);
	assert_false(error.is_set);
	return profile;
}

/* Adds and frees the profiles; the sum as it is read back. */
static struct profile *
sum_of(struct profile *const *profiles, size_t n)
{
	static struct buffer file;
	static struct writer writer;
	struct error error = { 0 };
	struct profile *sum = profile_new(&error);
	struct fleet *fleet = fleet_new(sum, &error);

	for (size_t i = 0; i < n; i++) {
		const struct fleet_identity identity = {
			i == 0 ? "one" : "two", "file", NULL
		};

		fleet_add_profile(fleet, profiles[i], &identity, &error);
		profile_free(profiles[i]);
	}
	file.n = 0;
	writer_start(&writer, keep_bytes, &file);
	assert_int_equal(fleet_order(fleet, &error), 0);
	assert_int_equal(merged_write(fleet, &writer, &error), 0);
	assert_int_equal(writer_flush(&writer), 0);
	assert_false(error.is_set);
	profile_free(sum);
	return must_read(&format_merged, file.bytes, file.n);
}

/* times: how often the two members are in it. */
static void
check_told(const struct profile *sum, uint64_t times)
{
	const struct resource *cpu = &sum->resources[0];
	const struct resource *faults = &sum->resources[1];
	const struct process *process = &sum->processes[0];

	/* What most files have comes first. */
	assert_int_equal(sum->n_resources, 2);
	assert_string_equal(cpu->name, "cpu");
	assert_string_equal(cpu->source, "perf event; timer");
	assert_string_equal(faults->source, "kernel");
	assert_int_equal(cpu->lost[LOSS_NO_ROOM], times * 7);
	assert_int_equal(faults->lost[LOSS_NO_ROOM], 0);
	assert_int_equal(hits_of(sum, 0, "a;b"), times * 13);
	assert_int_equal(hits_of(sum, 1, "a;b"), times * 4);
	assert_int_equal(sum->tree->returns[0], times * 4);
	assert_int_equal(sum->tree->returns[1], times * 5);
	assert_int_equal(sum->n_processes, 1);
	assert_string_equal(process->program, "prog");
	assert_null(process->command);
	assert_null(process->host);
	assert_int_equal(process->start_ns, 40);
	assert_int_equal(process->end_ns, 60);
	assert_int_equal(process->cpu_ns, times * 15);
	assert_int_equal(process->sampling_ns, times * 3);
	assert_true(process->cpu_is_least);
}

static void
merged_keeps_what_stacks_do_not_tell(void **state)
{
	static const struct told both[] = {
		{ "# cpprof 1\n# resource: faults; gtick=fault; interval=1\n"
		  "# resource: cpu; gtick=us; interval=7\na;b 4 9\n", "one",
		  { "kernel", "timer" },
		  { .program = "prog", .command = "prog -x", .host = "h1",
		    .start_ns = 50, .end_ns = 60, .cpu_ns = 10,
		    .sampling_ns = 1 }, { 3, 5 }, 2 },
		{ "# cpprof 1\n# resource: cpu; gtick=us; interval=7\na;b 4\n",
		  "two", { "perf event" },
		  { .program = "prog", .command = "prog -y", .host = "h2",
		    .start_ns = 40, .end_ns = 55, .cpu_ns = 5,
		    .sampling_ns = 2, .cpu_is_least = true }, { 1, 0 }, 5 },
	};

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct profile *twice[2];

		for (int i = 0; i < 2; i++) {
			struct profile *members[] = {
				profile_of(&both[turn]),
				profile_of(&both[!turn]),
			};

			twice[i] = sum_of(members, 2);
			check_told(twice[i], 1);
		}
		twice[0] = sum_of(twice, 2);
		check_told(twice[0], 2);
		profile_free(twice[0]);
	}
}

/* A member with 7 hits, some of them of waits that were measured. */
static struct profile *
member_of_waits(uint64_t interval, enum counting counting, uint64_t drawn_most)
{
	const struct read_options options = { 0 };
	struct error error = { 0 };
	struct source *source;
	struct profile *profile;
	char text[80];

	snprintf(text, sizeof text, "# resource: real; gtick=us; interval=%"
	         PRIu64 "\na;b 7\n", interval);
	source = source_of_memory("in", text, strlen(text), &error);
	profile = format_collapsed.read(source, &options, &error);
	source_close(source);
	assert_non_null(profile);
	profile->resources[0].counting = counting;
	profile->resources[0].drawn_most = drawn_most;
	return profile;
}

/*
 * What members agree on is that of their sum as one profile, as a merged file,
 * and of each as a run.
 */
static void
merged_agrees_on_how_hits_were_counted(void **state)
{
	static const enum counting drawn = COUNTING_SAMPLED,
	                           exact = COUNTING_EXACT;
	static const struct {
		uint64_t interval[2], most[2];
		enum counting counting[2];
		struct resource all;
	} cases[] = {
		{ { 9, 9 }, { 3, 5 }, { drawn, drawn },
		  { .interval = 9, .drawn_most = 5, .counting = drawn } },
		{ { 9, 9 }, { 300, 3 }, { drawn, drawn },
		  { .interval = 9, .drawn_most = 300, .counting = drawn } },
		{ { 9, 9 }, { 0, 5 }, { drawn, drawn },
		  { .interval = 9, .counting = drawn } },
		{ { 9, 9 }, { 5, 0 }, { drawn, exact }, { .interval = 9 } },
		{ { 9, 8 }, { 5, 5 }, { drawn, drawn },
		  { .interval = 1, .counting = drawn } },
		{ { 1, 9 }, { 5, 5 }, { exact, drawn }, { .interval = 1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct resource *all = &cases[i].all;
		struct error error = { 0 };
		struct profile *members[2], *sum, *added;
		struct profile *runs = profile_new(&error);
		struct fleet *fleet = fleet_new(runs, &error);

		for (int k = 0; k < 2; k++) {
			const struct fleet_identity identity = {
				k == 0 ? "one" : "two", "file", "id"
			};

			members[k] = member_of_waits(cases[i].interval[k],
			    cases[i].counting[k], cases[i].most[k]);
			fleet_add_profile(fleet, members[k], &identity, &error);
		}
		added = profile_merge(members, 2, &error);
		assert_non_null(added);
		sum = sum_of(members, 2);
		assert_int_equal(fleet_order(fleet, &error), 0);
		assert_int_equal(fleet_make_runs(fleet, "real", &error), 0);
		assert_int_equal(runs->n_resources, 2);
		for (int k = 0; k < 4; k++) {
			const struct resource *found = k < 2 ?
			    &runs->resources[k] : k == 2 ?
			    sum->resources : added->resources;

			assert_int_equal(found->interval, all->interval);
			assert_int_equal(found->drawn_most, all->drawn_most);
			assert_int_equal(found->counting, all->counting);
		}
		profile_free(added);
		profile_free(sum);
		profile_free(runs);
	}
}

static uint64_t
write_again(void *data, struct error *error)
{
	struct buffer *file = data;
	uint64_t digest = 0;

	if (merge_and_write(file, error) != 0)
		return 0;
	for (size_t i = 0; i < file->n; i++)
		digest = digest * 31 + file->bytes[i];
	return digest;
}

/* Whichever allocation fails, it is an error and no other file. */
static void
merged_writes_all_or_fails(void **state)
{
	static struct buffer file;

	(void)state;
	sweep_memory("merge", write_again, &file, 2000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_reads_sum_and_sections),
		cmocka_unit_test(merged_refuses_what_does_not_fit),
		cmocka_unit_test(merged_refuses_long_numbers),
		cmocka_unit_test(merged_refuses_every_cut),
		cmocka_unit_test(merged_knows_a_damaged_first_line),
		cmocka_unit_test(merged_leaves_text_to_others),
		cmocka_unit_test(merged_reads_an_empty_name),
		cmocka_unit_test(merged_survives_changed_bytes),
		cmocka_unit_test(merged_reads_what_is_written),
		cmocka_unit_test(merged_keeps_what_stacks_do_not_tell),
		cmocka_unit_test(merged_agrees_on_how_hits_were_counted),
		cmocka_unit_test(merged_writes_all_or_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
