/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-cpprofdata.c -- files made by hand, whole, growing, cut and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cpprofdata.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/format.h"
#include "tests/reading-again.h"

extern const struct format format_cpprofdata;

enum { IMAGE_MAX = 64 * CPPROFDATA_PAGE, NODE_SIZE = 24 + 16 };

/* A file being built. */
struct image {
	unsigned char bytes[IMAGE_MAX];
	size_t used;
	uint64_t next[CPPROFDATA_CALL_COUNTS + 1];
};

static struct cpprofdata_header *
header_of(struct image *image)
{
	return (struct cpprofdata_header *)image->bytes;
}

static void
begin_image(struct image *image)
{
	struct cpprofdata_header *header = header_of(image);

	memset(image, 0, sizeof *image);
	image->used = CPPROFDATA_HEADER_SIZE;
	memcpy(header->magic, CPPROFDATA_MAGIC, 8);
	header->version = CPPROFDATA_VERSION;
	header->header_size = CPPROFDATA_HEADER_SIZE;
	header->machine = 62;
	header->n_resources = 1;
	header->node_size = NODE_SIZE;
	header->used = image->used;
	strcpy(header->resources[0].name, "cpu");
	strcpy(header->resources[0].gtick, "microsecond");
	header->resources[0].interval = 4000;
	header->pid = 77;
	header->parent_pid = 7;
	header->start_ns = 1000;
	header->last_sample_ns = 5000;
}

static size_t
record_size(uint32_t type)
{
	return type == CPPROFDATA_STRINGS ? 1 :
	    type == CPPROFDATA_NODES ? NODE_SIZE :
	    type == CPPROFDATA_SLICES ? sizeof(struct cpprofdata_slice) :
	    type == CPPROFDATA_CALL_FUNCTIONS ?
	    sizeof(struct cpprofdata_call_function) :
	    type == CPPROFDATA_CALLS ? sizeof(struct cpprofdata_calls) :
	    type == CPPROFDATA_CALL_COUNTS ?
	    sizeof(struct cpprofdata_call_count) : 128;
}

/* A chunk of n records, one page; returns its offset. */
static size_t
add_chunk(struct image *image, uint32_t type, uint32_t owner,
          const void *records, size_t n)
{
	size_t offset = image->used;
	size_t room = CPPROFDATA_PAGE - sizeof(struct cpprofdata_chunk);
	struct cpprofdata_chunk chunk = {
		.magic = CPPROFDATA_CHUNK_MAGIC,
		.type = type,
		.size = CPPROFDATA_PAGE,
		.first = image->next[type],
		.record_size = (uint32_t)record_size(type),
		.owner = owner,
		.count = n,
	};

	assert_true(n * record_size(type) <= room);
	memcpy(image->bytes + offset, &chunk, sizeof chunk);
	memcpy(image->bytes + offset + sizeof chunk, records,
	       n * record_size(type));
	image->next[type] += room / record_size(type);
	image->used += CPPROFDATA_PAGE;
	header_of(image)->used = image->used;
	return offset;
}

struct test_node {
	uint32_t parent, module;
	uint64_t offset, returns, hits, samples;
};

/* A function of this program to be sampled. */
__attribute__((noinline)) static int
sampled_function(int n)
{
	return n + 1;
}

static uint64_t
own_address(void)
{
	struct link_map *map = NULL;
	Dl_info info;
	void *address = (void *)(uintptr_t)sampled_function;

	assert_int_not_equal(0, dladdr1(address, &info, (void **)&map,
	                                RTLD_DL_LINKMAP));
	return (uint64_t)(uintptr_t)address - map->l_addr;
}

/*
 * Modules: 0 this program, 1 one that is missing.  Strings and their offsets:
 */
static const char strings[] = "\0/proc/self/exe\0/gone/lib.so\0prog\0"
    "two words\0host";
enum { OWN = 1, GONE = 16, ARGUMENTS = 29, HOST = 44 };

static void
add_modules(struct image *image)
{
	struct cpprofdata_module modules[2] = {
		{ .path = OWN, .flags = CPPROFDATA_MODULE_MAIN },
		{ .path = GONE, .build_id_size = 2, .build_id = { 1, 2 } },
	};

	add_chunk(image, CPPROFDATA_MODULES, 0, modules, 2);
}

static void
add_threads(struct image *image)
{
	struct cpprofdata_thread threads[2] = {
		{ .tid = 77, .name = "prog", .flags = CPPROFDATA_THREAD_MAIN },
		{ .tid = 78, .name = "sixteen-bytes-xx" },
	};

	add_chunk(image, CPPROFDATA_THREADS, 0, threads, 2);
}

/* Numbers of nodes continue at 100: a page has room for (4096 - 64) / 40. */
static void
whole_image(struct image *image)
{
	const struct test_node main_nodes[] = {
		{ UINT32_MAX, 0, own_address(), 0, 0, 0 },
		{ 0, 1, 0x1234, 0, 5, 3 },
		{ 1, 0, own_address() + 1, 0, 2, 2 },
		{ 0, 1, 0x1234, 0, 1, 1 },
	};
	const struct test_node other_nodes[] = {
		{ UINT32_MAX, CPPROFDATA_PARTIAL, 0, 0, 0, 0 },
		{ 100, CPPROFDATA_NO_MODULE, 0xabc, 0, 4, 4 },
	};
	const struct test_node more_nodes[] = { { 2, 1, 0x10, 0, 8, 8 } };

	begin_image(image);
	header_of(image)->arguments = ARGUMENTS;
	header_of(image)->n_arguments = 2;
	header_of(image)->host = HOST;
	header_of(image)->executable = OWN;
	header_of(image)->drops[CPPROFDATA_LOST_FULL].hits = 9;
	add_chunk(image, CPPROFDATA_NODES, 0, main_nodes, 4);
	add_chunk(image, CPPROFDATA_STRINGS, 0, strings, sizeof strings);
	add_modules(image);
	add_threads(image);
	add_chunk(image, CPPROFDATA_NODES, 1, other_nodes, 2);
	add_chunk(image, CPPROFDATA_NODES, 0, more_nodes, 1);
}

static struct profile *
read_bytes(const void *bytes, size_t size, struct error *error)
{
	struct read_options options = { 0 };
	struct source *source = source_of_memory("f", bytes, size, error);
	struct profile *profile;

	assert_non_null(source);
	profile = format_cpprofdata.read(source, &options, error);
	source_close(source);
	assert_true((profile == NULL) == error->is_set);
	return profile;
}

static struct profile *
read_image(const struct image *image)
{
	const struct read_options options = { 0 };
	struct error error = { 0 };
	struct profile *profile = read_bytes(image->bytes, image->used,
	                                     &error);

	assert_string_equal(error.text, "");
	check_again(&format_cpprofdata, &options, image->bytes, image->used,
	            profile);
	return profile;
}

static const char *
name_of(const struct profile *profile, uint32_t node)
{
	uint32_t label = profile->tree->label[node];
	const struct frame *frame = &profile->frames[label];

	return names_text(profile->names,
	    profile->locations[frame->first_location].function);
}

/* The nodes with hits, "name<name<name hits/samples" from inside out. */
static void
assert_stacks(const struct profile *profile, const char *expected)
{
	const struct sample_tree *tree = profile->tree;
	char text[2000] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		uint64_t hits = sample_tree_hits(tree, 0, i);

		if (hits == 0)
			continue;
		for (uint32_t k = i; k != NO_NODE; k = sample_tree_parent(tree,
		    k))
			n += (size_t)snprintf(text + n, sizeof text - n,
			    "%s%s", k == i ? "" : "<", name_of(profile, k));
		n += (size_t)snprintf(text + n, sizeof text - n,
		    " %u/%u\n", (unsigned)hits,
		    (unsigned)sample_tree_samples(tree, 0, i));
	}
	assert_string_equal(text, expected);
}

static const char whole_stacks[] =
    "lib.so+0x1234<sampled_function 6/4\n"
    "sampled_function<lib.so+0x1234<sampled_function 2/2\n"
    "lib.so+0x10<sampled_function<lib.so+0x1234<sampled_function 8/8\n"
    "[jit]<[partial] 4/4\n";

static void
cpprofdata_gives_named_stacks(void **state)
{
	static struct image image;
	struct profile *profile;

	(void)state;
	whole_image(&image);
	profile = read_image(&image);
	assert_stacks(profile, whole_stacks);
	assert_int_equal(profile->tree->deepest, 4);
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0], "/gone/lib.so is not there; "
	    "its functions are shown as module+offset");
	profile_free(profile);
}

/* The nodes in the order of their hits, as in whole_stacks. */
static void
assert_returns(const struct profile *profile, const uint64_t expected[4])
{
	const struct sample_tree *tree = profile->tree;
	size_t n = 0;

	assert_non_null(tree->returns);
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		if (sample_tree_hits(tree, 0, i) != 0)
			assert_int_equal(tree->returns[i], expected[n++]);
	assert_int_equal(n, 4);
}

static uint64_t
all_returns(const struct profile *profile)
{
	uint64_t sum = 0;

	assert_non_null(profile->tree->returns);
	for (uint32_t i = 0; i < profile->tree->n_nodes; i++)
		sum += profile->tree->returns[i];
	return sum;
}

/* Four nodes at most in a chunk of one thread. */
static void
set_returns(struct image *image, size_t chunk, const uint64_t *returns,
            size_t n)
{
	unsigned char *at = image->bytes + chunk +
	    sizeof(struct cpprofdata_chunk);

	for (size_t i = 0; i < n; i++, at += NODE_SIZE)
		memcpy(at + offsetof(struct cpprofdata_node, returns),
		       &returns[i], sizeof returns[i]);
	header_of(image)->flags |= CPPROFDATA_COUNTS_RETURNS;
}

static void
cpprofdata_gives_returns_and_sums_add_them(void **state)
{
	/* The second and the fourth node are one stack, of hits 5 and 1. */
	static const uint64_t returns[] = { 9, 30, 7, 12 };
	static const uint64_t read[] = { 42, 7, 0, 0 };
	static struct image image;
	struct profile *without, *with, *both[2], *sum;
	struct error error = { 0 };

	(void)state;
	whole_image(&image);
	without = read_image(&image);
	assert_null(without->tree->returns);
	set_returns(&image, CPPROFDATA_HEADER_SIZE, returns, 4);
	with = read_image(&image);
	assert_returns(with, read);
	both[0] = both[1] = with;
	sum = profile_merge(both, 2, &error);
	assert_int_equal(all_returns(sum), 2 * (9 + 30 + 7 + 12));
	profile_free(sum);
	for (size_t i = 0; i < 2; i++) {
		both[i] = with;
		both[1 - i] = without;
		sum = profile_merge(both, 2, &error);
		assert_int_equal(all_returns(sum), 9 + 30 + 7 + 12);
		profile_free(sum);
	}
	profile_free(with);
	profile_free(without);
}

static void
cpprofdata_tells_of_the_run(void **state)
{
	static struct image image;
	struct profile *profile;

	(void)state;
	whole_image(&image);
	profile = read_image(&image);
	assert_int_equal(profile->n_resources, 1);
	assert_string_equal(profile->resources[0].name, "cpu");
	assert_string_equal(profile->resources[0].gtick, "microsecond");
	assert_int_equal(profile->resources[0].interval, 4000);
	assert_int_equal(profile->n_processes, 1);
	assert_int_equal(profile->processes[0].pid, 77);
	assert_int_equal(profile->processes[0].parent_pid, 7);
	assert_string_equal(profile->processes[0].command, "prog two words");
	assert_string_equal(profile->processes[0].host, "host");
	assert_string_equal(profile->processes[0].program, "/proc/self/exe");
	assert_int_equal(profile->processes[0].end_ns, 5000);
	assert_int_equal(profile->processes[0].cpu_ns, 0);
	assert_null(profile->resources[0].source);
	assert_int_equal(profile->n_modules, 2);
	assert_string_equal(profile->modules[1].path, "/gone/lib.so");
	assert_int_equal(profile->modules[1].build_id_size, 2);
	assert_int_equal(profile->n_tallies, 2);
	assert_string_equal(profile->tallies[0].what, 
	    "hits lost: buffers, memory or disk were full");
	assert_int_equal(profile->tallies[0].count, 9);
	profile_free(profile);
}

static bool
has_tally(const struct profile *profile, const char *start)
{
	for (uint32_t i = 0; i < profile->n_tallies; i++)
		if (strncmp(profile->tallies[i].what, start,
		            strlen(start)) == 0)
			return true;
	return false;
}

static void
cpprofdata_tells_how_it_was_counted_and_what_that_cost(void **state)
{
	static struct image image;
	struct profile *profile;

	(void)state;
	whole_image(&image);
	header_of(&image)->cpu_ns = 3000;
	header_of(&image)->sampling_ns = 40;
	header_of(&image)->resources[0].source = HOST;
	header_of(&image)->resources[0].flags =
	    CPPROFDATA_RANDOM | CPPROFDATA_COARSE;
	profile = read_image(&image);
	assert_int_equal(profile->processes[0].cpu_ns, 3000);
	assert_int_equal(profile->processes[0].sampling_ns, 40);
	assert_string_equal(profile->resources[0].source,
	    "host, random intervals, places to a tick");
	assert_true(profile->processes[0].cpu_is_least);
	profile_free(profile);
	header_of(&image)->resources[0].source = UINT32_MAX;
	header_of(&image)->cpu_sampling_ns = 30;	/* with cpu_ns */
	header_of(&image)->end_mono_ns = 9;	/* by _exit */
	profile = read_image(&image);
	assert_null(profile->resources[0].source);
	assert_int_equal(profile->processes[0].sampling_ns, 30);
	assert_false(profile->processes[0].cpu_is_least);
	profile_free(profile);
}

/* Of each reason it says hits or samples, whichever says more. */
static void
cpprofdata_tells_what_was_late_or_incomplete(void **state)
{
	static const struct {
		int drop;
		const char *what;
		uint64_t count;
	} drops[] = {
		{ CPPROFDATA_DEFERRED_UNSAFE,
		  "samples taken late: collector was busy", 3 },
		{ CPPROFDATA_DEFERRED_BACK_OFF,
		  "samples taken late: to keep sampling cheap", 3 },
		{ CPPROFDATA_PARTIAL_NO_RULES,
		  "stacks incomplete: code without unwind tables", 3 },
		{ CPPROFDATA_PARTIAL_BAD_RULES,
		  "stacks incomplete: invalid unwind tables", 3 },
		{ CPPROFDATA_PARTIAL_BAD_STACK,
		  "stacks incomplete: unreadable stack memory", 3 },
		{ CPPROFDATA_PARTIAL_TOO_DEEP,
		  "stacks incomplete: too deep for memory", 3 },
		{ CPPROFDATA_OVERRUN, "hits counted with the next sample", 8 },
		{ CPPROFDATA_GUESSED,
		  "stacks partly guessed: code without unwind tables", 3 },
		{ CPPROFDATA_PARTIAL_LATE,
		  "stacks incomplete: changed before all was read", 3 },
		{ CPPROFDATA_UNINTERPRETED,
		  "samples without their Python frames: thread ran on before "
		  "they were read", 3 },
		{ CPPROFDATA_PARTIAL_UNSEEN,
		  "hits without a stack: in the kernel, unseen, or in short "
		  "threads", 8 },
		{ CPPROFDATA_NO_KERNEL_FRAMES,
		  "hits whose frames of the kernel are unknown: in new "
		  "threads, threads that switch often, or long "
		  "stays in it", 8 },
	};
	static struct image image;

	(void)state;
	for (size_t i = 0; i < sizeof drops / sizeof *drops; i++) {
		struct profile *profile;
		uint32_t tally = 0;

		whole_image(&image);
		header_of(&image)->drops[drops[i].drop].samples = 3;
		header_of(&image)->drops[drops[i].drop].hits = 8;
		profile = read_image(&image);
		while (strcmp(profile->tallies[tally].what, drops[i].what) != 0)
			assert_true(++tally < profile->n_tallies);
		assert_int_equal(profile->tallies[tally].count, drops[i].count);
		profile_free(profile);
	}
}

/* Older collectors do not record which resource lost them. */
static void
cpprofdata_tells_losses_once(void **state)
{
	static struct image image;
	struct profile *profile;

	(void)state;
	whole_image(&image);
	header_of(&image)->lost[CPPROFDATA_LOST_FULL][0] = 6;
	profile = read_image(&image);
	assert_int_equal(profile->tallies[0].count, 9);
	assert_int_equal(profile->resources[0].lost[LOSS_NO_ROOM], 9);
	profile_free(profile);
}

/* The number is signed: one below 0 is no loss. */
static void
cpprofdata_tells_what_was_pending_at_the_end(void **state)
{
	static const struct {
		int64_t pending;
		uint64_t lost;
	} cases[] = { { 5, 5 }, { 0, 0 }, { -5, 0 } };
	static struct image image;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile *profile;

		whole_image(&image);
		header_of(&image)->pending[0] = cases[i].pending;
		profile = read_image(&image);
		assert_int_equal(profile->resources[0].lost[LOSS_THREAD_ENDED],
		                 cases[i].lost);
		profile_free(profile);
	}
}

static void
cpprofdata_tells_what_was_not_sampled_as_it_should_be(void **state)
{
	static const struct {
		uint32_t flag;
		const char *what;
	} flags[] = {
		{ CPPROFDATA_CONFINED, "processes not sampled to the end" },
		{ CPPROFDATA_IO_URING, "processes whose I/O by io_uring" },
		{ CPPROFDATA_CLOCK_GIVEN_UP, "processes with CPU time by" },
		{ CPPROFDATA_UNKNOWN_PYTHON, "processes of a Python whose" },
		{ CPPROFDATA_TRUNCATED, "files truncated while recorded" },
	};
	static struct image image;

	(void)state;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		struct profile *profile;

		whole_image(&image);
		header_of(&image)->flags = flags[i].flag;
		profile = read_image(&image);
		assert_int_equal(profile->n_tallies, 3);
		assert_true(has_tally(profile, flags[i].what));
		assert_true(has_tally(profile, "processes whose time in the "
		                      "kernel is the calling"));
		profile_free(profile);
	}
}

static void
cpprofdata_makes_each_thread_a_section(void **state)
{
	static struct image image;
	struct profile *profile;

	(void)state;
	whole_image(&image);
	profile = read_image(&image);
	assert_int_equal(profile->n_threads, 2);
	assert_string_equal(profile->threads[0].name, "prog");
	assert_string_equal(profile->threads[1].name, "sixteen-bytes-xx");
	assert_int_equal(profile->threads[1].tid, 78);
	assert_int_equal(profile->n_sections, 2);
	assert_int_equal(profile->sections[0].begin, 0);
	assert_int_equal(profile->sections[0].end, 4);
	assert_int_equal(profile->sections[0].thread, 0);
	assert_int_equal(profile->sections[1].begin, 4);
	assert_int_equal(profile->sections[1].end, 6);
	assert_int_equal(profile->sections[1].thread, 1);
	profile_free(profile);
}

/* Each stack counts once, for the outermost frame of that kind. */
static void
cpprofdata_counts_hits_through_code_without_names(void **state)
{
	const struct test_node nodes[] = {
		{ UINT32_MAX, CPPROFDATA_NO_MODULE, 0xabc, 0, 1, 1 },
		{ 0, CPPROFDATA_NO_MODULE, 0xdef, 0, 2, 2 },
		{ 0, 0, own_address(), 0, 4, 4 },
		{ UINT32_MAX, 0, own_address(), 0, 8, 8 },
	};
	uint64_t hits[N_FRAME_PLACEHOLDERS];
	struct profile *profile, *both[2], *sum;
	struct error error = { 0 };
	static struct image image;

	(void)state;
	begin_image(&image);
	add_chunk(&image, CPPROFDATA_NODES, 0, nodes, 4);
	add_chunk(&image, CPPROFDATA_STRINGS, 0, strings, sizeof strings);
	add_modules(&image);
	add_threads(&image);
	profile = read_image(&image);
	profile_placeholder_hits(profile, 0, hits);
	assert_int_equal(hits[FRAME_OF_JIT], 7);
	both[0] = both[1] = profile;
	sum = profile_merge(both, 2, &error);
	profile_placeholder_hits(sum, 0, hits);
	assert_int_equal(hits[FRAME_OF_JIT], 14);
	profile_free(sum);
	profile_free(profile);
}

/* ---- waits ---- */

static const uint64_t second_ns = 1000000000;

/*
 * The process began at second 1 of the waits' clock, which was second 11 in
 * UTC.  Its first thread has been in a call since second 2, at its second
 * node, and has its next hit, of a millisecond, after 400 microseconds.  Its
 * other thread has no node.  The end is unknown, and a sample was taken at
 * second 1.
 */
static struct cpprofdata_thread *
waiting_image(struct image *image)
{
	const struct test_node nodes[] = {
		{ UINT32_MAX, 0, own_address(), 0, 7, 7 },
		{ 0, 1, 0x1234, 0, 0, 0 },
	};
	const struct cpprofdata_thread threads[2] = {
		{ .tid = 77, .wait = {
			.since_ns = 2 * second_ns, .check_ns = 2 * second_ns,
			.node = 1, .columns = 1, .left = 400 } },
		{ .tid = 78 },
	};
	struct cpprofdata_header *header = header_of(image);
	size_t chunk;

	begin_image(image);
	header->flags = CPPROFDATA_WAITS;
	header->start_ns = header->last_sample_ns = 11 * second_ns;
	header->start_mono_ns = second_ns;
	strcpy(header->resources[0].name, "real");
	header->resources[0].interval = 1000;
	add_chunk(image, CPPROFDATA_NODES, 0, nodes, 2);
	add_chunk(image, CPPROFDATA_STRINGS, 0, strings, sizeof strings);
	add_modules(image);
	chunk = add_chunk(image, CPPROFDATA_THREADS, 0, threads, 2);
	return (void *)(image->bytes + chunk +
	                sizeof(struct cpprofdata_chunk));
}

static void
assert_waits(const struct image *image, const char *expected)
{
	struct profile *profile = read_image(image);

	assert_stacks(profile, expected);
	profile_free(profile);
}

/* A second is 1,000 hits, of which the first comes 600 microseconds early. */
static const char second_of_wait[] = "sampled_function 7/7\n"
    "lib.so+0x1234<sampled_function 1000/1\n";

static void
cpprofdata_charges_waits_up_to_the_end_that_is_known_best(void **state)
{
	static struct image image;
	struct cpprofdata_header *const header = header_of(&image);
	uint64_t *const ends[] = { &header->end_mono_ns,
		&header->gone_mono_ns, &header->seen_mono_ns };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct profile *profile;

		waiting_image(&image);
		for (size_t later = i; later < 3; later++)
			*ends[later] = (3 + later - i) * second_ns;
		profile = read_image(&image);
		assert_stacks(profile, second_of_wait);
		assert_int_equal(profile->processes[0].end_ns, 13 * second_ns);
		assert_true(has_tally(profile, "threads waiting at the end"));
		assert_int_equal(has_tally(profile, "processes whose end was "
		                           "not observed"), i == 2);
		profile_free(profile);
	}
	waiting_image(&image);
	header->last_sample_ns = 13 * second_ns;
	assert_waits(&image, second_of_wait);
	waiting_image(&image)[1].wait = (struct cpprofdata_wait){
		.since_ns = 3 * second_ns, .check_ns = 3 * second_ns };
	assert_waits(&image, second_of_wait);
}

/* The waits' clock stopped while the machine was suspended. */
static void
cpprofdata_ends_no_process_before_its_last_sample(void **state)
{
	static struct image image;
	struct profile *profile;

	(void)state;
	waiting_image(&image);
	header_of(&image)->last_sample_ns = 99 * second_ns;
	header_of(&image)->gone_mono_ns = 3 * second_ns;
	profile = read_image(&image);
	assert_int_equal(profile->processes[0].end_ns, 99 * second_ns);
	profile_free(profile);
}

static void
cpprofdata_charges_no_wait_that_cannot_be(void **state)
{
	static const char alone[] = "sampled_function 7/7\n";
	static struct image image;
	struct cpprofdata_wait *wait;

	(void)state;
	waiting_image(&image)->wait.check_ns++;
	header_of(&image)->end_mono_ns = 3 * second_ns;
	assert_waits(&image, alone);	/* it was just being written */
	waiting_image(&image);
	header_of(&image)->end_mono_ns = second_ns;
	assert_waits(&image, alone);	/* it began after the end */
	wait = &waiting_image(&image)->wait;
	wait->since_ns = wait->check_ns = second_ns / 2;
	header_of(&image)->end_mono_ns = 3 * second_ns;
	assert_waits(&image, alone);	/* it began before the process */
	waiting_image(&image);
	header_of(&image)->end_mono_ns = 3 * second_ns;
	header_of(&image)->flags = 0;
	assert_waits(&image, alone);	/* none was recorded */
}

/* Its node's owner is another thread; it has no node; it has no stack. */
static void
cpprofdata_charges_waits_without_a_stack(void **state)
{
	const struct test_node others[] = {
		{ UINT32_MAX, 1, 0x10, 0, 1, 1 } };
	static struct image image;
	struct cpprofdata_thread *threads = waiting_image(&image);

	(void)state;
	header_of(&image)->end_mono_ns = 3 * second_ns;
	add_chunk(&image, CPPROFDATA_NODES, 1, others, 1);
	threads[0].wait.node = 100;
	assert_waits(&image, "sampled_function 7/7\n[unknown] 1000/1\n"
	             "lib.so+0x10 1/1\n");
	threads = waiting_image(&image);
	header_of(&image)->end_mono_ns = 3 * second_ns;
	threads[1].wait = threads[0].wait;
	threads[1].wait.node = CPPROFDATA_NO_NODE;
	threads[0].wait.columns = 0;
	threads[0].wait.since_ns = threads[0].wait.check_ns = 0;
	assert_waits(&image, "sampled_function 7/7\n[unknown] 1000/1\n");
}

/* Time collected before the call is continued from the wait's last hit. */
static void
cpprofdata_charges_what_no_sample_found(void **state)
{
	static struct image image;
	struct cpprofdata_wait *wait = &waiting_image(&image)->wait;

	(void)state;
	header_of(&image)->end_mono_ns = 3 * second_ns;
	wait->gathered_ns = 399 * 1000;
	assert_waits(&image, second_of_wait);
	wait->gathered_ns = 400 * 1000;
	assert_waits(&image, "sampled_function 7/7\n"
	             "lib.so+0x1234<sampled_function 1000/1\n"
	             "[no sample] 1/0\n");
	wait->columns = 0;		/* it has been in no call since then */
	wait->gathered_ns = second_ns / 2;
	assert_waits(&image, "sampled_function 7/7\n[no sample] 1500/0\n");
	wait->left = 2001;		/* no meter can have that much left */
	wait->gathered_ns = 0;
	assert_waits(&image, "sampled_function 7/7\n[no sample] 1000/0\n");
}

/* ---- the rest ---- */

static void
cpprofdata_names_phases(void **state)
{
	static struct image image;
	const struct test_node nodes[] = {
		{ UINT32_MAX, CPPROFDATA_PHASE, HOST, 0, 1, 1 },
		{ 0, CPPROFDATA_NO_MODULE, 0xabc, 0, 2, 2 },
		{ 0, CPPROFDATA_PARTIAL, 0, 0, 3, 3 },
		{ UINT32_MAX, CPPROFDATA_PHASE, 5000, 0, 4, 4 },
	};
	struct profile *profile;

	(void)state;
	begin_image(&image);
	add_chunk(&image, CPPROFDATA_STRINGS, 0, strings, sizeof strings);
	add_threads(&image);
	add_chunk(&image, CPPROFDATA_NODES, 0, nodes, 4);
	profile = read_image(&image);
	assert_stacks(profile, "[host] 1/1\n[jit]<[host] 2/2\n"
	    "[partial]<[host] 3/3\n[unknown] 4/4\n");
	profile_free(profile);
}

/* Columns reserved for the program but not used have no name. */
static void
cpprofdata_ignores_resources_without_a_name(void **state)
{
	static struct image image;
	struct profile *profile;
	struct error error = { 0 };

	(void)state;
	begin_image(&image);
	add_threads(&image);
	header_of(&image)->n_resources = 3;
	header_of(&image)->node_size = 24 + 3 * 16;
	header_of(&image)->resources[1].interval = 1;
	header_of(&image)->resources[2].interval = 1;
	profile = read_image(&image);
	assert_int_equal(profile->n_resources, 1);
	profile_free(profile);
	header_of(&image)->resources[0].name[0] = '\0';
	assert_null(read_bytes(image.bytes, image.used, &error));
	assert_string_equal(error.text, "f: 0x200: no resource has a name");
}

static void
cpprofdata_warns_of_a_module_once(void **state)
{
	static struct image image;
	struct error error = { 0 };
	struct read_options options = { 0 };

	(void)state;
	whole_image(&image);
	options.modules = module_cache_new(NULL, &error);
	assert_non_null(options.modules);
	for (uint32_t i = 0; i < 2; i++) {
		struct source *source = source_of_memory("f", image.bytes,
		    image.used, &error);
		struct profile *profile = format_cpprofdata.read(source,
		    &options, &error);

		assert_non_null(profile);
		assert_stacks(profile, whole_stacks);
		assert_int_equal(profile->n_warnings, 1 - i);
		profile_free(profile);
		source_close(source);
	}
	module_cache_free(options.modules);
}

static void
cpprofdata_reads_what_is_published_only(void **state)
{
	static struct image image;
	struct cpprofdata_chunk *first = (struct cpprofdata_chunk *)
	    (image.bytes + CPPROFDATA_HEADER_SIZE);
	struct profile *profile;

	(void)state;
	whole_image(&image);
	first->count = 2;
	header_of(&image)->used -= CPPROFDATA_PAGE;
	profile = read_image(&image);
	assert_stacks(profile, "lib.so+0x1234<sampled_function 5/3\n"
	                       "[jit]<[partial] 4/4\n");
	assert_int_equal(profile->n_warnings, 1);
	profile_free(profile);
	header_of(&image)->used = CPPROFDATA_HEADER_SIZE;
	profile = read_image(&image);
	assert_int_equal(profile->tree->n_nodes, 0);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
}

static void
cpprofdata_skips_chunks_it_does_not_know(void **state)
{
	static struct image image;
	struct profile *profile;
	size_t offset;

	(void)state;
	whole_image(&image);
	offset = add_chunk(&image, CPPROFDATA_NODES, 0, "", 0);
	((struct cpprofdata_chunk *)(image.bytes + offset))->type = 99;
	profile = read_image(&image);
	assert_stacks(profile, whole_stacks);
	assert_int_equal(profile->n_warnings, 1);
	profile_free(profile);
}

/* Each of these leaves out one chunk or some nodes, with a warning. */
static void
assert_damage(struct image *image, const char *warning, const char *stacks)
{
	struct profile *profile = read_image(image);

	assert_stacks(profile, stacks);
	assert_true(profile->n_warnings > 0);
	assert_string_equal(profile->warnings[0], warning);
	profile_free(profile);
}

static void
cpprofdata_stops_at_a_damaged_chunk(void **state)
{
	static struct image image;
	const char *const rest =
	    "lib.so+0x1234<sampled_function 6/4\n"
	    "sampled_function<lib.so+0x1234<sampled_function 2/2\n"
	    "[jit]<[partial] 4/4\n";
	struct cpprofdata_chunk *last = (struct cpprofdata_chunk *)
	    (image.bytes + 6 * CPPROFDATA_PAGE);
	struct error error = { 0 };

	(void)state;
	whole_image(&image);
	last->magic++;
	assert_damage(&image, "f: 0x6000: not the start of a chunk; "
	              "what comes before is shown", rest);
	whole_image(&image);
	last->size = 0;
	assert_damage(&image, "f: 0x6000: chunk of 0 bytes, expected a "
	    "multiple of 4096; what comes before is shown", rest);
	whole_image(&image);
	last->count = 101;
	assert_damage(&image, "f: 0x6000: 101 records in a chunk for 100; "
	    "what comes before is shown", rest);
	whole_image(&image);
	last->first++;
	assert_damage(&image, "f: 0x6000: records begin with 201, expected "
	    "200; what comes before is shown", rest);
	whole_image(&image);
	last->record_size++;
	assert_damage(&image, "f: 0x6000: records of 41 bytes, expected 40; "
	    "what comes before is shown", rest);
	whole_image(&image);
	header_of(&image)->used = 0;
	assert_null(read_bytes(image.bytes, image.used, &error));
	assert_string_equal(error.text, "f: 0x20: 0 bytes in use, expected "
	    "4096 or more; no samples before that");
}

static void
cpprofdata_leaves_out_orphans(void **state)
{
	static struct image image;
	struct test_node *nodes = (struct test_node *)
	    (image.bytes + CPPROFDATA_PAGE + sizeof(struct cpprofdata_chunk));
	const uint32_t bad_parents[] = { 1, 2, 3, 50, 100, 101, 5000,
		UINT32_MAX - 1 };

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		whole_image(&image);
		nodes[1].parent = bad_parents[i];
		assert_damage(&image, "f: 0x1068: no such parent; 3 nodes "
		    "without all ancestors left out",
		    "lib.so+0x1234<sampled_function 1/1\n"
		    "[jit]<[partial] 4/4\n");
	}
}

static void
cpprofdata_keeps_hits_without_module_or_thread(void **state)
{
	static struct image image;
	struct test_node *nodes = (struct test_node *)
	    (image.bytes + CPPROFDATA_PAGE + sizeof(struct cpprofdata_chunk));
	struct cpprofdata_chunk *first = (struct cpprofdata_chunk *)
	    (image.bytes + CPPROFDATA_HEADER_SIZE);
	struct profile *profile;

	(void)state;
	whole_image(&image);
	nodes[1].module = 2;
	assert_damage(&image, "f: modules that are not in the file have 1 "
	    "node",
	    "[unknown]<sampled_function 5/3\n"
	    "sampled_function<[unknown]<sampled_function 2/2\n"
	    "lib.so+0x10<sampled_function<[unknown]<sampled_function 8/8\n"
	    "lib.so+0x1234<sampled_function 1/1\n"
	    "[jit]<[partial] 4/4\n");
	whole_image(&image);
	((struct cpprofdata_chunk *)
	    (image.bytes + 6 * CPPROFDATA_PAGE))->owner = 30;
	first->owner = 30;
	profile = read_image(&image);
	assert_int_equal(profile->n_sections, 2);
	assert_int_equal(profile->sections[1].thread, NO_THREAD);
	profile_free(profile);
}

/* ---- names of what a file has sampled ---- */

/* A file of names. */
struct names_image {
	char bytes[16 * CPPROFDATA_PAGE];
	size_t n;
};

static int
take_bytes(void *context, const char *bytes, size_t n)
{
	struct names_image *names = context;

	assert_true(n <= sizeof names->bytes - names->n);
	memcpy(names->bytes + names->n, bytes, n);
	names->n += n;
	return 0;
}

/* Whether a file of names knows sampled_function by its second address. */
static bool
has_own_name(const struct names_image *names)
{
	const struct module module = { .path = "/proc/self/exe" };
	struct error damage = { 0 }, error = { 0 };
	struct source *source = source_of_memory("names", names->bytes,
	                                         names->n, &error);
	struct kept_names *kept = names_file_read(source, &damage, &error);
	const struct kept_address *found;
	bool result;

	assert_non_null(kept);
	assert_false(damage.is_set);
	found = kept_names_find(kept, kept_names_module(kept, &module),
	                        own_address() + 1);
	result = found != NULL && strcmp("sampled_function",
	    names_text(kept_names_texts(kept), found->function)) == 0;
	kept_names_free(kept);
	source_close(source);
	return result;
}

/* Names what the file has sampled whose path is *data. */
static uint64_t
write_names(void *data, struct error *error)
{
	static const struct symbol_search search;
	static struct names_image names;
	static struct writer writer;
	const char *path = data;
	uint64_t result = 0;

	names.n = 0;
	writer_start(&writer, take_bytes, &names);
	if (recording_names_write(&path, 1, &search, 0, NULL, &writer,
	                          error) == 0) {
		long n_allocations = allocations_left, n_steps = steps_left;

		assert_int_equal(writer_flush(&writer), 0);
		assert_int_equal(interrupt_requested, 0);
		allocations_left = steps_left = LONG_MAX;
		result = 1 + has_own_name(&names);
		allocations_left = n_allocations;
		steps_left = n_steps;
	}
	assert_true((result == 0) == error->is_set);
	return result;
}

/* A node whose module is missing has no name; those after it have. */
static void
names_are_written_of_modules_that_are_there(void **state)
{
	static struct image image;
	struct test_node *nodes = (struct test_node *)
	    (image.bytes + CPPROFDATA_PAGE + sizeof(struct cpprofdata_chunk));
	char path[] = "/tmp/test-cpprofdata-XXXXXX";
	struct error error = { 0 };
	int file = mkstemp(path);

	(void)state;
	whole_image(&image);
	nodes[1].module = 2;
	assert_true(file >= 0);
	assert_int_equal(write(file, image.bytes, image.used), image.used);
	close(file);
	assert_int_equal(write_names(path, &error), 2);
	sweep_memory("names", write_names, path, 200);
	unlink(path);
}

static void
assert_refused(const struct image *image, size_t size, const char *message)
{
	struct error error = { 0 };

	assert_null(read_bytes(image->bytes, size, &error));
	assert_string_equal(error.text, message);
}

static void
cpprofdata_refuses_a_damaged_header(void **state)
{
	static struct image image;
	struct cpprofdata_header *header = header_of(&image);
	struct test_node *nodes = (struct test_node *)
	    (image.bytes + CPPROFDATA_PAGE + sizeof(struct cpprofdata_chunk));

	(void)state;
	whole_image(&image);
	assert_refused(&image, 4095, "f: 0xfff: cut short in the header, expected "
	               "4096 bytes of it");
	header->version = 2;
	assert_refused(&image, image.used, "f: 0x8: cpprofdata version 2, "
	               "expected 1");
	whole_image(&image);
	header->n_resources = 9;
	assert_refused(&image, image.used, "f: 0x18: 9 resources, expected "
	               "1 to 8");
	whole_image(&image);
	header->node_size = 56;
	assert_refused(&image, image.used, "f: 0x1c: nodes of 56 bytes do not "
	               "fit 1 resources");
	whole_image(&image);
	header->resources[0].interval = 0;
	assert_refused(&image, image.used, "f: 0x230: interval 0, expected "
	               "at least 1");
	whole_image(&image);
	nodes[1].hits = UINT64_MAX;
	assert_refused(&image, image.used, "f: 0x1090: the sum of hits exceeds "
	               "64 bits");
}

static void
cpprofdata_is_known_by_its_magic(void **state)
{
	static struct image image;

	(void)state;
	whole_image(&image);
	assert_int_equal(format_cpprofdata.probe(image.bytes, 8), PROBE_SURE);
	assert_int_equal(format_cpprofdata.probe(image.bytes, 7), PROBE_NO);
	assert_int_equal(format_cpprofdata.probe("cpprof 1", 8), PROBE_NO);
}

/* Without a module to read, which would take far longer than the rest. */
static void
small_image(struct image *image)
{
	whole_image(image);
	image->bytes[2 * CPPROFDATA_PAGE + sizeof(struct cpprofdata_chunk) +
	    OWN] = '*';
}

/* Whether an undamaged image has data there, not only empty room. */
static bool
is_interesting(size_t offset)
{
	return offset % CPPROFDATA_PAGE < 600;
}

/* Sums only fall when a file is cut, and no byte crashes the reader. */
static void
cpprofdata_survives_truncation_at_every_byte(void **state)
{
	static struct image image;
	uint64_t before = 0;

	(void)state;
	small_image(&image);
	for (size_t size = 0; size <= image.used; size++) {
		struct error error = { 0 };
		/*
		 * In a block of its own, so that sanitizers notice overruns.
		 */
		unsigned char *copy = malloc(size + 1);
		struct profile *profile;
		uint64_t total;

		assert_non_null(copy);
		memcpy(copy, image.bytes, size);
		profile = read_bytes(copy, size, &error);
		free(copy);
		assert_true(profile == NULL || size >= 4096);
		if (profile == NULL) {
			assert_true(before == 0);
			assert_true(size < 4096 ||
			            strstr(error.text, "no samples before") !=
			            NULL);
			continue;
		}
		total = sample_tree_total(profile->tree, profile->tree->hits[0]);
		assert_true(total > 0 && total >= before);
		before = total;
		assert_true(size == image.used || profile->n_warnings > 0);
		profile_free(profile);
	}
	assert_int_equal(before, 20);
}

static void
cpprofdata_survives_damage_at_every_byte(void **state)
{
	static struct image image;

	(void)state;
	small_image(&image);
	for (size_t i = 0; i < image.used; i++) {
		const unsigned char byte = image.bytes[i];
		const unsigned char values[] = { 0xff, byte ^ 1, 0x80 };

		if (!is_interesting(i))
			continue;

		for (size_t k = 0; k < 3; k++) {
			struct error error = { 0 };

			image.bytes[i] = values[k];
			profile_free(read_bytes(image.bytes, image.used,
			                        &error));
		}
		image.bytes[i] = byte;
	}
}

enum { SLICE_NS = 1000, ORIGIN_NS = 700 };

/* whole_image() with slices; returns the records of the main thread. */
static struct cpprofdata_slice *
image_with_slices(struct image *image)
{
	const struct cpprofdata_slice of_main[] = {
		{ 1, 0, 0, 6, { 1, 1 } },	/* in the next */
		{ 1, 0, 1, 3, { 2, 2 } },	/* 6000 to 8000 */
		{ 1, 0, 0, 7, { 0, 0 } },	/* in that one, too */
		{ 3, 0, 1, 3, { 1, 1 } },	/* of the same stack */
		{ 1, 0, 0, 8, { 3, 1 } },	/* 8000 to 9000 */
		{ 200, 0, 0, 63, { 9, 9 } },	/* more than the node has */
		{ CPPROFDATA_NO_NODE, 0, 0, 1, { 1, 1 } },
		{ 100, 0, 0, 1, { 4, 4 } },	/* of another thread */
		{ 99, 0, 0, 1, { 4, 4 } },	/* not there */
		{ 6, 1, 0, 1, { 4, 4 } },	/* no such resource */
		{ 101, 0, 0, 64, { 4, 4 } },	/* no such slice */
		{ 101, 0, 59, 0, { 4, 4 } },	/* no such width */
	};
	const struct cpprofdata_slice of_other[] = {
		{ 101, 0, 2, 0, { 3, 3 } },	/* 0 to 4000 */
		{ 101, 0, 0, 64, { 1, 1 } },
		{ 1, 0, 0, 0, { 1, 1 } },	/* of another thread */
	};
	size_t at;

	whole_image(image);
	header_of(image)->slice_ns = SLICE_NS;
	header_of(image)->origin_ns = ORIGIN_NS;
	at = add_chunk(image, CPPROFDATA_SLICES, 0, of_main,
	               sizeof of_main / sizeof *of_main);
	add_chunk(image, CPPROFDATA_SLICES, 1, of_other, 3);
	return (void *)(image->bytes + at + sizeof(struct cpprofdata_chunk));
}

/* As assert_stacks: " slice:hits/samples ..." of each node with hits. */
static void
assert_times(const struct profile *profile, uint64_t width_ns,
             const char *expected)
{
	const struct sample_tree *tree = profile->tree;
	const struct timeline *timeline = tree->timeline;
	char text[2000] = "";
	size_t n = 0;

	assert_non_null(timeline);
	assert_int_equal(timeline->width_ns, width_ns);
	assert_int_equal(timeline->n_rows, tree->n_rows);
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const uint32_t row = sample_tree_row(tree, i);

		if (sample_tree_hits(tree, 0, i) == 0)
			continue;
		n += (size_t)snprintf(text + n, sizeof text - n, "%s",
		    name_of(profile, i));
		for (size_t k = timeline->first[row];
		     k < timeline->first[row + 1]; k++)
			n += (size_t)snprintf(text + n, sizeof text - n,
			    " %u:%u/%u", timeline->slice[k],
			    (unsigned)timeline->hits[0][k],
			    (unsigned)timeline->samples[0][k]);
		n += (size_t)snprintf(text + n, sizeof text - n, "\n");
	}
	assert_string_equal(text, expected);
}

/* The widest slice of any node is 4000 wide, and 64 x 1000 / 4000 is 16. */
static const char times[] = "lib.so+0x1234 1:3/3 2:3/1\n"
    "sampled_function\n"
    "lib.so+0x10 15:8/8\n"
    "[jit] 0:3/3\n";

static void
cpprofdata_reads_when_hits_were_counted(void **state)
{
	static struct image image;
	struct profile *profile;

	(void)state;
	image_with_slices(&image);
	profile = read_image(&image);
	assert_stacks(profile, whole_stacks);
	assert_times(profile, 4 * SLICE_NS, times);
	assert_int_equal(profile->tree->timeline->origin_ns, ORIGIN_NS);
	assert_int_equal(profile->tree->timeline->n_slices, 16);
	profile_free(profile);
	for (int i = 0; i < 2; i++) {
		image_with_slices(&image);
		header_of(&image)->slice_ns = i == 0 ? 0 :
		    (uint64_t)1 << 57;
		profile = read_image(&image);
		assert_stacks(profile, whole_stacks);
		assert_null(profile->tree->timeline);
		profile_free(profile);
	}
}

static void
cpprofdata_takes_no_more_time_than_hits(void **state)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	static struct image image;
	unsigned char *bytes = (void *)image_with_slices(&image);
	const unsigned char *end = bytes + 6 * sizeof(struct cpprofdata_slice);
	unsigned char *header = image.bytes +
	    offsetof(struct cpprofdata_header, origin_ns);

	(void)state;
	for (; bytes < end; bytes = bytes == header + 23 ? (unsigned char *)end
	     : bytes + 1 == end ? header : bytes + 1) {
		const unsigned char byte = *bytes;

		for (size_t k = 0; k < sizeof values; k++) {
			struct error error = { 0 };
			struct profile *profile;
			const struct timeline *timeline;

			*bytes = values[k];
			profile = read_bytes(image.bytes, image.used, &error);
			assert_non_null(profile);
			timeline = profile->tree->timeline;
			for (uint32_t i = 0; timeline != NULL &&
			     i < timeline->n_rows; i++) {
				uint64_t hits = 0;

				for (size_t j = timeline->first[i];
				     j < timeline->first[i + 1]; j++)
					hits += timeline->hits[0][j];
				assert_true(hits <=
				            profile->tree->hits[0][i]);
			}
			profile_free(profile);
		}
		*bytes = byte;
	}
}

/* 1,000 hits from 1 s to 2 s after the origin. */
static void
cpprofdata_spreads_waits_over_time(void **state)
{
	static struct image image;
	struct cpprofdata_header *const header = header_of(&image);
	struct profile *profile;
	uint64_t other[4];

	(void)state;
	waiting_image(&image);
	header->end_mono_ns = 3 * second_ns;
	header->slice_ns = second_ns / 64;
	header->origin_mono_ns = second_ns;
	profile = read_image(&image);
	assert_times(profile, second_ns / 16, "sampled_function\n"
	    "lib.so+0x1234 16:62/0 17:63/0 18:62/0 19:63/0 20:62/0 21:63/0 "
	    "22:62/0 23:63/0 24:62/0 25:63/0 26:62/0 27:63/0 28:62/0 "
	    "29:63/0 30:62/0 31:63/1\n");
	profile_free(profile);
	/* What no sample found came before the wait. */
	waiting_image(&image)->wait.gathered_ns = second_ns / 2;
	header->end_mono_ns = 3 * second_ns;
	header->slice_ns = second_ns / 4;
	header->origin_mono_ns = second_ns;
	profile = read_image(&image);
	memset(other, 0, sizeof other);
	for (uint32_t i = 0; i < profile->tree->n_nodes; i++) {
		const struct timeline *timeline = profile->tree->timeline;
		const uint32_t row = sample_tree_row(profile->tree, i);

		if (strcmp(name_of(profile, i), "[no sample]") != 0)
			continue;
		for (size_t k = timeline->first[row];
		     k < timeline->first[row + 1]; k++)
			other[timeline->slice[k]] += timeline->hits[0][k];
	}
	assert_int_equal(other[0] + other[1], 0);
	assert_int_equal(other[2], 250);
	assert_int_equal(other[3], 250);
	profile_free(profile);
}

/* ---- observed calls ---- */

enum { MS_8 = 18 << CPPROFDATA_CALL_BITS };	/* the bin from 2^23 ns on */

/* whole_image() with calls of "prog"; the offset of their first chunk. */
static size_t
image_with_calls(struct image *image)
{
	const uint16_t class = (MS_8 >> CPPROFDATA_CALL_CLASS_BITS) + 1;
	const struct cpprofdata_call_function function = {
		.name = ARGUMENTS, .n_places = 2, .interval_ns = 4000000 };
	const struct cpprofdata_calls calls[] = {
		{ 0, CPPROFDATA_CALL_LENGTHS, MS_8, 0, 0, { 0 }, 2, 6000 },
		{ 0, CPPROFDATA_CALL_TAILS, 7, 0, 0, { 0 }, 2, 2 },
		{ 0, CPPROFDATA_CALL_UNFINISHED,
		  CPPROFDATA_CALL_BEGAN_BEFORE, 0, 0, { 0 }, 4, 0 },
		{ 1, CPPROFDATA_CALL_LENGTHS, MS_8, 0, 0, { 0 }, 1, 0 },	/* not
								   there */
		{ 0, CPPROFDATA_CALL_LENGTHS, CPPROFDATA_CALL_BINS, 0, 0, { 0 }, 1,
		  0 },
		{ 0, CPPROFDATA_CALL_UNFINISHED, CPPROFDATA_CALL_N_REASONS, 0, 0,
		  { 0 }, 1, 0 },
		{ 0, CPPROFDATA_CALL_N_KINDS, 7, 0, 0, { 0 }, 1, 0 },
		{ 0, CPPROFDATA_CALL_LENGTHS, CPPROFDATA_CALL_BINS - 1, 0, 0,
		  { 0 }, 1, 0 },
		{ 0, CPPROFDATA_CALL_BY_CHANCE, MS_8, 7, 9, { 0 }, 3, 30 },
	};
	const struct cpprofdata_calls of_other = { 0, CPPROFDATA_CALL_LENGTHS,
		MS_8, 0, 0, { 0 }, 3, 4000 };
	const struct cpprofdata_call_count counts[] = {
		{ 1, 0, { class }, { 3, 2 } },
		{ 2, 0, { CPPROFDATA_CALL_NO_LENGTH }, { 9, 9 } },
		{ 200, 0, { class }, { 1, 1 } },
		{ 1, 0, { 0, class }, { 1, 1 } },	/* no such function */
		{ 1, 0, { 0 }, { 1, 1 } },		/* in no call */
		{ 1, 1, { class }, { 1, 1 } },		/* no such resource */
		{ 101, 0, { class }, { 1, 1 } },	/* of another thread */
		{ 99, 0, { class }, { 1, 1 } },		/* not there */
		{ 1, 0, { (CPPROFDATA_CALL_BINS >>
		  CPPROFDATA_CALL_CLASS_BITS) + 1 }, { 1, 1 } },
	};
	size_t at;

	whole_image(image);
	at = add_chunk(image, CPPROFDATA_CALL_FUNCTIONS, 0, &function, 1);
	add_chunk(image, CPPROFDATA_CALLS, 0, calls,
	          sizeof calls / sizeof *calls);
	add_chunk(image, CPPROFDATA_CALLS, 1, &of_other, 1);
	add_chunk(image, CPPROFDATA_CALL_COUNTS, 0, counts,
	          sizeof counts / sizeof *counts);
	return at;
}

/* Hits of calls are in sections of their own; what is invalid is not counted. */
static void
cpprofdata_counts_calls_apart(void **state)
{
	static struct image image;
	const struct observed_calls *calls;
	struct profile *profile;

	(void)state;
	image_with_calls(&image);
	profile = read_image(&image);
	assert_stacks(profile,
	    "lib.so+0x1234<sampled_function 3/2\n"
	    "lib.so+0x10<sampled_function<lib.so+0x1234<sampled_function "
	    "7/7\n"
	    "lib.so+0x1234<sampled_function 3/2\n"
	    "lib.so+0x10<sampled_function<lib.so+0x1234<sampled_function "
	    "1/1\n"
	    "sampled_function<lib.so+0x1234<sampled_function 2/2\n"
	    "[jit]<[partial] 4/4\n");
	assert_int_equal(profile->n_calls, 1);
	calls = &profile->calls[0];
	assert_string_equal(calls->function, "prog");
	assert_int_equal(calls->n_places, 2);
	assert_int_equal(calls->interval_ns, 4000000);
	assert_int_equal(calls->unfinished[UNFINISHED_LEFT], 0);
	assert_int_equal(calls->unfinished[UNFINISHED_BEGAN_BEFORE], 4);
	assert_int_equal(calls->unfinished[UNFINISHED_NOT_MARKED], 0);
	assert_int_equal(calls->n_lengths, 2);
	assert_int_equal(calls->lengths[0].least_ns, 1 << 23);
	assert_int_equal(calls->lengths[0].end_ns, 65 << 17);
	assert_int_equal(calls->lengths[0].n, 5);
	assert_int_equal(calls->lengths[0].spread_ns, 10000);
	assert_int_equal(calls->lengths[1].least_ns, (uint64_t)127 << 57);
	assert_int_equal(calls->lengths[1].end_ns, UINT64_MAX);
	assert_int_equal(calls->n_tails, 1);
	assert_int_equal(calls->tails[0].least_ns, 7);
	assert_int_equal(calls->tails[0].n, 2);
	assert_int_equal(calls->n_by_chance, 1);
	assert_int_equal(calls->by_chance[0].least_ns, 1 << 23);
	assert_int_equal(calls->by_chance[0].n, 3);
	assert_int_equal(calls->by_chance[0].spread_ns, 30);
	assert_int_equal(calls->by_chance[0].tail_ns, 7);
	assert_int_equal(calls->by_chance[0].without_wait_ns, 9);
	assert_int_equal(calls->by_chance[0].without_wait_end_ns, 10);
	profile_free(profile);
}

/*
 * Slices do not say which hits are of calls.  So of 5 hits, 3 of them in calls,
 * the calls have 1 of the first 2, and 2 of the next 3.
 */
static void
cpprofdata_divides_slices_among_calls(void **state)
{
	const struct cpprofdata_slice slices[] = {
		{ 1, 0, 0, 0, { 2, 1 } }, { 1, 0, 0, 1, { 3, 2 } },
		{ 200, 0, 0, 2, { 8, 8 } },
	};
	static struct image image;
	struct profile *profile;

	(void)state;
	image_with_calls(&image);
	header_of(&image)->slice_ns = SLICE_NS;
	header_of(&image)->origin_ns = ORIGIN_NS;
	add_chunk(&image, CPPROFDATA_SLICES, 0, slices, 3);
	profile = read_image(&image);
	assert_times(profile, SLICE_NS, "lib.so+0x1234 0:1/1 1:1/0\n"
	    "lib.so+0x10 2:7/7\n"
	    "lib.so+0x1234 0:1/0 1:2/2\n"
	    "lib.so+0x10 2:1/1\n"
	    "sampled_function\n"
	    "[jit]\n");
	profile_free(profile);
}

/* No byte crashes the reader or takes hits from the whole. */
static void
cpprofdata_survives_damaged_calls(void **state)
{
	static struct image image;

	(void)state;
	for (size_t i = image_with_calls(&image); i < image.used; i++) {
		const unsigned char byte = image.bytes[i];
		const unsigned char values[] = { 0xff, byte ^ 1, 0x80 };

		if (!is_interesting(i))
			continue;
		for (size_t k = 0; k < 3; k++) {
			struct error error = { 0 };
			struct profile *profile;

			image.bytes[i] = values[k];
			profile = read_bytes(image.bytes, image.used, &error);
			assert_true(profile == NULL || sample_tree_total(
			    profile->tree, profile->tree->hits[0]) == 20);
			profile_free(profile);
		}
		image.bytes[i] = byte;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpprofdata_is_known_by_its_magic),
		cmocka_unit_test(cpprofdata_gives_named_stacks),
		cmocka_unit_test(cpprofdata_gives_returns_and_sums_add_them),
		cmocka_unit_test(cpprofdata_tells_of_the_run),
		cmocka_unit_test(
		    cpprofdata_tells_how_it_was_counted_and_what_that_cost),
		cmocka_unit_test(cpprofdata_makes_each_thread_a_section),
		cmocka_unit_test(
		    cpprofdata_counts_hits_through_code_without_names),
		cmocka_unit_test(cpprofdata_tells_what_was_late_or_incomplete),
		cmocka_unit_test(cpprofdata_tells_losses_once),
		cmocka_unit_test(cpprofdata_tells_what_was_pending_at_the_end),
		cmocka_unit_test(
		    cpprofdata_tells_what_was_not_sampled_as_it_should_be),
		cmocka_unit_test(
		    cpprofdata_charges_waits_up_to_the_end_that_is_known_best),
		cmocka_unit_test(
		    cpprofdata_ends_no_process_before_its_last_sample),
		cmocka_unit_test(cpprofdata_charges_no_wait_that_cannot_be),
		cmocka_unit_test(cpprofdata_charges_waits_without_a_stack),
		cmocka_unit_test(cpprofdata_charges_what_no_sample_found),
		cmocka_unit_test(cpprofdata_names_phases),
		cmocka_unit_test(cpprofdata_ignores_resources_without_a_name),
		cmocka_unit_test(cpprofdata_warns_of_a_module_once),
		cmocka_unit_test(cpprofdata_reads_what_is_published_only),
		cmocka_unit_test(cpprofdata_skips_chunks_it_does_not_know),
		cmocka_unit_test(cpprofdata_stops_at_a_damaged_chunk),
		cmocka_unit_test(cpprofdata_leaves_out_orphans),
		cmocka_unit_test(
		    cpprofdata_keeps_hits_without_module_or_thread),
		cmocka_unit_test(names_are_written_of_modules_that_are_there),
		cmocka_unit_test(cpprofdata_refuses_a_damaged_header),
		cmocka_unit_test(cpprofdata_reads_when_hits_were_counted),
		cmocka_unit_test(cpprofdata_takes_no_more_time_than_hits),
		cmocka_unit_test(cpprofdata_spreads_waits_over_time),
		cmocka_unit_test(cpprofdata_survives_truncation_at_every_byte),
		cmocka_unit_test(cpprofdata_survives_damage_at_every_byte),
		cmocka_unit_test(cpprofdata_counts_calls_apart),
		cmocka_unit_test(cpprofdata_divides_slices_among_calls),
		cmocka_unit_test(cpprofdata_survives_damaged_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
