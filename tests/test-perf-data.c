/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-perf-data.c -- pipes made by hand, and a file that perf made. */
#include "src/profile/sections.h"
#include "tests/reader-fixture.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "src/formats/perf/perf_data.h"
#include "src/profile/sample_tree.h"

extern const struct format format_perf_data;

enum {
	TYPE = PERF_FIELD_IDENTIFIER | PERF_FIELD_IP | PERF_FIELD_TID |
	       PERF_FIELD_TIME | PERF_FIELD_PERIOD | PERF_FIELD_CALLCHAIN,
};

/* ---- writing records ---- */

static uint16_t mode = PERF_MODE_USER;	/* of mappings and samples */

static size_t
begin_record(struct buffer *buffer, uint32_t type, uint16_t misc)
{
	size_t begin = buffer->n;

	buffer_number(buffer, type, 4);
	buffer_number(buffer, misc, 2);
	buffer_number(buffer, 0, 2);
	return begin;
}

static void
end_record(struct buffer *buffer, size_t begin)
{
	uint16_t size = (uint16_t)(buffer->n - begin);

	memcpy(buffer->bytes + begin + 6, &size, sizeof size);
}

/* Whether records other than samples say of which event, and when. */
static bool has_trailers = true;

/* What every record but samples ends in: pid, tid, time, id. */
static void
put_trailer(struct buffer *buffer, uint64_t time)
{
	if (!has_trailers)
		return;
	buffer_number(buffer, 0, 8);
	buffer_number(buffer, time, 8);
	buffer_number(buffer, 0, 8);
}

static void
put_text(struct buffer *buffer, const char *text)
{
	size_t n = (strlen(text) + 8) & ~(size_t)7;

	buffer_add(buffer, text, strlen(text));
	for (size_t i = strlen(text); i < n; i++)
		buffer_number(buffer, 0, 1);
}

/* An event of software, with more in its samples than TYPE. */
static void
put_event_of(struct buffer *buffer, uint64_t config, uint64_t id,
             uint64_t more, uint64_t read_format, uint64_t flags)
{
	size_t begin = begin_record(buffer, PERF_ATTR, 0);

	buffer_number(buffer, 1, 4);		/* software */
	buffer_number(buffer, 64, 4);
	buffer_number(buffer, config, 8);
	buffer_number(buffer, 77, 8);
	buffer_number(buffer, TYPE | more, 8);
	buffer_number(buffer, read_format, 8);
	buffer_number(buffer, (has_trailers ? PERF_ATTR_SAMPLE_ID_ALL : 0) |
	              flags, 8);
	for (int i = 0; i < 2; i++)
		buffer_number(buffer, 0, 8);
	buffer_number(buffer, id, 8);
	end_record(buffer, begin);
}

static void
put_event(struct buffer *buffer, uint64_t config, uint64_t id)
{
	put_event_of(buffer, config, id, 0, 0, 0);
}

static void
put_map_of(struct buffer *buffer, uint32_t pid, uint64_t start, uint64_t size,
           uint64_t offset, const char *path, uint64_t time)
{
	size_t begin = begin_record(buffer, PERF_MMAP, mode);

	buffer_number(buffer, pid, 4);
	buffer_number(buffer, pid, 4);
	buffer_number(buffer, start, 8);
	buffer_number(buffer, size, 8);
	buffer_number(buffer, offset, 8);
	put_text(buffer, path);
	put_trailer(buffer, time);
	end_record(buffer, begin);
}

static void
put_map(struct buffer *buffer, uint32_t pid, uint64_t start, uint64_t size,
        const char *path, uint64_t time)
{
	put_map_of(buffer, pid, start, size, 0x1000, path, time);
}

/* The newer record, with a build-id or with the device and file. */
static void
put_map2(struct buffer *buffer, uint64_t start, const char *path,
         const char *build_id, uint64_t time)
{
	size_t size = strlen(build_id);
	size_t begin = begin_record(buffer, PERF_MMAP2, mode |
	    (size > 0 ? PERF_MISC_MMAP_BUILD_ID : 0));
	char padded[20] = "";

	buffer_number(buffer, 7, 4);
	buffer_number(buffer, 7, 4);
	buffer_number(buffer, start, 8);
	buffer_number(buffer, 0x1000, 8);
	buffer_number(buffer, 0x1000, 8);
	if (size > 0) {
		memcpy(padded, build_id, size);
		buffer_number(buffer, size, 4);
		buffer_add(buffer, padded, sizeof padded);
	} else {
		for (int i = 0; i < 3; i++)
			buffer_number(buffer, 0x1122334455667788, 8);
	}
	buffer_number(buffer, 0x200000005, 8);	/* protection and flags */
	put_text(buffer, path);
	put_trailer(buffer, time);
	end_record(buffer, begin);
}

static void
put_command(struct buffer *buffer, uint32_t pid, uint16_t misc,
            const char *name, uint64_t time)
{
	size_t begin = begin_record(buffer, PERF_COMM, misc);

	buffer_number(buffer, pid, 4);
	buffer_number(buffer, pid, 4);
	put_text(buffer, name);
	put_trailer(buffer, time);
	end_record(buffer, begin);
}

static void
put_fork(struct buffer *buffer, uint32_t pid, uint32_t parent, uint64_t time)
{
	size_t begin = begin_record(buffer, PERF_FORK, 0);

	buffer_number(buffer, pid, 4);
	buffer_number(buffer, parent, 4);
	buffer_number(buffer, pid, 4);
	buffer_number(buffer, parent, 4);
	buffer_number(buffer, time, 8);
	put_trailer(buffer, time);
	end_record(buffer, begin);
}

/* chain: innermost first, up to 0.  Where the record begins, to go on. */
static size_t
put_sample_of(struct buffer *buffer, uint64_t id, uint32_t pid, uint32_t tid,
              uint64_t ip, const uint64_t *chain, uint64_t time)
{
	size_t begin = begin_record(buffer, PERF_SAMPLE, mode);
	size_t n = 0;

	while (chain[n] != 0)
		n++;
	buffer_number(buffer, id, 8);
	buffer_number(buffer, ip, 8);
	buffer_number(buffer, pid, 4);
	buffer_number(buffer, tid, 4);
	buffer_number(buffer, time, 8);
	buffer_number(buffer, 10, 8);
	buffer_number(buffer, n, 8);
	for (size_t i = 0; i < n; i++)
		buffer_number(buffer, chain[i], 8);
	end_record(buffer, begin);
	return begin;
}

static void
put_sample(struct buffer *buffer, uint64_t id, uint32_t pid,
           const uint64_t *chain, uint64_t time)
{
	put_sample_of(buffer, id, pid, pid, chain[0], chain, time);
}

#define CHAIN(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

static void
put_round(struct buffer *buffer)
{
	end_record(buffer, begin_record(buffer, PERF_FINISHED_ROUND, 0));
}

static void
begin_pipe(struct buffer *buffer)
{
	buffer->n = 0;
	buffer_add(buffer, "PERFILE2", 8);
	buffer_number(buffer, 16, 8);
	put_event(buffer, 0, 5);
}

static struct profile *
read_buffer(const struct buffer *buffer)
{
	keep_seed(buffer->bytes, buffer->n);
	return must_read(&format_perf_data, buffer->bytes, buffer->n);
}

/* ---- tests of pipes ---- */

static void
perf_data_names_frames_by_their_mappings(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_command(&buffer, 7, 0, "prog", 1);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/prog", 2);
	put_sample(&buffer, 5, 7, CHAIN(PERF_CONTEXT_USER, 0x400010, 0x400021,
	                                0x99), 3);
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].name, "cpu-clock");
	/* Callers are where they call, which is before they return to. */
	assert_int_equal(hits_of(profile, 0,
	    "[unknown];prog+0x1020;prog+0x1010"), 10);
	assert_int_equal(profile->n_threads, 1);
	assert_string_equal(profile->threads[0].name, "prog");
	assert_int_equal(profile->processes[0].pid, 7);
	profile_free(profile);
}

static void
perf_data_reads_the_first_of_several_pipes(void **state)
{
	struct buffer buffer;
	struct profile *profile;
	size_t n;

	(void)state;
	begin_pipe(&buffer);
	put_command(&buffer, 7, 0, "prog", 1);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/prog", 2);
	put_sample(&buffer, 5, 7, CHAIN(PERF_CONTEXT_USER, 0x400010), 3);
	n = buffer.n;
	buffer_add(&buffer, buffer.bytes, n);
	profile = read_buffer(&buffer);
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->samples[0]), 1);
	assert_non_null(strstr(profile->warnings[0],
	                       "another perf.data begins here, and is not read; "
	                       "name each as a file of its own"));
	profile_free(profile);
}

static void
perf_data_ends_chains_where_they_are_damaged(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	put_sample(&buffer, 5, 7, CHAIN(PERF_CONTEXT_USER, 0x400010,
	    0x400021, UINT64_MAX, 0x400031, 0x400041), 2);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0,
	    "[unknown];a+0x1020;a+0x1010"), 10);
	profile_free(profile);
}

static void
perf_data_takes_records_in_the_order_of_time(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 30);
	put_round(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/b", 20);
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 10);
	put_round(&buffer);
	put_round(&buffer);
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 40);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "a+0x1010"), 10);
	assert_int_equal(hits_of(profile, 0, "b+0x1010"), 20);
	profile_free(profile);
}

/* They end in a path or the like, which is no time. */
static void
perf_data_records_without_time_take_effect_at_once(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	has_trailers = false;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/with-a-long-name", 0);
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 3);
	has_trailers = true;
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_frames, 1);
	assert_int_equal(profile->n_modules, 1);
	assert_int_equal(profile->frames[0].module, 0);
	assert_string_equal(profile->modules[0].path,
	                    "/gone/with-a-long-name");
	profile_free(profile);
}

/* The slash in the name of a kernel's thread is none of a path. */
static void
perf_data_kernel_threads_have_their_whole_names(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_command(&buffer, 12, 0, "ksoftirqd/0", 1);
	put_command(&buffer, 13, 0, "migration/0", 1);
	put_sample(&buffer, 5, 0, CHAIN(0x400010), 2);
	put_sample(&buffer, 5, 12, CHAIN(0x400010), 3);
	put_sample(&buffer, 5, 13, CHAIN(0x400010), 4);
	put_sample(&buffer, 5, 14, CHAIN(0x400010), 5);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_processes, 4);
	assert_string_equal(process_title(profile, 0), "swapper");
	assert_string_equal(thread_title(profile, 0), "swapper");
	assert_string_equal(process_title(profile, 1), "ksoftirqd/0");
	assert_string_equal(process_title(profile, 2), "migration/0");
	assert_string_equal(process_title(profile, 3), ":14");
	profile_free(profile);
}

static void
perf_data_children_begin_with_their_parents_mappings(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_command(&buffer, 7, 0, "sh", 1);
	put_map(&buffer, 7, 0x400000, 0x3000, "/gone/sh", 1);
	put_fork(&buffer, 8, 7, 2);
	put_sample(&buffer, 5, 8, CHAIN(0x400010), 3);
	put_command(&buffer, 8, PERF_MISC_COMM_EXEC, "ls", 4);
	put_map(&buffer, 8, 0x401000, 0x1000, "/gone/ls", 5);
	put_sample(&buffer, 5, 8, CHAIN(0x401010), 6);
	put_sample(&buffer, 5, 8, CHAIN(0x400010), 6);
	put_sample(&buffer, 5, 7, CHAIN(0x401010), 7);
	put_map(&buffer, 7, 0x401000, 0x1000, "/gone/lib", 8);
	put_sample(&buffer, 5, 7, CHAIN(0x402020), 9);
	put_fork(&buffer, 8, 7, 10);		/* the number again */
	put_sample(&buffer, 5, 8, CHAIN(0x400010), 11);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "sh+0x1010"), 20);
	assert_int_equal(hits_of(profile, 0, "ls+0x1010"), 10);
	assert_int_equal(hits_of(profile, 0, "sh+0x2010"), 10);
	assert_int_equal(hits_of(profile, 0, "sh+0x3020"), 10);
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	assert_int_equal(profile->n_processes, 4);
	assert_int_equal(profile->n_threads, 4);
	assert_string_equal(profile->threads[0].name, "sh");
	assert_string_equal(profile->threads[1].name, "ls");
	assert_int_equal(profile->processes[0].parent_pid, 7);
	/* Another program counts as another process, which continues it. */
	assert_string_equal(profile->processes[0].program, "sh");
	assert_string_equal(profile->processes[1].program, "ls");
	assert_int_equal(profile->processes[1].pid, 8);
	assert_int_equal(profile->threads[1].process, 1);
	assert_false(profile->processes[0].continues);
	assert_true(profile->processes[1].continues);
	assert_false(profile->processes[2].continues);
	assert_string_equal(profile->processes[3].program, "sh");
	assert_false(profile->processes[3].continues);
	profile_free(profile);
}

/* The first event that has a sample is not the first in the file. */
static void
perf_data_samples_have_their_times(void **state)
{
	static const uint64_t start = 5000000000, ms = 1000000;
	const struct timeline *timeline;
	struct buffer buffer;
	struct profile *profile;
	uint64_t times[2][TIMELINE_SLICES] = { { 0 } };

	(void)state;
	begin_pipe(&buffer);
	put_event(&buffer, 2, 4);
	put_sample(&buffer, 4, 7, CHAIN(0x10), start);
	put_sample(&buffer, 5, 7, CHAIN(0x10), start + 300 * ms);
	put_sample(&buffer, 4, 7, CHAIN(0x20), start + 600 * ms);
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].name, "cpu-clock");
	assert_string_equal(profile->resources[1].name, "page-faults");
	timeline = profile->tree->timeline;
	assert_non_null(timeline);
	assert_int_equal(timeline->width_ns, 15625000);
	assert_int_equal(timeline->n_slices, 39);
	assert_int_equal(timeline->origin_ns, 0);
	for (uint32_t r = 0; r < 2; r++)
		tree_time_add(profile->tree, r, 0, profile->tree->n_nodes,
		              times[r]);
	for (uint32_t i = 0; i < TIMELINE_SLICES; i++) {
		assert_int_equal(times[0][i], i == 19 ? 10 : 0);
		assert_int_equal(times[1][i], i == 0 || i == 38 ? 10 : 0);
	}
	profile_free(profile);
}

static void
perf_data_events_are_resources_and_idle_ones_are_not(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_event(&buffer, 9, 6);		/* dummy */
	put_event(&buffer, 2, 4);
	put_event(&buffer, 2, 3);		/* once more */
	put_sample(&buffer, 3, 7, CHAIN(0x10), 4);
	put_sample(&buffer, 4, 7, CHAIN(0x10), 1);
	put_sample(&buffer, 4, 7, CHAIN(0x10), 2);
	put_sample(&buffer, 5, 7, CHAIN(0x10), 3);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_resources, 3);
	assert_string_equal(profile->resources[0].name, "cpu-clock");
	assert_string_equal(profile->resources[1].name, "page-faults");
	assert_string_equal(profile->resources[2].name, "page-faults-4");
	assert_string_equal(profile->resources[2].gtick, "fault");
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	assert_int_equal(hits_of(profile, 1, "[unknown]"), 20);
	assert_int_equal(sample_tree_samples(profile->tree, 1, 0), 2);
	profile_free(profile);
}

static void
expect_error(const struct buffer *buffer, const char *expected)
{
	must_refuse(&format_perf_data, buffer->bytes, buffer->n, expected);
}

static void
expect_no_warning(const struct profile *profile, const char *text)
{
	for (uint32_t i = 0; i < profile->n_warnings; i++)
		if (strstr(profile->warnings[i], text) != NULL)
			fail_msg("%s", profile->warnings[i]);
}

static void
expect_warning(const struct profile *profile, const char *expected)
{
	for (uint32_t i = 0; i < profile->n_warnings; i++)
		if (strstr(profile->warnings[i], expected) != NULL)
			return;
	fail_msg("no warning has \"%s\"", expected);
}

/* A sample with the counts so far of n events, { count, id, lost } each. */
static void
put_group_sample(struct buffer *buffer, uint32_t tid, const uint64_t *counts,
                 uint64_t n, uint64_t time)
{
	size_t begin = begin_record(buffer, PERF_SAMPLE, mode);

	buffer_number(buffer, counts[1], 8);
	buffer_number(buffer, 0x10, 8);
	buffer_number(buffer, 7, 4);
	buffer_number(buffer, tid, 4);
	buffer_number(buffer, time, 8);
	buffer_number(buffer, 99, 8);		/* a period, which is no one's */
	buffer_number(buffer, n, 8);
	buffer_number(buffer, 12345, 8);	/* time enabled */
	for (uint64_t i = 0; i < 3 * n; i++)
		buffer_number(buffer, counts[i], 8);
	buffer_number(buffer, 0, 8);		/* call chain */
	end_record(buffer, begin);
}

#define COUNTS(...) ((const uint64_t[]){ __VA_ARGS__ })

static void
perf_data_leaders_sample_their_whole_group(void **state)
{
	const uint64_t format = PERF_READ_GROUP | PERF_READ_ID |
	                        PERF_READ_LOST | PERF_READ_TIME_ENABLED;
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	buffer.n = 0;
	buffer_add(&buffer, "PERFILE2", 8);
	buffer_number(&buffer, 16, 8);
	for (uint64_t i = 0; i < 3; i++)
		put_event_of(&buffer, i, 5 + i, PERF_FIELD_READ, format, 0);
	put_group_sample(&buffer, 7, COUNTS(100, 5, 0, 3, 6, 0, 0, 7, 0), 3, 1);
	put_group_sample(&buffer, 8, COUNTS(150, 5, 0, 3, 6, 0, 0, 7, 0), 3, 2);
	put_group_sample(&buffer, 7, COUNTS(151, 5, 0, 8, 6, 0), 2, 3);
	put_group_sample(&buffer, 7, COUNTS(151, 5, 0, 8, 6, 0), 2, 4);
	put_group_sample(&buffer, 7, COUNTS(152, 5, 0, 8, 77, 0), 2, 5);
	put_group_sample(&buffer, 7, COUNTS(2, 5, 0), 1, 6);	/* anew */
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_resources, 2);	/* 7 never counts */
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 154);
	assert_int_equal(hits_of(profile, 1, "[unknown]"), 8);
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->samples[0]), 5);
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->samples[1]), 2);
	expect_warning(profile, "1 samples are of no event");
	profile_free(profile);
}

static void
perf_data_counts_of_inherited_events_are_each_threads_own(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	buffer.n = 0;
	buffer_add(&buffer, "PERFILE2", 8);
	buffer_number(&buffer, 16, 8);
	put_event_of(&buffer, 0, 5, PERF_FIELD_READ, PERF_READ_GROUP |
	    PERF_READ_ID | PERF_READ_LOST | PERF_READ_TIME_ENABLED,
	    PERF_ATTR_INHERIT);
	put_event(&buffer, 2, 6);
	put_group_sample(&buffer, 7, COUNTS(100, 5, 0), 1, 1);
	put_group_sample(&buffer, 8, COUNTS(30, 5, 0), 1, 2);
	put_group_sample(&buffer, 7, COUNTS(110, 5, 0), 1, 3);
	put_group_sample(&buffer, 8, COUNTS(35, 5, 0), 1, 4);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 145);
	profile_free(profile);
}

/* Likewise of one event: { count, time, id }. */
static void
perf_data_counts_need_no_group(void **state)
{
	struct buffer buffer;
	struct profile *profile;
	size_t begin;

	(void)state;
	begin_pipe(&buffer);
	put_event_of(&buffer, 2, 6, PERF_FIELD_READ,
	             PERF_READ_ID | PERF_READ_TIME_RUNNING, 0);
	for (uint64_t i = 1; i <= 3; i++) {
		begin = begin_record(&buffer, PERF_SAMPLE, mode);
		buffer_number(&buffer, 6, 8);
		buffer_number(&buffer, 0x10, 8);
		buffer_number(&buffer, 7, 8);
		buffer_number(&buffer, i, 8);
		buffer_number(&buffer, 99, 8);
		buffer_number(&buffer, 10 * i * i, 8);
		buffer_number(&buffer, 12345, 8);
		buffer_number(&buffer, 6, 8);
		buffer_number(&buffer, 0, 8);
		end_record(&buffer, begin);
	}
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].name, "page-faults");
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 90);
	profile_free(profile);
}

static void
perf_data_only_events_with_samples_count(void **state)
{
	struct buffer buffer;
	struct profile *profile;
	char expected[100];

	(void)state;
	begin_pipe(&buffer);
	for (uint64_t i = 0; i < 2 * RESOURCES_MAX; i++)
		put_event_of(&buffer, i, 1000 + i, 0, 0, 0);
	put_sample(&buffer, 1000 + 2 * RESOURCES_MAX - 1, 7, CHAIN(0x10), 1);
	put_sample(&buffer, 1002, 7, CHAIN(0x10), 2);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[0].name, "page-faults");
	assert_string_equal(profile->resources[1].name, "event-1:1ff");
	assert_int_equal(hits_of(profile, 1, "[unknown]"), 10);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);

	for (uint64_t i = 0; i < RESOURCES_MAX + 2; i++)
		put_sample(&buffer, 1000 + i, 7, CHAIN(0x10), 3 + i);
	put_sample(&buffer, 1001 + RESOURCES_MAX, 7, CHAIN(0x10), 999);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_resources, RESOURCES_MAX);
	assert_string_equal(profile->resources[RESOURCES_MAX - 1].name,
	                    "event-1:1ff");
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	assert_int_equal(hits_of(profile, 2, "[unknown]"), 20);
	snprintf(expected, sizeof expected, "more than %d events have samples; "
	         "left out: the 4 samples of the other 3", RESOURCES_MAX);
	expect_warning(profile, expected);
	profile_free(profile);
}

static void
perf_data_leaves_out_samples_of_unknown_events(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_event(&buffer, 1, 8);
	put_sample(&buffer, 99, 7, CHAIN(0x10), 1);
	put_sample(&buffer, 8, 7, CHAIN(0x10), 2);
	put_sample(&buffer, 0, 7, CHAIN(0x10), 3);	/* perf's own */
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	assert_int_equal(hits_of(profile, 1, "[unknown]"), 10);
	expect_warning(profile, "1 samples are of no event");
	profile_free(profile);
}

static void
put_lost(struct buffer *buffer, uint32_t type, uint16_t misc, uint64_t n,
         uint64_t time)
{
	size_t begin = begin_record(buffer, type, misc);

	if (type == PERF_LOST)
		buffer_number(buffer, 5, 8);
	buffer_number(buffer, n, 8);
	put_trailer(buffer, time);
	end_record(buffer, begin);
}

static void
expect_lost(const struct buffer *buffer, uint64_t n)
{
	struct profile *profile = read_buffer(buffer);

	assert_int_equal(profile->n_tallies, 1);
	assert_int_equal(profile->tallies[0].count, n);
	profile_free(profile);
}

static void
perf_data_counts_what_was_lost(void **state)
{
	struct buffer buffer;

	(void)state;
	begin_pipe(&buffer);
	put_sample(&buffer, 5, 7, CHAIN(0x10), 1);
	put_lost(&buffer, PERF_LOST, 0, 33, 2);
	expect_lost(&buffer, 33);
	put_lost(&buffer, PERF_LOST, 0, 7, 3);
	expect_lost(&buffer, 40);
	/* A processor's, then what perf finds at the end. */
	put_lost(&buffer, PERF_LOST_SAMPLES, 0, 2, 4);
	expect_lost(&buffer, 42);
	put_lost(&buffer, PERF_LOST_SAMPLES, 0, 40, 0);
	expect_lost(&buffer, 42);
	put_lost(&buffer, PERF_LOST_SAMPLES, 0, 12, 0);
	expect_lost(&buffer, 52);
	/* What the user did not want. */
	put_lost(&buffer, PERF_LOST_SAMPLES, PERF_MISC_LOST_SAMPLES_BPF, 99, 0);
	expect_lost(&buffer, 52);
}

static void
perf_data_says_that_all_was_lost(void **state)
{
	struct buffer buffer;

	(void)state;
	begin_pipe(&buffer);
	put_lost(&buffer, PERF_LOST, 0, 33, 2);
	expect_error(&buffer, "in: no samples in it; perf lost 33");
}

static void
perf_data_tells_of_types_that_it_does_not_know(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_sample(&buffer, 5, 7, CHAIN(0x10), 1);
	put_lost(&buffer, 8, 0, 1, 2);
	put_lost(&buffer, 84, 0, 1, 2);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
	put_lost(&buffer, 23, 0, 1, 2);
	put_lost(&buffer, 63, 0, 1, 2);
	put_lost(&buffer, 87, 0, 1, 2);
	profile = read_buffer(&buffer);
	expect_warning(profile, "skipped 3 records of unknown types; the first is "
	               "of type 23");
	profile_free(profile);
}

/* A record that says how much of a processor's trace follows, and that. */
static void
put_trace(struct buffer *buffer)
{
	size_t begin = begin_record(buffer, PERF_AUXTRACE, 0);

	buffer_number(buffer, 24, 8);
	for (int i = 0; i < 4; i++)
		buffer_number(buffer, 0, 8);
	end_record(buffer, begin);
	for (int i = 0; i < 24; i++)
		buffer_number(buffer, PERF_SAMPLE, 1);
}

static void
perf_data_says_that_traces_are_not_decoded(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_trace(&buffer);
	put_sample(&buffer, 5, 7, CHAIN(0x10), 1);
	put_trace(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	expect_warning(profile, "48 bytes of a processor's trace (AUX)");
	profile_free(profile);
}

static void
perf_data_shows_virtual_machines_as_such(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/emulator", 1);
	mode = PERF_MODE_GUEST_KERNEL;
	put_map(&buffer, 7, 0x400000, 0x1000, "[guest.kernel.kallsyms]", 1);
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 2);
	mode = PERF_MODE_USER;
	put_sample(&buffer, 5, 7, CHAIN(PERF_CONTEXT_GUEST_KERNEL, 0x400010,
	                                PERF_CONTEXT_USER, 0x400010), 3);
	put_sample(&buffer, 5, 7, CHAIN(PERF_CONTEXT_HYPERVISOR, 0x400010), 4);
	mode = 0;
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 5);
	mode = PERF_MODE_USER;
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "[guest]"), 10);
	assert_int_equal(hits_of(profile, 0, "emulator+0x1010;[guest]"), 10);
	assert_int_equal(hits_of(profile, 0, "[hypervisor]"), 10);
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	expect_warning(profile, "2 samples have frames inside of virtual");
	profile_free(profile);
}

/*
 * An event with registers and a copy of the stack, and one sample of it, which
 * returns to an address.
 */
static void
put_copied_stack_to(struct buffer *buffer, uint64_t id, uint64_t registers,
                    uint64_t abi, uint64_t to)
{
	const uint64_t x86 = 1 << 6 | 1 << 7, arm = UINT64_C(5) << 29,
	    pointers = (registers >> 32 & 1) != 0 ? arm : x86;
	size_t begin = begin_record(buffer, PERF_ATTR, 0);

	buffer_number(buffer, 1, 4);
	buffer_number(buffer, 96, 4);
	buffer_number(buffer, 0, 8);
	buffer_number(buffer, 10, 8);
	buffer_number(buffer, TYPE | PERF_FIELD_REGS_USER |
	              PERF_FIELD_STACK_USER, 8);
	for (int i = 0; i < 6; i++)
		buffer_number(buffer, 0, 8);
	buffer_number(buffer, registers, 8);
	buffer_number(buffer, 32, 4);
	buffer_number(buffer, 0, 4);
	buffer_number(buffer, id, 8);
	end_record(buffer, begin);

	begin = begin_record(buffer, PERF_SAMPLE, mode);
	buffer_number(buffer, id, 8);
	buffer_number(buffer, 0x400010, 8);
	buffer_number(buffer, 7, 4);
	buffer_number(buffer, 7, 4);
	buffer_number(buffer, 9, 8);
	buffer_number(buffer, 10, 8);
	buffer_number(buffer, 0, 8);		/* call chain */
	buffer_number(buffer, abi, 8);
	for (uint64_t bits = registers; bits != 0; bits &= bits - 1)
		buffer_number(buffer, (bits & -bits & pointers) != 0 ?
		              0x7000 : 0x400010, 8);
	buffer_number(buffer, 32, 8);		/* the stack */
	buffer_number(buffer, 0, 8);		/* no frame pointer */
	buffer_number(buffer, to, 8);
	buffer_number(buffer, 0, 8);
	buffer_number(buffer, 0, 8);
	buffer_number(buffer, 32, 8);
	end_record(buffer, begin);
}

static void
put_copied_stack(struct buffer *buffer, uint64_t id, uint64_t registers,
                 uint64_t abi)
{
	put_copied_stack_to(buffer, id, registers, abi, 0x400021);
}

/* Return addresses may be signed, and vectors have a size. */
static void
perf_data_walks_stacks_of_aarch64(void **state)
{
	const uint64_t arm = 0x1ffffffff,
	    with_vectors = arm | UINT64_C(1) << 46;
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	put_copied_stack(&buffer, 6, arm, 2);
	put_copied_stack(&buffer, 7, with_vectors, 2);
	put_copied_stack_to(&buffer, 8, arm, 2, 0xff7f000000400021);
	profile = read_buffer(&buffer);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(hits_of(profile, i, "a+0x1020;a+0x1010"), 10);
	assert_int_equal(profile->n_warnings, 1);	/* "a" is not there */
	profile_free(profile);
}

static void
perf_data_walks_no_stacks_of_other_processors(void **state)
{
	const uint64_t x86 = 0xff0fff, riscv = 0xffffffff;
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	put_copied_stack(&buffer, 6, x86, 2);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "a+0x1020;a+0x1010"), 10);
	assert_int_equal(profile->n_warnings, 1);	/* "a" is not there */
	profile_free(profile);

	begin_pipe(&buffer);
	put_copied_stack(&buffer, 6, riscv, 2);
	put_copied_stack(&buffer, 7, x86, 1);	/* a program of 32 bits */
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	assert_int_equal(hits_of(profile, 1, "[unknown]"), 10);
	expect_warning(profile, "2 copied stacks are not of 64-bit programs");
	profile_free(profile);
}

static void
perf_data_unpacks_records_that_are_cut_anywhere(void **state)
{
	struct buffer buffer, plain = { .n = 0 };
	char packed[4096];
	struct profile *profile;
	size_t n;

	(void)state;
	begin_pipe(&buffer);
	put_map(&plain, 7, 0x400000, 0x1000, "/gone/a", 1);
	for (uint64_t i = 0; i < 100; i++)
		put_sample(&plain, 5, 7, CHAIN(0x400010 + i % 3), 2 + i);
	n = ZSTD_compress(packed, sizeof packed, plain.bytes, plain.n, 1);
	assert_false(ZSTD_isError(n));
	for (size_t i = 0; i < n; i += 7) {
		size_t begin = begin_record(&buffer, PERF_COMPRESSED, 0);

		buffer_add(&buffer, packed + i, n - i < 7 ? n - i : 7);
		end_record(&buffer, begin);
	}
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "a+0x1010"), 340);
	assert_int_equal(hits_of(profile, 0, "a+0x1012"), 330);
	profile_free(profile);
}

/* ---- time off the processor, as perf's BPF program writes it ---- */

static void
put_off_cpu(struct buffer *buffer, uint32_t first, uint32_t second,
            uint64_t mark, size_t n_behind, uint64_t time)
{
	const uint64_t chain[] = { mark, 0x400018, 0x400021 };
	size_t begin = begin_record(buffer, PERF_SAMPLE, PERF_MODE_USER);

	buffer_number(buffer, 6, 8);
	buffer_number(buffer, 0, 8);		/* no address, no thread */
	buffer_number(buffer, 0, 8);
	buffer_number(buffer, time, 8);
	buffer_number(buffer, 1, 8);
	buffer_number(buffer, 56 + n_behind, 4);
	buffer_number(buffer, first, 4);
	buffer_number(buffer, second, 4);
	buffer_number(buffer, 700000000, 8);
	buffer_number(buffer, 3, 8);
	for (int i = 0; i < 3; i++)
		buffer_number(buffer, chain[i], 8);
	buffer_number(buffer, 99, 8);		/* cgroup */
	for (size_t i = 0; i < n_behind; i++)
		buffer_number(buffer, 0, 1);
	end_record(buffer, begin);
}

static void
perf_data_reads_time_off_the_processor(void **state)
{
	struct buffer buffer;
	struct profile *profile;
	size_t begin;

	(void)state;
	begin_pipe(&buffer);
	begin = begin_record(&buffer, PERF_ATTR, 0);
	buffer_number(&buffer, PERF_ATTR_SOFTWARE, 4);
	buffer_number(&buffer, 64, 4);
	buffer_number(&buffer, PERF_BPF_OUTPUT, 8);
	buffer_number(&buffer, 1, 8);
	buffer_number(&buffer, (TYPE & ~PERF_FIELD_CALLCHAIN) |
	              PERF_FIELD_RAW, 8);
	for (int i = 0; i < 4; i++)
		buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, 6, 8);
	end_record(&buffer, begin);
	begin = begin_record(&buffer, PERF_EVENT_UPDATE, 0);
	buffer_number(&buffer, 2, 8);		/* a name */
	buffer_number(&buffer, 6, 8);
	put_text(&buffer, "offcpu-time");
	end_record(&buffer, begin);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	put_off_cpu(&buffer, 7, 8, PERF_CONTEXT_USER, 4, 2);
	put_off_cpu(&buffer, 8, 7, PERF_CONTEXT_USER, 0, 3);
	put_off_cpu(&buffer, 7, 8, PERF_CONTEXT_KERNEL, 4, 4);	/* another's */
	put_off_cpu(&buffer, 7, 8, PERF_CONTEXT_USER, 8, 5);
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].name, "offcpu-time");
	assert_string_equal(profile->resources[0].gtick, "nanosecond");
	assert_int_equal(hits_of(profile, 0, "a+0x1020;a+0x1018"), 1400000000);
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 2);
	assert_int_equal(profile->n_threads, 2);
	assert_int_equal(profile->threads[0].tid, 8);
	profile_free(profile);
}

/* ---- the kernel and its modules ---- */

static void
put_kernel_map(struct buffer *buffer, uint64_t start, uint64_t offset,
               const char *path)
{
	mode = PERF_MODE_KERNEL;
	put_map_of(buffer, UINT32_MAX, start, 0x1000, offset, path, 0);
	mode = PERF_MODE_USER;
}

static void
put_kernel_symbol(struct buffer *buffer, uint64_t start, uint16_t flags,
                  const char *name, uint64_t time)
{
	size_t begin = begin_record(buffer, PERF_KSYMBOL, 0);

	buffer_number(buffer, start, 8);
	buffer_number(buffer, 0x100, 4);
	buffer_number(buffer, 1, 2);		/* a program of BPF */
	buffer_number(buffer, flags, 2);
	put_text(buffer, name);
	put_trailer(buffer, time);
	end_record(buffer, begin);
}

static void
put_build_id(struct buffer *buffer, const char *path, uint16_t misc)
{
	size_t begin = begin_record(buffer, PERF_BUILD_ID, misc);

	buffer_number(buffer, UINT32_MAX, 4);
	for (int i = 0; i < 3; i++)
		buffer_number(buffer, 0x1111111111111111, 8);
	put_text(buffer, path);
	end_record(buffer, begin);
}

/* Where a kernel loaded its modules. */
#define EXT4 0xffffffffc0100000
#define TABLES 0xffffffffc0200000
#define XFS 0xffffffffc0300000
#define BPF 0xffffffffc0400000
#define TEXT 0xffffffff9a000000

static void
begin_kernel(struct buffer *buffer)
{
	begin_pipe(buffer);
	put_kernel_map(buffer, TEXT, TEXT, "[kernel.kallsyms]_text");
	put_kernel_map(buffer, EXT4, 0,
	               "/lib/modules/6.1.0-18/kernel/fs/ext4/ext4.ko.xz");
	put_kernel_map(buffer, TABLES, 0x100, "/lib/nf-tables.ko");
	put_kernel_map(buffer, XFS, 0, "[xfs]");
	put_kernel_symbol(buffer, BPF, 0, "bpf_prog_12_f", 2);
	put_build_id(buffer, "/lib/modules/6.1.0-18/kernel/fs/ext4/ext4.ko.xz",
	             PERF_MODE_KERNEL);
	put_build_id(buffer, "[kernel.kallsyms]_text", PERF_MODE_KERNEL);
	mode = PERF_MODE_KERNEL;
	put_sample(buffer, 5, 7, CHAIN(EXT4 + 0x110, TABLES + 0x11,
	    XFS + 0x11, TEXT + 0x111, BPF + 0x11, BPF + 0x101), 3);
	put_kernel_symbol(buffer, BPF, PERF_KSYMBOL_UNREGISTER,
	                  "bpf_prog_12_f", 4);
	put_sample(buffer, 5, 7, CHAIN(BPF + 0x10), 5);
	put_kernel_symbol(buffer, BPF, 0, "bpf_prog_34_g", 6);
	put_sample(buffer, 5, 7, CHAIN(BPF + 0x10), 7);
	mode = PERF_MODE_USER;
}

static void
perf_data_modules_of_the_kernel_are_modules(void **state)
{
	struct buffer buffer;
	struct profile *profile;
	uint32_t kernel = 0;

	(void)state;
	begin_kernel(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "[kernel];bpf_prog_12_f;[kernel];"
	                         "[xfs];[nf_tables];[ext4]"), 10);
	assert_int_equal(hits_of(profile, 0, "[kernel]"), 10);
	assert_int_equal(hits_of(profile, 0, "bpf_prog_34_g"), 10);
	assert_int_equal(profile->n_modules, 4);
	assert_string_equal(profile->modules[0].path, "[ext4]");
	assert_int_equal(profile->modules[0].build_id_size, 20);
	assert_int_equal(profile->modules[1].build_id_size, 0);
	while (strcmp(profile->modules[kernel].path, "[kernel]") != 0)
		assert_true(++kernel < profile->n_modules);
	/* By its name with a suffix, too. */
	assert_int_equal(profile->modules[kernel].build_id_size, 20);
	profile_free(profile);
}

static void
perf_data_newer_mappings_may_have_build_ids(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map2(&buffer, 0x400000, "/gone/plain", "", 1);
	put_map2(&buffer, 0x500000, "/gone/long", "0123456789abcdefghij", 1);
	put_map2(&buffer, 0x600000, "/gone/short", "01234567", 1);
	put_sample(&buffer, 5, 7, CHAIN(0x400010, 0x500010, 0x600010), 3);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_modules, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct module *module = &profile->modules[i];
		bool is_plain = strcmp(module->path, "/gone/plain") == 0;
		bool is_long = strcmp(module->path, "/gone/long") == 0;

		assert_true(is_plain || is_long ||
		            strcmp(module->path, "/gone/short") == 0);
		assert_int_equal(module->build_id_size,
		                 is_plain ? 0 : is_long ? 20 : 8);
		assert_memory_equal(module->build_id, "0123456789abcdefghij",
		                    module->build_id_size);
	}
	profile_free(profile);
}

/* Addresses that are no offsets must not get names as if they were. */
static void
perf_data_samples_before_the_kernel_is_mapped_are_of_the_kernel(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	mode = PERF_MODE_KERNEL;
	put_sample(&buffer, 5, 7, CHAIN(TEXT + 0x10), 3);
	mode = PERF_MODE_USER;
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "[kernel]"), 10);
	assert_int_equal(profile->n_modules, 0);
	profile_free(profile);

	begin_pipe(&buffer);
	mode = PERF_MODE_KERNEL;
	put_sample(&buffer, 5, 7, CHAIN(TEXT + 0x10), 3);
	mode = PERF_MODE_USER;
	put_kernel_map(&buffer, TEXT, TEXT, "[kernel.kallsyms]_text");
	mode = PERF_MODE_KERNEL;
	put_sample(&buffer, 5, 7, CHAIN(TEXT + 0x10), 9);
	mode = PERF_MODE_USER;
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "[kernel]"), 20);
	assert_int_equal(profile->n_modules, 1);
	profile_free(profile);
}

static void
write_bytes(const char *root, const char *name, const void *bytes, size_t n)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	fclose(file);
}

static void
write_text(const char *root, const char *name, const char *text)
{
	write_bytes(root, name, text, strlen(text));
}

/* Makes a folder, in which all reads look for symbols until drop_root. */
static void
make_root(char *root)
{
	const struct symbol_search search = { .root = root };
	struct error error = { 0 };

	assert_non_null(mkdtemp(root));
	shared_modules = module_cache_new(&search, &error);
	assert_non_null(shared_modules);
}

/* Removes the folder, which must be empty. */
static void
drop_root(const char *root)
{
	module_cache_free(shared_modules);
	shared_modules = NULL;
	assert_int_equal(rmdir(root), 0);
}

static void
perf_data_names_functions_of_kernel_modules_wherever_they_are(void **state)
{
	char root[] = "/tmp/test-perf-data-XXXXXX", path[200];
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	make_root(root);
	snprintf(path, sizeof path, "%s/proc", root);
	assert_int_equal(mkdir(path, 0700), 0);
	write_text(root, "proc/kallsyms",
	    "ffffffff81000000 T _text\n"
	    "ffffffff81000100 T do_it\n"
	    "ffffffff81000200 t at_the_end\n"
	    "ffffffffc0001105 t ext4_other\t[ext4_other]\n"
	    "ffffffffc0001000 t ext4_open\t[ext4]\n"
	    "ffffffffc0001100 T ext4_read\t[ext4]\n"
	    "ffffffffc0001108 D ext4_data\t[ext4]\n"
	    "ffffffffc0001200 T ext4_close\t[ext4]\n"
	    "ffffffffc0005000 t nft_do\t[nf_tables]\n"
	    "ffffffffc0005100 t nft_end\t[nf_tables]\n");
	write_text(root, "proc/modules",
	    "ext4_other 8192 1 - Live 0xffffffffc0009000\n"
	    "ext4 4096 2 ext4_other, Live 0xffffffffc0001000 (E)\n"
	    "nf_tables 4096 0 - Live 0xffffffffc0005000\n");
	begin_kernel(&buffer);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "at_the_end;bpf_prog_12_f;do_it;"
	                         "[xfs];nft_do;ext4_read"), 10);
	profile_free(profile);
	snprintf(path, sizeof path, "%s/proc/kallsyms", root);
	unlink(path);
	snprintf(path, sizeof path, "%s/proc/modules", root);
	unlink(path);
	snprintf(path, sizeof path, "%s/proc", root);
	rmdir(path);
	drop_root(root);
}

/* ---- call chains that come after their samples ---- */

/* Samples with a cookie for the process's frames; chain: of the kernel. */
static void
put_waiting(struct buffer *buffer, uint32_t tid, const uint64_t *chain,
            uint64_t cookie, uint64_t time)
{
	uint64_t whole[20] = { 0 };
	size_t n = 0;

	for (; chain[n] != 0; n++)
		whole[n] = chain[n];
	whole[n++] = PERF_CONTEXT_USER_DEFERRED;
	whole[n++] = cookie;
	put_sample_of(buffer, 5, 7, tid, 0x400018, whole, time);
}

static void
put_deferred(struct buffer *buffer, uint32_t tid, uint64_t cookie,
             const uint64_t *chain, uint64_t time)
{
	size_t begin = begin_record(buffer, PERF_CALLCHAIN_DEFERRED,
	                            PERF_MODE_USER), n = 0;

	while (chain[n] != 0)
		n++;
	buffer_number(buffer, cookie, 8);
	buffer_number(buffer, n, 8);
	for (size_t i = 0; i < n; i++)
		buffer_number(buffer, chain[i], 8);
	buffer_number(buffer, 7, 4);
	buffer_number(buffer, tid, 4);
	buffer_number(buffer, time, 8);
	buffer_number(buffer, 5, 8);
	end_record(buffer, begin);
}

/* Kernel, then process. */
#define IN_KERNEL CHAIN(PERF_CONTEXT_KERNEL, 0xffffffff81000010)

static void
perf_data_joins_deferred_call_chains(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	mode = PERF_MODE_KERNEL;
	put_waiting(&buffer, 7, IN_KERNEL, 1001, 2);
	put_waiting(&buffer, 8, IN_KERNEL, 1002, 3);
	put_waiting(&buffer, 7, IN_KERNEL, 1001, 4);
	put_round(&buffer);
	put_deferred(&buffer, 7, 1001, CHAIN(0x400010, 0x400021), 5);
	put_deferred(&buffer, 8, 1002, CHAIN(PERF_CONTEXT_USER, 0x400030,
	                                     0x400041), 6);
	/* Samples that follow before the thread leaves the kernel. */
	put_waiting(&buffer, 7, IN_KERNEL, 1001, 7);
	put_deferred(&buffer, 7, 1001, CHAIN(0x400010, 0x400021), 8);
	mode = PERF_MODE_USER;
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0,
	    "a+0x1020;a+0x1010;[kernel]"), 30);
	assert_int_equal(hits_of(profile, 0,
	    "a+0x1040;a+0x1030;[kernel]"), 10);
	assert_int_equal(profile->n_threads, 2);
	expect_no_warning(profile, "deferred");
	profile_free(profile);
}

static void
perf_data_counts_deferred_call_chains_that_never_came(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	mode = PERF_MODE_KERNEL;
	put_waiting(&buffer, 7, IN_KERNEL, 1001, 2);	/* an older cookie */
	put_waiting(&buffer, 7, IN_KERNEL, 1003, 3);
	put_waiting(&buffer, 9, IN_KERNEL, 1003, 3);	/* another's */
	put_deferred(&buffer, 7, 1003, CHAIN(0x400010), 4);
	put_waiting(&buffer, 7, IN_KERNEL, 1005, 5);	/* the end */
	mode = PERF_MODE_USER;
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "a+0x1010;[kernel]"), 10);
	assert_int_equal(hits_of(profile, 0, "[kernel]"), 30);
	expect_warning(profile, "3 samples are without the frames of their "
	               "process: no deferred call chain came");
	profile_free(profile);
}

static void
perf_data_samples_of_the_process_wait_for_all_their_frames(void **state)
{
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	put_waiting(&buffer, 7, CHAIN(0), 1001, 2);
	put_deferred(&buffer, 7, 1001, CHAIN(0x400018, 0x400021), 3);
	put_waiting(&buffer, 7, CHAIN(0), 1001, 4);
	put_waiting(&buffer, 7, CHAIN(0), 1002, 5);
	put_deferred(&buffer, 7, 1002, CHAIN(0), 6);	/* it has none */
	put_waiting(&buffer, 7, CHAIN(0), 1003, 7);	/* never comes */
	/* As perf joins them itself. */
	put_sample(&buffer, 5, 7, CHAIN(PERF_CONTEXT_KERNEL,
	    0xffffffff81000010, PERF_CONTEXT_USER_DEFERRED, 0x400030,
	    0x400041), 8);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "a+0x1020;a+0x1018"), 20);
	assert_int_equal(hits_of(profile, 0, "a+0x1018"), 20);
	assert_int_equal(hits_of(profile, 0,
	    "a+0x1040;a+0x1030;[kernel]"), 10);
	expect_warning(profile, "1 samples are without the frames of their");
	profile_free(profile);
}

static void
perf_data_keeps_frames_for_their_thread_and_cookie_alone(void **state)
{
	struct error error = { 0 };
	struct perf_deferred *deferred = perf_deferred_new(&error);
	struct perf_labels found;
	uint32_t label = 99;

	(void)state;
	assert_false(perf_deferred_find(deferred, 0, 0, &found));
	for (uint32_t tid = 0; tid < 1000; tid++) {
		assert_false(perf_deferred_find(deferred, tid, 5, &found));
		assert_int_equal(perf_deferred_keep(deferred, tid, 5, &label,
		                                    1, &error), 0);
		assert_true(perf_deferred_find(deferred, tid, 5, &found));
		assert_int_equal(found.labels[0], 99);
		assert_false(perf_deferred_find(deferred, tid, 6, &found));
	}
	perf_deferred_free(deferred);
}

static void
perf_data_lets_only_so_many_samples_wait(void **state)
{
	struct perf_waiting sample = { .labels = calloc(1 << 20, 4),
		.n_labels = 1 << 20 }, *taken;
	struct error error = { 0 };
	struct perf_deferred *deferred = perf_deferred_new(&error);

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		sample.cookie = i;
		sample.labels[sample.n_labels - 1] = (uint32_t)i;
		assert_int_equal(perf_deferred_wait(deferred, (uint32_t)i % 3,
		                                    &sample, &error), 0);
	}
	for (uint64_t i = 0; i < 5; i++) {
		taken = perf_deferred_take_oldest(deferred, false);
		assert_non_null(taken);
		assert_int_equal(taken->cookie, i);
		free(taken);
	}
	assert_null(perf_deferred_take_oldest(deferred, false));
	taken = perf_deferred_take(deferred, 1);
	assert_int_equal(taken->cookie, 7);
	assert_int_equal(taken->n_labels, sample.n_labels);
	assert_int_equal(taken->labels[taken->n_labels - 1], 7);
	free(taken);
	taken = perf_deferred_take_oldest(deferred, true);
	assert_int_equal(taken->cookie, 5);
	free(taken);
	assert_null(perf_deferred_take(deferred, 99));
	perf_deferred_free(deferred);
	free(sample.labels);
}

static void
perf_data_samples_of_the_kernel_without_its_chain_keep_their_place(
    void **state)
{
	const uint64_t x86 = 0xff0fff;
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	mode = PERF_MODE_KERNEL;
	put_sample_of(&buffer, 5, 7, 7, 0xffffffff81000010,
	              CHAIN(PERF_CONTEXT_USER, 0x400010, 0x400021), 2);
	put_sample_of(&buffer, 5, 7, 7, 0xffffffff81000010,
	    CHAIN(PERF_CONTEXT_USER_DEFERRED, 0x10001), 3);
	put_deferred(&buffer, 7, 0x10001, CHAIN(0x400010, 0x400021), 4);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "a+0x1020;a+0x1010;[kernel]"),
	                 20);
	profile_free(profile);

	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	put_copied_stack(&buffer, 6, x86, 2);
	mode = PERF_MODE_USER;
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "a+0x1020;a+0x1010;[kernel]"),
	                 10);
	profile_free(profile);
}

/* ---- call chains of processors' branches ---- */

static void
perf_data_takes_the_calls_that_processors_keep(void **state)
{
	const uint64_t branches = PERF_BRANCH_CALL_STACK |
	    PERF_BRANCH_HW_INDEX | PERF_BRANCH_COUNTERS;
	struct buffer buffer;
	struct profile *profile;
	size_t begin;

	(void)state;
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	begin = begin_record(&buffer, PERF_ATTR, 0);
	buffer_number(&buffer, 0, 4);
	buffer_number(&buffer, 96, 4);
	buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, 10, 8);
	buffer_number(&buffer, TYPE | PERF_FIELD_BRANCH_STACK |
	              PERF_FIELD_STACK_USER, 8);
	for (int i = 0; i < 5; i++)
		buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, branches, 8);
	buffer_number(&buffer, 1, 8);
	buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, 6, 8);
	end_record(&buffer, begin);
	begin = put_sample_of(&buffer, 6, 7, 7, 0x400018,
	    CHAIN(PERF_CONTEXT_KERNEL, 0xffffffff81000010, PERF_CONTEXT_USER,
	          0x400018, 0x400999), 2);
	buffer_number(&buffer, 2, 8);
	buffer_number(&buffer, 0, 8);		/* index */
	buffer_number(&buffer, 0x400020, 8);	/* from, to, flags */
	buffer_number(&buffer, 0x400010, 8);
	buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, 0x400030, 8);
	buffer_number(&buffer, 0x400020, 8);
	buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, 12345, 8);	/* counters */
	buffer_number(&buffer, 12345, 8);
	buffer_number(&buffer, 0, 8);		/* no stack */
	end_record(&buffer, begin);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0,
	    "a+0x1030;a+0x1020;a+0x1018;[kernel]"), 10);
	profile_free(profile);
}

/* ---- packed records of the second kind, as perf writes them ---- */

static unsigned char large[1 << 20];	/* a pipe, longer than a buffer */
static size_t n_large;

static void
put_large(const void *bytes, size_t n)
{
	assert_true(n <= sizeof large - n_large);
	memcpy(large + n_large, bytes, n);
	n_large += n;
}

static void
put_packed_header(uint64_t size, uint64_t n)
{
	struct buffer header = { .n = 0 };

	buffer_number(&header, PERF_COMPRESSED2, 4);
	buffer_number(&header, 0, 2);
	buffer_number(&header, (uint16_t)size, 2);
	buffer_number(&header, n, 8);
	put_large(header.bytes, header.n);
}

/*
 * Makes a pipe of packed[n] as perf 6.16 does of what it packs at once: pieces
 * with a header each, then zeros if the size fits into 16 bits.
 */
static void
put_packed(const char *packed, size_t n)
{
	const size_t most = 65519;
	size_t total = n + 16 * ((n + most - 1) / most);
	uint64_t size = (total + 7) & ~(uint64_t)7;

	for (size_t i = 0; i < n; i += most) {
		size_t piece = n - i < most ? n - i : most;

		if (i == 0)
			put_packed_header(size, total - 16);
		else
			put_packed_header(16 + piece, UINT64_MAX / 3);
		put_large(packed + i, piece);
	}
	if (size <= UINT16_MAX)
		put_large("\0\0\0\0\0\0\0", (size_t)size - total);
}

/* Packed: a sample, so much that cannot be made smaller, and another sample. */
static size_t
pack(char *packed, size_t size, size_t n_noise)
{
	struct buffer *plain = calloc(1, sizeof *plain);
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_outBuffer out = { packed, size, 0 };
	unsigned seed = 1;

	for (int i = 0; i < 3; i++) {
		ZSTD_inBuffer in = { plain->bytes, 0, 0 };

		plain->n = 0;
		while (i == 1 && n_noise > 0) {	/* records that say nothing */
			size_t n = n_noise < 50000 ? n_noise : 50000;
			size_t begin;

			plain->n = 0;
			begin = begin_record(plain, 5, 0);
			for (size_t j = 8; j < n; j++)
				buffer_number(plain, (seed = seed * 1103515245
				    + 12345) >> 16, 1);
			end_record(plain, begin);
			n_noise -= n;
			in = (ZSTD_inBuffer){ plain->bytes, plain->n, 0 };
			assert_int_equal(ZSTD_compressStream2(context, &out,
			    &in, ZSTD_e_flush), 0);
		}
		if (i != 1)
			put_sample(plain, 5, 7, CHAIN(0x400010), 2);
		in = (ZSTD_inBuffer){ plain->bytes, i != 1 ? plain->n : 0, 0 };
		assert_int_equal(ZSTD_compressStream2(context, &out, &in,
		    i < 2 ? ZSTD_e_flush : ZSTD_e_end), 0);
	}
	ZSTD_freeCCtx(context);
	free(plain);
	return out.pos;
}

static void
begin_large_of(uint64_t more)
{
	struct buffer buffer;

	buffer.n = 0;
	buffer_add(&buffer, "PERFILE2", 8);
	buffer_number(&buffer, 16, 8);
	put_event_of(&buffer, 0, 5, more, 0, 0);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/a", 1);
	n_large = 0;
	put_large(buffer.bytes, buffer.n);
}

static void
begin_large(void)
{
	begin_large_of(0);
}

static void
expect_two_samples(void)
{
	struct error error = { 0 };
	struct profile *profile = read_memory(&format_perf_data, large,
	                                      n_large, &error);

	keep_seed(large, n_large);
	if (profile == NULL)
		fail_msg("%s", error.text);
	assert_int_equal(hits_of(profile, 0, "a+0x1010"), 20);
	assert_int_equal(profile->n_warnings, 1);	/* "a" is not there */
	profile_free(profile);
}

static void
perf_data_passes_over_zeros_behind_packed_records(void **state)
{
	char packed[4096];
	size_t n = pack(packed, sizeof packed, 0);

	(void)state;
	assert_int_not_equal((16 + n) % 8, 0);
	begin_large();
	put_packed(packed, n);
	expect_two_samples();
	begin_large();
	for (size_t i = 0; i < n; i += 13)
		put_packed(packed + i, n - i < 13 ? n - i : 13);
	expect_two_samples();
}

static void
perf_data_unpacks_more_than_a_header_can_say(void **state)
{
	char *packed = malloc(sizeof large);
	size_t sizes[] = { 65300, 200000, 65519 * 3 };

	(void)state;
	assert_non_null(packed);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t n = pack(packed, sizeof large, sizes[i]);

		/* The first is one whose size, padded, is 65,536. */
		while (i == 0 && n + 16 < 65529)
			n = pack(packed, sizeof large, ++sizes[i]);
		assert_true(i > 0 || n + 16 <= 65535);
		begin_large();
		put_packed(packed, n);
		expect_two_samples();
	}
	free(packed);
}

static char packed_stacks[1 << 20];

/*
 * Packs n samples with copies of an idle stack, or records that say nothing,
 * behind what `large` has if is_file.  Returns how many bytes in packed.
 */
static size_t
pack_stacks(uint32_t n, bool is_sample, bool is_file)
{
	enum { STACK = 60000 };
	struct buffer *plain = calloc(1, sizeof *plain);
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_outBuffer out = { packed_stacks, sizeof packed_stacks, 0 };
	ZSTD_inBuffer front = { large, n_large, 0 };

	assert_non_null(plain);
	if (is_file)
		assert_int_equal(ZSTD_compressStream2(context, &out, &front,
		    ZSTD_e_flush), 0);
	for (uint32_t i = 0; i < n; i++) {
		ZSTD_inBuffer in = { plain->bytes, 0, 0 };
		uint16_t size = STACK;

		plain->n = 0;
		if (is_sample)
			put_sample(plain, 5, 7, CHAIN(0x400010), 2);
		else
			end_record(plain, begin_record(plain, 5, 0));
		memset(plain->bytes + plain->n, 0, STACK - plain->n);
		plain->n = STACK;
		memcpy(plain->bytes + 6, &size, sizeof size);
		in.size = plain->n;
		assert_int_equal(ZSTD_compressStream2(context, &out, &in,
		    i + 1 < n ? ZSTD_e_flush : ZSTD_e_end), 0);
	}
	ZSTD_freeCCtx(context);
	free(plain);
	return out.pos;
}

static void
put_packed_stacks(uint32_t n, bool is_sample)
{
	const size_t size = pack_stacks(n, is_sample, false);

	begin_large_of(PERF_FIELD_STACK_USER);
	put_packed(packed_stacks, size);
}

/* Copies of stacks pack 1,000 times and more where a loop runs. */
static void
perf_data_unpacks_many_copies_of_a_stack(void **state)
{
	struct error error = { 0 };
	struct profile *profile;

	(void)state;
	put_packed_stacks(5000, true);
	profile = read_memory(&format_perf_data, large, n_large, &error);
	if (profile == NULL)
		fail_msg("%s", error.text);
	assert_true(n_large < 300000);
	assert_int_equal(hits_of(profile, 0, "a+0x1010"), 5000 * 10);
	profile_free(profile);
	put_packed_stacks(5000, false);
	must_refuse(&format_perf_data, large, n_large,
	            "packed records hold more than real recordings");
}

/* Likewise a file that somebody has packed, such as to send it. */
static void
perf_data_that_is_packed_has_many_copies_of_a_stack(void **state)
{
	struct error error = { 0 };
	struct profile *profile;
	size_t size;

	(void)state;
	begin_large_of(PERF_FIELD_STACK_USER);
	size = pack_stacks(5000, true, true);
	profile = read_memory(&format_perf_data, packed_stacks, size, &error);
	if (profile == NULL)
		fail_msg("%s", error.text);
	assert_true(size < 300000);
	assert_int_equal(hits_of(profile, 0, "a+0x1010"), 5000 * 10);
	profile_free(profile);
	/* Other records are work, and so is what else a sample has. */
	for (int i = 0; i < 2; i++) {
		begin_large_of(i == 0 ? PERF_FIELD_STACK_USER : 0);
		size = pack_stacks(5000, i > 0, true);
		profile = read_memory(&format_perf_data, packed_stacks, size,
		                      &error);
		assert_true(profile == NULL ||
		            hits_of(profile, 0, "a+0x1010") < 5000 * 10);
		profile_free(profile);
		error = (struct error){ 0 };
	}
}

/* As with --aio: what should say how much there is says anything. */
static void
perf_data_unpacks_records_that_do_not_say_how_much(void **state)
{
	const uint64_t said[] = { 0, 1, 65536, UINT64_MAX, UINT64_MAX - 16,
		UINT64_MAX / 2 };
	char packed[4096];
	size_t n = pack(packed, sizeof packed, 0);

	(void)state;
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		begin_large();
		for (size_t j = 0; j < n; j += 13) {
			size_t piece = n - j < 13 ? n - j : 13;

			put_packed_header(16 + piece, said[i]);
			put_large(packed + j, piece);
		}
		put_packed_header(16, UINT64_MAX);
		expect_two_samples();
	}
}

static void
perf_data_refuses_packed_records_that_do_not_fit(void **state)
{
	struct error error = { 0 };
	char *packed = malloc(sizeof large);
	size_t n = pack(packed, sizeof large, 200000), begin;

	(void)state;
	begin_large();
	begin = n_large;
	put_packed(packed, n);
	large[begin + 16 + 65519] = PERF_SAMPLE;	/* the second header */
	assert_null(read_memory(&format_perf_data, large, n_large, &error));
	assert_non_null(strstr(error.text, "lacks its second header"));
	begin_large();
	begin = n_large;
	put_packed(packed, n);
	large[begin + 16 + 65519 + 6] = 17;	/* its size */
	large[begin + 16 + 65519 + 7] = 0;
	error.is_set = false;
	assert_null(read_memory(&format_perf_data, large, n_large, &error));
	assert_non_null(strstr(error.text, "lacks its second header"));
	free(packed);
}

static void
perf_data_asks_the_map_that_a_runtime_wrote(void **state)
{
	char root[] = "/tmp/test-perf-data-XXXXXX", path[100];
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	make_root(root);
	write_text(root, "perf-7.map", "1000 20 one;of (two)\nzz\n"
	           "1020 10 other\n1000 10 newer\n");
	begin_pipe(&buffer);
	put_map(&buffer, 7, 0x1000, 0x1000, "//anon", 1);
	put_sample(&buffer, 5, 7, CHAIN(0x1005), 2);
	put_sample(&buffer, 5, 7, CHAIN(0x1025), 3);
	put_sample(&buffer, 5, 7, CHAIN(0x1030), 4);
	profile = read_buffer(&buffer);
	assert_int_equal(hits_of(profile, 0, "newer"), 10);
	assert_int_equal(hits_of(profile, 0, "other"), 10);
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	profile_free(profile);
	snprintf(path, sizeof path, "%s/perf-7.map", root);
	unlink(path);
	drop_root(root);
}

static void
perf_data_refuses_what_does_not_fit_with_its_offset(void **state)
{
	struct buffer buffer;
	size_t begin;

	(void)state;
	begin_pipe(&buffer);
	expect_error(&buffer, "in: no samples in it");
	put_sample(&buffer, 5, 7, CHAIN(0x10), 1);
	begin = buffer.n;
	buffer_number(&buffer, PERF_SAMPLE, 6);
	buffer_number(&buffer, 7, 2);
	expect_error(&buffer, "in: 0xa0: expected a record of 8 bytes");

	buffer.n = begin;
	begin = begin_record(&buffer, PERF_SAMPLE, 0);
	for (int i = 0; i < 6; i++)
		buffer_number(&buffer, 1, 8);
	end_record(&buffer, begin);
	expect_error(&buffer, "in: 0xa0: a sample that is shorter");

	buffer.n = begin;
	end_record(&buffer, begin_record(&buffer, PERF_MMAP, 0));
	expect_error(&buffer, "in: 0xa0: expected a mapping");

	buffer.n = 0;
	buffer_add(&buffer, "PERFILE2\1\0\0\0\0\0\0\0", 16);
	expect_error(&buffer, "in: 0x8: expected the header");
}

static void
perf_data_names_the_kinds_that_are_not_read(void **state)
{
	struct buffer buffer;

	(void)state;
	buffer.n = 0;
	buffer_add(&buffer, "2ELIFREP\0\0\0\0\0\0\0\x10", 16);
	expect_error(&buffer, "in: 0x0: of a big-endian machine");
	buffer.n = 0;
	buffer_add(&buffer, "PERFFILE\x68\0\0\0\0\0\0\0", 16);
	expect_error(&buffer, "in: 0x0: as perf wrote it before Linux 3.4");

	buffer.n = 0;
	buffer_add(&buffer, "PERFILE2", 8);
	buffer_number(&buffer, 104, 8);
	buffer_number(&buffer, 144, 8);		/* an event and its ids */
	buffer_number(&buffer, 104, 8);
	buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, 104, 8);
	buffer_number(&buffer, 8, 8);
	buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, 0, 8);
	buffer_number(&buffer, 1 << PERF_FEATURE_DIRECTORY, 8);
	for (int i = 0; i < 3; i++)
		buffer_number(&buffer, 0, 8);
	expect_error(&buffer, "in: 0x0: one file of a directory");

	begin_pipe(&buffer);
	put_trace(&buffer);
	expect_error(&buffer, "in: no samples in it but a processor's trace");
}

static void
perf_data_cut_at_every_byte_keeps_what_is_whole(void **state)
{
	struct buffer buffer;

	(void)state;
	begin_pipe(&buffer);
	put_command(&buffer, 7, 0, "prog", 1);
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/prog", 2);
	put_sample(&buffer, 5, 7, CHAIN(0x400010, 0x400021), 3);
	put_round(&buffer);
	put_fork(&buffer, 8, 7, 4);
	put_sample(&buffer, 5, 8, CHAIN(0x400010, 0x400021), 5);
	put_kernel_map(&buffer, EXT4, 0, "/lib/ext4.ko");
	put_kernel_symbol(&buffer, BPF, 0, "bpf_prog_12_f", 6);
	put_waiting(&buffer, 7, CHAIN(PERF_CONTEXT_KERNEL, EXT4 + 1, BPF + 2),
	            9999, 7);
	put_deferred(&buffer, 7, 9999, CHAIN(0x400010), 8);
	put_lost(&buffer, PERF_LOST_SAMPLES, 0, 3, 0);
	cut_at_every_byte(&format_perf_data, buffer.bytes, buffer.n);
}

/* ---- a directory ---- */

static void
put_extent(struct buffer *buffer, uint64_t offset, uint64_t size)
{
	buffer_number(buffer, offset, 8);
	buffer_number(buffer, size, 8);
}

/* The main file: an event, a mapping, and that there are others. */
static void
make_main_file(struct buffer *buffer)
{
	struct buffer records = { .n = 0 };

	put_map(&records, 7, 0x400000, 0x1000, "/gone/a", 1);
	buffer->n = 0;
	buffer_add(buffer, "PERFILE2", 8);
	buffer_number(buffer, 104, 8);
	buffer_number(buffer, 64 + 16, 8);
	put_extent(buffer, 104, 64 + 16);
	put_extent(buffer, 192, records.n);
	put_extent(buffer, 0, 0);
	buffer_number(buffer, 1 << PERF_FEATURE_DIRECTORY |
	              1 << PERF_FEATURE_HOSTNAME, 8);
	for (int i = 0; i < 3; i++)
		buffer_number(buffer, 0, 8);
	buffer_number(buffer, 1, 4);
	buffer_number(buffer, 64, 4);
	for (int i = 0; i < 2; i++)
		buffer_number(buffer, 0, 8);
	buffer_number(buffer, TYPE, 8);
	buffer_number(buffer, 0, 8);
	buffer_number(buffer, PERF_ATTR_SAMPLE_ID_ALL, 8);
	for (int i = 0; i < 2; i++)
		buffer_number(buffer, 0, 8);
	put_extent(buffer, 184, 8);
	buffer_number(buffer, 5, 8);
	buffer_add(buffer, records.bytes, records.n);
	put_extent(buffer, 192 + records.n + 32, 12);
	put_extent(buffer, 192 + records.n + 32 + 12, 8);
	buffer_number(buffer, 8, 4);
	buffer_add(buffer, "machine", 8);
	buffer_number(buffer, 1, 8);		/* of the directory's format */
}

/* What one processor's file has, packed; perf never ends the stream. */
static void
write_packed(const char *root, const char *name, const struct buffer *plain)
{
	struct buffer buffer = { .n = 0 };
	size_t begin = begin_record(&buffer, PERF_COMPRESSED, 0);
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer in = { plain->bytes, plain->n, 0 };
	ZSTD_outBuffer out = { buffer.bytes, sizeof buffer.bytes, buffer.n };

	assert_int_equal(ZSTD_compressStream2(context, &out, &in,
	                                      ZSTD_e_flush), 0);
	ZSTD_freeCCtx(context);
	buffer.n = out.pos;
	end_record(&buffer, begin);
	write_bytes(root, name, buffer.bytes, buffer.n);
}

static void
perf_data_reads_all_files_of_a_directory(void **state)
{
	char root[] = "/tmp/test-perf-data-XXXXXX", path[200];
	const char *const paths[] = { root };
	const struct read_options options = { 0 };
	struct error error = { 0 };
	struct buffer buffer;
	struct profile *profile;

	(void)state;
	assert_non_null(mkdtemp(root));
	make_main_file(&buffer);
	write_bytes(root, "data", buffer.bytes, buffer.n);
	assert_null(load_profiles(paths, 1, &options, &error));
	assert_non_null(strstr(error.text, "/data: 0x0: one file of a "
	                       "directory that `perf record --threads` wrote; "
	                       "data.0 is not beside it"));

	/* Each in its order of time, and packed for itself. */
	buffer.n = 0;
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 10);
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 30);
	write_packed(root, "data.0", &buffer);
	write_bytes(root, "data.1", "", 0);
	buffer.n = 0;
	put_map(&buffer, 7, 0x400000, 0x1000, "/gone/b", 20);
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 40);
	write_packed(root, "data.2", &buffer);
	/* That one is cut. */
	buffer.n = 0;
	put_sample(&buffer, 5, 7, CHAIN(0x400010), 50);
	write_bytes(root, "data.3", buffer.bytes, buffer.n - 1);
	error.is_set = false;
	profile = load_profiles(paths, 1, &options, &error);
	if (profile == NULL)
		fail_msg("%s", error.text);
	assert_int_equal(hits_of(profile, 0, "a+0x1010"), 10);
	assert_int_equal(hits_of(profile, 0, "b+0x1010"), 20);
	assert_string_equal(profile->processes[0].host, "machine");
	expect_warning(profile, "/data.3: 0x0: the input is cut short here");
	profile_free(profile);

	/* Files after a gap are not lost without a message. */
	snprintf(path, sizeof path, "%s/data.1", root);
	unlink(path);
	profile = load_profiles(paths, 1, &options, &error);
	assert_non_null(profile);
	expect_warning(profile, "/data.1 is missing; files with higher "
	               "numbers that were not read: 2");
	profile_free(profile);

	/* Nobody writes into this pipe. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(load_profiles(paths, 1, &options, &error));
	assert_non_null(strstr(error.text, "/data.1: not a regular file"));
	unlink(path);
	error.is_set = false;

	/* What is wrong is in the file that has it. */
	write_bytes(root, "data.1", "\1\0\0\0\0\0\x8\0", 8);
	assert_null(load_profiles(paths, 1, &options, &error));
	assert_non_null(strstr(error.text, "/data.1: 0x0: expected a mapping"));
	for (int i = -1; i < 4; i++) {
		snprintf(path, sizeof path, i < 0 ? "%s/data" : "%s/data.%d",
		         root, i);
		unlink(path);
	}
	rmdir(root);
}

/* ---- a file ---- */

/*
 * As `perf inject` writes one from a pipe since Linux 6.12: records, features,
 * ids, events.  Where these begin.
 */
static size_t
make_file_with_events_behind(struct buffer *buffer)
{
	const uint64_t attr_size = 64 + 16, table = 16;
	struct buffer records = { .n = 0 };
	size_t features, ids, attrs;

	put_map(&records, 7, 0x400000, 0x1000, "/gone/a", 1);
	put_sample(&records, 5, 7, CHAIN(0x400010), 2);
	features = 104 + records.n;
	ids = features + table + 12;
	attrs = ids + 8;
	buffer->n = 0;
	buffer_add(buffer, "PERFILE2", 8);
	buffer_number(buffer, 104, 8);
	buffer_number(buffer, attr_size, 8);
	put_extent(buffer, attrs, attr_size);
	put_extent(buffer, 104, records.n);
	put_extent(buffer, 0, 0);
	buffer_number(buffer, 1 << PERF_FEATURE_HOSTNAME, 8);
	for (int i = 0; i < 3; i++)
		buffer_number(buffer, 0, 8);
	buffer_add(buffer, records.bytes, records.n);
	put_extent(buffer, features + table, 12);
	buffer_number(buffer, 8, 4);
	buffer_add(buffer, "machine", 8);
	buffer_number(buffer, 5, 8);		/* the id */
	buffer_number(buffer, 1, 4);
	buffer_number(buffer, 64, 4);
	for (int i = 0; i < 2; i++)
		buffer_number(buffer, 0, 8);
	buffer_number(buffer, TYPE, 8);
	buffer_number(buffer, 0, 8);
	buffer_number(buffer, PERF_ATTR_SAMPLE_ID_ALL, 8);
	for (int i = 0; i < 2; i++)
		buffer_number(buffer, 0, 8);
	put_extent(buffer, ids, 8);
	return attrs;
}

static void
perf_data_events_may_stand_behind_the_records(void **state)
{
	struct buffer buffer;
	struct profile *profile;
	size_t attrs = make_file_with_events_behind(&buffer);

	(void)state;
	profile = read_buffer(&buffer);
	assert_string_equal(profile->resources[0].name, "cpu-clock");
	assert_int_equal(hits_of(profile, 0, "a+0x1010"), 10);
	assert_string_equal(profile->processes[0].host, "machine");
	profile_free(profile);
	for (size_t n = 104; n < buffer.n; n++) {
		struct buffer cut = buffer;

		cut.n = n;
		expect_error(&cut, "ends before its events, which are at");
	}
	buffer.bytes[24]--;		/* the events begin in the ids */
	expect_error(&buffer, "expected the ids of an event");
	memcpy(buffer.bytes + 24, &(uint64_t){ 200 }, 8);
	expect_error(&buffer, "in: 0x8: expected the header");
	memcpy(buffer.bytes + 24, &(uint64_t){ attrs + ((uint64_t)513 << 20) },
	       8);
	expect_error(&buffer, "its events after more than 512 MiB");
}

static void
perf_data_file_cut_at_every_byte_keeps_what_is_whole(void **state)
{
	const char *source = getenv("srcdir");
	struct buffer buffer = { .n = 0 };
	struct error error = { 0 };
	struct profile *profile;
	char path[500];
	FILE *file;

	(void)state;
	snprintf(path, sizeof path, "%s/tests/data/perf/rec.data",
	         source != NULL ? source : ".");
	file = fopen(path, "r");
	if (file == NULL)
		skip_since("%s not found", path);
	buffer.n = fread(buffer.bytes, 1, sizeof buffer.bytes, file);
	fclose(file);
	shared_modules = module_cache_new(NULL, &error);
	profile = read_buffer(&buffer);
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[0].name, "cpu-clock:u");
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->samples[0]), 21);
	assert_non_null(profile->processes[0].host);
	profile_free(profile);
	cut_at_every_byte(&format_perf_data, buffer.bytes, buffer.n);
	buffer_add(&buffer, buffer.bytes, buffer.n);
	profile = read_buffer(&buffer);
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->samples[0]), 21);
	assert_true(profile->n_warnings > 0);
	assert_non_null(strstr(profile->warnings[0],
	                       "another perf.data begins here"));
	profile_free(profile);
	module_cache_free(shared_modules);
	shared_modules = NULL;
}

/* What perf and cpprof both count has one unit, so that it can be compared. */
static void
perf_data_events_have_the_units_of_recordings(void **state)
{
	unsigned n = 0;

	(void)state;
	for (const struct count_kind *kind = count_kinds; kind->name != NULL;
	     kind++) {
		const char *gtick = perf_event_gtick(kind->name,
		                                     strlen(kind->name));

		if (*gtick == '\0')
			continue;
		assert_string_equal(gtick, kind->gtick);
		n++;
	}
	assert_in_range(n, 8, 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_data_names_frames_by_their_mappings),
		cmocka_unit_test(perf_data_reads_the_first_of_several_pipes),
		cmocka_unit_test(perf_data_ends_chains_where_they_are_damaged),
		cmocka_unit_test(perf_data_takes_records_in_the_order_of_time),
		cmocka_unit_test(
		    perf_data_records_without_time_take_effect_at_once),
		cmocka_unit_test(
		    perf_data_kernel_threads_have_their_whole_names),
		cmocka_unit_test(
		    perf_data_children_begin_with_their_parents_mappings),
		cmocka_unit_test(perf_data_samples_have_their_times),
		cmocka_unit_test(
		    perf_data_events_have_the_units_of_recordings),
		cmocka_unit_test(
		    perf_data_events_are_resources_and_idle_ones_are_not),
		cmocka_unit_test(perf_data_leaders_sample_their_whole_group),
		cmocka_unit_test(
		    perf_data_counts_of_inherited_events_are_each_threads_own),
		cmocka_unit_test(perf_data_counts_need_no_group),
		cmocka_unit_test(perf_data_only_events_with_samples_count),
		cmocka_unit_test(
		    perf_data_leaves_out_samples_of_unknown_events),
		cmocka_unit_test(perf_data_counts_what_was_lost),
		cmocka_unit_test(perf_data_says_that_all_was_lost),
		cmocka_unit_test(
		    perf_data_tells_of_types_that_it_does_not_know),
		cmocka_unit_test(perf_data_says_that_traces_are_not_decoded),
		cmocka_unit_test(perf_data_shows_virtual_machines_as_such),
		cmocka_unit_test(perf_data_walks_stacks_of_aarch64),
		cmocka_unit_test(perf_data_walks_no_stacks_of_other_processors),
		cmocka_unit_test(
		    perf_data_unpacks_records_that_are_cut_anywhere),
		cmocka_unit_test(perf_data_reads_time_off_the_processor),
		cmocka_unit_test(perf_data_modules_of_the_kernel_are_modules),
		cmocka_unit_test(perf_data_newer_mappings_may_have_build_ids),
		cmocka_unit_test(
		    perf_data_names_functions_of_kernel_modules_wherever_they_are),
		cmocka_unit_test(
		    perf_data_samples_before_the_kernel_is_mapped_are_of_the_kernel),
		cmocka_unit_test(perf_data_joins_deferred_call_chains),
		cmocka_unit_test(
		    perf_data_counts_deferred_call_chains_that_never_came),
		cmocka_unit_test(
		    perf_data_samples_of_the_process_wait_for_all_their_frames),
		cmocka_unit_test(
		    perf_data_keeps_frames_for_their_thread_and_cookie_alone),
		cmocka_unit_test(perf_data_lets_only_so_many_samples_wait),
		cmocka_unit_test(
		    perf_data_samples_of_the_kernel_without_its_chain_keep_their_place),
		cmocka_unit_test(
		    perf_data_takes_the_calls_that_processors_keep),
		cmocka_unit_test(
		    perf_data_passes_over_zeros_behind_packed_records),
		cmocka_unit_test(perf_data_unpacks_more_than_a_header_can_say),
		cmocka_unit_test(perf_data_unpacks_many_copies_of_a_stack),
		cmocka_unit_test(
		    perf_data_that_is_packed_has_many_copies_of_a_stack),
		cmocka_unit_test(
		    perf_data_unpacks_records_that_do_not_say_how_much),
		cmocka_unit_test(
		    perf_data_refuses_packed_records_that_do_not_fit),
		cmocka_unit_test(perf_data_asks_the_map_that_a_runtime_wrote),
		cmocka_unit_test(
		    perf_data_refuses_what_does_not_fit_with_its_offset),
		cmocka_unit_test(perf_data_names_the_kinds_that_are_not_read),
		cmocka_unit_test(
		    perf_data_cut_at_every_byte_keeps_what_is_whole),
		cmocka_unit_test(perf_data_reads_all_files_of_a_directory),
		cmocka_unit_test(perf_data_events_may_stand_behind_the_records),
		cmocka_unit_test(
		    perf_data_file_cut_at_every_byte_keeps_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
