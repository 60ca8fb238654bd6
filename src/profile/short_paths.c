/* SPDX-License-Identifier: GPL-3.0-or-later */
/* short_paths.c -- the shortest paths that distinguish source files.
 *
 * After sorting by bytes from the last to the first, the paths that share the
 * longest end with a path are its neighbours.
 */
#include "src/profile/frame_labels.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* The length of the common end of two paths. */
static size_t
short_paths_common_end(const char *a, size_t a_length, const char *b,
                       size_t b_length)
{
	size_t n = 0;

	while (n < a_length && n < b_length &&
	       a[a_length - 1 - n] == b[b_length - 1 - n])
		n++;
	return n;
}

static int
compare_from_end(const void *left, const void *right)
{
	const char *a = *(const char *const *)left;
	const char *b = *(const char *const *)right;
	size_t a_length = strlen(a), b_length = strlen(b);
	size_t n = short_paths_common_end(a, a_length, b, b_length);

	if (n == a_length || n == b_length)
		return n < b_length ? -1 : n < a_length;
	return (unsigned char)a[a_length - 1 - n] <
	    (unsigned char)b[b_length - 1 - n] ? -1 : 1;
}

/* The shortest end of whole components that is longer than `shared`. */
static const char *
end_beyond(const char *path, size_t shared)
{
	size_t at = strlen(path);

	at = at > shared ? at - shared - 1 : 0;
	while (at > 0 && path[at - 1] != '/')
		at--;
	return path + at;
}

static size_t
shared_with(const char *path, const char *other)
{
	return short_paths_common_end(path, strlen(path), other, strlen(other));
}

struct files {
	const struct names *names;
	const char **paths;	/* [names] */
	uint32_t *list;		/* those with a path */
	size_t n;
};

static void
short_paths_add_file(struct files *files, uint32_t file)
{
	if (file == NO_NAME || files->paths[file] != NULL)
		return;
	files->paths[file] = names_text(files->names, file);
	files->list[files->n++] = file;
}

/* The distinct files of locations, or of a graph's functions and places. */
static void
short_paths_collect(const struct profile *profile, struct files *files)
{
	const struct call_graph *graph = profile->graph;

	for (uint32_t i = 0; i < profile->n_locations; i++)
		short_paths_add_file(files, profile->locations[i].file);
	for (uint32_t i = 0; graph != NULL && i < graph->n_nodes; i++)
		short_paths_add_file(files, graph->nodes[i].file);
	if (graph == NULL || graph->places == NULL)
		return;
	for (uint32_t i = 0; i < graph->places->n; i++)
		short_paths_add_file(files, graph->places->items[i].file);
}

static int
short_paths_shorten(const struct files *files, struct error *error)
{
	const char **paths = files->paths;
	size_t n = files->n;
	const char **sorted = memory_array(n, sizeof *sorted, error);

	if (sorted == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		sorted[i] = paths[files->list[i]];
	qsort(sorted, n, sizeof *sorted, compare_from_end);
	for (size_t i = 0; i < n; i++) {
		const char **found = bsearch(&paths[files->list[i]], sorted, n,
		    sizeof *sorted, compare_from_end);
		const char *path = *found;
		size_t shared = 0;

		if (found > sorted)
			shared = shared_with(path, found[-1]);
		if (found + 1 < sorted + n && shared_with(path, found[1]) >
		    shared)
			shared = shared_with(path, found[1]);
		paths[files->list[i]] = end_beyond(path, shared);
	}
	free(sorted);
	return 0;
}

const char **
short_paths_new(const struct profile *profile, struct error *error)
{
	uint32_t n_names = names_count(profile->names);
	struct files files = {
		.names = profile->names,
		.paths = memory_array(n_names, sizeof *files.paths, error),
		.list = memory_array(n_names, sizeof *files.list, error),
	};
	int result = -1;

	if (files.paths != NULL && files.list != NULL) {
		short_paths_collect(profile, &files);
		result = short_paths_shorten(&files, error);
	}
	free(files.list);
	if (result == 0)
		return files.paths;
	free(files.paths);
	return NULL;
}
