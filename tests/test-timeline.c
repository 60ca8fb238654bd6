/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-timeline.c -- when hits were counted, against a list of all of them.
 *
 * Random trees get hits at random times.  The model keeps each as a line with
 * its stack as text; the sums of any node, slice and selection follow from
 * that by searching the whole list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/units.h"
#include "src/profile/profile.h"
#include "src/profile/sample_tree.h"

enum { N_RESOURCES = 2, MAX_EVENTS = 3000, MAX_DEPTH = 6, N_LABELS = 9 };

#define LEAST_WIDTH UINT64_C(1953125)

struct event {
	char stack[2 * MAX_DEPTH + 1];	/* a letter for each frame */
	uint32_t resource;
	bool has_time;
	uint64_t at, width, hits, samples;
};

struct model {
	struct event events[MAX_EVENTS];
	size_t n;
};

static uint64_t randomness = 88172645463325252u;

static uint64_t
random_below(uint64_t n)
{
	randomness ^= randomness << 13;
	randomness ^= randomness >> 7;
	randomness ^= randomness << 17;
	return (randomness >> 11) % n;
}

static void
enter_event(struct tree_builder *builder, const struct event *event)
{
	struct error error = { 0 };
	uint32_t node = NO_NODE;

	for (const char *c = event->stack; *c != '\0'; c++)
		node = tree_builder_child(builder, node, (uint32_t)(*c - 'a'),
		                          &error);
	assert_int_equal(tree_builder_add(builder, node, event->resource,
	    event->hits, event->samples, &error), 0);
	if (event->has_time)
		assert_int_equal(tree_builder_add_time(builder, node,
		    event->resource, event->at, event->width, event->hits,
		    event->samples, &error), 0);
}

/*
 * Adds n events to the model and to a tree.  widths: 0: moments; otherwise
 * slices of LEAST_WIDTH times up to 2^(widths - 1).
 */
static struct sample_tree *
make_tree(struct model *model, size_t n, unsigned widths, uint64_t span,
          uint64_t from, bool has_origin)
{
	struct error error = { 0 };
	struct tree_builder *builder = tree_builder_new(N_RESOURCES, &error);
	struct sample_tree *tree;

	if (has_origin)
		tree_builder_set_origin(builder, 12345);
	for (size_t i = 0; i < n; i++) {
		struct event *event = &model->events[model->n++];
		size_t depth = 1 + random_below(MAX_DEPTH);

		*event = (struct event){
			.resource = (uint32_t)random_below(N_RESOURCES),
			.has_time = random_below(10) != 0,
			.width = widths == 0 ? 0 :
			    LEAST_WIDTH << random_below(widths),
			.at = from + random_below(span),
			.hits = random_below(100),
			.samples = random_below(3),
		};
		if (widths > 0)
			event->at -= event->at % event->width;
		for (size_t k = 0; k < depth; k++)
			event->stack[k] = (char)('a' +
			    random_below(N_LABELS));
		enter_event(builder, event);
	}
	tree = tree_builder_finish(builder, &error);
	assert_string_equal(error.text, "");
	tree_builder_free(builder);
	return tree;
}

/* The stack of a node as letters. */
static void
stack_of(const struct sample_tree *tree, uint32_t node,
         char stack[2 * MAX_DEPTH + 1])
{
	char reversed[2 * MAX_DEPTH + 1];
	size_t n = 0;

	for (; node != NO_NODE; node = sample_tree_parent(tree, node))
		reversed[n++] = (char)('a' + tree->label[node]);
	for (size_t i = 0; i < n; i++)
		stack[i] = reversed[n - 1 - i];
	stack[n] = '\0';
}

struct counts {
	uint64_t hits, samples;
};

/* Of the events with that stack; slice: UINT32_MAX, all. */
static struct counts
sum_events(const struct model *model, const char *stack, uint32_t resource,
           uint64_t from, uint64_t width, uint32_t slice)
{
	struct counts sum = { 0 };

	for (size_t i = 0; i < model->n; i++) {
		const struct event *event = &model->events[i];

		if (event->resource != resource ||
		    strcmp(event->stack, stack) != 0)
			continue;
		if (slice != UINT32_MAX && (!event->has_time ||
		        (event->at - from) / width != slice))
			continue;
		sum.hits += event->hits;
		sum.samples += event->samples;
	}
	return sum;
}

static struct counts
sum_entries(const struct sample_tree *tree, uint32_t node, uint32_t resource,
            uint32_t slice)
{
	const struct timeline *timeline = tree->timeline;
	const uint32_t row = sample_tree_row(tree, node);
	struct counts sum = { 0 };

	for (size_t i = timeline->first[row]; i < timeline->first[row + 1];
	     i++) {
		assert_true(i == timeline->first[row] ||
		            timeline->slice[i - 1] < timeline->slice[i]);
		if (timeline->slice[i] != slice)
			continue;
		sum.hits += timeline->hits[resource][i];
		sum.samples += timeline->samples[resource][i];
	}
	return sum;
}

static void
check_tree(const struct model *model, const struct sample_tree *tree,
           uint64_t from)
{
	const struct timeline *timeline = tree->timeline;
	char stack[2 * MAX_DEPTH + 1];

	assert_non_null(timeline);
	assert_int_equal(timeline->n_rows, tree->n_rows);
	assert_in_range(timeline->n_slices, 1, TIMELINE_SLICES);
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		stack_of(tree, node, stack);
		for (uint32_t r = 0; r < N_RESOURCES; r++)
			for (uint32_t s = 0; s < TIMELINE_SLICES; s++) {
				struct counts is = sum_entries(tree, node, r,
				    s);
				struct counts should = sum_events(model,
				    stack, r, from, timeline->width_ns, s);

				assert_int_equal(is.hits, should.hits);
				assert_int_equal(is.samples, should.samples);
			}
	}
}

static uint64_t
earliest(const struct model *model)
{
	uint64_t at = UINT64_MAX;

	for (size_t i = 0; i < model->n; i++)
		if (model->events[i].has_time && model->events[i].at < at)
			at = model->events[i].at;
	return at;
}

static uint64_t
latest(const struct model *model)
{
	uint64_t at = 0;

	for (size_t i = 0; i < model->n; i++)
		if (model->events[i].has_time && model->events[i].at > at)
			at = model->events[i].at;
	return at;
}

static void
moments_are_summed_by_slice(void **state)
{
	static struct model model;

	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		uint64_t from, width = LEAST_WIDTH;
		struct sample_tree *tree;

		model.n = 0;
		tree = make_tree(&model, 200, 0,
		    UINT64_C(1000000) << (round / 2), 777777777, false);
		from = earliest(&model);
		while ((latest(&model) - from) / width >= 64)
			width *= 2;
		assert_int_equal(tree->timeline->width_ns, width);
		assert_int_equal(tree->timeline->n_slices,
		                 (latest(&model) - from) / width + 1);
		assert_int_equal(tree->timeline->origin_ns, 0);
		check_tree(&model, tree, from);
		sample_tree_free(tree);
	}
}

/*
 * More moments than are kept: they are summed up on the way, again and again.
 * A last one is before all others.
 */
static void
many_moments_make_the_same_slices(void **state)
{
	enum { N_NODES = 3, N_MOMENTS = 5000000 };
	static uint64_t expected[N_NODES][TIMELINE_SLICES];
	const uint64_t start = 1000000007, step = 997;
	struct error error = { 0 };

	(void)state;
	for (unsigned is_late = 0; is_late < 2; is_late++) {
		struct tree_builder *builder = tree_builder_new(1, &error);
		struct sample_tree *tree;
		uint64_t width = LEAST_WIDTH, all = 0;

		while ((N_MOMENTS - 1) * step / width >= TIMELINE_SLICES)
			width *= 2;
		memset(expected, 0, sizeof expected);
		for (uint32_t i = 0; i < N_NODES; i++)
			tree_builder_child(builder, NO_NODE, i, &error);
		for (uint64_t i = 0; i < N_MOMENTS; i++) {
			uint32_t node = (uint32_t)random_below(N_NODES);

			tree_builder_add(builder, node, 0, 2, 1, &error);
			tree_builder_add_time(builder, node, 0,
			    start + i * step, 0, 2, 1, &error);
			expected[node][i * step / width] += 2;
		}
		if (is_late) {
			tree_builder_add(builder, 0, 0, 2, 1, &error);
			tree_builder_add_time(builder, 0, 0, start - 1, 0, 2,
			                      1, &error);
		}
		assert_false(error.is_set);
		tree = tree_builder_finish(builder, &error);
		tree_builder_free(builder);
		assert_int_equal(tree->timeline->width_ns, width);
		for (uint32_t node = 0; node < N_NODES; node++)
			for (uint32_t s = 0; s < TIMELINE_SLICES; s++) {
				const struct counts is = sum_entries(tree,
				    node, 0, s);

				assert_int_equal(is.hits, 2 * is.samples);
				all += is.hits;
				if (!is_late)
					assert_int_equal(is.hits,
					                 expected[node][s]);
			}
		assert_int_equal(all, 2 * (N_MOMENTS + is_late));
		sample_tree_free(tree);
	}
}

static void
slices_get_the_widest_width(void **state)
{
	static struct model model;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		struct sample_tree *tree;

		model.n = 0;
		tree = make_tree(&model, 200, 1 + round % 6,
		    LEAST_WIDTH * (round < 10 ? 60 : 1000), 0, true);
		assert_int_equal(tree->timeline->origin_ns, 12345);
		assert_true(round >= 10 || tree->timeline->width_ns <=
		            LEAST_WIDTH << round % 6);
		check_tree(&model, tree, 0);
		sample_tree_free(tree);
	}
}

/* Counts of any node may not be less than the sum of its slices. */
static void
no_more_time_than_hits(void **state)
{
	struct error error = { 0 };
	struct tree_builder *builder = tree_builder_new(1, &error);
	uint32_t node = tree_builder_child(builder, NO_NODE, 0, &error);
	struct sample_tree *tree;
	static const uint64_t expected[] = { 4, 6, 0 };

	(void)state;
	tree_builder_set_origin(builder, 0);
	tree_builder_add(builder, node, 0, 10, 2, &error);
	for (uint64_t i = 0; i < 3; i++)
		tree_builder_add_time(builder, node, 0, i * 100, 100,
		    i == 1 ? UINT64_MAX : 4, 1, &error);
	/* Twice as much of the same moment passes 64 bits. */
	tree_builder_add_time(builder, node, 0, 200, 100, UINT64_MAX, 1,
	                      &error);
	tree = tree_builder_finish(builder, &error);
	for (uint32_t s = 0; s < 3; s++)
		assert_int_equal(sum_entries(tree, 0, 0, s).hits, expected[s]);
	assert_int_equal(sum_entries(tree, 0, 0, 2).samples, 0);
	sample_tree_free(tree);
	tree_builder_free(builder);
}

/* Labels that become one, and labels that become a chain. */
static void
times_stay_when_names_change(void **state)
{
	static struct model model;
	static const uint32_t first[] = { 0, 1, 2, 3, 5, 6, 7, 8, 9, 10 };
	static const uint32_t labels[] = { 0, 0, 1, 1, 2, 3, 2, 4, 5, 1 };
	static const char *const names[] = { "a", "a", "b", "bc", "d", "c",
	    "e", "f", "b" };
	struct error error = { 0 };

	(void)state;
	for (unsigned round = 0; round < 10; round++) {
		struct sample_tree *tree, *named;

		model.n = 0;
		tree = make_tree(&model, 150, 3, LEAST_WIDTH * 200, 0, true);
		named = sample_tree_relabel(tree, first, labels, &error);
		assert_non_null(named);
		for (size_t i = 0; i < model.n; i++) {
			char renamed[2 * MAX_DEPTH + 1] = "";

			for (const char *c = model.events[i].stack;
			     *c != '\0'; c++)
				strcat(renamed, names[*c - 'a']);
			strcpy(model.events[i].stack, renamed);
		}
		assert_int_equal(named->timeline->width_ns,
		                 tree->timeline->width_ns);
		assert_int_equal(named->timeline->origin_ns, 12345);
		check_tree(&model, named, 0);
		sample_tree_free(named);
		sample_tree_free(tree);
	}
}

static struct profile *
make_profile(struct model *model, size_t n, uint64_t origin_ns,
             unsigned widths, uint64_t span)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);

	profile_add_resource(profile, "cpu", "us", 1, &error);
	profile_add_resource(profile, "faults", "fault", 1, &error);
	for (uint32_t i = 0; i < N_LABELS; i++) {
		const char name[] = { (char)('a' + i) };

		profile_add_named_frame(profile, names_add(profile->names,
		    name, 1, &error), &error);
	}
	profile->tree = make_tree(model, n, widths, span, 0, true);
	profile->tree->timeline->origin_ns = origin_ns;
	return profile;
}

static void
sums_have_the_times_of_all(void **state)
{
	static struct model model;
	struct error error = { 0 };

	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		struct profile *profiles[3], *sum;
		uint64_t widest = 0;

		model.n = 0;
		for (size_t i = 0; i < 3; i++) {
			profiles[i] = make_profile(&model, 80,
			    round < 4 ? 55 : 55 + i, 1 + (unsigned)i,
			    LEAST_WIDTH * 50 << i);
			if (profiles[i]->tree->timeline->width_ns > widest)
				widest =
				    profiles[i]->tree->timeline->width_ns;
		}
		sum = profile_merge(profiles, 3, &error);
		assert_string_equal(error.text, "");
		assert_int_equal(sum->tree->timeline->width_ns, widest);
		assert_int_equal(sum->tree->timeline->origin_ns,
		                 round < 4 ? 55 : 0);
		check_tree(&model, sum->tree, 0);
		profile_free(sum);
		for (size_t i = 0; i < 3; i++)
			profile_free(profiles[i]);
	}
}

static void
hits_of_nodes_by_slice(void **state)
{
	static struct model model;
	struct sample_tree *tree;

	(void)state;
	model.n = 0;
	tree = make_tree(&model, 300, 2, LEAST_WIDTH * 60, 0, true);
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		uint64_t sums[TIMELINE_SLICES] = { 0 };

		tree_time_add(tree, 1, node, sample_tree_end(tree, node), sums);
		for (uint32_t s = 0; s < TIMELINE_SLICES; s++) {
			uint64_t hits = 0;

			for (uint32_t n = node; n < sample_tree_end(tree, node);
			    n++)
				hits += sum_entries(tree, n, 1, s).hits;
			assert_int_equal(sums[s], hits);
		}
	}
	/* A selection by rows counts. */
	memset(tree->rows.number, 0, tree->rows.n * sizeof *tree->rows.number);
	for (uint32_t s = 0; s < TIMELINE_SLICES; s++) {
		uint64_t sums[TIMELINE_SLICES] = { 0 };

		tree_time_add(tree, 0, 0, tree->n_nodes, sums);
		assert_int_equal(sums[s], 0);
	}
	sample_tree_free(tree);
}

/* Of thousands of nodes, each with slices of its own. */
static void
many_nodes_keep_their_slices(void **state)
{
	static struct model model;
	struct sample_tree *tree;
	const struct timeline *timeline;

	(void)state;
	model.n = 0;
	tree = make_tree(&model, MAX_EVENTS, 1, LEAST_WIDTH * 60, 0, true);
	timeline = tree->timeline;
	assert_true(timeline->first[timeline->n_rows] > 2000);
	for (uint32_t r = 0; r < N_RESOURCES; r++) {
		uint64_t sums[TIMELINE_SLICES] = { 0 };

		for (uint32_t node = 0; node < tree->n_nodes; node++)
			tree_time_add(tree, r, node, node + 1, sums);
		for (size_t i = 0; i < model.n; i++) {
			const struct event *event = &model.events[i];

			if (event->has_time && event->resource == r)
				sums[event->at / timeline->width_ns] -=
				    event->hits;
		}
		for (uint32_t s = 0; s < TIMELINE_SLICES; s++)
			assert_int_equal(sums[s], 0);
	}
	sample_tree_free(tree);
}

static void
a_range_is_the_slices_it_touches(void **state)
{
	const struct timeline timeline = { .width_ns = 100, .n_slices = 64 };
	const struct timeline shorter = { .width_ns = 100, .n_slices = 10 };

	(void)state;
	assert_true(timeline_range(&timeline, 0, 100).slices == 1);
	assert_true(timeline_range(&timeline, 0, 101).slices == 3);
	assert_true(timeline_range(&timeline, 99, 100).slices == 1);
	assert_true(timeline_range(&timeline, 100, 300).slices == 6);
	assert_true(timeline_range(&timeline, 0, UINT64_MAX).slices ==
	            UINT64_MAX);
	assert_true(timeline_range(&timeline, 6300, 9999).slices ==
	            (uint64_t)1 << 63);
	assert_true(timeline_range(&timeline, 6400, 9999).slices == 0);
	assert_true(timeline_range(&shorter, 800, 5000).slices == 3 << 8);
	assert_true(timeline_range(&shorter, 1000, 5000).slices == 0);
	assert_false(timeline_range(&timeline, 0, 100).has_no_time);
}

static bool
is_kept(const struct slice_set *set, const struct event *event, uint64_t width)
{
	return event->has_time ? set->slices >> event->at / width & 1 :
	       set->has_no_time;
}

static void
check_selection(const struct model *model, const struct sample_tree *tree,
                const struct slice_set *set)
{
	static struct model kept;
	struct error error = { 0 };
	struct sample_tree *part = tree_time_select(tree, set, &error);
	const uint64_t width = tree->timeline->width_ns;
	char stack[2 * MAX_DEPTH + 1];

	assert_non_null(part);
	kept.n = 0;
	for (size_t i = 0; i < model->n; i++)
		if (is_kept(set, &model->events[i], width))
			kept.events[kept.n++] = model->events[i];
	for (uint32_t node = 0; node < part->n_nodes; node++) {
		stack_of(part, node, stack);
		for (uint32_t r = 0; r < N_RESOURCES; r++) {
			struct counts should = sum_events(&kept, stack, r, 0,
			    width, UINT32_MAX);

			assert_int_equal(sample_tree_hits(part, r, node),
			                 should.hits);
			assert_int_equal(sample_tree_samples(part, r, node),
			                 should.samples);
		}
	}
	check_tree(&kept, part, 0);
	assert_int_equal(part->timeline->n_slices, tree->timeline->n_slices);
	tree_time_free(part);
}

static void
a_selection_has_the_hits_of_its_slices(void **state)
{
	static struct model model;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		struct slice_set set = { randomness, round % 2 != 0 };
		struct sample_tree *tree;

		model.n = 0;
		tree = make_tree(&model, 100, 2, LEAST_WIDTH * 60, 0, true);
		check_selection(&model, tree, &set);
		set.slices = ~set.slices;
		set.has_no_time = !set.has_no_time;
		check_selection(&model, tree, &set);
		sample_tree_free(tree);
	}
}

static void
dropped_resources_have_no_times(void **state)
{
	static struct model model;
	struct error error = { 0 };
	struct sample_tree *tree, *named;
	const uint32_t first[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	const uint32_t labels[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	tree = make_tree(&model, 100, 2, LEAST_WIDTH * 60, 0, true);
	sample_tree_keep_resources(tree, 1);
	assert_int_equal(tree->timeline->n_resources, 1);
	named = sample_tree_relabel(tree, first, labels, &error);
	assert_non_null(named);
	assert_int_equal(named->timeline->n_resources, 1);
	sample_tree_free(named);
	sample_tree_free(tree);
}

static void
a_tree_without_times_has_no_timeline(void **state)
{
	struct error error = { 0 };
	struct tree_builder *builder = tree_builder_new(1, &error);
	struct sample_tree *tree;
	uint32_t node = tree_builder_child(builder, NO_NODE, 0, &error);

	(void)state;
	/* Times of a node without hits are nothing. */
	tree_builder_add_time(builder, node, 0, 5, 0, 1, 1, &error);
	tree = tree_builder_finish(builder, &error);
	assert_null(tree->timeline);
	sample_tree_free(tree);
	tree_builder_free(builder);
}

static void
durations_are_read_as_written(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
		size_t n;	/* bytes that belong to it; 0: none */
	} cases[] = {
		{ "2s..5s", 2000000000, 2 }, { "2..5", 2000000000, 1 },
		{ "1.5s", 1500000000, 4 }, { "0.015625", 15625000, 8 },
		{ "250ms..", 250000000, 5 }, { "3us", 3000, 3 },
		{ "7ns", 7, 3 }, { "2m", 120000000000, 2 },
		{ "1h", 3600000000000, 2 }, { "2.", 0, 0 }, { "", 0, 0 },
		{ "s", 0, 0 }, { "2d", 0, 0 }, { "2sec", 0, 0 },
		{ "99999999999", 0, 0 }, { "-1", 0, 0 }, { ".5", 500000000, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t ns = 0;
		const char *end = text_read_duration(cases[i].text, &ns);

		if (cases[i].n == 0) {
			assert_null(end);
			continue;
		}
		assert_ptr_equal(end, cases[i].text + cases[i].n);
		assert_int_equal(ns, cases[i].ns);
	}
	for (unsigned round = 0; round < 1000; round++) {
		const uint64_t ns = random_below(UINT64_C(1) << 53) >>
		    round % 50;
		struct text_buffer text = { 0 };
		uint64_t again = 0;
		const char *end;

		text_add_duration(&text, ns);
		end = text_read_duration(text_string(&text), &again);
		assert_non_null(end);
		assert_int_equal(*end, '\0');
		assert_int_equal(again, ns);
		text_free(&text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_summed_by_slice),
		cmocka_unit_test(many_moments_make_the_same_slices),
		cmocka_unit_test(slices_get_the_widest_width),
		cmocka_unit_test(no_more_time_than_hits),
		cmocka_unit_test(times_stay_when_names_change),
		cmocka_unit_test(sums_have_the_times_of_all),
		cmocka_unit_test(hits_of_nodes_by_slice),
		cmocka_unit_test(many_nodes_keep_their_slices),
		cmocka_unit_test(a_range_is_the_slices_it_touches),
		cmocka_unit_test(a_selection_has_the_hits_of_its_slices),
		cmocka_unit_test(dropped_resources_have_no_times),
		cmocka_unit_test(a_tree_without_times_has_no_timeline),
		cmocka_unit_test(durations_are_read_as_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
