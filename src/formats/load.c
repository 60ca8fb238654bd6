/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c -- from paths to one profile.
 *
 * Directories become the files in them, each file is read by the format that
 * is most sure of it, and what was read is merged.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/formats/format.h"

enum { PROBED_SIZE = 64 << 10 };

/* The files to read; the texts are the list's own. */
struct file_list {
	char **paths;
	size_t n, capacity;
};

static void
file_list_free(struct file_list *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->paths[i]);
	free(files->paths);
}

/* Takes over path, which may be NULL for want of memory. */
static int
file_list_add(struct file_list *files, char *path, struct error *error)
{
	if (path == NULL)
		return error_out_of_memory(error);
	if (memory_grow(&files->paths, &files->capacity, files->n + 1,
	                sizeof *files->paths, error) != 0) {
		free(path);
		return -1;
	}
	files->paths[files->n++] = path;
	return 0;
}

static int
compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int
add_entries(struct file_list *files, const char *path, DIR *directory,
            struct error *error)
{
	const struct dirent *entry;

	while (errno = 0, (entry = readdir(directory)) != NULL) {
		char *name;

		if (fnmatch("cpprofdata*", entry->d_name, 0) != 0)
			continue;
		if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
			name = NULL;
		if (file_list_add(files, name, error) != 0)
			return -1;
	}
	if (errno != 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	return 0;
}

static int
add_directory(struct file_list *files, const char *path, struct error *error)
{
	DIR *directory = opendir(path);
	size_t first = files->n;
	int result;

	if (directory == NULL)
		return error_set(error, "%s: %s", path, strerror(errno));
	result = add_entries(files, path, directory, error);
	closedir(directory);
	if (result != 0)
		return -1;
	if (files->n == first)
		return error_set(error, "%s: a directory that is no profile "
		                 "(no file cpprofdata* in it)", path);
	qsort(files->paths + first, files->n - first, sizeof *files->paths,
	      compare_paths);
	return 0;
}

static int
add_path(struct file_list *files, const char *path, struct error *error)
{
	struct stat status;

	if (strcmp(path, "-") != 0 && stat(path, &status) == 0 &&
	    S_ISDIR(status.st_mode))
		return add_directory(files, path, error);
	return file_list_add(files, strdup(path), error);
}

static int
set_unknown_format(const struct source *source, struct error *error)
{
	char known[500] = "";
	size_t length = 0;

	for (size_t i = 0; formats[i] != NULL; i++) {
		int more = snprintf(known + length, sizeof known - length,
		                    "%s%s", i > 0 ? ", " : "",
		                    formats[i]->name);

		if (more < 0 || (size_t)more >= sizeof known - length)
			break;
		length += (size_t)more;
	}
	return error_set(error, "%s: not a profile of a known format (%s)",
	                 source_name(source), known);
}

static const struct format *
find_format(struct source *source, struct error *error)
{
	const struct format *best = NULL;
	int best_answer = PROBE_NO;
	size_t size;
	const char *head = source_peek(source, PROBED_SIZE, &size, error);

	if (head == NULL)
		return NULL;
	if (size == 0) {
		error_set(error, "%s: the file is empty",
		          source_name(source));
		return NULL;
	}
	if (size > PROBED_SIZE)
		size = PROBED_SIZE;
	for (size_t i = 0; formats[i] != NULL; i++) {
		int answer = formats[i]->probe(head, size);

		if (answer > best_answer) {
			best_answer = answer;
			best = formats[i];
		}
	}
	if (best == NULL)
		set_unknown_format(source, error);
	return best;
}

static struct profile *
load_file(const char *path, const struct read_options *options,
          struct error *error)
{
	struct source *source = source_open(path, error);
	const struct format *format;
	struct profile *profile = NULL;

	if (source == NULL)
		return NULL;
	format = find_format(source, error);
	if (format != NULL)
		profile = format->read(source, options, error);
	source_close(source);
	return profile;
}

static struct profile *
load_files(const struct file_list *files, const struct read_options *options,
           struct error *error)
{
	struct profile **profiles = memory_array(files->n, sizeof *profiles,
	                                         error);
	struct profile *sum = NULL;
	size_t n = 0;

	if (profiles == NULL)
		return NULL;
	while (n < files->n) {
		profiles[n] = load_file(files->paths[n], options, error);
		if (profiles[n] == NULL)
			break;
		n++;
	}
	if (!error->is_set && n == 1)
		sum = profiles[--n];
	else if (!error->is_set)
		sum = profile_merge(profiles, (uint32_t)n, error);
	while (n > 0)
		profile_free(profiles[--n]);
	free(profiles);
	return sum;
}

struct profile *
load_profiles(const char *const *paths, size_t n,
              const struct read_options *options, struct error *error)
{
	struct read_options shared = *options;
	struct file_list files = { 0 };
	struct profile *profile = NULL;
	size_t i = 0;

	if (options->modules == NULL)
		shared.modules = module_cache_new(NULL, error);
	if (shared.modules == NULL)
		return NULL;
	while (i < n && add_path(&files, paths[i], error) == 0)
		i++;
	if (i == n)
		profile = load_files(&files, &shared, error);
	file_list_free(&files);
	if (options->modules == NULL)
		module_cache_free(shared.modules);
	return profile;
}
