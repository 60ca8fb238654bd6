/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording.c -- the directory that a recording is written to.
 *
 * The lock is flock on the directory itself: it needs no file, moves with the
 * directory, and ends with the process that holds it, however that ends.  The
 * program does not inherit the lock.  Processes that outlive the program are
 * found as the writers of their files.
 */
#include "src/shell/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cpprof-shared.h"
#include "src/base/own_file.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"

/* How often other recordings may move the directory before opening it fails. */
enum { MOST_TRIES = 100 };

typedef int entry_function(const char *path, const char *entry, void *context,
                           struct error *error);

/* Calls each for every entry except . and .., until it does not return 0. */
static int
for_each_entry(const char *name, entry_function *each, void *context,
               struct error *error)
{
	DIR *directory = opendir(name);
	const struct dirent *entry;
	int result = 0;

	if (directory == NULL)
		return error_set(error, "%s: %s", name, strerror(errno));
	while (result == 0 && (entry = readdir(directory)) != NULL) {
		char path[PATH_MAX];

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(path, sizeof path, "%s/%s", name,
		                     entry->d_name) < sizeof path)
			result = each(path, entry->d_name, context, error);
	}
	closedir(directory);
	return result;
}

/* Whether an entry is a run of record --repeat: a directory run-N. */
static bool
is_run(const char *path, const char *entry)
{
	const char *number = entry + strlen("run-");
	struct stat status;

	return strncmp(entry, "run-", strlen("run-")) == 0 &&
	    *number != '\0' &&
	    number[strspn(number, "0123456789")] == '\0' &&
	    lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Refuses files of no recording and files that are still being written. */
static int
recording_check_file(const char *path, const char *entry, void *context,
                     struct error *error)
{
	struct recording *recording = context;
	uint64_t pid;

	if (keep_names_is_file(entry) || cpprofdata_is_jit_name(entry, &pid) ||
	    spare_files_has(entry) || code_answers_has(entry) ||
	    strcmp(entry, CPPROF_SHARED_FILE) == 0 ||
	    strcmp(entry, CPPROF_KERNEL_FILE) == 0) {
		recording->is_empty = false;
		return 0;
	}
	if (!cpprofdata_is_file_name(entry, &pid))
		return error_set(error, "%s is not part of a recording; "
		                 "choose another directory with -o", path);
	recording->is_empty = false;
	if (cpprofdata_is_written_by(path, pid))
		return error_set(error, "%s: process %" PRIu64 " is still being "
		                 "recorded there: end it, or choose another "
		                 "directory with -o", recording->name, pid);
	return 0;
}

static int
check_entry(const char *path, const char *entry, void *context,
            struct error *error)
{
	if (is_run(path, entry))
		return for_each_entry(path, recording_check_file, context,
		                      error);
	return recording_check_file(path, entry, context, error);
}

static int
recording_remove_file(const char *path, const char *entry, void *context,
                      struct error *error)
{
	(void)entry, (void)context;
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	return error_set(error, "%s: %s", path, strerror(errno));
}

static int
remove_entry(const char *path, const char *entry, void *context,
             struct error *error)
{
	if (!is_run(path, entry))
		return recording_remove_file(path, entry, context, error);
	if (for_each_entry(path, recording_remove_file, NULL, error) != 0)
		return -1;
	if (rmdir(path) == 0 || errno == ENOENT)
		return 0;
	return error_set(error, "%s: %s", path, strerror(errno));
}

static int
recording_fail(struct recording *recording, int number, struct error *error)
{
	static const int of_machine[] = { EACCES, EDQUOT, EIO, EMFILE, ENFILE,
		ENOMEM, ENOSPC, EPERM, EROFS };

	/* Not about the name or what it stands for. */
	recording->is_impossible = false;
	for (size_t i = 0; i < sizeof of_machine / sizeof *of_machine; i++)
		recording->is_impossible |= number == of_machine[i];
	return error_set(error, "%s: %s; choose another directory with "
	                 "-o", recording->name, strerror(number));
}

bool
recording_is_there(const struct recording *recording)
{
	struct stat opened, named;

	return fstat(recording->directory, &opened) == 0 &&
	    lstat(recording->name, &named) == 0 &&
	    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* Whoever made a link would choose the directory that is emptied. */
static bool
is_link(const char *name)
{
	char plain[PATH_MAX];
	size_t length = strlen(name);
	struct stat status;

	/* A link is followed if a slash follows its name. */
	while (length > 1 && name[length - 1] == '/')
		length--;
	return (size_t)snprintf(plain, sizeof plain, "%.*s", (int)length,
	                        name) < sizeof plain &&
	       lstat(plain, &status) == 0 && S_ISLNK(status.st_mode);
}

/* Other users must not be able to change the recording. */
static int
recording_check_rights(struct recording *recording, struct error *error)
{
	struct stat status;

	if (fstat(recording->directory, &status) != 0)
		return recording_fail(recording, errno, error);
	if (status.st_uid != geteuid())
		return error_set(error, "%s belongs to another user (%ld): "
		                 "choose another directory with -o",
		                 recording->name, (long)status.st_uid);
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	return error_set(error, "%s: other users may write there: run chmod "
	                 "go-w on it, or choose another directory with -o",
	                 recording->name);
}

/* Makes the directory if it does not exist; opens and locks it. */
static int
try_open(struct recording *recording, struct error *error)
{
	struct error why = { 0 };
	struct own_place place;

	if (is_link(recording->name))
		return error_set(error, "%s is a symbolic link: name the "
		                 "directory that it leads to with -o",
		                 recording->name);
	if (own_place_open(&place, recording->name, OWN_NOTHING, 0, &why) != 0)
		return errno != 0 ? recording_fail(recording, errno, error) :
		    error_set(error, "%s; or choose another directory with -o",
		              why.text);
	recording->is_new = mkdirat(place.directory, place.name, 0700) == 0;
	if (recording->is_new || errno == EEXIST)
		recording->directory = openat(place.directory, place.name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	own_place_close(&place);
	if (recording->directory < 0)
		return errno == ENOENT ?
		    0 :
		    recording_fail(recording, errno, error);
	if (recording_check_rights(recording, error) != 0)
		return -1;
	/* Some network file systems have no locks. */
	if (flock(recording->directory, LOCK_EX | LOCK_NB) == 0 ||
	    errno != EWOULDBLOCK)
		return 0;
	recording->is_new = false;
	return error_set(error, "%s: another recording is being written "
	                 "there: wait for its end, or choose another "
	                 "directory with -o", recording->name);
}

/* Tries until the locked directory has the name, as others may move it. */
static int
recording_lock(struct recording *recording, struct error *error)
{
	for (int i = 0; i < MOST_TRIES; i++) {
		recording_close(recording);
		if (try_open(recording, error) != 0)
			return -1;
		if (recording->directory >= 0 && recording_is_there(recording))
			return 0;
	}
	return recording_fail(recording, EBUSY, error);
}

static int
find_path(struct recording *recording, struct error *error)
{
	char *whole = realpath(recording->name, NULL);

	if (whole == NULL)
		return recording_fail(recording, errno, error);
	if ((size_t)snprintf(recording->path, sizeof recording->path, "%s",
	                     whole) >= sizeof recording->path)
		error_set(error, "%s: path too long", recording->name);
	free(whole);
	return error->is_set ? -1 : 0;
}

int
recording_open(struct recording *recording, const char *name,
               enum earlier_recording earlier, struct error *error)
{
	*recording = (struct recording){
		.name = name, .directory = -1, .program = -1,
		.is_empty = true,
	};
	if (recording_lock(recording, error) != 0 ||
	    find_path(recording, error) != 0 ||
	    for_each_entry(name, check_entry, recording, error) != 0) {
		recording_undo(recording);
		return -1;
	}
	if (recording->is_empty || earlier != EARLIER_STAYS)
		return 0;
	recording->needs_force = true;
	return error_set(error, "%s holds a recording; --force replaces it",
	                 name);
}

int
recording_clear(struct recording *recording, enum earlier_recording earlier,
                struct error *error)
{
	const size_t size = sizeof recording->replaced;
	int old = recording->directory, result;

	if (recording->is_empty)
		return 0;
	if (earlier == EARLIER_MOVES) {
		recording->n_moved = earlier_move(recording->name, error);
		if (recording->n_moved == 0)
			return -1;
	} else if ((size_t)snprintf(recording->replaced, size,
	               "%s.replaced-%ld", recording->path, (long)getpid()) >=
	           size ||
	           earlier_rename(recording->path, recording->replaced) != 0) {
		/*
		 * The directory itself cannot be renamed: it is a mount point,
		 * or another user owns its parent.  Its contents are removed
		 * before the program starts.
		 */
		recording->replaced[0] = '\0';
		return for_each_entry(recording->path, remove_entry, NULL,
		                      error);
	}
	recording->directory = -1;
	result = recording_lock(recording, error);
	if (result == 0 && !recording->is_new)
		result = recording_fail(recording, EEXIST, error);
	close(old);
	return result;
}

void
recording_started(struct recording *recording)
{
	struct error error = { 0 };

	if (recording->replaced[0] == '\0')
		return;
	for_each_entry(recording->replaced, remove_entry, NULL, &error);
	rmdir(recording->replaced);
	recording->replaced[0] = '\0';
}

void
recording_undo(struct recording *recording)
{
	if (recording->is_new)
		rmdir(recording->name);
	if (recording->n_moved > 0)
		earlier_move_back(recording->name, recording->n_moved);
	if (recording->replaced[0] != '\0')
		earlier_rename(recording->replaced, recording->path);
	recording->is_new = false;
	recording->n_moved = 0;
	recording->replaced[0] = '\0';
}

void
recording_close(struct recording *recording)
{
	if (recording->directory >= 0)
		close(recording->directory);
	recording->directory = -1;
	if (recording->program >= 0)
		close(recording->program);
	recording->program = -1;
}

static int
summarise_entry(const char *path, const char *entry, void *context,
                struct error *error)
{
	struct error unreadable = { 0 };

	(void)error;
	if (cpprofdata_is_file_name(entry, NULL))
		cpprofdata_summarise(path, context, &unreadable);
	return 0;
}

int
recording_summarise(const char *path, struct cpprofdata_summary *summary,
                    struct error *error)
{
	return for_each_entry(path, summarise_entry, summary, error);
}
