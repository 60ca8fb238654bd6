/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.c -- what one or several runs used, and where. */
#include "src/profile/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/profile/call_graph.h"
#include "src/profile/large_array.h"

struct profile *
profile_new(struct error *error)
{
	struct profile *profile = memory_array(1, sizeof *profile, error);

	if (profile == NULL)
		return NULL;
	profile->names = names_new(error);
	if (profile->names == NULL) {
		free(profile);
		return NULL;
	}
	return profile;
}

void
profile_free(struct profile *profile)
{
	if (profile == NULL)
		return;
	if (profile->fleet != NULL)
		profile->free_fleet(profile->fleet);
	sample_tree_free(profile->tree);
	call_graph_free(profile->graph);
	names_free(profile->names);
	free(profile->resources);
	free(profile->modules);
	free(profile->frames);
	free(profile->locations);
	free(profile->processes);
	free(profile->threads);
	free(profile->sections);
	free(profile->labels);
	free(profile->label_sets);
	names_free(profile->label_set_keys);
	observed_calls_free(profile);
	free(profile->tallies);
	free(profile->warnings);
	arena_free(&profile->arena);
	free(profile);
}

/*
 * Makes room for `more` items after the *n that an array of the profile has.
 */
static int
profile_make_room(void *items, size_t *capacity, uint32_t n, uint32_t more,
                  size_t size, struct error *error)
{
	if (more >= UINT32_MAX - n)
		return error_set(error, "more than 4,294,967,294 entries");
	return memory_grow(items, capacity, (size_t)n + more, size, error);
}

/* Copies *text into the arena; NULL stays NULL. */
static int
profile_keep_text(struct profile *profile, const char **text,
                  struct error *error)
{
	if (*text == NULL)
		return 0;
	*text = arena_text(&profile->arena, *text, strlen(*text), error);
	return *text != NULL ? 0 : -1;
}

uint32_t
profile_add_resource(struct profile *profile, const char *name,
                     const char *gtick, uint64_t interval,
                     struct error *error)
{
	struct resource resource = {
		.name = name, .gtick = gtick, .interval = interval,
		.kind = count_kind_find(name),
	};

	if (profile->n_resources == RESOURCES_MAX) {
		error_set(error, "more than %d resources", RESOURCES_MAX);
		return UINT32_MAX;
	}
	if (profile_make_room(&profile->resources, &profile->resources_capacity,
	                      profile->n_resources, 1, sizeof resource,
	                      error) != 0 ||
	    profile_keep_text(profile, &resource.name, error) != 0 ||
	    profile_keep_text(profile, &resource.gtick, error) != 0)
		return UINT32_MAX;
	profile->resources[profile->n_resources] = resource;
	return profile->n_resources++;
}

uint32_t
profile_find_resource(const struct profile *profile, const char *name)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (strcmp(profile->resources[r].name, name) == 0)
			return r;
	return NO_RESOURCE;
}

uint32_t
profile_find_part(const struct profile *profile, const char *name,
                  uint32_t part)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (profile->resources[r].part == part &&
		    strcmp(profile->resources[r].name, name) == 0)
			return r;
	return NO_RESOURCE;
}

uint64_t
profile_hits(const struct profile *profile, uint32_t resource,
             uint64_t *samples)
{
	const struct sample_tree *tree = profile->tree;
	uint64_t hits;

	if (tree == NULL)
		return *samples = call_graph_total(profile->graph, resource);
	hits = sample_tree_total(tree, tree->hits[resource]);
	*samples = tree->samples == NULL || tree->samples[resource] == NULL ?
	    hits : sample_tree_total(tree, tree->samples[resource]);
	return hits;
}

double
profile_known_total(const struct profile *profile, uint32_t resource)
{
	const struct resource *of = &profile->resources[resource];
	long double gtick_ns;
	double sum_ns = 0;

	if (of->kind == NULL || !of->kind->is_cpu_time ||
	    unit_find(of->gtick, strlen(of->gtick), &gtick_ns, NULL) !=
	    UNIT_IS_TIME)
		return 0;
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		const struct process *process = &profile->processes[i];

		if (process->cpu_ns == 0 || process->cpu_is_least ||
		    process->is_running)
			return 0;
		sum_ns += (double)process->cpu_ns;
	}
	return sum_ns / (double)gtick_ns;
}

/* The length of the first of several sources. */
static size_t
first_source_length(const char *sources)
{
	const char *end = strstr(sources, "; ");

	return end != NULL ? (size_t)(end - sources) : strlen(sources);
}

/*
 * The sources after the first, whose length is given; NULL if there are none.
 */
static const char *
next_sources(const char *sources, size_t length)
{
	return sources[length] != '\0' ? sources + length + 2 : NULL;
}

static bool
has_source(const char *sources, const char *source, size_t length)
{
	while (sources != NULL) {
		size_t n = first_source_length(sources);

		if (n == length && memcmp(sources, source, n) == 0)
			return true;
		sources = next_sources(sources, n);
	}
	return false;
}

/*
 * Each new source copies the text of all earlier ones, so its length is
 * limited.
 */
enum { SOURCES_LENGTH_MAX = 1000 };

int
profile_add_source(struct profile *profile, struct resource *resource,
                   const char *source, struct error *error)
{
	while (source != NULL) {
		const char *had = resource->source;
		size_t length = first_source_length(source);

		if (had == NULL)
			resource->source = arena_text(&profile->arena, source,
			                              length, error);
		else if (strlen(had) < SOURCES_LENGTH_MAX &&
		         !has_source(had, source, length))
			resource->source = arena_format(&profile->arena, error,
			    "%s; %.*s", had, (int)length, source);
		if (resource->source == NULL)
			return -1;
		source = next_sources(source, length);
	}
	return 0;
}

uint32_t
profile_add_module(struct profile *profile, const char *path,
                   const void *build_id, uint32_t build_id_size,
                   struct error *error)
{
	struct module module = { .path = path };

	if (build_id_size > sizeof module.build_id) {
		error_set(error, "build-id of %u bytes, expected at most %zu",
		          build_id_size, sizeof module.build_id);
		return UINT32_MAX;
	}
	if (profile_make_room(&profile->modules, &profile->modules_capacity,
	                      profile->n_modules, 1, sizeof module,
	                      error) != 0 ||
	    profile_keep_text(profile, &module.path, error) != 0)
		return UINT32_MAX;
	if (build_id_size > 0)
		memcpy(module.build_id, build_id, build_id_size);
	module.build_id_size = build_id_size;
	profile->modules[profile->n_modules] = module;
	return profile->n_modules++;
}

/* Longer than a build-id, so that it cannot equal one. */
size_t
module_build(const struct module *module,
             unsigned char build[MODULE_BUILD_MAX])
{
	if (module->build_id_size > 0 || module->file_size == 0) {
		memcpy(build, module->build_id, module->build_id_size);
		return module->build_id_size;
	}
	memset(build, 0, MODULE_BUILD_MAX);
	memcpy(build, &module->file_size, sizeof module->file_size);
	memcpy(build + sizeof module->file_size, &module->file_mtime_ns,
	       sizeof module->file_mtime_ns);
	return MODULE_BUILD_MAX;
}

/* Takes a column out of rows of `width` counts each. */
static void
drop_column(uint64_t *rows, size_t n, size_t width, size_t column)
{
	size_t to = 0;

	for (size_t i = 0; i < n * width; i++)
		if (i % width != column)
			rows[to++] = rows[i];
}

static void
drop_graph_resource(struct call_graph *graph, uint32_t r)
{
	uint32_t width = graph->n_resources--;

	drop_column(graph->self, graph->n_nodes, width, r);
	drop_column(graph->hits, graph->n_arcs, width, r);
	if (graph->places != NULL) {
		drop_column(graph->places->hits, graph->places->n, width, r);
		graph->places->n_resources--;
	}
}

void
profile_drop_resource(struct profile *profile, uint32_t resource)
{
	struct sample_tree *tree = profile->tree;
	uint32_t n = profile->n_resources--;

	memmove(&profile->resources[resource],
	        &profile->resources[resource + 1],
	        (n - resource - 1) * sizeof *profile->resources);
	if (profile->graph != NULL)
		drop_graph_resource(profile->graph, resource);
	if (tree == NULL)
		return;
	large_array_drop(tree->hits, tree->n_resources, resource);
	large_array_drop(tree->samples, tree->n_resources, resource);
	tree->n_resources--;
	if (tree->timeline != NULL)
		timeline_drop_resource(tree->timeline, resource);
}

/* ---- levels ---- */

int
profile_link_levels(struct profile *profile, struct error *error)
{
	struct timeline *timeline = profile->tree == NULL ? NULL :
	                            profile->tree->timeline;

	for (uint32_t r = 0; timeline != NULL && r < profile->n_resources;
	     r++) {
		const struct resource *resource = &profile->resources[r];
		const struct count_kind *kind = resource->kind;
		uint32_t gain, loss;

		if (!count_kind_is_level(kind) ||
		    timeline_find_level(timeline, r) != NULL)
			continue;
		gain = profile_find_part(profile, kind->gain, resource->part);
		loss = profile_find_part(profile, kind->loss, resource->part);
		if (gain != NO_RESOURCE && loss != NO_RESOURCE &&
		    timeline_add_level(timeline, r, gain, loss, error) != 0)
			return -1;
	}
	return 0;
}

bool
profile_level_at(const struct profile *profile, uint32_t resource,
                 uint64_t slices, uint64_t *hits, uint64_t *samples)
{
	const struct timeline *timeline = profile->tree == NULL ? NULL :
	                                  profile->tree->timeline;
	const struct timeline_level *level = timeline == NULL ? NULL :
	    timeline_find_level(timeline, resource);
	uint32_t last;

	if (level == NULL)
		return false;
	last = timeline_last(timeline, slices);
	if (last + 1 == timeline->n_slices)
		return false;
	*hits = *samples = 0;
	for (uint32_t row = 0; row < timeline->n_rows; row++) {
		uint64_t in;

		*hits += timeline_level_at(timeline, level, row, last, &in);
		*samples += in;
	}
	return true;
}

bool
profile_is_growing(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->n_processes; i++)
		if (profile->processes[i].is_running)
			return true;
	return false;
}

const char *
profile_title(const struct profile *profile)
{
	return profile->name != NULL ? profile->name : "a profile";
}

const char *
last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

const char *
profile_module_name(const struct profile *profile, uint32_t module)
{
	return last_component(profile->modules[module].path);
}

uint32_t
profile_add_process(struct profile *profile, const struct process *process,
                    struct error *error)
{
	struct process kept = *process;

	if (profile_make_room(&profile->processes, &profile->processes_capacity,
	                      profile->n_processes, 1, sizeof kept,
	                      error) != 0 ||
	    profile_keep_text(profile, &kept.program, error) != 0 ||
	    profile_keep_text(profile, &kept.title, error) != 0 ||
	    profile_keep_text(profile, &kept.command, error) != 0 ||
	    profile_keep_text(profile, &kept.host, error) != 0)
		return UINT32_MAX;
	profile->processes[profile->n_processes] = kept;
	return profile->n_processes++;
}

uint32_t
profile_add_thread(struct profile *profile, const struct thread *thread,
                   struct error *error)
{
	struct thread kept = *thread;

	if (profile_make_room(&profile->threads, &profile->threads_capacity,
	                      profile->n_threads, 1, sizeof kept, error) != 0 ||
	    profile_keep_text(profile, &kept.name, error) != 0)
		return UINT32_MAX;
	profile->threads[profile->n_threads] = kept;
	return profile->n_threads++;
}

uint32_t
profile_add_section(struct profile *profile, uint32_t begin, uint32_t end,
                    uint32_t thread, struct error *error)
{
	if (profile_make_room(&profile->sections, &profile->sections_capacity,
	                      profile->n_sections, 1, sizeof *profile->sections,
	                      error) != 0)
		return UINT32_MAX;
	profile->sections[profile->n_sections] =
	    (struct section){ begin, end, thread, NO_LABELS };
	return profile->n_sections++;
}

/* The order of two labels of a set, by the bytes of key, value and unit. */
static int
compare_labels(const void *left, const void *right, void *context)
{
	const struct label *a = left, *b = right;
	const struct names *names = context;
	int order = names_compare(names, a->key, b->key);

	if (order == 0)
		order = names_compare(names, a->value, b->value);
	if (order != 0 || a->unit == b->unit)
		return order;
	if (a->unit == NO_NAME || b->unit == NO_NAME)
		return a->unit == NO_NAME ? -1 : 1;
	return names_compare(names, a->unit, b->unit);
}

/* Sorts the labels and leaves out those that are there twice; how many stay. */
static uint32_t
sort_labels(const struct profile *profile, struct label *labels, uint32_t n)
{
	uint32_t kept = 0;

	if (n > 1)
		qsort_r(labels, n, sizeof *labels, compare_labels,
		        profile->names);
	for (uint32_t i = 0; i < n; i++)
		if (kept == 0 || memcmp(&labels[kept - 1], &labels[i],
		                        sizeof *labels) != 0)
			labels[kept++] = labels[i];
	return kept;
}

uint32_t
profile_add_label_set(struct profile *profile, struct label *labels,
                      uint32_t n, struct error *error)
{
	uint32_t number;

	if (n == 0)
		return NO_LABELS;
	n = sort_labels(profile, labels, n);
	if (profile->label_set_keys == NULL)
		profile->label_set_keys = names_new(error);
	if (profile->label_set_keys == NULL)
		return NO_LABELS;
	number = names_add(profile->label_set_keys, (const char *)labels,
	                   n * sizeof *labels, error);
	if (number == NO_NAME || number < profile->n_label_sets)
		return number;
	if (profile_make_room(&profile->labels, &profile->labels_capacity,
	                      profile->n_labels, n, sizeof *labels,
	                      error) != 0 ||
	    profile_make_room(&profile->label_sets,
	                      &profile->label_sets_capacity,
	                      profile->n_label_sets, 1,
	                      sizeof *profile->label_sets, error) != 0)
		return NO_LABELS;
	memcpy(&profile->labels[profile->n_labels], labels,
	       n * sizeof *labels);
	profile->label_sets[profile->n_label_sets++] =
	    (struct label_set){ profile->n_labels, n };
	profile->n_labels += n;
	return number;
}

static int
profile_add_locations(struct profile *profile, const struct location *locations,
                      uint32_t n, struct error *error)
{
	if (profile_make_room(&profile->locations, &profile->locations_capacity,
	                      profile->n_locations, n, sizeof *locations,
	                      error) != 0)
		return -1;
	memcpy(&profile->locations[profile->n_locations], locations,
	       n * sizeof *locations);
	profile->n_locations += n;
	return 0;
}

uint32_t
profile_add_frame(struct profile *profile, uint32_t module, uint64_t address,
                  const struct location *locations, uint32_t n,
                  struct error *error)
{
	if (profile_make_room(&profile->frames, &profile->frames_capacity,
	                      profile->n_frames, 1, sizeof *profile->frames,
	                      error) != 0 ||
	    profile_add_locations(profile, locations, n, error) != 0)
		return UINT32_MAX;
	profile->frames[profile->n_frames] = (struct frame){
		.address = address,
		.module = module,
		.first_location = profile->n_locations - n,
		.n_locations = n,
		.function_offset = NO_OFFSET,
	};
	return profile->n_frames++;
}

uint32_t
profile_next_frame(const struct profile *profile, uint32_t function,
                   uint32_t from)
{
	for (; from < profile->n_frames; from++) {
		const struct frame *frame = &profile->frames[from];
		const struct location *locations =
		    &profile->locations[frame->first_location];

		for (uint32_t k = 0; k < frame->n_locations; k++)
			if (locations[k].function == function)
				return from;
	}
	return from;
}

int
profile_compare_frames(const struct frame *a, const struct frame *b)
{
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int
compare_frames(const void *left, const void *right, void *context)
{
	const struct profile *profile = context;

	return profile_compare_frames(
	    &profile->frames[*(const uint32_t *)left],
	    &profile->frames[*(const uint32_t *)right]);
}

void
profile_sort_frames(const struct profile *profile, uint32_t *frames, size_t n)
{
	if (n > 0)
		qsort_r(frames, n, sizeof *frames, compare_frames,
		        (void *)profile);
}

bool
profile_lacks_lines(const struct profile *profile, const struct frame *frame)
{
	const struct location *location =
	    &profile->locations[frame->first_location];

	return frame->module != NO_MODULE && !frame->has_debug_lines &&
	    frame->n_locations == 1 && location->file == NO_NAME &&
	    location->line == 0;
}

int
profile_set_debug_lines(struct profile *profile, uint32_t frame,
                        const struct location *locations, uint32_t n,
                        struct error *error)
{
	if (profile_add_locations(profile, locations, n, error) != 0)
		return -1;
	profile->frames[frame].first_location = profile->n_locations - n;
	profile->frames[frame].n_locations = n;
	profile->frames[frame].has_debug_lines = true;
	return 0;
}

uint32_t
profile_add_named_frame(struct profile *profile, uint32_t function,
                        struct error *error)
{
	struct location location = { .function = function, .file = NO_NAME,
		.linkage = NO_NAME };

	return profile_add_frame(profile, NO_MODULE, 0, &location, 1, error);
}

static bool
has_placeholders(const struct profile *profile, enum frame_placeholder kind)
{
	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (profile->frames[i].placeholder == kind)
			return true;
	return false;
}

/* Counts each stack once, at its outermost frame of that kind. */
static uint64_t
hits_with(const struct profile *profile, uint32_t resource,
          enum frame_placeholder kind)
{
	const struct sample_tree *tree = profile->tree;
	uint64_t hits = 0;
	uint32_t end = 0;	/* of the subtree that counts */

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		if (n >= end &&
		    profile->frames[tree->label[n]].placeholder == kind)
			end = sample_tree_end(tree, n);
		if (n < end)
			hits += sample_tree_hits(tree, resource, n);
	}
	return hits;
}

void
profile_placeholder_hits(const struct profile *profile, uint32_t resource,
                      uint64_t hits[N_FRAME_PLACEHOLDERS])
{
	for (int kind = 0; kind < N_FRAME_PLACEHOLDERS; kind++)
		hits[kind] = kind != FRAME_IS_NAMED && profile->tree != NULL &&
		    has_placeholders(profile, (enum frame_placeholder)kind) ?
		    hits_with(profile, resource, (enum frame_placeholder)kind) :
		    0;
}

static int
add_tally(struct profile *profile, const char *what, uint64_t count,
          enum loss loss, struct error *error)
{
	struct tally tally = { what, count, loss };

	for (uint32_t i = 0; i < profile->n_tallies; i++) {
		struct tally *known = &profile->tallies[i];

		if (strcmp(known->what, what) != 0)
			continue;
		if (count > UINT64_MAX - known->count)
			return error_set(error, "the count of %s exceeds 64 bits",
			                 what);
		known->count += count;
		return 0;
	}
	if (profile_make_room(&profile->tallies, &profile->tallies_capacity,
	                      profile->n_tallies, 1, sizeof tally,
	                      error) != 0 ||
	    profile_keep_text(profile, &tally.what, error) != 0)
		return -1;
	profile->tallies[profile->n_tallies++] = tally;
	return 0;
}

int
profile_add_tally(struct profile *profile, const char *what, uint64_t count,
                  struct error *error)
{
	return add_tally(profile, what, count, N_LOSSES, error);
}

int
profile_copy_tally(struct profile *profile, const struct tally *tally,
                   struct error *error)
{
	return add_tally(profile, tally->what, tally->count, tally->loss,
	                 error);
}

const struct loss_kind loss_kinds[N_LOSSES] = {
	[LOSS_NO_ROOM] = { "buffers, memory or disk were full", false },
	[LOSS_THREAD_ENDED] = { "thread ended before they were taken", false },
	[LOSS_PERF_BEHIND] = { "perf could not keep up", true },
};

int
profile_add_loss(struct profile *profile, uint32_t resource, enum loss loss,
                 uint64_t hits, struct error *error)
{
	const char *what = arena_format(&profile->arena, error,
	    "hits lost: %s", loss_kinds[loss].why);
	uint64_t *lost = resource != NO_RESOURCE ?
	    &profile->resources[resource].lost[loss] : NULL;

	if (what == NULL)
		return -1;
	if (lost != NULL)
		count_add(lost, hits);
	return add_tally(profile, what, hits, loss, error);
}

int
profile_warn(struct profile *profile, struct error *error,
             const char *format, ...)
{
	va_list arguments;
	const char *kept;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return error_out_of_memory(error);
	kept = text;
	if (profile_make_room(&profile->warnings, &profile->warnings_capacity,
	                      profile->n_warnings, 1, sizeof kept,
	                      error) != 0 ||
	    profile_keep_text(profile, &kept, error) != 0) {
		free(text);
		return -1;
	}
	free(text);
	profile->warnings[profile->n_warnings++] = kept;
	return 0;
}
