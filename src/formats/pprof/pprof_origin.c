/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_origin.c -- a profile's description by cpprof in its comments. */
#include "src/formats/pprof/pprof_origin.h"

#include <stdbool.h>
#include <string.h>

#include "src/formats/collapsed/collapsed_header.h"
#include "src/profile/large_array.h"

/*
 * Reads the comments as a header, whose resources become those of `origin`.
 * *is_ours is set if cpprof wrote them.  0, or -1 with *error set when memory is
 * short; what is wrong with comments of others does not matter.
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

static bool
are_equal(const uint64_t *a, const uint64_t *b, uint32_t n)
{
	return memcmp(a, b, n * sizeof *a) == 0;
}

/* Checks that raw samples have a column of their own, or each hit is one. */
static void
restore_samples(struct profile *profile, uint32_t r, bool is_told)
{
	struct sample_tree *tree = profile->tree;

	if (tree->samples[r] == NULL ||
	    (is_told && !are_equal(tree->samples[r], tree->hits[r],
	                           tree->n_rows)))
		return;
	large_array_free(tree->samples[r]);
	tree->samples[r] = NULL;
}

static int
restore_resource(struct profile *profile, uint32_t r,
                 const struct resource *was, bool has_samples,
                 struct error *error)
{
	struct sample_tree *tree = profile->tree;
	struct resource *resource = &profile->resources[r];
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
	restore_samples(profile, r, has_samples);
	return 0;
}

/* Drops the column of raw samples, which are beside the hits by now. */
static void
drop_resource(struct profile *profile, uint32_t r)
{
	struct sample_tree *tree = profile->tree;
	size_t n_behind = --profile->n_resources - r;

	tree->n_resources--;
	large_array_free(tree->hits[r]);
	large_array_free(tree->samples[r]);
	memmove(&profile->resources[r], &profile->resources[r + 1],
	        n_behind * sizeof *profile->resources);
	memmove(&tree->hits[r], &tree->hits[r + 1],
	        n_behind * sizeof *tree->hits);
	memmove(&tree->samples[r], &tree->samples[r + 1],
	        n_behind * sizeof *tree->samples);
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

static int
restore_resources(struct profile *profile, const struct profile *origin,
                  uint32_t front, struct error *error)
{
	uint32_t n = origin->n_resources;
	bool has_samples = n == 1 && profile->n_resources == 2;

	if (profile->n_resources != n + has_samples)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (restore_resource(profile,
		    resource_of(i + has_samples, front),
		    &origin->resources[i], has_samples, error) != 0)
			return -1;
	if (has_samples)
		drop_resource(profile, resource_of(0, front));
	return 0;
}

static int
restore(struct profile *profile, const struct profile *origin,
        const struct process *process, uint32_t front, struct error *error)
{
	struct process *to = profile->processes;

	if (restore_resources(profile, origin, front, error) != 0)
		return -1;
	if (profile->n_processes == 0 ||
	    restore_text(profile, &to->program, process->program,
	                 error) != 0 ||
	    restore_text(profile, &to->command, process->command,
	                 error) != 0)
		return error->is_set ? -1 : 0;
	return restore_text(profile, &to->host, process->host, error);
}

int
pprof_origin_restore(struct profile *profile,
                     const struct pprof_tables *tables, uint32_t front,
                     struct error *error)
{
	struct collapsed_header header = { 0 };
	struct profile *origin = profile_new(error);
	bool is_ours = false;
	int result;

	if (origin == NULL)
		return -1;
	result = read_comments(tables, origin, &header, &is_ours, error);
	if (result == 0 && is_ours)
		result = restore(profile, origin, &header.process, front,
		                 error);
	profile_free(origin);
	return result;
}
