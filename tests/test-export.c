/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-export.c -- random profiles are exported and read back by the readers
 * of the same formats.
 */
#include "tests/reader-fixture.h"

#include <errno.h>

#include "src/formats/exporter.h"
#include "src/profile/large_array.h"

extern const struct format format_collapsed, format_cpprofdata, format_pprof,
    format_speedscope;
extern const struct exporter exporter_bolt, exporter_callgrind,
    exporter_collapsed,
    exporter_cpprof_text, exporter_cpprofdata, exporter_pprof,
    exporter_speedscope;

enum {
	SEEDS = 300,
	N_FRAMES = 24,
	N_STACKS = 30,
	MOST_DEPTH = 9,
	LINE_MAX_SIZE = 4000,
};

/* ---- writing ---- */

static int
take(void *context, const char *bytes, size_t n)
{
	text_add(context, bytes, n);
	return 0;
}

static int
fill_up(void *context, const char *bytes, size_t n)
{
	(void)context;
	(void)bytes;
	(void)n;
	return ENOSPC;
}

/* The output of an exporter. */
static int
try_export(const struct exporter *exporter, struct profile *profile,
           uint32_t resource, writer_function *to, struct text_buffer *text,
           uint64_t *n_changed, struct error *error)
{
	static const struct naming_rule rule = { GRANULARITY_FUNCTION,
		INLINES_ON };
	static struct writer writer;
	struct error naming = { 0 };
	struct text_buffer remark = { 0 };
	bool is_own;
	struct sample_tree *named = profile_named_tree(profile, &rule,
	                                               &is_own, &naming);
	const struct export_source source = {
		.profile = profile,
		.named = named,
		.inlines = INLINES_ON,
		.resource = resource,
		.remark = &remark,
	};
	int result;

	assert_non_null(named);
	writer_start(&writer, to, text);
	result = exporter->write(&source, &writer, n_changed, error);
	writer_flush(&writer);
	text_free(&remark);
	if (is_own)
		sample_tree_free(named);
	return result;
}

static void
export(const struct exporter *exporter, struct profile *profile,
       uint32_t resource, struct text_buffer *text)
{
	struct error error = { 0 };
	uint64_t n_changed;

	text_clear(text);
	if (try_export(exporter, profile, resource, take, text, &n_changed,
	               &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(n_changed, 0);
}

/* ---- random profiles ---- */

static uint32_t
pick(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static uint32_t
name_of(struct profile *profile, const char *text)
{
	struct error error = { 0 };

	return names_add(profile->names, text, strlen(text), &error);
}

static void
add_resources(struct profile *profile, uint32_t n, uint64_t *seed)
{
	static const char *const gticks[] = { "microsecond", "fault", "" };
	static const char *const names[] = { "cpu", "page faults", "x" };
	struct error error = { 0 };

	for (uint32_t r = 0; r < n; r++)
		profile_add_resource(profile, names[r], gticks[r],
		                     2 + pick(seed, 1000), &error);
}

/* Addresses in two modules; some have inlined calls, files and lines. */
static void
add_address_frames(struct profile *profile, uint64_t *seed)
{
	struct error error = { 0 };

	profile_add_module(profile, "/nowhere/program", "\1\2\3\4", 4, &error);
	profile_add_module(profile, "/nowhere/lib;x.so", NULL, 0, &error);
	for (uint32_t i = 0; i < N_FRAMES; i++) {
		struct location locations[3];
		uint32_t n = 1 + pick(seed, 3);

		for (uint32_t k = 0; k < n; k++) {
			char name[40];

			snprintf(name, sizeof name, "f%u<a, b>(int) %u", i / 2,
			         k);
			locations[k].function = name_of(profile, name);
			locations[k].file = pick(seed, 2) == 0 ? NO_NAME :
			    name_of(profile, "dir/a b.c");
			locations[k].line = pick(seed, 100);
			snprintf(name, sizeof name, "_Z%u", 10 * i / 2 + k);
			locations[k].linkage = i % 9 == 5 ? NO_NAME :
			    name_of(profile, name);
			locations[k].start_line = i % 5;
			locations[k].discriminator = (i + k) % 4;
		}
		profile_add_frame(profile, pick(seed, 2), 0x1000 + 16 * i,
		                  locations, n, &error);
	}
}

static void
add_name_frames(struct profile *profile)
{
	static const char *const odd[] = { "operator new(unsigned long)",
		"  two blanks", "trailing ", "12", "\xc3\xa9t\xc3\xa9",
		"{\"json\"}\\", "not # first", "|bars|", "[x]" };
	struct error error = { 0 };

	for (uint32_t i = 0; i < N_FRAMES; i++) {
		char name[20];
		bool is_odd = i < sizeof odd / sizeof *odd;

		snprintf(name, sizeof name, "name%u", i);
		profile_add_named_frame(profile,
		    name_of(profile, is_odd ? odd[i] : name), &error);
	}
}

/* Gives some of a node's counts a time, within a quarter of a second. */
static void
add_times(struct tree_builder *builder, uint32_t node, uint32_t resource,
          uint64_t hits, uint64_t samples, uint64_t *seed)
{
	struct error error = { 0 };

	while (hits > 0 && pick(seed, 4) > 0) {
		uint64_t some = 1 + pick(seed, (uint32_t)hits);
		uint64_t few = pick(seed, (uint32_t)samples + 1);

		assert_int_equal(tree_builder_add_time(builder, node, resource,
		    pick(seed, 250000000), pick(seed, 2) * 4000000, some, few,
		    &error), 0);
		hits -= some;
		samples -= few;
	}
}

/*
 * has_samples: raw samples are counted apart from hits; otherwise each hit is
 * one sample.
 */
static void
add_stacks(struct profile *profile, struct tree_builder *builder,
           bool has_samples, uint64_t *seed)
{
	struct error error = { 0 };

	for (uint32_t i = 0; i < N_STACKS; i++) {
		uint32_t node = NO_NODE, depth = 1 + pick(seed, MOST_DEPTH);

		while (depth-- > 0)
			node = tree_builder_child(builder, node,
			    pick(seed, profile->n_frames), &error);
		for (uint32_t r = 0; r < profile->n_resources; r++) {
			uint64_t hits = pick(seed, 3) * pick(seed, 1000);
			uint64_t samples = has_samples && hits > 0 ?
			    1 + pick(seed, (uint32_t)hits) : hits;

			assert_int_equal(tree_builder_add(builder, node, r,
			    hits, samples, &error), 0);
			if (has_samples)
				add_times(builder, node, r, hits, samples,
				          seed);
		}
	}
}

static void
add_thread(struct profile *profile, struct tree_builder *builder,
           const char *name, uint64_t *seed)
{
	struct error error = { 0 };
	struct thread thread = { .process = 0, .tid = 7, .name = name };
	uint32_t begin = tree_builder_begin_section(builder);

	add_stacks(profile, builder, true, seed);
	profile_add_section(profile, begin, tree_builder_count(builder),
	    profile_add_thread(profile, &thread, &error), &error);
}

static struct profile *
random_profile(uint64_t seed, uint32_t n_resources, bool has_addresses)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct tree_builder *builder = tree_builder_new(n_resources, &error);
	struct process process = { .pid = 12, .program = "/nowhere/program",
		.start_ns = 1000, .end_ns = 5000 };

	add_resources(profile, n_resources, &seed);
	profile_add_process(profile, &process, &error);
	if (has_addresses) {
		tree_builder_set_origin(builder, 777);
		add_address_frames(profile, &seed);
		add_thread(profile, builder, "main", &seed);
		add_thread(profile, builder, "worker", &seed);
	} else {
		add_name_frames(profile);
		add_stacks(profile, builder, false, &seed);
	}
	profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	assert_false(error.is_set);
	return profile;
}

/* ---- what a profile holds, as sorted lines ---- */

/* Which parts are compared: only those that the format can hold. */
struct aspects {
	bool names, addresses, threads, samples, times, origins;
};

static void
add_frame(struct text_buffer *line, const struct profile *profile,
          const struct frame *frame, const struct aspects *aspects)
{
	text_add_char(line, ';');
	if (aspects->addresses && frame->module != NO_MODULE)
		text_add_format(line, "%s+%llx ",
		    profile->modules[frame->module].path,
		    (unsigned long long)frame->address);
	for (uint32_t i = 0; aspects->names && i < frame->n_locations; i++) {
		const struct location *location =
		    &profile->locations[frame->first_location + i];

		text_add_format(line, "%s@%s:%u|",
		    names_text(profile->names, location->function),
		    location->file == NO_NAME ? "" :
		    names_text(profile->names, location->file),
		    location->line);
		/* Of frames without lines, nothing more is known. */
		if (aspects->origins && (frame->n_locations > 1 ||
		    location->file != NO_NAME || location->line != 0))
			text_add_format(line, "%s:%u.%u|",
			    location->linkage == NO_NAME ? "" :
			    names_text(profile->names, location->linkage),
			    location->start_line, location->discriminator);
	}
}

static void
add_stack(struct text_buffer *line, const struct profile *profile,
          uint32_t node, const struct aspects *aspects)
{
	const struct sample_tree *tree = profile->tree;
	uint32_t nodes[MOST_DEPTH], depth = 0;

	for (; node != NO_NODE; node = sample_tree_parent(tree, node))
		nodes[depth++] = node;
	while (depth-- > 0)
		add_frame(line, profile,
		          &profile->frames[tree->label[nodes[depth]]],
		          aspects);
}

static void
add_thread_name(struct text_buffer *line, const struct profile *profile,
                uint32_t node)
{
	for (uint32_t i = 0; i < profile->n_sections; i++)
		if (node >= profile->sections[i].begin &&
		    node < profile->sections[i].end)
			text_add_string(line, profile->threads[
			    profile->sections[i].thread].name);
}

static uint32_t
find_resource(const struct profile *profile, const char *name)
{
	uint32_t r = 0;

	while (r < profile->n_resources &&
	       strcmp(profile->resources[r].name, name) != 0)
		r++;
	assert_true(r < profile->n_resources);
	return r;
}

/* Lists the resources of `like`, which may be the profile itself. */
static void
add_counts(struct text_buffer *line, const struct profile *profile,
           uint32_t node, const struct profile *like,
           const struct aspects *aspects)
{
	for (uint32_t i = 0; i < like->n_resources; i++) {
		uint32_t r = find_resource(profile, like->resources[i].name);
		uint64_t hits = sample_tree_hits(profile->tree, r, node);

		text_add_format(line, " %llu", (unsigned long long)hits);
		if (aspects->samples)
			text_add_format(line, "/%llu", (unsigned long long)
			    sample_tree_samples(profile->tree, r, node));
	}
}

static void
add_node_times(struct text_buffer *line, const struct profile *profile,
               uint32_t node)
{
	const struct timeline *timeline = profile->tree->timeline;
	const uint32_t row = sample_tree_row(profile->tree, node);

	for (size_t i = timeline->first[row]; i < timeline->first[row + 1];
	     i++)
		for (uint32_t r = 0; r < timeline->n_resources; r++)
			text_add_format(line, " %u,%u:%llu/%llu",
			    timeline->slice[i], r,
			    (unsigned long long)timeline->hits[r][i],
			    (unsigned long long)timeline->samples[r][i]);
}

static int
compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *
describe(const struct profile *profile, const struct profile *like,
         const struct aspects *aspects)
{
	uint32_t n = profile->tree->n_nodes;
	char **lines = calloc(n + 1, sizeof *lines);
	struct text_buffer all = { 0 }, line = { 0 };

	for (uint32_t node = 0; node < n; node++) {
		text_clear(&line);
		if (aspects->threads)
			add_thread_name(&line, profile, node);
		add_stack(&line, profile, node, aspects);
		add_counts(&line, profile, node, like, aspects);
		if (aspects->times)
			add_node_times(&line, profile, node);
		lines[node] = strdup(text_string(&line));
	}
	qsort(lines, n, sizeof *lines, compare_lines);
	for (uint32_t node = 0; node < n; node++) {
		text_add_format(&all, "%s\n", lines[node]);
		free(lines[node]);
	}
	free(lines);
	text_free(&line);
	text_add_char(&all, '\0');
	return all.bytes;
}

static void
assert_same(const struct profile *a, const struct profile *b,
            const struct aspects *aspects)
{
	char *x = describe(a, a, aspects), *y = describe(b, a, aspects);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

/* Writes and reads a profile; the caller frees the result. */
static struct profile *
round_trip(const struct exporter *exporter, const struct format *format,
           struct profile *profile, uint32_t resource)
{
	struct text_buffer text = { 0 };
	struct error error = { 0 };
	struct profile *back;

	export(exporter, profile, resource, &text);
	back = read_memory(format, text.bytes, text.length, &error);
	if (back == NULL)
		fail_msg("%s", error.text);
	text_free(&text);
	return back;
}

/* ---- round trips ---- */

static void
cpprof_text_comes_back_as_it_was(void **state)
{
	const struct aspects aspects = { .names = true };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct profile *profile = random_profile(seed,
		    1 + (uint32_t)seed % 3, false);
		struct profile *back = round_trip(&exporter_cpprof_text,
		    &format_collapsed, profile, 0);

		assert_same(profile, back, &aspects);
		for (uint32_t r = 0; r < profile->n_resources; r++) {
			assert_string_equal(back->resources[r].gtick,
			                    profile->resources[r].gtick);
			assert_int_equal(back->resources[r].interval,
			                 profile->resources[r].interval);
		}
		assert_string_equal(back->processes[0].program,
		                    "/nowhere/program");
		profile_free(back);
		profile_free(profile);
	}
}

static void
collapsed_comes_back_as_one_resource(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct profile *profile = random_profile(seed, 2, false);
		struct profile *back = round_trip(&exporter_collapsed,
		    &format_collapsed, profile, 1);

		assert_int_equal(back->n_resources, 1);
		assert_int_equal(
		    sample_tree_total(back->tree, back->tree->hits[0]),
		    sample_tree_total(profile->tree, profile->tree->hits[1]));
		for (uint32_t n = 0; n < back->tree->n_nodes; n++) {
			char text[LINE_MAX_SIZE];

			stack_text(back, n, text, sizeof text);
			assert_int_equal(hits_of(profile, 1, text),
			                 sample_tree_hits(back->tree, 0, n));
		}
		profile_free(back);
		profile_free(profile);
	}
}

static void
pprof_comes_back_with_lines_modules_and_threads(void **state)
{
	struct aspects aspects = { .names = true, .addresses = true,
		.threads = true };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct profile *profile = random_profile(seed,
		    1 + (uint32_t)seed % 3, true);
		struct profile *back = round_trip(&exporter_pprof,
		    &format_pprof, profile, 0);

		aspects.samples = profile->n_resources == 1;
		assert_same(profile, back, &aspects);
		assert_int_equal(back->modules[0].build_id_size, 4);
		assert_memory_equal(back->modules[0].build_id, "\1\2\3\4", 4);
		assert_int_equal(back->n_resources, profile->n_resources);
		assert_string_equal(back->resources[0].gtick, "microsecond");
		assert_int_equal(back->resources[0].interval,
		                 profile->resources[0].interval);
		assert_int_equal(back->processes[0].start_ns, 1000);
		assert_int_equal(back->processes[0].end_ns, 5000);
		profile_free(back);
		profile_free(profile);
	}
}

/* Hits that are mere counts have raw samples beside them, too. */
static void
pprof_of_counts_comes_back_with_raw_samples(void **state)
{
	const struct aspects aspects = { .names = true, .samples = true };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct profile *profile = random_profile(seed, 1, true), *back;

		profile->resources[0].gtick = seed % 2 == 0 ? "" : "sample";
		profile->resources[0].interval = 1;
		assert_non_null(profile->tree->samples[0]);
		back = round_trip(&exporter_pprof, &format_pprof, profile, 0);
		assert_int_equal(back->n_resources, 1);
		assert_same(profile, back, &aspects);
		profile_free(back);
		profile_free(profile);
	}
}

/* So have those of several resources, each its own. */
static void
pprof_of_several_resources_comes_back_with_raw_samples(void **state)
{
	const struct aspects aspects = { .names = true, .samples = true };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const uint32_t n = 2 + (uint32_t)seed % 2;
		struct profile *profile = random_profile(seed, n, true), *back;

		/* Hits of some are samples. */
		for (uint32_t r = 0; r < n && seed % 2 == 0; r += 2) {
			large_array_free(profile->tree->samples[r]);
			profile->tree->samples[r] = NULL;
		}
		back = round_trip(&exporter_pprof, &format_pprof, profile,
		                  (uint32_t)seed % n);
		assert_int_equal(back->n_resources, n);
		assert_same(profile, back, &aspects);
		profile_free(back);
		profile_free(profile);
	}
}

/* A resource may have the name that raw samples would have. */
static void
pprof_confuses_no_resource_with_raw_samples(void **state)
{
	const struct aspects aspects = { .names = true };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct profile *profile = random_profile(seed, 3, true), *back;

		profile->resources[seed % 3].name = "x";
		profile->resources[(seed + 1) % 3].name = "x-samples";
		profile->resources[(seed + 1) % 3].gtick = "";
		back = round_trip(&exporter_pprof, &format_pprof, profile, 2);
		assert_int_equal(back->n_resources, 3);
		assert_same(profile, back, &aspects);
		profile_free(back);
		profile_free(profile);
	}
}

static void
pprof_of_names_comes_back(void **state)
{
	const struct aspects aspects = { .names = true, .samples = true };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct profile *profile = random_profile(seed,
		    1 + (uint32_t)seed % 3, false);
		struct profile *back = round_trip(&exporter_pprof,
		    &format_pprof, profile, profile->n_resources - 1);

		assert_same(profile, back, &aspects);
		assert_string_equal(back->resources[0].name,
		    profile->resources[profile->n_resources - 1].name);
		assert_null(back->tree->samples[0]);
		profile_free(back);
		profile_free(profile);
	}
}

static void
assert_same_slices(const struct timeline *a, const struct timeline *b)
{
	assert_int_equal(a->width_ns, b->width_ns);
	assert_int_equal(a->origin_ns, b->origin_ns);
	assert_int_equal(a->n_slices, b->n_slices);
}

static void
cpprofdata_comes_back_with_addresses_samples_threads_and_times(void **state)
{
	const struct aspects aspects = { .addresses = true, .threads = true,
		.samples = true, .names = true, .times = true,
		.origins = true };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct profile *profile = random_profile(seed,
		    1 + (uint32_t)seed % 3, true);
		struct profile *back = round_trip(&exporter_cpprofdata,
		    &format_cpprofdata, profile, 0);

		assert_same(profile, back, &aspects);
		assert_same_slices(profile->tree->timeline,
		                   back->tree->timeline);
		assert_false(back->frames[0].has_debug_lines);
		assert_int_equal(back->modules[0].build_id_size, 4);
		assert_int_equal(back->resources[0].interval,
		                 profile->resources[0].interval);
		assert_int_equal(back->processes[0].pid, 12);
		assert_int_equal(back->processes[0].end_ns, 5000);
		profile_free(back);
		profile_free(profile);
	}
}

static void
cpprofdata_comes_back_with_what_is_known_of_the_run(void **state)
{
	struct error error = { 0 };
	struct profile *profile = random_profile(3, 2, true), *back;

	(void)state;
	profile->processes[0].cpu_ns = 4000;
	profile->processes[0].sampling_ns = 20;
	assert_int_equal(profile_add_source(profile, &profile->resources[1],
	    "a clock, random intervals; perf", &error), 0);
	back = round_trip(&exporter_cpprofdata, &format_cpprofdata, profile, 0);
	assert_int_equal(back->processes[0].cpu_ns, 4000);
	assert_int_equal(back->processes[0].sampling_ns, 20);
	assert_null(back->resources[0].source);
	assert_string_equal(back->resources[1].source,
	                    "a clock, random intervals; perf");
	profile_free(back);
	profile_free(profile);
}

/* What is read back lasts as long, and slices may be very wide. */
static void
cpprofdata_comes_back_with_slices_at_the_end(void **state)
{
	const struct aspects aspects = { .names = true, .addresses = true };

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct profile *profile = random_profile(seed, 2, true), *back;
		struct timeline *timeline = profile->tree->timeline;

		for (size_t i = 0; i < timeline->first[timeline->n_rows]; i++)
			for (uint32_t r = 0; r < 2 && (timeline->slice[i] >= 9 ||
			     seed % 3 == 0); r++)
				timeline->hits[r][i] =
				    timeline->samples[r][i] = 0;
		if (seed % 2 == 0)
			timeline->width_ns = UINT64_C(5) << 55;
		back = round_trip(&exporter_cpprofdata, &format_cpprofdata,
		                  profile, 0);
		assert_same(profile, back, &aspects);
		if (seed % 3 != 0)
			assert_same_slices(timeline, back->tree->timeline);
		else
			assert_null(back->tree->timeline);
		profile_free(back);
		profile_free(profile);
	}
}

/* Each node has returned once more than it has hits. */
static void
count_returns(struct sample_tree *tree)
{
	struct error error = { 0 };

	assert_int_equal(large_array_reserve(&tree->returns, tree->n_nodes,
	    sizeof *tree->returns, &error), 0);
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		tree->returns[i] = 1 + sample_tree_hits(tree, 0, i);
}

static void
cpprofdata_comes_back_with_code_made_at_run_time(void **state)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error), *back;
	struct location named = { name_of(profile, "made"),
		name_of(profile, "made.js"), 12, NO_NAME, 0, 0 };
	struct process process = { .pid = 12, .start_ns = 5 };
	struct tree_builder *builder = tree_builder_new(1, &error);
	uint32_t frame = profile_add_frame(profile, NO_MODULE, 0x7000, &named,
	                                   1, &error);
	const struct location *location;

	(void)state;
	profile->frames[frame].function_offset = 4;
	profile_add_resource(profile, "cpu", "", 1, &error);
	profile_add_process(profile, &process, &error);
	tree_builder_add(builder, tree_builder_child(builder, NO_NODE, frame,
	                                             &error), 0, 1, 1, &error);
	profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	back = round_trip(&exporter_cpprofdata, &format_cpprofdata, profile, 0);
	assert_int_equal(back->n_frames, 1);
	location = &back->locations[back->frames[0].first_location];
	assert_string_equal(names_text(back->names, location->function),
	                    "made");
	assert_string_equal(names_text(back->names, location->file),
	                    "made.js");
	assert_int_equal(location->line, 12);
	assert_int_equal(back->frames[0].function_offset, 4);
	profile_free(back);
	profile_free(profile);
}

/* Adds a sample of one frame to the tree. */
static uint32_t
add_sampled_frame(struct profile *profile, struct tree_builder *builder,
                  uint32_t module, uint64_t address,
                  const struct location *locations, uint32_t n)
{
	struct error error = { 0 };
	uint32_t frame = profile_add_frame(profile, module, address, locations,
	                                   n, &error);

	tree_builder_add(builder, tree_builder_child(builder, NO_NODE, frame,
	                 &error), 0, frame + 1, 1, &error);
	assert_false(error.is_set);
	return frame;
}

/* The text of the k-th location's function. */
static const char *
function_of(const struct profile *profile, uint32_t frame, uint32_t k)
{
	assert_true(k < profile->frames[frame].n_locations);
	return names_text(profile->names, profile->locations[
	    profile->frames[frame].first_location + k].function);
}

static void
cpprofdata_keeps_frames_of_one_address_apart(void **state)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error), *back;
	struct tree_builder *builder = tree_builder_new(1, &error);
	struct location outer[2] = {
		{ name_of(profile, "outer"), name_of(profile, "a.c"), 3,
		  name_of(profile, "_Z5outerv"), 2, 4 },
		{ name_of(profile, "inner"), name_of(profile, "b.c"), 4,
		  name_of(profile, "_Z5innerv"), 1, 0 },
	};
	struct location other = { name_of(profile, "other"), NO_NAME, 0,
		NO_NAME, 0, 0 };
	struct location bare = { name_of(profile, "bare"), NO_NAME, 0,
		NO_NAME, 0, 0 };
	uint64_t n_hits = 0, n_changed;
	struct text_buffer text = { 0 };

	(void)state;
	profile_add_resource(profile, "cpu", "", 1, &error);
	profile_add_module(profile, "jit", NULL, 0, &error);
	add_sampled_frame(profile, builder, NO_MODULE, 0x7000, outer, 2);
	add_sampled_frame(profile, builder, 0, 0, outer, 2);
	add_sampled_frame(profile, builder, 0, 0, &other, 1);
	add_sampled_frame(profile, builder, NO_MODULE, 0, &bare, 1);
	profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	back = round_trip(&exporter_cpprofdata, &format_cpprofdata, profile, 0);
	assert_int_equal(back->n_frames, 4);
	for (uint32_t i = 0; i < back->tree->n_nodes; i++) {
		uint32_t frame = back->tree->label[i];
		uint64_t hits = sample_tree_hits(back->tree, 0, i);

		assert_string_equal(function_of(back, frame, 0),
		                    hits == 4 ? "bare" : hits == 3 ? "other" :
		                    "outer");
		if (hits <= 2)
			assert_string_equal(function_of(back, frame, 1),
			                    "inner");
		assert_int_equal(back->frames[frame].address,
		                 hits == 1 ? 0x7000 : 0);
		assert_int_equal(back->frames[frame].module,
		                 hits == 2 || hits == 3 ? 0 : NO_MODULE);
		assert_false(back->frames[frame].has_debug_lines);
		n_hits += hits;
	}
	assert_int_equal(n_hits, 10);
	/* An address that cannot be kept is reported. */
	profile->frames[1].address = profile->frames[2].address = 0x10;
	assert_int_equal(try_export(&exporter_cpprofdata, profile, 0, take,
	                            &text, &n_changed, &error), 0);
	assert_int_equal(n_changed, 1);
	text_free(&text);
	profile_free(back);
	profile_free(profile);
}

static void
cpprofdata_comes_back_with_returns(void **state)
{
	struct profile *profile = random_profile(7, 1, true), *back;
	struct export_source source = { .profile = profile };
	struct text_buffer text = { 0 };

	(void)state;
	count_returns(profile->tree);
	back = round_trip(&exporter_cpprofdata, &format_cpprofdata, profile, 0);
	assert_int_equal(back->tree->n_nodes, profile->tree->n_nodes);
	for (uint32_t i = 0; i < back->tree->n_nodes; i++)
		assert_int_equal(back->tree->returns[i],
		                 1 + sample_tree_hits(back->tree, 0, i));
	exporter_add_losses(&text, &exporter_speedscope, &source);
	assert_non_null(strstr(text_string(&text), ", returns"));
	text_clear(&text);
	exporter_add_losses(&text, &exporter_cpprofdata, &source);
	assert_null(strstr(text_string(&text), "returns"));
	text_free(&text);
	profile_free(back);
	profile_free(profile);
}

/* ---- each format ---- */

static struct profile *
parse(const char *text)
{
	struct error error = { 0 };
	struct profile *profile = read_memory(&format_collapsed, text,
	                                      strlen(text), &error);

	if (profile == NULL)
		fail_msg("%s", error.text);
	return profile;
}

static void
assert_exported(const struct exporter *exporter, const char *stacks,
                const char *expected)
{
	struct profile *profile = parse(stacks);
	struct text_buffer text = { 0 };

	export(exporter, profile, 0, &text);
	assert_string_equal(text_string(&text), expected);
	text_free(&text);
	profile_free(profile);
}

static void
collapsed_is_bare_stacks(void **state)
{
	(void)state;
	assert_exported(&exporter_collapsed,
	    "# resource: a; gtick=us; interval=3\n# resource: b\n"
	    "main;f 1 0\nmain;g 0 2\nmain 3 3\n", "main 3\nmain;f 1\n");
}

static void
what_ends_a_name_or_a_line_is_replaced_and_counted(void **state)
{
	struct error error = { 0 };
	struct profile *profile = parse("x 1\n");
	struct tree_builder *builder = tree_builder_new(1, &error);
	static const struct {
		const char *text;
		size_t length;
	} names[] = { { "# a", 3 }, { "[i32; 4]", 8 }, { "b\nc\0d", 5 },
		{ "", 0 }, { "#a", 2 } };
	struct text_buffer text = { 0 };
	uint32_t node = NO_NODE;
	uint64_t n_changed;

	(void)state;
	for (size_t i = 0; i < 5; i++)
		node = tree_builder_child(builder, node,
		    profile_add_named_frame(profile, names_add(profile->names,
		        names[i].text, names[i].length, &error), &error),
		    &error);
	tree_builder_add(builder, node, 0, 5, 5, &error);
	sample_tree_free(profile->tree);
	profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	assert_int_equal(try_export(&exporter_collapsed, profile, 0, take,
	                            &text, &n_changed, &error), 0);
	assert_string_equal(text_string(&text),
	                    "_ a;[i32: 4];b?c?d;[empty];#a 5\n");
	assert_int_equal(n_changed, 4);
	text_clear(&text);
	assert_int_equal(try_export(&exporter_callgrind, profile, 0, take,
	                            &text, &n_changed, &error), 0);
	assert_non_null(strstr(text_string(&text), ") b?c?d\n"));
	assert_non_null(strstr(text_string(&text), ") [empty]\n"));
	assert_int_equal(n_changed, 2);
	profile_free(profile);
	/* A unit that would end its field counts as a changed name. */
	profile = profile_new(&error);
	profile_add_resource(profile, "cpu", "a;b", 1, &error);
	builder = tree_builder_new(1, &error);
	profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	text_clear(&text);
	assert_int_equal(try_export(&exporter_cpprof_text, profile, 0, take,
	                            &text, &n_changed, &error), 0);
	assert_non_null(strstr(text_string(&text), "gtick=a?b; interval=1"));
	assert_int_equal(n_changed, 1);
	profile_free(profile);
	/* But a name that would not be read as a comment is kept. */
	profile = parse("#;b 1\n#<Class:0x1>;#b 1\n");
	text_clear(&text);
	assert_int_equal(try_export(&exporter_collapsed, profile, 0, take,
	                            &text, &n_changed, &error), 0);
	assert_string_equal(text_string(&text),
	                    "_;b 1\n#<Class:0x1>;#b 1\n");
	assert_int_equal(n_changed, 1);
	text_free(&text);
	profile_free(profile);
}

static void
speedscope_has_frames_and_a_profile_for_each_resource(void **state)
{
	(void)state;
	assert_exported(&exporter_speedscope,
	    "# resource: cpu; gtick=microsecond; interval=10\n"
	    "# resource: faults; gtick=fault; interval=1\n"
	    "main;f\"\\ 1 0\nmain;f\"\\;main 2 7\n",
	    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json"
	    "\",\"exporter\":\"cpprof\",\"activeProfileIndex\":0,"
	    "\"shared\":{\"frames\":[{\"name\":\"main\"},"
	    "{\"name\":\"f\\\"\\\\\"}]},\"profiles\":["
	    "{\"type\":\"sampled\",\"name\":\"cpu\",\"unit\":\"microseconds\","
	    "\"startValue\":0,\"endValue\":30,"
	    "\"samples\":[[0,1],[0,1,0]],\"weights\":[10,20]},"
	    "{\"type\":\"sampled\",\"name\":\"faults\",\"unit\":\"none\","
	    "\"startValue\":0,\"endValue\":7,"
	    "\"samples\":[[0,1,0]],\"weights\":[7]}]}\n");
}

static void
speedscope_comes_back_with_stacks_without_hits(void **state)
{
	struct profile *profile = parse("# resource: x; gtick=byte\n"
	    "# resource: y; gtick=byte\n"
	    "a;b;c 0 0\na;b 0 0\na;d 0 5\na;e 0 0\na 3 0\n");
	struct profile *back = round_trip(&exporter_speedscope,
	    &format_speedscope, profile, 0);
	struct text_buffer text = { 0 };

	(void)state;
	export(&exporter_cpprof_text, back, 0, &text);
	assert_non_null(strstr(text_string(&text), "\na 3 0\n"));
	assert_non_null(strstr(text_string(&text), "\na;d 0 5\n"));
	assert_int_equal(back->tree->n_nodes, 5);
	assert_int_equal(sample_tree_total(back->tree, back->tree->hits[0]),
	                 3);
	export(&exporter_speedscope, profile, 0, &text);
	assert_non_null(strstr(text_string(&text), "\"samples\":[[0],[0,1,2],"
	    "[0,4]],\"weights\":[3,0,0]"));
	assert_non_null(strstr(text_string(&text),
	    "\"samples\":[[0,3]],\"weights\":[5]"));
	text_free(&text);
	profile_free(back);
	profile_free(profile);
}

/* f used 11 with everything below it, by calls to g and by its own hits. */
static void
callgrind_tells_recursion_by_levels(void **state)
{
	(void)state;
	assert_exported(&exporter_callgrind, "f;f;g;f 8\nf 1\nf;g 2\n",
	    "# callgrind format\nversion: 1\n"
	    "creator: cpprof (names as callgrind's)\n"
	    "desc: Calls: not counted, 1 stands for any number\n"
	    "positions: line\nevent: samples : samples, 1 sample each\n"
	    "events: samples\nsummary: 11\n"
	    "\nfl=(1) ???\nfn=(1) f\n0 1\n"
	    "cfi=(1)\ncfn=(2) f'2\ncalls=1 0\n0 8\n"
	    "cfi=(1)\ncfn=(3) g\ncalls=1 0\n0 2\n"
	    "\nfl=(1)\nfn=(2)\n0 8\n"
	    "cfi=(1)\ncfn=(3)\ncalls=1 0\n0 8\n"
	    "\nfl=(1)\nfn=(3)\n0 2\n"
	    "cfi=(1)\ncfn=(2)\ncalls=1 0\n0 8\n"
	    "\ntotals: 11\n");
}

static void
cpprofdata_cuts_names_of_resources(void **state)
{
	struct profile *profile = parse(
	    "# resource: a name of twenty-five by1; gtick=g\n"
	    "# resource: a name of twenty-five by2; gtick=g\n"
	    "# resource: a name of twenty-five by; gtick=g\n"
	    "# resource: a name of twenty-five b\303\266s; gtick=g\n"
	    "# resource: x; gtick=nineteen and six bytes\342\202\254\n"
	    "[phase] 1 2 3 4 5\n");
	static const char *const names[] = { "a name of twenty-five by",
		"a name of twenty-five ~2", "a name of twenty-five ~3",
		"a name of twenty-five b", "x" };
	struct text_buffer text = { 0 };
	struct error error = { 0 };
	struct profile *back;
	uint64_t n_changed;

	(void)state;
	assert_int_equal(try_export(&exporter_cpprofdata, profile, 0, take,
	                            &text, &n_changed, &error), 0);
	assert_int_equal(n_changed, 5);
	back = read_memory(&format_cpprofdata, text.bytes, text.length,
	                   &error);
	assert_non_null(back);
	assert_int_equal(back->n_resources, 5);
	for (uint32_t r = 0; r < 5; r++) {
		assert_string_equal(back->resources[r].name, names[r]);
		assert_int_equal(sample_tree_total(back->tree,
		                                   back->tree->hits[r]),
		                 r + 1);
	}
	assert_string_equal(back->resources[4].gtick,
	                    "nineteen and six bytes");
	text_free(&text);
	profile_free(back);
	profile_free(profile);
}

/* ---- what cannot be ---- */

static void
assert_refused(const struct exporter *exporter, struct profile *profile,
               const char *why)
{
	struct text_buffer text = { 0 };
	struct error error = { 0 };
	uint64_t n_changed;

	assert_int_equal(try_export(exporter, profile, 0, take, &text,
	                            &n_changed, &error), -1);
	if (strstr(error.text, why) == NULL)
		fail_msg("%s", error.text);
	text_free(&text);
	profile_free(profile);
}

static void
what_a_format_has_no_number_for_is_refused(void **state)
{
	(void)state;
	assert_refused(&exporter_pprof,
	    parse("# resource: x; gtick=us; interval=2\n"
	          "a 4611686018427387904\n"),
	    "x: more than the format's 9223372036854775807 gticks");
	assert_refused(&exporter_speedscope,
	    parse("# resource: x; gtick=centisecond; interval=2\n"
	          "a 1844674407370955162\n"), "x: more than the format's");
	assert_refused(&exporter_cpprofdata, parse("main;f 1\n"),
	               "main is only a name");
	assert_refused(&exporter_cpprofdata, parse("[phase];[phase] 1\n"),
	               "[phase] is only a name");
}

static void
a_full_disk_is_the_writers_to_tell(void **state)
{
	(void)state;
	for (size_t i = 0; exporters[i] != NULL; i++) {
		struct profile *profile = random_profile(5, 1, true);
		struct error error = { 0 };
		uint64_t n_changed;

		if (exporters[i] == &exporter_bolt) {	/* reads a program */
			profile_free(profile);
			continue;
		}
		try_export(exporters[i], profile, 0, fill_up, NULL, &n_changed,
		           &error);
		assert_false(error.is_set);
		profile_free(profile);
	}
}

static void
losses_are_what_the_profile_has_and_the_format_has_not(void **state)
{
	struct profile *profile = random_profile(2, 2, true);
	struct profile *bare = parse("a 1\n");
	struct export_source source = { .profile = profile };
	struct text_buffer text = { 0 };

	(void)state;
	exporter_add_losses(&text, &exporter_collapsed, &source);
	assert_string_equal(text_string(&text), "other resources, the "
	    "resource's name, gticks and intervals, raw samples, addresses, "
	    "files and lines, threads, times");
	text_clear(&text);
	exporter_add_losses(&text, &exporter_pprof, &source);
	assert_string_equal(text_string(&text), "times");
	text_clear(&text);
	source.profile = bare;
	for (size_t i = 0; exporters[i] != NULL; i++)
		exporter_add_losses(&text, exporters[i], &source);
	assert_int_equal(text.length, 0);
	text_free(&text);
	profile_free(bare);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpprof_text_comes_back_as_it_was),
		cmocka_unit_test(collapsed_comes_back_as_one_resource),
		cmocka_unit_test(
		    pprof_comes_back_with_lines_modules_and_threads),
		cmocka_unit_test(pprof_of_counts_comes_back_with_raw_samples),
		cmocka_unit_test(
		    pprof_of_several_resources_comes_back_with_raw_samples),
		cmocka_unit_test(pprof_confuses_no_resource_with_raw_samples),
		cmocka_unit_test(pprof_of_names_comes_back),
		cmocka_unit_test(
		    cpprofdata_comes_back_with_addresses_samples_threads_and_times),
		cmocka_unit_test(
		    cpprofdata_comes_back_with_what_is_known_of_the_run),
		cmocka_unit_test(cpprofdata_comes_back_with_slices_at_the_end),
		cmocka_unit_test(cpprofdata_cuts_names_of_resources),
		cmocka_unit_test(
		    cpprofdata_comes_back_with_code_made_at_run_time),
		cmocka_unit_test(cpprofdata_keeps_frames_of_one_address_apart),
		cmocka_unit_test(cpprofdata_comes_back_with_returns),
		cmocka_unit_test(collapsed_is_bare_stacks),
		cmocka_unit_test(
		    what_ends_a_name_or_a_line_is_replaced_and_counted),
		cmocka_unit_test(
		    speedscope_has_frames_and_a_profile_for_each_resource),
		cmocka_unit_test(
		    speedscope_comes_back_with_stacks_without_hits),
		cmocka_unit_test(
		    callgrind_tells_recursion_by_levels),
		cmocka_unit_test(what_a_format_has_no_number_for_is_refused),
		cmocka_unit_test(a_full_disk_is_the_writers_to_tell),
		cmocka_unit_test(
		    losses_are_what_the_profile_has_and_the_format_has_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
