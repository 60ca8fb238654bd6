/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keep_names.c -- writes names into a recording, once its program has ended.
 *
 * Files are opened through the directory's descriptor, so that the directory
 * may be moved in the meantime.
 */
#include "src/shell/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/writer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/shell/terminal/terminal.h"

/* The files of a recording's processes. */
struct process_files {
	char **paths;
	size_t n, capacity;
};

bool
keep_names_is_file(const char *entry)
{
	const size_t n = sizeof CPPROFDATA_NAMES_FILE - 1;

	return strncmp(entry, CPPROFDATA_NAMES_FILE, n) == 0 &&
	    (entry[n] == '\0' || (entry[n] == '.' && entry[n + 1] != '\0' &&
	        entry[n + 1 + strspn(entry + n + 1, "0123456789")] == '\0'));
}

static void
keep_names_free_files(struct process_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->paths[i]);
	free(files->paths);
}

static int
keep_names_list_files(struct process_files *files, int directory,
                      struct error *error)
{
	int descriptor = openat(directory, ".",
	                        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = descriptor < 0 ? NULL : fdopendir(descriptor);
	const struct dirent *entry;
	struct stat status;
	int result = 0;
	char *path;

	if (entries == NULL) {
		error_set(error, "names: %s", strerror(errno));
		if (descriptor >= 0)
			close(descriptor);
		return -1;
	}
	while (result == 0 && (entry = readdir(entries)) != NULL) {
		/* Not a pipe, which could block. */
		if (!cpprofdata_is_file_name(entry->d_name, NULL) ||
		    fstatat(directory, entry->d_name, &status,
		            AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		result = memory_grow(&files->paths, &files->capacity,
		                     files->n + 1, sizeof path, error);
		if (result == 0 && asprintf(&path, "/proc/self/fd/%d/%s",
		                            directory, entry->d_name) < 0)
			result = error_out_of_memory(error);
		if (result == 0)
			files->paths[files->n++] = path;
	}
	closedir(entries);
	return result;
}

/* Whether no other user can have put files there. */
static bool
keep_names_is_own(int directory)
{
	struct stat status;

	return fstat(directory, &status) == 0 && S_ISDIR(status.st_mode) &&
	    status.st_uid == geteuid() && (status.st_mode & 022) == 0;
}

static int
write_new_file(int directory, const char *name,
               const struct process_files *files, bool wants_names,
               bool is_recorder, const struct symbol_search *search,
               struct error *error)
{
	int descriptor = openat(directory, name, O_WRONLY | O_CREAT |
	    O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct progress_line line;
	struct writer *writer;
	int result = -1, number;

	if (descriptor < 0)
		return error_set(error, "names: %s", strerror(errno));
	writer = memory_array(1, sizeof *writer, error);
	if (writer != NULL) {
		writer_start(writer, write_to_descriptor, &descriptor);
		if (wants_names) {
			result = recording_names_write(
			    (const char *const *)files->paths, files->n,
			    search, is_recorder ?
			    recording_names_created_ns(descriptor, "") : 0,
			    progress_line_start(&line, "naming"), writer,
			    error);
			progress_line_end(&line);
		} else {
			result = names_file_write(NULL, writer, error);
		}
		number = writer_flush(writer);
		if (result == 0 && number != 0)
			result = error_set(error, "names: %s",
			                   strerror(number));
		free(writer);
	}
	if (close(descriptor) != 0 && result == 0)
		result = error_set(error, "names: %s", strerror(errno));
	return result;
}

/* Of processes that still run, more may be sampled. */
static void
remove_jit_dumps(int directory, const struct process_files *files)
{
	char name[40];
	uint64_t pid;

	for (size_t i = 0; i < files->n; i++)
		if (cpprofdata_is_file_name(last_component(files->paths[i]),
		                            &pid) &&
		    !cpprofdata_is_written_by(files->paths[i], pid)) {
			snprintf(name, sizeof name, CPPROFDATA_JIT_PREFIX
			         "%" PRIu64 CPPROFDATA_JIT_SUFFIX, pid);
			unlinkat(directory, name, 0);
		}
}

static int
keep_names_write(int directory, bool wants_names, bool is_recorder,
                 const char *symfs, const struct held_files *held,
                 struct error *error)
{
	const struct symbol_search search = { .root = symfs, .held = held };
	struct process_files files = { 0 };
	char new_name[40];
	int result;

	if (!keep_names_is_own(directory))
		return error_set(error, "names are not kept: other users own "
		                 "or can write the directory");
	snprintf(new_name, sizeof new_name, CPPROFDATA_NAMES_FILE ".%ld",
	         (long)getpid());
	unlinkat(directory, new_name, 0);
	result = keep_names_list_files(&files, directory, error);
	if (result == 0)
		result = write_new_file(directory, new_name, &files,
		                        wants_names, is_recorder, &search,
		                        error);
	if (result == 0 && renameat(directory, new_name, directory,
	                            CPPROFDATA_NAMES_FILE) != 0)
		result = error_set(error, "names: %s", strerror(errno));
	if (result != 0)
		unlinkat(directory, new_name, 0);
	else if (wants_names)
		remove_jit_dumps(directory, &files);
	keep_names_free_files(&files);
	return result;
}

int
keep_names(int directory, bool wants_names, const char *symfs,
           const struct held_files *held, struct error *error)
{
	return keep_names_write(directory, wants_names, true, symfs, held,
	                        error);
}

/* Whether the recorder or one of the processes still writes. */
static bool
is_at_work(int directory, const char *path, const struct process_files *files)
{
	bool is_written = false;

	if (flock(directory, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return true;
	flock(directory, LOCK_UN);
	for (size_t i = 0; i < files->n && !is_written; i++) {
		const char *entry = last_component(files->paths[i]);
		uint64_t pid;
		char *whole;

		if (asprintf(&whole, "%s/%s", path, entry) < 0)
			return true;
		is_written = cpprofdata_is_file_name(entry, &pid) &&
		    cpprofdata_is_written_by(whole, pid);
		free(whole);
	}
	return is_written;
}

int
keep_names_late(const char *path, const char *symfs, struct error *error)
{
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct process_files files = { 0 };
	struct error why = { 0 };

	if (directory < 0)
		return 0;
	if (!read_only_is_on() && keep_names_is_own(directory) &&
	    keep_names_list_files(&files, directory, &why) == 0 &&
	    recording_names_are_missing((const char *const *)files.paths,
	                                files.n) &&
	    !is_at_work(directory, path, &files))
		keep_names_write(directory, true, false, symfs, NULL, &why);
	keep_names_free_files(&files);
	close(directory);
	return progress_step(NULL, 0, 0, error);
}
