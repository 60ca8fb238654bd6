/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c -- from paths to one profile.
 *
 * Directories become the files in them, each file is read by the format that
 * is most sure of it, and what was read is merged.  A file that was named must
 * be whole enough to be read; one that was found in a directory is left out
 * with a warning, so that one process that died early does not take the
 * profiles of all others with it.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "src/base/memory.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/format.h"
#include "src/formats/reader.h"
#include "src/formats/source.h"
#include "src/profile/profile_merge.h"
#include "src/symbols/names/program.h"

struct load_input {
	char *path;
	bool was_found;		/* in a directory, not named */
};

/* The files to read; the texts are the list's own. */
struct file_list {
	struct load_input *files;
	size_t n, capacity;
};

/* What was read of them. */
struct load_loaded {
	struct profile_adder adder;
	uint32_t n;
	struct error *left_out;		/* why, of files that were found */
	size_t n_left_out, left_out_capacity;
};

static void
file_list_free(struct file_list *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->files[i].path);
	free(files->files);
}

/* Takes over path, which may be NULL for want of memory. */
static int
file_list_add(struct file_list *files, char *path, bool was_found,
              struct error *error)
{
	if (path == NULL)
		return error_out_of_memory(error);
	if (memory_grow(&files->files, &files->capacity, files->n + 1,
	                sizeof *files->files, error) != 0) {
		free(path);
		return -1;
	}
	files->files[files->n++] = (struct load_input){ path, was_found };
	return 0;
}

static int
load_compare_files(const void *a, const void *b)
{
	const struct load_input *left = a, *right = b;

	return strcmp(left->path, right->path);
}

static int
load_add_entries(struct file_list *files, const char *path, DIR *directory,
                 struct error *error)
{
	const struct dirent *entry;

	while (errno = 0, (entry = readdir(directory)) != NULL) {
		char *name;

		if (fnmatch("cpprofdata*", entry->d_name, 0) != 0)
			continue;
		if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
			name = NULL;
		if (file_list_add(files, name, true, error) != 0)
			return -1;
	}
	if (errno != 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	return 0;
}

/* Says why a directory without files of ours is no profile. */
static int
set_no_profile(const char *path, struct error *error)
{
	char name[PATH_MAX];

	snprintf(name, sizeof name, "%s/corespace", path);
	if (access(name, F_OK) == 0)
		return error_set(error, "%s: a trace of Instruments, which "
		                 "cannot be read; convert it: xctrace export "
		                 "--input %s --xpath '/trace-toc/*/data/"
		                 "table[@schema=\"time-profile\"]' | "
		                 "inferno-collapse-xctrace", path, path);
	return error_set(error, "%s: a directory without cpprofdata files; "
	                 "name the profiles in it", path);
}

/* The main file of a directory that `perf record --threads` has written. */
static int
add_perf_data(struct file_list *files, const char *path, struct error *error)
{
	struct stat status;
	char *name;

	if (asprintf(&name, "%s/data", path) < 0)
		return error_out_of_memory(error);
	if (stat(name, &status) == 0 && S_ISREG(status.st_mode))
		return file_list_add(files, name, false, error);
	free(name);
	return 0;
}

/* The files of a recording, in byte order; none if it is no recording. */
static int
add_recording(struct file_list *files, const char *path, struct error *error)
{
	DIR *directory = opendir(path);
	size_t first = files->n;
	int result;

	if (directory == NULL)
		return error_set(error, "%s: %s", path, strerror(errno));
	result = load_add_entries(files, path, directory, error);
	closedir(directory);
	if (files->n > first)
		qsort(files->files + first, files->n - first,
		      sizeof *files->files, load_compare_files);
	return result;
}

static int
add_directory(struct file_list *files, const char *path, struct error *error)
{
	size_t first = files->n;
	int result = add_recording(files, path, error);

	if (result == 0 && files->n == first)
		result = add_perf_data(files, path, error);
	if (result == 0 && files->n == first) {
		struct run_list runs = { 0 };

		/* The files of several recordings that are in one directory. */
		result = run_list_add_directory(&runs, path, error);
		for (size_t i = 0; result == 0 && i < runs.n; i++)
			result = add_recording(files, runs.paths[i], error);
		run_list_free(&runs);
	}
	if (result == 0 && files->n == first)
		result = set_no_profile(path, error);
	return result;
}

static bool
has_standard_input(const struct file_list *files)
{
	for (size_t i = 0; i < files->n; i++)
		if (strcmp(files->files[i].path, "-") == 0)
			return true;
	return false;
}

static int
load_add_path(struct file_list *files, const char *path, struct error *error)
{
	bool is_standard_input = strcmp(path, "-") == 0;
	struct stat status;

	if (is_standard_input && has_standard_input(files))
		return error_set(error, "standard input can be read only "
		                 "once");
	if (!is_standard_input && stat(path, &status) == 0 &&
	    S_ISDIR(status.st_mode))
		return add_directory(files, path, error);
	return file_list_add(files, strdup(path), false, error);
}

/* Moves the program that is among the files, if one is, to the options. */
static int
take_program(struct file_list *files, struct read_options *options,
             struct error *error)
{
	size_t n = 0;

	options->program = NULL;
	for (size_t i = 0; i < files->n; i++) {
		struct load_input file = files->files[i];

		if (file.was_found || !program_is_one(file.path)) {
			files->files[n++] = file;
		} else if (options->program == NULL) {
			options->program = file.path;
		} else {
			error_set(error, "%s: %s is already the program; name "
			          "only one", file.path, options->program);
			files->files[n++] = file;
		}
	}
	files->n = n;
	if (n == 0 && !error->is_set)
		error_set(error, "%s is a program, not a profile; record it "
		          "with: cpprof record %s", options->program,
		          options->program);
	return error->is_set ? -1 : 0;
}

/* A byte that is not text is most often what is wrong. */
static int
set_unknown_format(const struct source *source, const char *head, size_t size,
                   struct error *error)
{
	char known[500] = "";
	size_t length = 0, binary = line_find_binary(head, size);

	for (size_t i = 0; formats[i] != NULL; i++) {
		int more = snprintf(known + length, sizeof known - length,
		                    "%s%s", i > 0 ? ", " : "",
		                    formats[i]->name);

		if (more < 0 || (size_t)more >= sizeof known - length)
			break;
		length += (size_t)more;
	}
	if (source_damage(source) != NULL)
		return error_set(error, "%s: %s; what is before that is not a "
		                 "profile of a known format", source_name(source),
		                 source_damage(source));
	if (binary == size)
		return error_set(error, "%s: not a profile of a known format "
		                 "(%s)", source_name(source), known);
	return error_set(error, "%s: unknown format: byte 0x%02x at 0x%zx is "
	                 "not text (known: %s)", source_name(source),
	                 (unsigned char)head[binary], binary, known);
}

/* Refuses what no reader takes, by name where it is known; 0 or -1. */
static int
refuse_foreign(const struct source *source, const char *head, size_t size,
               int best_answer, struct error *error)
{
	const struct foreign_format *foreign = best_answer == PROBE_SURE ?
	    NULL : foreign_format_find(head, size,
	                               best_answer < PROBE_LIKELY);

	if (foreign != NULL)
		return error_set(error, "%s: not a profile of a known format, "
		                 "but %s; %s", source_name(source),
		                 foreign->name, foreign->advice);
	return best_answer != PROBE_NO ? 0 :
	       set_unknown_format(source, head, size, error);
}

/* The first bytes after a byte-order mark, which many editors write. */
static const char *
peek_head(struct source *source, size_t *size, struct error *error)
{
	const char *head = source_peek(source, FORMAT_HEAD_SIZE, size, error);

	if (head == NULL || *size < 3 || memcmp(head, "\xef\xbb\xbf", 3) != 0)
		return head;
	source_skip(source, 3);
	return source_peek(source, FORMAT_HEAD_SIZE, size, error);
}

/* The format of the source; only: it must be this one, NULL: any. */
static const struct format *
find_format(struct source *source, const struct format *only,
            struct error *error)
{
	const struct format *best = NULL;
	int best_answer = PROBE_NO;
	size_t size;
	const char *head = peek_head(source, &size, error);

	if (head == NULL)
		return NULL;
	if (size == 0) {
		const char *damage = source_damage(source);

		if (damage != NULL)
			error_set(error, "%s: %s before its first line",
			          source_name(source), damage);
		else
			error_set(error, "%s: the file is empty",
			          source_name(source));
		return NULL;
	}
	if (size > FORMAT_HEAD_SIZE)
		size = FORMAT_HEAD_SIZE;
	if (only != NULL) {
		if (only->probe(head, size) == PROBE_SURE)
			return only;
		error_set(error, "%s: not a %s", source_name(source),
		          only->name);
		return NULL;
	}
	for (size_t i = 0; formats[i] != NULL; i++) {
		int answer = formats[i]->probe(head, size);

		if (answer == PROBE_OUT_OF_MEMORY) {
			error_out_of_memory(error);
			return NULL;
		}
		if (answer > best_answer) {
			best_answer = answer;
			best = formats[i];
		}
	}
	return refuse_foreign(source, head, size, best_answer, error) == 0 ?
	       best : NULL;
}

static int
set_origin(struct profile *profile, const struct source *source,
           struct error *error)
{
	const char *name = source_name(source);

	profile->n_files = 1;
	profile->name = arena_text(&profile->arena, name, strlen(name), error);
	return profile->name != NULL ? 0 : -1;
}

/* Adds a file to the hash: that of several is made of theirs, in order. */
static int
hash_content(struct content *content, struct source *source,
             struct error *error)
{
	unsigned char both[2 * CONTENT_HASH_SIZE];
	XXH128_canonical_t canonical;

	memcpy(both, content->hash, CONTENT_HASH_SIZE);
	if (source_content(source, both + CONTENT_HASH_SIZE, error) != 0)
		return -1;
	if (content->n++ == 0) {
		memcpy(content->hash, both + CONTENT_HASH_SIZE,
		       CONTENT_HASH_SIZE);
		return 0;
	}
	XXH128_canonicalFromHash(&canonical, XXH3_128bits(both, sizeof both));
	memcpy(content->hash, canonical.digest, CONTENT_HASH_SIZE);
	return 0;
}

static struct profile *
load_file(const char *path, const struct format *only,
          const struct read_options *options, struct error *error)
{
	struct source *source = options->content != NULL ?
	    source_open_hashed(path, error) : source_open(path, error);
	const struct format *format;
	struct profile *profile = NULL;

	if (source == NULL)
		return NULL;
	format = find_format(source, only, error);
	if (format != NULL)
		profile = format->read(source, options, error);
	if (profile != NULL &&
	    (set_origin(profile, source, error) != 0 ||
	     profile_link_levels(profile, error) != 0 ||
	     (source_is_too_much(source) &&
	      profile_warn(profile, error,
	                   "%s: stopped reading at %d times its packed size; "
	                   "if the file can be trusted, unpack it first",
	                   source_name(source), UNPACKED_RATIO) != 0) ||
	     (options->content != NULL &&
	      hash_content(options->content, source, error) != 0))) {
		profile_free(profile);
		profile = NULL;
	}
	source_close(source);
	return profile;
}

/* A pipe that lies in a directory must not make us wait for a writer. */
static bool
is_odd(const struct load_input *file)
{
	struct stat status;

	return file->was_found && stat(file->path, &status) == 0 &&
	    !S_ISREG(status.st_mode);
}

static int
load_one(struct load_loaded *loaded, const struct load_input *file,
         const struct read_options *options, struct error *error)
{
	struct error why = { 0 };
	struct profile *profile = NULL;

	if (is_odd(file))
		error_set(&why, "%s: not a regular file", file->path);
	else
		profile = load_file(file->path, NULL, options, &why);
	if (profile != NULL) {
		loaded->n++;
		return profile_adder_add(&loaded->adder, profile, error);
	}
	/* What went wrong outside the file is not a reason to leave it out. */
	if (!file->was_found || interrupt_requested || why.is_out_of_memory)
		return error_pass(error, &why);
	if (memory_grow(&loaded->left_out, &loaded->left_out_capacity,
	                loaded->n_left_out + 1, sizeof why, error) != 0)
		return -1;
	loaded->left_out[loaded->n_left_out++] = why;
	return 0;
}

struct profile *
load_of_format(const char *path, const struct format *format,
               const struct read_options *options, struct error *error)
{
	const struct load_input file = { (char *)path, .was_found = true };

	if (is_odd(&file)) {
		error_set(error, "%s: not a regular file", path);
		return NULL;
	}
	return load_file(path, format, options, error);
}

static bool
load_has_samples(const struct profile *profile)
{
	uint64_t samples = 0;

	for (uint32_t r = 0; r < profile->n_resources && samples == 0; r++)
		profile_hits(profile, r, &samples);
	return samples > 0;
}

/* What was read as one profile, which is then the caller's. */
static struct profile *
load_sum_up(struct load_loaded *loaded, struct error *error)
{
	struct profile *sum;

	if (loaded->n == 0) {
		error_pass(error, &loaded->left_out[0]);
		return NULL;
	}
	sum = profile_adder_take(&loaded->adder, error);
	if (sum != NULL && loaded->n_left_out > 0 && !load_has_samples(sum)) {
		error_set(error, "%s; the other files have no samples either",
		          loaded->left_out[0].text);
		profile_free(sum);
		return NULL;
	}
	for (size_t i = 0; sum != NULL && i < loaded->n_left_out; i++)
		if (profile_warn(sum, error, "%s (left out)",
		                 loaded->left_out[i].text) != 0) {
			profile_free(sum);
			sum = NULL;
		}
	return sum;
}

static struct profile *
load_files(const struct file_list *files, const struct read_options *options,
           struct error *error)
{
	struct load_loaded loaded = { 0 };
	struct profile *sum = NULL;
	size_t i = 0;

	while (i < files->n &&
	       load_one(&loaded, &files->files[i], options, error) == 0)
		i++;
	if (i == files->n)
		sum = load_sum_up(&loaded, error);
	profile_adder_free(&loaded.adder);
	free(loaded.left_out);
	return sum;
}

struct profile *
load_profiles(const char *const *paths, size_t n,
              const struct read_options *options, struct error *error)
{
	const struct symbol_search search = { .root = options->symfs };
	struct read_options shared = *options;
	struct file_list files = { 0 };
	struct profile *profile = NULL;
	bool is_program_used = false;
	size_t i = 0;
	size_t kept = 0;

	if (options->modules == NULL)
		shared.modules = module_cache_new(&search, error);
	shared.names = recording_names_new(error);
	if (shared.modules == NULL || shared.names == NULL) {
		if (options->modules == NULL)
			module_cache_free(shared.modules);
		recording_names_free(shared.names);
		return NULL;
	}
	while (i < n && load_add_path(&files, paths[i], error) == 0)
		i++;
	/*
	 * All files of a recording's directory may be named: one of them is
	 * names.
	 */
	for (size_t k = 0; k < files.n; k++) {
		struct load_input file = files.files[k];

		if ((kept > 0 || k + 1 < files.n) && !file.was_found &&
		    recording_names_is_file(file.path))
			free(file.path);
		else
			files.files[kept++] = file;
	}
	files.n = kept;
	shared.is_program_used = &is_program_used;
	if (i == n && take_program(&files, &shared, error) == 0) {
		/* What is merged with others needs a tree. */
		if (files.n > 1)
			shared.stacks = NULL;
		profile = load_files(&files, &shared, error);
	}
	if (profile != NULL && profile->fleet == NULL &&
	    profile_distinguish_functions(profile, error) != 0) {
		profile_free(profile);
		profile = NULL;
	}
	if (profile != NULL && shared.program != NULL && !is_program_used &&
	    profile_warn(profile, error,
	                 "%s: not used, because the profile names its own "
	                 "files; if these moved, use --symfs DIR",
	                 shared.program) != 0) {
		profile_free(profile);
		profile = NULL;
	}
	file_list_free(&files);
	free((char *)shared.program);
	recording_names_free(shared.names);
	if (options->modules == NULL)
		module_cache_free(shared.modules);
	return profile;
}
