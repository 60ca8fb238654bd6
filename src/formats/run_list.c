/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_list.c -- which runs of a program paths stand for. */
#include "src/formats/format.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/symbols/names/program.h"

void
run_list_free(struct run_list *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		free(runs->paths[i]);
	free(runs->paths);
	free(runs->program);
	*runs = (struct run_list){ 0 };
}

/* Takes over path, which may be NULL for want of memory. */
static int
run_list_add(struct run_list *runs, char *path, struct error *error)
{
	if (path == NULL)
		return error_out_of_memory(error);
	if (memory_grow(&runs->paths, &runs->capacity, runs->n + 1,
	                sizeof *runs->paths, error) != 0) {
		free(path);
		return -1;
	}
	runs->paths[runs->n++] = path;
	return 0;
}

static bool
run_list_is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Whether a directory has a recording's files.  Others cannot be opened. */
static bool
is_recording(const char *path)
{
	DIR *directory = run_list_is_directory(path) ? opendir(path) : NULL;
	const struct dirent *entry = NULL;

	if (directory == NULL)
		return false;
	while ((entry = readdir(directory)) != NULL &&
	       fnmatch("cpprofdata*", entry->d_name, 0) != 0)
		;
	closedir(directory);
	return entry != NULL;
}

static int
run_list_compare_paths(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strverscmp(*left, *right);
}

static int
run_list_add_entries(struct run_list *runs, const char *path, DIR *directory,
                     struct error *error)
{
	const struct dirent *entry;

	while (errno = 0, (entry = readdir(directory)) != NULL) {
		char *name;

		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
			return error_out_of_memory(error);
		if (!is_recording(name))
			free(name);
		else if (run_list_add(runs, name, error) != 0)
			return -1;
	}
	return errno == 0 ? 0 :
	    error_set(error, "%s: %s", path, strerror(errno));
}

int
run_list_add_directory(struct run_list *runs, const char *path,
                       struct error *error)
{
	DIR *directory = opendir(path);
	size_t first = runs->n;
	int result;

	if (directory == NULL)
		return error_set(error, "%s: %s", path, strerror(errno));
	result = run_list_add_entries(runs, path, directory, error);
	closedir(directory);
	if (runs->n > first)
		qsort(runs->paths + first, runs->n - first,
		      sizeof *runs->paths, run_list_compare_paths);
	return result;
}

/* ---- members ---- */

/* Whether the path leads to the file that is to be written. */
static bool
is_output(const struct run_list *runs, const char *path)
{
	struct stat status, output;
	int result;

	if (runs->output == NULL || stat(path, &status) != 0)
		return false;
	result = strcmp(runs->output, "-") == 0 ?
	         fstat(STDOUT_FILENO, &output) : stat(runs->output, &output);
	return result == 0 && status.st_dev == output.st_dev &&
	       status.st_ino == output.st_ino;
}

/* Whether all files in a directory are one profile. */
static bool
is_one_profile(const struct run_list *runs, const char *path)
{
	struct stat status;
	char *data;
	bool is_perf;

	if (is_recording(path) || asprintf(&data, "%s/data", path) < 0)
		return true;
	is_perf = stat(data, &status) == 0 && S_ISREG(status.st_mode) &&
	    !is_output(runs, data);
	free(data);
	return is_perf;
}

/* A link to a directory might lead back to where it is. */
static bool
can_be_member(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
		return true;
	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int
add_possible_members(struct run_list *runs, const char *path,
                     DIR *directory, struct error *error)
{
	const struct dirent *entry;
	char *name;

	while ((entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
			return error_out_of_memory(error);
		if (is_output(runs, name)) {
			runs->was_output_found = true;
			free(name);
		} else if (!can_be_member(name)) {
			free(name);
		} else if (run_list_add(runs, name, error) != 0) {
			return -1;
		}
	}
	return 0;
}

int
run_list_add_members(struct run_list *runs, const char *path,
                     struct error *error)
{
	size_t first = runs->n;
	int result = run_list_add(runs, strdup(path), error);
	size_t n;

	/* What lies in a directory comes after it, until all are searched. */
	for (size_t i = first; result == 0 && i < runs->n; i++) {
		char *name = runs->paths[i];
		DIR *directory = NULL;

		if (strcmp(name, "-") != 0 && run_list_is_directory(name) &&
		    !is_one_profile(runs, name))
			directory = opendir(name);
		if (directory == NULL)
			continue;
		result = add_possible_members(runs, name, directory, error);
		closedir(directory);
		runs->paths[i] = NULL;
		free(name);
	}
	/* Drop the paths that have become NULL. */
	n = first;
	for (size_t i = first; i < runs->n; i++)
		if (runs->paths[i] != NULL)
			runs->paths[n++] = runs->paths[i];
	runs->n = n;
	if (result == 0 && runs->n == first)
		result = run_list_add(runs, strdup(path), error);
	if (runs->n > first)
		qsort(runs->paths + first, runs->n - first,
		      sizeof *runs->paths, run_list_compare_paths);
	return result;
}

/* ---- files ---- */

struct file_of_run {
	dev_t device;
	ino_t number;
	size_t run;
};

static int
run_list_compare_files(const void *a, const void *b)
{
	const struct file_of_run *left = a, *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return left->run < right->run ? -1 : left->run > right->run;
}

static bool
is_same_file(const struct file_of_run *left, const struct file_of_run *right)
{
	return left->device == right->device && left->number == right->number;
}

/* What a path leads to; false for what is read once, or not there. */
static bool
run_list_find_file(const char *path, size_t run, struct file_of_run *file)
{
	struct stat status;
	bool is_input = strcmp(path, "-") == 0;

	if ((is_input ? fstat(STDIN_FILENO, &status) :
	     stat(path, &status)) != 0 ||
	    (!is_input && !S_ISREG(status.st_mode) &&
	     !S_ISDIR(status.st_mode)))
		return false;
	*file = (struct file_of_run){ status.st_dev, status.st_ino, run };
	return true;
}

/* The run, a directory, in which the path is; NULL: there is none. */
static const struct file_of_run *
find_recording(const char *path, const struct file_of_run *files, size_t n)
{
	const char *slash = strrchr(path, '/');
	struct file_of_run folder;
	struct stat status;
	char *name;
	int found;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
	    asprintf(&name, "%.*s", slash == NULL ? 1 :
	             (int)(slash + 1 - path), slash == NULL ? "." : path) < 0)
		return NULL;
	found = stat(name, &status);
	free(name);
	folder.device = status.st_dev;
	folder.number = status.st_ino;
	for (size_t low = 0, high = n; found == 0 && low < high;) {
		size_t middle = low + (high - low) / 2;

		if (is_same_file(&files[middle], &folder))
			return &files[middle];
		folder.run = 0;
		if (run_list_compare_files(&files[middle], &folder) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

int
run_list_check_distinct(const struct run_list *runs, struct error *error)
{
	struct file_of_run *files = memory_array(runs->n, sizeof *files,
	                                         error);
	size_t n = 0;
	int result = files == NULL ? -1 : 0;

	for (size_t i = 0; result == 0 && i < runs->n; i++)
		n += run_list_find_file(runs->paths[i], i, &files[n]);
	if (n > 0)
		qsort(files, n, sizeof *files, run_list_compare_files);
	for (size_t i = 1; result == 0 && i < n; i++)
		if (is_same_file(&files[i - 1], &files[i]))
			result = error_set(error, "%.200s and %.200s are the "
			    "same file; name each input once",
			    runs->paths[files[i - 1].run],
			    runs->paths[files[i].run]);
	for (size_t i = 0; result == 0 && i < n; i++) {
		const char *path = runs->paths[files[i].run];
		const struct file_of_run *folder = find_recording(path, files,
		                                                  n);

		if (folder != NULL)
			result = error_set(error, "%.200s is a part of %.200s; "
			    "name each input once", path,
			    runs->paths[folder->run]);
	}
	free(files);
	return result;
}

/* ---- paths ---- */

static int
run_list_add_path(struct run_list *runs, const char *path, struct error *error)
{
	size_t first = runs->n;

	if (strcmp(path, "-") != 0 && runs->program == NULL &&
	    program_is_one(path)) {
		runs->program = memory_string(path, error);
		return runs->program != NULL ? 0 : -1;
	}
	if (strcmp(path, "-") != 0 && run_list_is_directory(path) &&
	    !is_recording(path) &&
	    run_list_add_directory(runs, path, error) != 0)
		return -1;
	return runs->n > first ? 0 : run_list_add(runs, strdup(path), error);
}

int
run_list_add_paths(struct run_list *runs, const char *const *paths, size_t n,
                   struct error *error)
{
	for (size_t i = 0; i < n; i++)
		if (run_list_add_path(runs, paths[i], error) != 0)
			return -1;
	return 0;
}
