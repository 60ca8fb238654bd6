/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-profile.c -- profiles, their sums, and their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/cpprofdata.h"
#include "src/formats/format.h"
#include "src/profile/profile.h"
#include "src/profile/profile_merge.h"

extern const struct format format_collapsed;

static struct profile *
parse(const char *text)
{
	struct error error = { 0 };
	struct read_options options = { 0 };
	struct source *source = source_of_memory("text", text, strlen(text),
	                                         &error);
	struct profile *profile = format_collapsed.read(source, &options,
	                                                &error);

	source_close(source);
	if (profile == NULL)
		fail_msg("%s", error.text);
	return profile;
}

static int
compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All stacks with hits of any resource, sorted, the caller's to free. */
static char *
collapse(struct profile *profile)
{
	struct error error = { 0 };
	const struct naming_rule rule = { GRANULARITY_FUNCTION, INLINES_AUTO };
	bool is_own;
	struct sample_tree *tree = profile_named_tree(profile, &rule, &is_own,
	                                              &error);
	char **lines = calloc(tree->n_nodes + 1, sizeof *lines);
	char *all = calloc(1, 1000000);
	uint32_t n_lines = 0;

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		char line[1000] = "", longer[1000];
		bool has_hits = false;

		for (uint32_t v = n; v != NO_NODE; v = sample_tree_parent(tree,
		    v)) {
			snprintf(longer, sizeof longer, "%s%s%.900s",
			         names_text(profile->names, tree->label[v]),
			         v == n ? "" : ";", line);
			strcpy(line, longer);
		}
		for (uint32_t r = 0; r < tree->n_resources; r++) {
			snprintf(longer, sizeof longer, "%.900s %llu", line,
			         (unsigned long long)sample_tree_hits(tree, r, n));
			strcpy(line, longer);
			has_hits |= sample_tree_hits(tree, r, n) != 0;
		}
		if (has_hits)
			lines[n_lines++] = strdup(line);
	}
	qsort(lines, n_lines, sizeof *lines, compare_lines);
	for (uint32_t i = 0; i < n_lines; i++) {
		strcat(strcat(all, lines[i]), "\n");
		free(lines[i]);
	}
	free(lines);
	if (is_own)
		sample_tree_free(tree);
	return all;
}

static void
assert_collapses_to(struct profile *profile, const char *expected)
{
	char *text = collapse(profile);

	assert_string_equal(text, expected);
	free(text);
}

static struct profile *
merge_two(struct profile *a, struct profile *b, struct error *error)
{
	struct profile *both[] = { a, b };
	struct profile *sum;

	a->name = "a.folded";
	b->name = "b.folded";
	sum = profile_merge(both, 2, error);
	profile_free(a);
	profile_free(b);
	return sum;
}

static void
profile_merge_adds_stacks(void **state)
{
	struct error error = { 0 };
	struct profile *sum = merge_two(parse("a;b 1\nc 2\n"),
	                                parse("c 3\na;d 4\na;b 5\n"), &error);

	(void)state;
	assert_non_null(sum);
	assert_collapses_to(sum, "a;b 6\na;d 4\nc 5\n");
	assert_null(sum->tree->samples[0]);
	profile_free(sum);
}

static void
profile_merge_matches_resources_by_name(void **state)
{
	struct error error = { 0 };
	struct profile *sum = merge_two(
	    parse("# resource: cpu; gtick=us; interval=10\n"
	          "# resource: faults; gtick=fault\na 1 2\n"),
	    parse("# resource: reads; gtick=read\n"
	          "# resource: cpu; gtick=us; interval=10\na 4 8\n"), &error);

	(void)state;
	assert_non_null(sum);
	assert_int_equal(sum->n_resources, 3);
	assert_string_equal(sum->resources[0].name, "cpu");
	assert_int_equal(sum->resources[0].interval, 10);
	assert_string_equal(sum->resources[1].name, "reads");
	assert_collapses_to(sum, "a 9 4 2\n");
	profile_free(sum);
}

static void
profile_merge_names_each_source_once(void **state)
{
	static const char *const sources[][3] = {
		{ "timer", "perf", "timer; perf" },
		{ "timer", "timer", "timer" },
		{ NULL, "perf", "perf" },
		{ "perf", NULL, "perf" },
		{ "perf, random", "perf", "perf, random; perf" },
		{ "timer; perf", "perf; clock", "timer; perf; clock" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		struct error error = { 0 };
		struct profile *inputs[] = { parse("a 1\n"), parse("b 1\n") };
		struct profile *sum;

		for (size_t k = 0; k < 2; k++)
			assert_int_equal(profile_add_source(inputs[k],
			    &inputs[k]->resources[0], sources[i][k], &error),
			    0);
		sum = merge_two(inputs[0], inputs[1], &error);
		assert_string_equal(sum->resources[0].source, sources[i][2]);
		profile_free(sum);
	}
}

static void
profile_merge_orders_resources_whatever_comes_first(void **state)
{
	static const char *const texts[] = {
		"# resource: x; gtick=u\na 1\n",
		"# resource: y; gtick=v\nb 2\n",
	};

	(void)state;
	for (int first = 0; first < 2; first++) {
		struct error error = { 0 };
		struct profile *sum = merge_two(parse(texts[first]),
		                                parse(texts[!first]), &error);

		assert_non_null(sum);
		assert_string_equal(sum->resources[0].name, "x");
		assert_string_equal(sum->resources[1].name, "y");
		profile_free(sum);
	}
}

static void
profile_merge_counts_gticks_where_intervals_differ(void **state)
{
	struct error error = { 0 };
	struct profile *sum = merge_two(
	    parse("# resource: cpu; gtick=us; interval=10\na 2\n"),
	    parse("# resource: cpu; gtick=us; interval=25\na;b 3\n"), &error);

	(void)state;
	assert_non_null(sum);
	assert_int_equal(sum->resources[0].interval, 1);
	assert_collapses_to(sum, "a 20\na;b 75\n");
	/* Still as many samples as there were. */
	assert_non_null(sum->tree->samples[0]);
	assert_int_equal(sample_tree_total(sum->tree, sum->tree->samples[0]),
	                 5);
	profile_free(sum);
}

static void
profile_merge_refuses_other_gticks(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_null(merge_two(parse("# resource: cpu; gtick=us\na 2\n"),
	                      parse("# resource: cpu; gtick=cycle\na 2\n"),
	                      &error));
	assert_string_equal(error.text, "b.folded: cannot merge: resource cpu "
	                    "counts \"cycle\", but \"us\" in a.folded");
}

static void
profile_merge_refuses_sums_over_64_bits(void **state)
{
	struct error error = { 0 }, again = { 0 };

	(void)state;
	assert_null(merge_two(parse("a 18446744073709551615\n"),
	                      parse("b 1\n"), &error));
	assert_non_null(strstr(error.text, "64 bits"));
	assert_null(merge_two(
	    parse("# resource: x; interval=4\na 9223372036854775807\n"),
	    parse("# resource: x; interval=2\nb 1\n"), &again));
	assert_non_null(strstr(again.text, "64 bits"));
}

/* One random stack's line. */
static int
random_line(char *line, size_t size)
{
	static const char *const stacks[] = {
		"a", "a;b", "a;b;a", "b", "c;a", "a;b;c", "b c;d", "a;c",
	};

	return snprintf(line, size, "%s %d\n", stacks[rand() % 8],
	                rand() % 50);
}

static struct profile *
make_calls(bool has_arc, bool has_hits)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct call_node node = { .name = names_add(profile->names, "f", 1,
		                  &error), .object = NO_NAME, .file = NO_NAME };

	profile_add_resource(profile, "cpu", "us", 1, &error);
	profile->graph = call_graph_new(1, &error);
	profile->graph->has_hits = has_hits;
	call_graph_add_node(profile->graph, node, NULL, &error);
	if (has_arc)
		call_graph_arc(profile->graph, 0, 0, &error);
	return profile;
}

/* A profile without calls can be added to either kind, in any order. */
static void
profile_merge_refuses_counted_beside_measured_calls(void **state)
{
	struct profile *none = make_calls(false, true);
	struct profile *measured = make_calls(true, true);
	struct profile *counted = make_calls(true, false);
	struct profile *const allowed[] = { none, counted };
	struct profile *const three[] = { none, measured, counted };
	struct error error = { 0 };
	struct profile *sum = profile_merge(allowed, 2, &error);

	(void)state;
	assert_non_null(sum);
	assert_false(sum->graph->has_hits);
	assert_null(profile_merge(three, 3, &error));
	assert_string_equal(error.text, "a profile: cannot merge: some files have "
	                    "costs of calls, others only their numbers");
	profile_free(sum);
	profile_free(none);
	profile_free(measured);
	profile_free(counted);
}

static void
profile_merge_of_parts_is_the_whole(void **state)
{
	(void)state;
	srand(2);
	for (int round = 0; round < 100; round++) {
		enum { PARTS = 4 };
		char all[3000] = "";
		struct error error = { 0 };
		struct profile *parts[PARTS], *whole, *sum;
		char *expected;

		for (int i = 0; i < PARTS; i++) {
			char part[1000];
			size_t length = 0;

			for (int n = 1 + rand() % 20; n > 0; n--)
				length += (size_t)random_line(
				    part + length, sizeof part - length);
			strcat(all, part);
			parts[i] = parse(part);
		}
		whole = parse(all);
		sum = profile_merge(parts, PARTS, &error);
		assert_non_null(sum);
		expected = collapse(whole);
		assert_collapses_to(sum, expected);
		assert_int_equal(sum->tree->n_nodes, whole->tree->n_nodes);
		free(expected);
		for (int i = 0; i < PARTS; i++)
			profile_free(parts[i]);
		profile_free(whole);
		profile_free(sum);
	}
}

/* main calls an address with an inlined chain; on two threads. */
static struct profile *
make_threads(void)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct tree_builder *builder = tree_builder_new(1, &error);
	struct process process = { .pid = 7, .program = "prog" };
	struct thread thread = { .process = 0, .tid = 8, .name = "worker" };
	uint32_t main_name = names_add(profile->names, "main", 4, &error);
	uint32_t outer = names_add(profile->names, "outer", 5, &error);
	uint32_t inner = names_add(profile->names, "inner", 5, &error);
	struct location locations[] = {
		{ outer, NO_NAME, 0, NO_NAME, 0, 0 },
		{ inner, NO_NAME, 12, inner, 10, 3 },
	};
	uint32_t module = profile_add_module(profile, "/lib/libx.so", "id", 2,
	                                     &error);
	uint32_t root = profile_add_named_frame(profile, main_name, &error);
	uint32_t frame = profile_add_frame(profile, module, 0x1f4, locations,
	                                   2, &error);

	profile_add_resource(profile, "cpu", "us", 1000, &error);
	profile_add_process(profile, &process, &error);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t begin = tree_builder_begin_section(builder);
		uint32_t node = tree_builder_child(builder, NO_NODE, root,
		                                   &error);

		node = tree_builder_child(builder, node, frame, &error);
		tree_builder_add(builder, node, 0, 3 + i, 1, &error);
		profile_add_section(profile, begin,
		                    tree_builder_count(builder),
		                    profile_add_thread(profile, &thread,
		                                       &error), &error);
	}
	profile_add_tally(profile, "dropped", 4, &error);
	profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	assert_false(error.is_set);
	return profile;
}

static void
profile_names_inlined_chains_over_all_threads(void **state)
{
	struct profile *profile = make_threads();

	(void)state;
	assert_collapses_to(profile, "main;outer;inner 7\n");
	profile_free(profile);
}

static void
profile_names_modules_and_addresses(void **state)
{
	static const char *const expected[] = {
		[GRANULARITY_MODULE] = "libx.so",
		[GRANULARITY_ADDRESS] = "libx.so+0x1f4",
	};
	struct profile *profile = make_threads();

	(void)state;
	for (int g = GRANULARITY_MODULE; g <= GRANULARITY_ADDRESS; g++) {
		const struct naming_rule rule = { (enum granularity)g,
			INLINES_AUTO };
		struct error error = { 0 };
		bool is_own;
		struct sample_tree *tree;

		if (expected[g] == NULL)
			continue;
		tree = profile_named_tree(profile, &rule, &is_own, &error);
		assert_true(is_own);
		assert_int_equal(tree->n_nodes, 2);
		assert_string_equal(names_text(profile->names,
		                               tree->label[0]), "main");
		assert_string_equal(names_text(profile->names,
		                               tree->label[1]), expected[g]);
		assert_int_equal(sample_tree_hits(tree, 0, 1), 7);
		assert_int_equal(sample_tree_samples(tree, 0, 1), 2);
		sample_tree_free(tree);
	}
	profile_free(profile);
}

static void
profile_lends_its_tree_where_frames_are_names(void **state)
{
	struct profile *profile = parse("a;b 1\nb;c 2\n");
	struct error error = { 0 };
	bool is_own;

	(void)state;
	for (int g = GRANULARITY_FUNCTION; g <= GRANULARITY_ADDRESS; g++) {
		const struct naming_rule rule = { (enum granularity)g,
			INLINES_AUTO };

		assert_ptr_equal(profile_named_tree(profile, &rule, &is_own,
		                                    &error),
		                 profile->tree);
		assert_false(is_own);
	}
	profile_free(profile);
}

static void
profile_merge_keeps_threads_modules_and_tallies(void **state)
{
	struct error error = { 0 };
	struct profile *three[] = { make_threads(), parse("main 5\n"),
		                    make_threads() };
	struct profile *sum;

	(void)state;
	three[1]->resources[0].name = "cpu";
	three[1]->resources[0].gtick = "us";
	three[1]->resources[0].interval = 1000;
	sum = profile_merge(three, 3, &error);
	assert_non_null(sum);
	assert_int_equal(sum->n_processes, 2);
	assert_int_equal(sum->n_threads, 4);
	assert_int_equal(sum->threads[3].process, 1);
	assert_int_equal(sum->n_modules, 1);
	assert_int_equal(sum->n_frames, 2);
	assert_int_equal(sum->n_sections, 5);
	assert_int_equal(sum->sections[2].thread, NO_THREAD);
	assert_int_equal(sum->sections[4].end, sum->tree->n_nodes);
	assert_int_equal(sum->n_tallies, 1);
	assert_int_equal(sum->tallies[0].count, 8);
	assert_collapses_to(sum, "main 5\nmain;outer;inner 14\n");
	for (int i = 0; i < 3; i++)
		profile_free(three[i]);
	profile_free(sum);
}

/* Process 7 of a run, of which a part is in its own file: two threads, the
 * first with two hits; or its beginning, with one. */
static struct profile *
make_part(bool is_beginning)
{
	struct profile *profile = parse(is_beginning ? "[loading] 1\n" :
	                                "main 2\nwork 3\n");
	const struct process process = { .pid = 7, .start_ns = 70,
		.cpu_ns = is_beginning ? 1 : 9,
		.program = is_beginning ? "early" : "late",
		.continues = !is_beginning, .is_beginning = is_beginning };
	struct error error = { 0 };

	assert_int_equal(profile_add_process(profile, &process, &error), 0);
	for (uint32_t i = 0; i < profile->tree->n_nodes; i++) {
		const struct thread thread = { .process = 0, .tid = 7 + i,
			.name = is_beginning ? "early" : "late" };

		assert_int_equal(profile_add_thread(profile, &thread, &error),
		                 i);
		profile_add_section(profile, i, i + 1, i, &error);
	}
	return profile;
}

/* Wherever the others are, between which it comes. */
static void
profile_merge_joins_a_process_and_its_beginning_in_any_order(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
		{ 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		struct profile *parts[] = { make_part(true), make_part(false),
			                    make_threads() }, *order[3], *sum;
		uint64_t hits = 0;
		struct error error = { 0 };

		for (int k = 0; k < 3; k++)
			order[k] = parts[orders[i][k]];
		parts[2]->resources[0] = parts[0]->resources[0];
		sum = profile_merge(order, 3, &error);
		assert_non_null(sum);
		assert_int_equal(sum->n_processes, 2);
		assert_int_equal(sum->n_threads, 4);
		for (uint32_t k = 0; k < 2; k++) {
			if (sum->processes[k].start_ns != 70)
				continue;
			assert_int_equal(sum->processes[k].cpu_ns, 9);
			assert_string_equal(sum->processes[k].program, "late");
			assert_false(sum->processes[k].continues);
			assert_false(sum->processes[k].is_beginning);
		}
		for (uint32_t k = 0; k < sum->n_sections; k++) {
			const struct section *section = &sum->sections[k];
			const struct thread *thread =
			    &sum->threads[section->thread];

			if (thread->tid != 7 ||
			    sum->processes[thread->process].start_ns != 70)
				continue;
			assert_string_equal(thread->name, "late");
			for (uint32_t n = section->begin; n < section->end; n++)
				hits += sample_tree_hits(sum->tree, 0, n);
		}
		assert_int_equal(hits, 3);
		for (int k = 0; k < 3; k++)
			profile_free(parts[k]);
		profile_free(sum);
	}
}

/* Facts of frames and modules other than their names. */
static void
profile_merge_keeps_what_is_known_of_frames(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		struct profile *known = make_threads(), *two[2], *sum;
		struct error error = { 0 };
		const struct frame *frame;

		known->frames[1].function_offset = 0x34;
		known->frames[1].has_debug_lines = true;
		known->frames[1].placeholder = FRAME_OF_JIT;
		known->frames[1].is_made_up = true;
		known->modules[0].file_size = 77;
		known->modules[0].file_mtime_ns = 88;
		two[first] = known;
		two[1 - first] = parse("# resource: cpu; gtick=us; "
		                       "interval=1000\na;b;main 5\n");
		sum = profile_merge(two, 2, &error);
		assert_non_null(sum);
		assert_int_equal(sum->n_frames, 4);
		assert_int_equal(sum->frames[0].function_offset, NO_OFFSET);
		assert_false(sum->frames[0].has_debug_lines);
		frame = &sum->frames[first == 0 ? 1 : 3];
		assert_int_equal(frame->address, 0x1f4);
		assert_int_equal(frame->function_offset, 0x34);
		assert_true(frame->has_debug_lines);
		assert_int_equal(frame->placeholder, FRAME_OF_JIT);
		assert_true(frame->is_made_up);
		assert_int_equal(sum->modules[0].file_size, 77);
		assert_int_equal(sum->modules[0].file_mtime_ns, 88);
		for (int i = 0; i < 2; i++)
			profile_free(two[i]);
		profile_free(sum);
	}
}

/* Some resources in some order, and a few stacks. */
static struct profile *
parse_random(void)
{
	static const char *const resources[] = {
		"cpu; gtick=us; interval=10", "faults; gtick=fault",
		"reads; gtick=read", "cpu; gtick=us; interval=20",
		"writes; gtick=write", "seeks; gtick=seek",
	};
	unsigned first = (unsigned)rand() % 6, n = 1 + (unsigned)rand() % 3;
	char text[1000] = "";
	size_t length = 0;

	for (unsigned r = 0; r < n; r++)
		length += (size_t)sprintf(text + length, "# resource: %s\n",
		                          resources[(first + r) % 6]);
	for (int line = 0; line < 5; line++) {
		for (int depth = rand() % 4; depth >= 0; depth--)
			length += (size_t)sprintf(text + length, "f%d%s",
			                          rand() % 5,
			                          depth > 0 ? ";" : "");
		for (unsigned r = 0; r < n; r++)
			length += (size_t)sprintf(text + length, " %d",
			                          rand() % 9);
		strcat(text, "\n");
		length++;
	}
	return parse(text);
}

static void
expect_same(const struct profile *a, const struct profile *b)
{
	size_t size = a->tree->n_nodes * sizeof *a->tree->label;

	assert_int_equal(a->n_files, b->n_files);
	assert_int_equal(a->n_resources, b->n_resources);
	for (uint32_t r = 0; r < a->n_resources; r++) {
		assert_string_equal(a->resources[r].name,
		                    b->resources[r].name);
		assert_int_equal(a->resources[r].interval,
		                 b->resources[r].interval);
	}
	assert_int_equal(a->n_frames, b->n_frames);
	for (uint32_t i = 0; i < a->n_frames; i++)
		assert_string_equal(names_text(a->names, i),
		                    names_text(b->names, i));
	assert_int_equal(a->tree->n_nodes, b->tree->n_nodes);
	for (uint32_t n = 0; n < a->tree->n_nodes; n++)
		assert_int_equal(sample_tree_parent(a->tree, n),
		                 sample_tree_parent(b->tree, n));
	assert_memory_equal(a->tree->label, b->tree->label, size);
	for (uint32_t r = 0; r < a->n_resources; r++)
		for (uint32_t n = 0; n < a->tree->n_nodes; n++) {
			assert_int_equal(sample_tree_hits(a->tree, r, n),
			                 sample_tree_hits(b->tree, r, n));
			assert_int_equal(sample_tree_samples(a->tree, r, n),
			                 sample_tree_samples(b->tree, r, n));
		}
}

static void
profile_adder_is_the_sum_of_all(void **state)
{
	enum { MOST = ADDER_WIDTH * ADDER_WIDTH + 70 };
	static const uint32_t counts[] = { 1,
		                           2,
		                           ADDER_WIDTH - 1,
		                           ADDER_WIDTH,
		                           ADDER_WIDTH + 1,
		                           ADDER_WIDTH + 2,
		                           ADDER_WIDTH + 3,
		                           ADDER_WIDTH + 4,
		                           ADDER_WIDTH + 5,
		                           ADDER_WIDTH + 6,
		                           ADDER_WIDTH + 7,
		                           ADDER_WIDTH + 8,
		                           3 * ADDER_WIDTH + 5,
		                           MOST };
	static struct profile *all[MOST];

	(void)state;
	srand(7);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct profile_adder adder = { 0 };
		struct error error = { 0 };
		struct profile *whole, *sum;
		unsigned seed = (unsigned)rand();

		for (int is_by_adder = 0; is_by_adder <= 1; is_by_adder++) {
			srand(seed);
			for (uint32_t n = 0; n < counts[i]; n++) {
				struct profile *one = parse_random();

				one->n_files = 1;
				if (!is_by_adder)
					all[n] = one;
				else
					assert_int_equal(
					    profile_adder_add(&adder, one,
					                      &error),
					    0);
			}
		}
		whole = counts[i] == 1 ? all[0] :
		        profile_merge(all, counts[i], &error);
		sum = profile_adder_take(&adder, &error);
		assert_non_null(sum);
		assert_null(sum->name);
		expect_same(sum, whole);
		profile_free(sum);
		profile_free(whole);
		for (uint32_t n = counts[i] == 1; n < counts[i]; n++)
			profile_free(all[n]);
		profile_adder_free(&adder);
	}
	/* What has the same address later is not reachable by these. */
	memset(all, 0, sizeof all);
}

static void
profile_adder_names_the_files_that_do_not_fit(void **state)
{
	struct profile_adder adder = { 0 };
	struct error error = { 0 };

	(void)state;
	for (int i = 0; i < ADDER_WIDTH; i++) {
		struct profile *one = parse("# resource: cpu; gtick=us\na 1\n");

		one->n_files = 1;
		one->name = "first";
		assert_int_equal(profile_adder_add(&adder, one, &error), 0);
	}
	assert_int_equal(
	    profile_adder_add(&adder, parse("# resource: cpu; gtick=ms\na 1\n"),
	                      &error),
	    0);
	assert_null(profile_adder_take(&adder, &error));
	assert_non_null(strstr(error.text, "\"us\" in first and 63 others"));
	profile_adder_free(&adder);
}

/* Then it frees all of them; a build with sanitizers notices if not. */
static void
profile_adder_says_when_it_is_full(void **state)
{
	struct profile_adder adder = { 0 };
	struct error error = { 0 };

	(void)state;
	for (int level = 0; level < ADDER_LEVELS; level++)
		while (adder.n[level] < ADDER_WIDTH - 1) {
			struct profile *one = parse("a 1\n");

			one->n_files = 1;
			adder.profiles[level][adder.n[level]++] = one;
		}
	assert_int_equal(profile_adder_add(&adder, parse("a 1\n"), &error), -1);
	assert_string_equal(error.text, "too many files");
	for (int level = 0; level < ADDER_LEVELS; level++)
		assert_int_equal(adder.n[level], 0);
	profile_adder_free(&adder);
}

static void
profile_keeps_warnings_in_order(void **state)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);

	(void)state;
	assert_int_equal(profile_warn(profile, &error, "%s %d", "one", 1), 0);
	assert_int_equal(profile_warn(profile, &error, "two"), 0);
	assert_int_equal(profile->n_warnings, 2);
	assert_string_equal(profile->warnings[0], "one 1");
	profile_free(profile);
}

static void
profile_takes_no_more_resources_than_it_has_room_for(void **state)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);

	(void)state;
	for (uint32_t i = 0; i < RESOURCES_MAX; i++)
		assert_int_equal(profile_add_resource(profile, "cpu", "", 1,
		                                      &error), i);
	assert_int_equal(profile_add_resource(profile, "cpu", "", 1, &error),
	                 UINT32_MAX);
	assert_string_equal(error.text, "more than 256 resources");
	assert_int_equal(profile->n_resources, RESOURCES_MAX);
	profile_free(profile);
}

/* ---- what is known of resources ---- */

/* Names fit into a recording, and name no other row. */
static void
check_kind_name(const struct count_kind *kind)
{
	assert_in_range(strlen(kind->name), 1,
	    sizeof ((struct cpprofdata_resource *)0)->name);
	assert_ptr_equal(count_kind_find(kind->name), kind);
}

/* The row that another one names; it must be recorded. */
static const struct count_kind *
named_kind(const char *name)
{
	const struct count_kind *kind = count_kind_find(name);

	assert_non_null(kind);
	assert_non_null(kind->gtick);
	return kind;
}

static void
count_kinds_name_each_other(void **state)
{
	for (const struct count_kind *kind = count_kinds; kind->name != NULL;
	     kind++) {
		check_kind_name(kind);
		assert_in_range(strlen(kind->gtick), 1,
		    sizeof ((struct cpprofdata_resource *)0)->gtick - 1);
		assert_true(kind->least >= 1 && kind->interval >= kind->least);
		assert_non_null(kind->summary);
		assert_false(count_kind_is_level(kind));
		if (kind->part_of != NULL)
			assert_null(named_kind(kind->part_of)->part_of);
		if (kind->follows == NULL)
			continue;
		assert_null(named_kind(kind->follows)->follows);
		assert_string_equal(kind->gtick,
		    named_kind(kind->follows)->gtick);
		assert_int_equal(kind->interval,
		    named_kind(kind->follows)->interval);
	}
	for (const struct count_kind *kind = made_counts; kind->name != NULL;
	     kind++) {
		check_kind_name(kind);
		assert_true(count_kind_is_level(kind));
		assert_string_equal(named_kind(kind->gain)->gtick,
		    named_kind(kind->loss)->gtick);
	}
	/* cpprofdata_add_blocks counts on that. */
	assert_string_equal(named_kind(made_counts[0].gain)->gtick, "byte");
	assert_string_equal(named_kind(made_counts[1].gain)->gtick,
	    "allocation");
	assert_null(made_counts[2].name);
	assert_null(count_kind_find("of nobody"));
	assert_false(count_kind_is_level(NULL));
	(void)state;
}

/* By its name, whoever has written it. */
static void
resources_know_their_kind(void **state)
{
	struct profile *profile = parse(
	    "# cpprof 1\n# resource: live-bytes; gtick=byte; interval=1\n"
	    "# resource: beans; gtick=bean; interval=1\nmain 1 1\n");

	assert_ptr_equal(profile->resources[0].kind, made_counts);
	assert_null(profile->resources[1].kind);
	profile_free(profile);
	(void)state;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profile_merge_adds_stacks),
		cmocka_unit_test(profile_merge_matches_resources_by_name),
		cmocka_unit_test(profile_merge_names_each_source_once),
		cmocka_unit_test(
		    profile_merge_orders_resources_whatever_comes_first),
		cmocka_unit_test(
		    profile_merge_counts_gticks_where_intervals_differ),
		cmocka_unit_test(profile_merge_refuses_other_gticks),
		cmocka_unit_test(profile_merge_refuses_sums_over_64_bits),
		cmocka_unit_test(
		    profile_merge_refuses_counted_beside_measured_calls),
		cmocka_unit_test(profile_merge_of_parts_is_the_whole),
		cmocka_unit_test(
		    profile_names_inlined_chains_over_all_threads),
		cmocka_unit_test(profile_names_modules_and_addresses),
		cmocka_unit_test(
		    profile_lends_its_tree_where_frames_are_names),
		cmocka_unit_test(
		    profile_merge_keeps_threads_modules_and_tallies),
		cmocka_unit_test(
		    profile_merge_joins_a_process_and_its_beginning_in_any_order),
		cmocka_unit_test(profile_merge_keeps_what_is_known_of_frames),
		cmocka_unit_test(profile_adder_is_the_sum_of_all),
		cmocka_unit_test(profile_adder_names_the_files_that_do_not_fit),
		cmocka_unit_test(profile_adder_says_when_it_is_full),
		cmocka_unit_test(count_kinds_name_each_other),
		cmocka_unit_test(resources_know_their_kind),
		cmocka_unit_test(profile_keeps_warnings_in_order),
		cmocka_unit_test(
		    profile_takes_no_more_resources_than_it_has_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
