/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_profile.c -- makes a profile of everything in a pprof file.
 *
 * The tree has one resource more than the file has types of values: the number
 * of the file's samples with each stack.  These are the raw samples, unless a
 * type in the file counts them (Go's "samples", each of which may stand for
 * several with the same stack).
 */
#include "src/formats/pprof/pprof.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/collapsed/collapsed.h"
#include "src/profile/large_array.h"

struct filler {
	struct profile *profile;
	const struct pprof_tables *tables;
	const struct pprof_samples *samples;
};

/* ---- resources ---- */

/* A copy of a string, freed by the caller; NULL with *error set. */
static char *
copy_string(const struct pprof_tables *tables, uint64_t index,
            struct error *error)
{
	size_t length;
	const char *text = pprof_tables_string(tables, index, &length);

	return memory_text(text, length, error);
}

/*
 * Names a resource; by its column if the file has no name for it, or uses the
 * name twice.
 */
static int
pprof_profile_add_resource(struct filler *filler, uint32_t column,
                           struct error *error)
{
	const struct pprof_tables *tables = filler->tables;
	const struct pprof_type *type = &tables->types[column];
	char *name = copy_string(tables, type->name, error);
	char *unit = copy_string(tables, type->unit, error);
	const char *unique = name;
	int result = -1;

	if (name != NULL && unit != NULL) {
		static const char *const plurals[] = {
			"nanoseconds",  "microseconds",
			"milliseconds", "seconds",
			"bytes",        "kilobytes",
			"megabytes",    NULL
		};

		/*
		 * Units are in the plural, but gticks in the singular; a count
		 * has none.
		 */
		if (strcmp(unit, "count") == 0)
			unit[0] = '\0';
		for (size_t i = 0; plurals[i] != NULL; i++)
			if (strcmp(unit, plurals[i]) == 0)
				unit[strlen(unit) - 1] = '\0';
		if (*name == '\0' || profile_find_resource(filler->profile,
		                          name) != NO_RESOURCE)
			unique = arena_format(&filler->profile->arena, error,
			    "%s%s%u", name, *name != '\0' ? "-" : "value",
			    column + 1);
		if (unique != NULL &&
		    profile_add_resource(filler->profile, unique, unit, 1,
		                         error) != UINT32_MAX)
			result = 0;
	}
	free(name);
	free(unit);
	return result;
}

static bool
is_same_string(const struct pprof_tables *tables, uint64_t a, uint64_t b)
{
	size_t length, other_length;
	const char *text = pprof_tables_string(tables, a, &length);
	const char *other = pprof_tables_string(tables, b, &other_length);

	return text != NULL && other != NULL && length == other_length &&
	       memcmp(text, other, length) == 0;
}

/* As in go tool pprof: the file's choice, otherwise the last type. */
static uint32_t
default_column(const struct pprof_tables *tables)
{
	size_t length;

	pprof_tables_string(tables, tables->default_type, &length);
	for (size_t i = 0; length > 0 && i < tables->n_types; i++)
		if (is_same_string(tables, tables->types[i].name,
		                   tables->default_type))
			return (uint32_t)i;
	return (uint32_t)tables->n_types - 1;
}

/* Moves the resource at `from` to the front. */
static void
move_to_front(void *items, size_t from, size_t size)
{
	char moved[sizeof(struct resource)], *bytes = items;

	memcpy(moved, bytes + from * size, size);
	memmove(bytes + size, bytes, from * size);
	memcpy(bytes, moved, size);
}

/*
 * Whether these are the tables of several profiles: "cat a.pb.gz b.pb.gz".  A
 * profile's strings begin with the empty one, and have it once.
 */
static bool
are_several(const struct pprof_tables *tables)
{
	size_t length, n_empty = 0;

	for (size_t i = 0; i < tables->n_strings; i++) {
		pprof_tables_string(tables, i, &length);
		n_empty += length == 0;
	}
	return n_empty > 1;
}

static int
pprof_profile_add_resources(struct filler *filler, struct error *error)
{
	const struct pprof_tables *tables = filler->tables;
	uint32_t n = filler->samples->n_values;

	if (tables->n_types > n && are_several(tables))
		return error_set(error, "several profiles, one after the other "
		                 "in one file; give each a file of its own, "
		                 "and cpprof FILE... adds them up");
	if (tables->n_types != n)
		return error_set(error, "samples of %u value%s, but %zu "
		                 "sample type%s", n, n == 1 ? "" : "s",
		                 tables->n_types,
		                 tables->n_types == 1 ? "" : "s");
	for (uint32_t i = 0; i < n; i++)
		if (pprof_profile_add_resource(filler, i, error) != 0)
			return -1;
	move_to_front(filler->profile->resources, default_column(tables),
	              sizeof(struct resource));
	return 0;
}

/* ---- the tree ---- */

/*
 * The resource that counts raw samples: of two resources the one without a
 * gtick, or if both have none, the one that is not shown first; otherwise
 * n_resources, the one added for this.
 */
static uint32_t
counting_resource(const struct filler *filler)
{
	const struct profile *profile = filler->profile;
	uint32_t n = profile->n_resources;

	if (filler->tables->n_types != 2 || filler->samples->has_raw)
		return n;
	for (uint32_t r = n; r-- > 0;)
		if (*profile->resources[r].gtick == '\0')
			return r;
	return n;
}

/*
 * The raw samples of one resource: `counts` but those without hits of it (NULL:
 * none), or if `counts` is NULL one per row; 0 where there are no hits.
 */
static uint64_t *
copy_samples(const uint64_t *hits, const uint64_t *counts,
             const uint64_t *without, uint32_t n, struct error *error)
{
	uint64_t *samples = NULL;

	if (large_array_reserve(&samples, n, sizeof *samples, error) != 0)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		samples[i] = hits[i] == 0 ? 0 : counts == NULL ? 1 :
		             counts[i] - (without != NULL ? without[i] : 0);
	return samples;
}

/*
 * The type of values of a resource, after that of `front` moved to the front.
 */
static uint32_t
type_of(uint32_t resource, uint32_t front)
{
	return resource == 0 ? front :
	       resource <= front ? resource - 1 : resource;
}

/* The column of the samples without hits of a resource; NULL: there are none. */
static const uint64_t *
samples_without(const struct filler *filler, uint32_t resource)
{
	const struct pprof_samples *samples = filler->samples;
	uint32_t value = type_of(resource, default_column(filler->tables));

	/* A list tells them apart by its rows. */
	return samples->list == NULL && value < PPROF_ZEROS_MAX &&
	    samples->without[value] != 0 ?
	    filler->profile->tree->hits[samples->without[value]] : NULL;
}

static int
set_samples(const struct filler *filler, struct error *error)
{
	uint32_t counting = counting_resource(filler);
	struct profile *profile = filler->profile;
	struct sample_tree *tree = profile->tree;
	const uint64_t *counts = counting < profile->n_resources ||
	    filler->samples->counts_records ? tree->hits[counting] : NULL;

	for (uint32_t r = 0; r < profile->n_resources; r++) {
		if (r == counting)
			continue;
		tree->samples[r] = copy_samples(tree->hits[r], counts,
		    samples_without(filler, r), tree->n_rows, error);
		if (tree->samples[r] == NULL)
			break;
	}
	sample_tree_keep_resources(tree, profile->n_resources);
	return error->is_set ? -1 : 0;
}

/* Gives the list's stacks to the profile. */
static int
take_list(struct filler *filler, const uint32_t *frames, struct error *error)
{
	struct stack_list *list = filler->samples->list;

	if (stack_list_set_frames(list, frames,
	                          filler->tables->location_ids.n,
	                          error) != 0)
		return -1;
	filler->profile->stacks = list;
	filler->profile->tree = stack_list_tree(list, error);
	return filler->profile->tree != NULL ? 0 : -1;
}

static bool
pprof_profile_is_string(const struct pprof_tables *tables, uint64_t index,
                        const char *what)
{
	size_t length;
	const char *text = pprof_tables_string(tables, index, &length);

	return text != NULL && length == strlen(what) &&
	       memcmp(text, what, length) == 0;
}

/*
 * Go and others take a sample each period: "samples" counts them, and each
 * value is as many periods.  Then chance alone has made the values.  Of heap
 * profiles and contentions the numbers were scaled, or are of another kind.
 * A period of 1 says nothing: any number is as many of it.
 */
static bool
are_sampled(const struct filler *filler)
{
	const struct pprof_tables *tables = filler->tables;
	const struct sample_tree *tree = filler->profile->tree;
	const struct pprof_type *types = tables->types;
	const uint64_t *counts, *values;
	uint64_t period = tables->period, product;

	if (tables->n_types != 2 || filler->samples->has_raw || period < 2 ||
	    !pprof_profile_is_string(tables, types[0].name, "samples") ||
	    !pprof_profile_is_string(tables, types[0].unit, "count") ||
	    !is_same_string(tables, types[1].name, tables->period_type.name) ||
	    !is_same_string(tables, types[1].unit, tables->period_type.unit))
		return false;
	counts = tree->hits[default_column(tables) == 0 ? 0 : 1];
	values = tree->hits[default_column(tables) == 0 ? 1 : 0];
	for (uint32_t i = 0; i < tree->n_rows; i++)
		if (__builtin_mul_overflow(counts[i], period, &product) ||
		    product != values[i])
			return false;
	return true;
}

/*
 * Finishes the tree, whose frames are locations and whose threads are sets of
 * labels so far.
 */
static int
pprof_profile_make_tree(struct filler *filler, const uint32_t *frames,
                        struct error *error)
{
	struct profile *profile = filler->profile;
	const struct stack_list *list = filler->samples->list;
	struct reader_section *sections = memory_array(
	    names_count(filler->samples->label_sets), sizeof *sections,
	    error);
	int result = -1;

	if (sections == NULL)
		return -1;
	result = pprof_labels_enter(filler->tables, filler->samples, sections,
	                            error);
	if (result == 0)
		result = list != NULL ? take_list(filler, frames, error) :
		    reader_finish_stacks(filler->samples->reader, sections,
		                         error);
	free(sections);
	if (result != 0)
		return -1;
	for (uint32_t n = 0; list == NULL && n < profile->tree->n_nodes; n++)
		profile->tree->label[n] = frames[profile->tree->label[n]];
	move_to_front(profile->tree->hits, default_column(filler->tables),
	              sizeof *profile->tree->hits);
	if (are_sampled(filler))
		for (uint32_t r = 0; r < profile->n_resources; r++)
			profile->resources[r].counting = COUNTING_SAMPLED;
	return set_samples(filler, error);
}

/*
 * ---- what cpprof says of a profile in its comments ----
 *
 * profile.proto has no place for intervals.  So the comments of an exported
 * profile are the header lines of collapsed stacks (collapsed.h), with
 * which hits are restored.  Their resources are the file's types of values in
 * order.  If there is one resource and one more type, the first one is raw
 * samples.  If there are several, the types before theirs are the raw samples
 * of those that they name.
 */

/*
 * Reads the comments as a header, whose resources become those of `origin`.
 * *is_ours is set if cpprof wrote them.  0, or -1 with *error set when memory
 * is short; what is wrong with comments of others does not matter.
 */
static int
read_comments(const struct pprof_tables *tables, struct profile *origin,
              struct collapsed_header *header, bool *is_ours,
              struct error *error)
{
	static const char first[] = "# cpprof 1";

	for (size_t i = 0; i < tables->n_comments; i++) {
		struct error why = { 0 };
		size_t length;
		const char *text = pprof_tables_string(tables,
		    tables->comments[i], &length);

		if (text == NULL || (i == 0 && (length != sizeof first - 1 ||
		    memcmp(text, first, length) != 0)) ||
		    collapsed_header_line(header, origin, text, length,
		                          &why) != 0)
			return why.is_out_of_memory ?
			       error_out_of_memory(error) : 0;
	}
	*is_ours = tables->n_comments > 0;
	return 0;
}

static bool
is_divisible(const uint64_t *values, uint32_t n, uint64_t by)
{
	for (uint32_t i = 0; i < n; i++)
		if (values[i] % by != 0)
			return false;
	return true;
}

static int
restore_resource(struct profile *profile, uint32_t r,
                 const struct resource *was, bool has_samples,
                 struct error *error)
{
	struct sample_tree *tree = profile->tree;
	struct resource *resource = &profile->resources[r];
	size_t size = tree->n_rows * sizeof *tree->hits[r];
	const char *gtick;

	if (!is_divisible(tree->hits[r], tree->n_rows, was->interval))
		return 0;
	gtick = arena_text(&profile->arena, was->gtick, strlen(was->gtick),
	                   error);
	if (gtick == NULL)
		return -1;
	for (uint32_t i = 0; i < tree->n_rows; i++)
		tree->hits[r][i] /= was->interval;
	resource->gtick = gtick;
	resource->interval = was->interval;
	/*
	 * Raw samples are kept if they had a column of their own and a hit is
	 * not always one.
	 */
	if (tree->samples[r] != NULL && (!has_samples ||
	    memcmp(tree->samples[r], tree->hits[r], size) == 0)) {
		large_array_free(tree->samples[r]);
		tree->samples[r] = NULL;
	}
	return 0;
}

static int
restore_text(struct profile *profile, const char **text, const char *was,
             struct error *error)
{
	if (was == NULL)
		return 0;
	*text = arena_text(&profile->arena, was, strlen(was), error);
	return *text != NULL ? 0 : -1;
}

/* The resource of a type of values. */
static uint32_t
resource_of(uint32_t type, uint32_t front)
{
	return type == front ? 0 : type < front ? type + 1 : type;
}

/* Whether a column is named as the raw samples of a resource. */
static bool
are_samples_of(const char *column, const char *resource)
{
	const size_t length = strlen(resource);

	return strncmp(column, resource, length) == 0 &&
	    strcmp(column + length, PPROF_RAW_SAMPLES) == 0;
}

/*
 * The resources whose raw samples the first types count, of[n_before]; false if
 * one of these types counts none.
 */
static bool
find_samples(const struct profile *profile, uint32_t front, uint32_t n_before,
             uint32_t *of)
{
	const uint32_t n = profile->n_resources - n_before;

	for (uint32_t i = 0; i < n_before; i++) {
		const char *name =
		    profile->resources[resource_of(i, front)].name;
		uint32_t type = n_before;

		while (n > 1 && type < n_before + n && !are_samples_of(name,
		    profile->resources[resource_of(type, front)].name))
			type++;
		if (type == n_before + n)
			return false;
		of[i] = resource_of(type, front);
	}
	return true;
}

/* The hits of another resource become the raw samples of one. */
static void
move_samples(struct sample_tree *tree, uint32_t from, uint32_t to)
{
	large_array_free(tree->samples[to]);
	tree->samples[to] = tree->hits[from];
	tree->hits[from] = NULL;
}

/* Raw samples are beside the hits by now; their own resources go. */
static void
drop_types_before(struct profile *profile, uint32_t front, uint32_t n_before)
{
	/* All but that in front have a higher number than those before. */
	for (uint32_t i = n_before; i-- > 0;)
		if (i != front)
			profile_drop_resource(profile, resource_of(i, front));
	if (front < n_before)
		profile_drop_resource(profile, 0);
}

static int
restore_resources(struct profile *profile, const struct profile *origin,
                  uint32_t front, struct error *error)
{
	const uint32_t n = origin->n_resources, n_all = profile->n_resources;
	const uint32_t n_before = n_all > n ? n_all - n : 0;
	uint32_t *of;
	bool *has_samples;

	if (n == 0 || n_all < n || n_before > n)
		return 0;
	of = memory_array(n, sizeof *of, error);
	has_samples = memory_array(n_all, sizeof *has_samples, error);
	if (of != NULL && has_samples != NULL &&
	    find_samples(profile, front, n_before, of)) {
		for (uint32_t i = 0; i < n_before; i++) {
			has_samples[of[i]] = true;
			if (n > 1)
				move_samples(profile->tree,
				             resource_of(i, front), of[i]);
		}
		for (uint32_t i = n_before; i < n_all && !error->is_set; i++)
			restore_resource(profile, resource_of(i, front),
			    &origin->resources[i - n_before],
			    has_samples[resource_of(i, front)], error);
		drop_types_before(profile, front, n_before);
	}
	free(of);
	free(has_samples);
	return error->is_set ? -1 : 0;
}

/*
 * Undoes the conversion by export, if the comments describe it and the hits
 * agree: values become hits of their interval, and raw samples are no
 * resource.  front: the type whose resource was moved to the front.
 */
static int
restore_origin(struct profile *profile, const struct pprof_tables *tables,
               uint32_t front, struct error *error)
{
	struct collapsed_header header = { 0 };
	const struct process *was = &header.process;
	struct profile *origin = profile_new(error);
	struct process *to = profile->processes;
	bool is_ours = false;
	int result;

	if (origin == NULL)
		return -1;
	result = read_comments(tables, origin, &header, &is_ours, error);
	if (result == 0 && is_ours)
		result = restore_resources(profile, origin, front, error);
	if (result == 0 && is_ours && profile->n_processes > 0 &&
	    (restore_text(profile, &to->program, was->program, error) != 0 ||
	     restore_text(profile, &to->command, was->command, error) != 0 ||
	     restore_text(profile, &to->host, was->host, error) != 0))
		result = -1;
	profile_free(origin);
	return result;
}

/* ---- all together ---- */

/* Counts were those of rows so far; now they become those of stacks. */
static int
sum_list(struct filler *filler, struct error *error)
{
	struct profile *profile = filler->profile;
	struct sample_tree *rows = profile->tree;

	profile->tree = stack_list_sum(filler->samples->list, rows, error);
	sample_tree_free(rows);
	return profile->tree != NULL ? 0 : -1;
}

static int
pprof_profile_add_process(struct filler *filler, struct error *error)
{
	const struct profile *profile = filler->profile;
	const struct pprof_tables *tables = filler->tables;
	struct process process = { .start_ns = tables->time_ns };

	/* By profile.proto, the program is the first mapping. */
	if (profile->n_modules > 0)
		process.program = profile->modules[0].path;
	if (tables->time_ns != 0 && tables->duration_ns != 0 &&
	    tables->duration_ns < UINT64_MAX - tables->time_ns)
		process.end_ns = tables->time_ns + tables->duration_ns;
	return profile_add_process(filler->profile, &process, error) !=
	       UINT32_MAX ? 0 : -1;
}

/* Drops resources that have values below zero. */
static int
pprof_profile_drop_below_zero(struct filler *filler, uint32_t front,
                              struct error *error)
{
	uint32_t n = filler->profile->n_resources;
	uint32_t *columns = memory_array(n, sizeof *columns, error);
	int result;

	if (columns == NULL)
		return -1;
	for (uint32_t r = 0; r < n; r++)
		columns[r] = type_of(r, front);
	result = reader_drop_below_zero(filler->samples->reader, columns,
	                                error);
	free(columns);
	return result;
}

int
pprof_profile_fill(const struct pprof_tables *tables,
                   const struct pprof_samples *samples, bool may_lack,
                   struct error *error)
{
	struct reader *reader = samples->reader;
	struct filler filler = { reader->profile, tables, samples };
	struct error why = { 0 };
	uint32_t *frames = NULL;
	int result = -1;

	if (pprof_profile_add_resources(&filler, &why) == 0)
		frames = pprof_frames_enter(reader->profile,
		                            source_name(reader->source),
		                            tables, may_lack,
		                            reader->options->modules, &why);
	if (frames == NULL)
		return reader_pass_file(reader, &why, error);
	if (pprof_profile_add_process(&filler, error) == 0 &&
	    pprof_profile_make_tree(&filler, frames, error) == 0 &&
	    pprof_profile_drop_below_zero(&filler, default_column(tables),
	                                  error) == 0 &&
	    restore_origin(reader->profile, tables, default_column(tables),
	                   error) == 0)
		result = samples->list != NULL ? sum_list(&filler, error) : 0;
	free(frames);
	return result;
}
