/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording_names.c -- the names kept in a recording's directory.
 *
 * Writing them needs no stacks: each node's address is entered once for all
 * processes, under the module that they share.
 */
#include "src/formats/cpprofdata/cpprofdata_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/formats/cpprofdata/cpprofdata_internal.h"
#include "src/symbols/names/address_frames.h"

struct recording_names {
	char *path;		/* of the file; NULL: none yet */
	struct kept_names *kept;
};

struct recording_names *
recording_names_new(struct error *error)
{
	return memory_array(1, sizeof(struct recording_names), error);
}

static void
forget(struct recording_names *names)
{
	free(names->path);
	kept_names_free(names->kept);
	*names = (struct recording_names){ 0 };
}

void
recording_names_free(struct recording_names *names)
{
	if (names == NULL)
		return;
	forget(names);
	free(names);
}

static char *
path_beside(const char *file, struct error *error)
{
	const char *slash = strrchr(file, '/');
	int length = slash == NULL ? 0 : (int)(slash + 1 - file);
	char *path;

	if (asprintf(&path, "%.*s" CPPROFDATA_NAMES_FILE, length, file) < 0) {
		error_out_of_memory(error);
		return NULL;
	}
	return path;
}

/* The header of any of the collector's files; all zero for another file. */
static struct cpprofdata_header
recording_names_read_header(const char *path)
{
	struct cpprofdata_header header = { 0 };
	struct error error = { 0 };
	const char *bytes = NULL;
	struct source *source;
	struct stat status;
	size_t size = 0;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return header;
	source = source_open(path, &error);
	if (source != NULL)
		bytes = source_peek(source, sizeof header, &size, &error);
	if (bytes != NULL && size >= sizeof header &&
	    memcmp(bytes, CPPROFDATA_MAGIC,
	           sizeof CPPROFDATA_MAGIC - 1) == 0)
		memcpy(&header, bytes, sizeof header);
	source_close(source);
	return header;
}

bool
recording_names_is_file(const char *path)
{
	struct cpprofdata_header header;

	if (strcmp(last_component(path), CPPROFDATA_NAMES_FILE) != 0)
		return false;
	header = recording_names_read_header(path);
	return (le32toh(header.flags) & CPPROFDATA_NAMES) != 0;
}

bool
recording_names_are_missing(const char *const *files, size_t n)
{
	struct error error = { 0 };
	char *path = n > 0 ? path_beside(files[0], &error) : NULL;
	struct cpprofdata_header header;
	struct stat status;
	bool are_missing;

	if (path == NULL)
		return false;
	are_missing = lstat(path, &status) != 0 && errno == ENOENT;
	header = recording_names_read_header(path);
	free(path);
	if (are_missing || header.start_ns == 0 ||
	    (le32toh(header.flags) & CPPROFDATA_NAMES) == 0)
		return are_missing;
	/* A process that outlived `record` has taken samples later. */
	for (size_t i = 0; i < n && !are_missing; i++)
		are_missing = le64toh(recording_names_read_header(files[i])
		                          .last_sample_ns) >
		    le64toh(header.start_ns);
	return are_missing;
}

uint64_t
recording_names_created_ns(int directory, const char *path)
{
	struct statx status;

	if (statx(directory, path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
	          STATX_BTIME, &status) != 0 ||
	    (status.stx_mask & STATX_BTIME) == 0)
		return 0;
	return (uint64_t)status.stx_btime.tv_sec * 1000000000 +
	    status.stx_btime.tv_nsec;
}

bool
recording_names_were_made_here(const char *file)
{
	struct error error = { 0 };
	char *path = path_beside(file, &error);
	struct cpprofdata_header header = { 0 };
	uint64_t created_ns = 0;
	struct stat status;

	if (path == NULL)
		return false;
	if (lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_uid == geteuid() && status.st_nlink == 1) {
		created_ns = recording_names_created_ns(AT_FDCWD, path);
		header = recording_names_read_header(path);
	}
	free(path);
	return (le32toh(header.flags) & CPPROFDATA_NAMES) != 0 &&
	    created_ns != 0 && le64toh(header.end_ns) == created_ns;
}

/* Refuses pipes, which could block; *why: what is wrong with the file. */
static struct kept_names *
recording_names_read_names(const char *path, struct error *why)
{
	struct error error = { 0 }, damage = { 0 };
	struct kept_names *kept = NULL;
	struct source *source;
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return NULL;
	source = source_open(path, &error);
	if (source != NULL)
		kept = names_file_read(source, &damage, &error);
	if (error.is_out_of_memory)
		error_pass(why, &error);
	else if (error.is_set)
		error_set(why, "%s; names are looked up where the programs were",
		          error.text);
	else if (damage.is_set)
		error_set(why, "%s: %s; missing names are looked up "
		          "where the programs were", path, damage.text);
	source_close(source);
	return kept;
}

int
recording_names_beside(struct recording_names *names, const char *file,
                       struct profile *profile,
                       const struct kept_names **kept, struct error *error)
{
	struct error why = { 0 };
	char *path;

	*kept = NULL;
	if (names == NULL)
		return 0;
	path = path_beside(file, error);
	if (path == NULL)
		return -1;
	if (names->path == NULL || strcmp(names->path, path) != 0) {
		forget(names);
		names->kept = recording_names_read_names(path, &why);
		names->path = path;
	} else {
		free(path);
	}
	*kept = names->kept;
	if (why.is_out_of_memory)
		return error_pass(error, &why);
	return why.is_set ? profile_warn(profile, error, "%s", why.text) : 0;
}

/* ---- writing ---- */

struct collecting {
	struct profile *profile;
	struct address_frames *frames;
	struct names *modules;		/* pairs of path and build: number in
					 * the profile */
	uint32_t *numbers;		/* for each module of the file, its
					 * number */
	size_t numbers_capacity;
	const struct kept_names *kept;	/* names kept already */
	uint64_t *outside;		/* of the file, outside all modules */
	size_t n_outside, outside_capacity;
	struct named_process *processes;
	size_t n_processes, processes_capacity;
	struct named_code *codes;
	size_t n_codes, codes_capacity;
	struct location *locations;	/* of codes */
	size_t n_locations, locations_capacity;
	uint64_t named_ns;		/* when naming began */
	uint64_t created_ns;		/* see names_file */
};

/* Enters the modules of one file, which other files may have had, too. */
static int
collect_modules(struct collecting *collecting,
                const struct cpprofdata_file *file, struct error *error)
{
	const struct cpprofdata_runs *runs = &file->runs[CPPROFDATA_MODULES];
	struct cpprofdata_record record = { 0 };

	if (memory_grow(&collecting->numbers, &collecting->numbers_capacity,
	                cpprofdata_runs_count(runs) + 1,
	                sizeof *collecting->numbers, error) != 0)
		return -1;
	while (cpprofdata_next(runs, file->bytes, &record)) {
		uint32_t number = cpprofdata_add_module(file, record.bytes,
		    collecting->profile, collecting->modules, error);

		if (number == UINT32_MAX)
			return -1;
		collecting->numbers[record.index] = number;
	}
	return 0;
}

/* Enters the addresses of its nodes. */
static int
collect_nodes(struct collecting *collecting,
              const struct cpprofdata_file *file, struct error *error)
{
	struct cpprofdata_record record = { 0 };

	while (cpprofdata_next(&file->runs[CPPROFDATA_NODES], file->bytes,
	                       &record)) {
		struct cpprofdata_node node;
		uint32_t module;

		memcpy(&node, record.bytes, sizeof node);
		module = le32toh(node.module);
		if (module == CPPROFDATA_NO_MODULE) {
			if (memory_grow(&collecting->outside,
			                &collecting->outside_capacity,
			                collecting->n_outside + 1,
			                sizeof *collecting->outside,
			                error) != 0)
				return -1;
			collecting->outside[collecting->n_outside++] =
			    le64toh(node.offset);
			continue;
		}
		module = cpprofdata_index_of(&file->runs[CPPROFDATA_MODULES],
		                             module);
		if (module != UINT32_MAX &&
		    address_frames_add(collecting->frames,
		                       collecting->numbers[module],
		                       le64toh(node.offset), error) ==
		    UINT32_MAX)
			return -1;
	}
	return 0;
}

static int
recording_names_compare_addresses(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* The name in the profile of a kept text. */
static uint32_t
kept_text(struct collecting *collecting, uint32_t name, struct error *error)
{
	const struct names *texts = kept_names_texts(collecting->kept);

	return name == NO_NAME ? NO_NAME : names_add(
	    collecting->profile->names, names_text(texts, name),
	    names_length(texts, name), error);
}

/* Adds a location to a code, the last that has any. */
static void
add_code_location(struct collecting *collecting, struct named_code *code,
                  struct location location, struct error *error)
{
	if (collecting->n_locations >= UINT32_MAX ||
	    memory_grow(&collecting->locations,
	                &collecting->locations_capacity,
	                collecting->n_locations + 1,
	                sizeof *collecting->locations, error) != 0)
		return;
	if (code->n_locations++ == 0)
		code->first_location = (uint32_t)collecting->n_locations;
	collecting->locations[collecting->n_locations++] = location;
}

static void
add_found_location(struct collecting *collecting, struct named_code *code,
                   const char *function, const char *file, uint32_t line,
                   struct error *error)
{
	struct names *names = collecting->profile->names;
	const struct location location = {
		.function = function == NULL ? NO_NAME :
		    names_add(names, function, strlen(function), error),
		.file = file == NULL ? NO_NAME :
		    names_add(names, file, strlen(file), error),
		.line = line,
		.linkage = NO_NAME,
	};

	add_code_location(collecting, code, location, error);
}

/*
 * Enters what is known of an address of code generated at run time; false if
 * nothing is known.
 */
static bool
find_code(struct collecting *collecting, const struct kept_range *range,
          const struct jit_map *map, struct named_code *code,
          struct error *error)
{
	const struct kept_address *kept = range == NULL ? NULL :
	    kept_names_find(collecting->kept, range, code->address);
	struct names *names = collecting->profile->names;
	const struct location *location;
	struct jit_code found;

	if (kept != NULL) {
		code->function = kept_text(collecting, kept->function, error);
		code->offset = kept->offset;
		location = kept_names_locations(collecting->kept, kept);
		for (uint32_t i = 0; i < kept->n; i++) {
			struct location copy = location[i];

			copy.function = kept_text(collecting, copy.function,
			                          error);
			copy.file = kept_text(collecting, copy.file, error);
			copy.linkage = kept_text(collecting, copy.linkage,
			                         error);

			add_code_location(collecting, code, copy, error);
		}
		return true;
	}
	if (!jit_map_at(map, code->address, &found))
		return false;
	code->function = names_add(names, found.name, strlen(found.name),
	                           error);
	if (code->address - found.start < NO_OFFSET)
		code->offset = (uint32_t)(code->address - found.start);
	if (found.file != NULL || found.n_calls > 0)
		add_found_location(collecting, code, NULL, found.file,
		                   found.line, error);
	for (uint32_t i = 0; i < found.n_calls; i++)
		add_found_location(collecting, code, found.calls[i].name,
		                   found.calls[i].file, found.calls[i].line,
		                   error);
	return true;
}

/*
 * A process is entered even if nothing is known of its addresses, since a
 * later process with its pid may write names that are not its own.
 */
static int
name_outside(struct collecting *collecting, const struct cpprofdata_file *file,
             struct error *error)
{
	struct named_process process = { file->header.pid,
		file->header.start_ns, collecting->n_codes, 0 };
	const struct kept_range *range = collecting->kept == NULL ? NULL :
	    kept_names_process(collecting->kept, process.pid,
	                       process.start_ns);
	const uint64_t *outside = collecting->outside;
	struct jit_map *map;

	if (collecting->n_outside == 0)
		return 0;
	qsort(collecting->outside, collecting->n_outside,
	      sizeof *collecting->outside, recording_names_compare_addresses);
	map = cpprofdata_jit_map(file, error);
	if (map == NULL)
		return -1;
	for (size_t i = 0; i < collecting->n_outside; i++) {
		struct named_code code = { .address = outside[i],
			.function = NO_NAME, .offset = NO_OFFSET };

		if ((i > 0 && outside[i] == outside[i - 1]) ||
		    !find_code(collecting, range, map, &code, error))
			continue;
		if (error->is_set ||
		    memory_grow(&collecting->codes,
		                &collecting->codes_capacity,
		                collecting->n_codes + 1, sizeof code,
		                error) != 0)
			break;
		collecting->codes[collecting->n_codes++] = code;
		process.n++;
	}
	jit_map_free(map);
	collecting->n_outside = 0;
	if (error->is_set ||
	    memory_grow(&collecting->processes,
	                &collecting->processes_capacity,
	                collecting->n_processes + 1, sizeof process,
	                error) != 0)
		return -1;
	collecting->processes[collecting->n_processes++] = process;
	return 0;
}

/* A file that cannot be read is skipped. */
static int
collect_file(struct collecting *collecting, const char *path,
             struct error *error)
{
	struct error unreadable = { 0 };
	struct cpprofdata_file file;
	struct source *source;
	int result = 0;

	if (progress_step(NULL, 0, 0, error) != 0)
		return -1;
	source = source_open(path, &unreadable);
	if (source != NULL &&
	    cpprofdata_file_open(&file, source, &unreadable) == 0) {
		if (collect_modules(collecting, &file, error) != 0 ||
		    collect_nodes(collecting, &file, error) != 0 ||
		    name_outside(collecting, &file, error) != 0)
			result = -1;
		cpprofdata_file_close(&file);
	}
	source_close(source);
	if (unreadable.is_out_of_memory)
		return error_out_of_memory(error);
	return result;
}

static int
write_collected(struct collecting *collecting,
                const struct symbol_search *search,
                const struct progress *progress, struct writer *writer,
                struct error *error)
{
	struct names_file names = {
		.profile = collecting->profile,
		.processes = collecting->processes,
		.n_processes = collecting->n_processes,
		.codes = collecting->codes,
		.code_locations = collecting->locations,
		.named_ns = collecting->named_ns,
		.created_ns = collecting->created_ns,
	};
	struct module_cache *modules = module_cache_new(search, error);
	struct address_lines *lines = address_lines_new(search, error);
	int result = -1;

	names.lines = lines;
	if (modules != NULL && lines != NULL &&
	    address_frames_finish(collecting->frames, collecting->profile,
	                          modules, error) == 0 &&
	    address_lines_apply(lines, collecting->profile, LINES_ALL, progress,
	                        error) == 0)
		result = names_file_write(&names, writer, error);
	address_lines_free(lines);
	module_cache_free(modules);
	return result;
}

int
recording_names_write(const char *const *files, size_t n,
                      const struct symbol_search *search,
                      uint64_t created_ns, const struct progress *progress,
                      struct writer *writer, struct error *error)
{
	struct collecting collecting = {
		.created_ns = created_ns,
		.profile = profile_new(error),
		.frames = address_frames_new(error),
		.modules = names_new(error),
	};
	struct recording_names *known = recording_names_new(error);
	int result = error->is_set ? -1 : 0;

	collecting.named_ns = clock_ns(CLOCK_REALTIME);
	if (result == 0 && n > 0)
		result = recording_names_beside(known, files[0],
		    collecting.profile, &collecting.kept, error);
	for (size_t i = 0; i < n && result == 0; i++)
		result = collect_file(&collecting, files[i], error);
	if (result == 0) {
		address_frames_use(collecting.frames, collecting.kept);
		result = write_collected(&collecting, search, progress, writer,
		                         error);
	}
	recording_names_free(known);
	profile_free(collecting.profile);
	address_frames_free(collecting.frames);
	names_free(collecting.modules);
	free(collecting.numbers);
	free(collecting.outside);
	free(collecting.processes);
	free(collecting.codes);
	free(collecting.locations);
	return result;
}
