/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept.c -- which commits have profiles, and where these are. */
#include "src/shell/session/kept.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/progress.h"
#include "src/base/writer.h"

static const char ending[] = ".merged";

enum { OLD_SECONDS = 24 * 60 * 60 };	/* then nobody writes it any more */

/* ---- the directory ---- */

/* Whether git's directory, or the file that names it, is here and the user's. */
static bool
has_git(const char *directory, bool *is_foreign)
{
	struct stat status;
	char *path;
	bool is_there;

	if (asprintf(&path, "%s/.git", directory) < 0)
		return false;
	is_there = stat(path, &status) == 0 &&
	    (S_ISDIR(status.st_mode) || S_ISREG(status.st_mode));
	free(path);
	*is_foreign = is_there && status.st_uid != geteuid();
	return is_there;
}

/* Finds the work tree that the current directory is in. */
static void
find_top(struct kept *kept, struct error *error)
{
	char *here = getcwd(NULL, 0);
	bool is_foreign = false;

	for (char *slash; here != NULL; *slash = '\0') {
		if (has_git(here, &is_foreign)) {
			/* Its settings may name programs to run. */
			*(is_foreign ? &kept->foreign : &kept->top) =
			    arena_format(&kept->arena, error, "%s", here);
			break;
		}
		slash = strrchr(here, '/');
		if (slash == NULL || here[1] == '\0')
			break;
		if (slash == here)
			slash++;
	}
	free(here);
}

int
kept_open(struct kept *kept, struct error *error)
{
	char *here = getcwd(NULL, 0);

	find_top(kept, error);
	kept->directory = ".cpprof/history";
	if (kept->top != NULL && (here == NULL ||
	                          strcmp(here, kept->top) != 0)) {
		kept->directory = arena_format(&kept->arena, error,
		    "%s/.cpprof/history", kept->top);
		kept->own = strlen(kept->top) + 1;
	}
	free(here);
	return error->is_set ? -1 : 0;
}

void
kept_close(struct kept *kept)
{
	if (kept->lock > 0)
		close(kept->lock);
	if (kept->opened > 0)
		close(kept->opened);
	free(kept->commits);
	arena_free(&kept->arena);
	*kept = (struct kept){ 0 };
}

/* git shows nothing of a directory whose .gitignore has "*". */
static int
write_gitignore(const struct kept *kept, const char *directory,
                struct arena *arena, struct error *error)
{
	const char *path = arena_format(arena, error, "%s/.gitignore",
	                                directory);
	struct new_file file;

	if (path == NULL ||
	    new_file_open_own(&file, path, kept->own, error) != 0)
		return -1;
	writer_put(&file.writer, "*\n", 2);
	return new_file_close(&file, true, error);
}

/* Opens the file whose lock all take that change the directory. */
static int
kept_open_lock(struct kept *kept, struct error *error)
{
	const char *path = arena_format(&kept->arena, error, "%s/.lock",
	                                kept->directory);
	struct own_place place;

	if (path != NULL)
		kept->lock = own_file_open(&place, path, kept->own, 0, 0666,
		                           error);
	return error->is_set ? -1 : 0;
}

int
kept_lock(struct kept *kept, struct error *error)
{
	const char *slash = strrchr(kept->directory, '/');
	const char *above = arena_format(&kept->arena, error, "%.*s",
	    (int)(slash - kept->directory), kept->directory);

	/* Only once, before there is a history: users may want git to see it. */
	if (above == NULL || read_only_check(kept->directory, error) != 0 ||
	    own_directory_make(above, kept->own, 0777, error) != 0 ||
	    (access(kept->directory, F_OK) != 0 &&
	     write_gitignore(kept, above, &kept->arena, error) != 0))
		return -1;
	kept->opened = own_directory_open(kept->directory, kept->own, 0777,
	                                  error);
	if (kept->opened < 0 || kept_open_lock(kept, error) != 0)
		return -1;
	/* Where files have no locks, one process at a time is up to the user. */
	while (flock(kept->lock, LOCK_EX) != 0 && errno == EINTR)
		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
	return 0;
}

/* ---- names of files ---- */

/* Whether a character of a commit's name is one of its file's. */
static bool
is_plain(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '-' || c == '.' || c == '+';
}

const char *
kept_path(struct kept *kept, const char *id, struct error *error)
{
	struct text_buffer text = { 0 };
	const char *path;

	if (strlen(id) > KEPT_ID) {
		error_set(error, "--id %.60s...: a name has at most %d bytes",
		          id, KEPT_ID);
		return NULL;
	}
	text_add_string(&text, kept->directory);
	text_add_char(&text, '/');
	for (const char *c = id; *c != '\0'; c++)
		if (is_plain((unsigned char)*c) && (c > id || *c != '.'))
			text_add_char(&text, *c);
		else
			text_add_format(&text, "%%%02X", (unsigned char)*c);
	text_add_string(&text, ending);
	path = arena_format(&kept->arena, error, "%s", text_string(&text));
	text_free(&text);
	return path;
}

static int
digit_of(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *at = c == '\0' ? NULL : strchr(digits, c);

	return at == NULL ? -1 : (int)(at - digits);
}

/* The commit whose file has that name; NULL: it is none's. */
static const char *
id_of(struct arena *arena, const char *name, struct error *error)
{
	const size_t n = strlen(name), n_ending = sizeof ending - 1;
	char *id;
	size_t at = 0;

	if (name[0] == '.' || n <= n_ending ||
	    strcmp(name + n - n_ending, ending) != 0)
		return NULL;
	id = arena_alloc(arena, n, error);
	for (size_t i = 0; id != NULL && i < n - n_ending; i++) {
		int high = -1, low = -1;

		if (name[i] == '%' && (high = digit_of(name[i + 1])) >= 0)
			low = digit_of(name[i + 2]);
		if (low >= 0 && high + low > 0) {
			id[at++] = (char)(high << 4 | low);
			i += 2;
		} else {
			id[at++] = name[i];
		}
	}
	if (id != NULL)
		id[at] = '\0';
	return id;
}

/* ---- the list ---- */

static int64_t
kept_nanoseconds(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static int
kept_add(struct kept *kept, int directory, const char *name,
         struct error *error)
{
	struct stat status;
	const char *id = id_of(&kept->arena, name, error);

	if (id == NULL || fstatat(directory, name, &status, 0) != 0 ||
	    !S_ISREG(status.st_mode))
		return error->is_set ? -1 : 0;
	if (memory_grow(&kept->commits, &kept->capacity, kept->n + 1,
	                sizeof *kept->commits, error) != 0)
		return -1;
	kept->commits[kept->n++] = (struct kept_commit){
		.id = id,
		.path = arena_format(&kept->arena, error, "%s/%s",
		                     kept->directory, name),
		.time_ns = kept_nanoseconds(&status.st_mtim),
		.size = (uint64_t)status.st_size,
	};
	return error->is_set ? -1 : 0;
}

static int
kept_compare(const void *a, const void *b)
{
	const struct kept_commit *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return strcmp(x->id, y->id);
}

int
kept_list(struct kept *kept, struct error *error)
{
	DIR *directory = opendir(kept->directory);
	struct dirent *entry;

	kept->n = 0;
	if (directory == NULL)
		return errno == ENOENT ? 0 :
		    error_set(error, "%.200s: %s", kept->directory,
		              strerror(errno));
	while (!error->is_set && (entry = readdir(directory)) != NULL)
		kept_add(kept, dirfd(directory), entry->d_name, error);
	closedir(directory);
	if (kept->n > 1)
		qsort(kept->commits, kept->n, sizeof *kept->commits,
		      kept_compare);
	return error->is_set ? -1 : 0;
}

/* ---- removing ---- */

/* Removes files whose writers were killed. */
static void
remove_unfinished(const struct kept *kept)
{
	const int copy = openat(kept->opened, ".", O_RDONLY | O_DIRECTORY |
	                        O_CLOEXEC);
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	struct timespec now;
	struct stat status;

	clock_gettime(CLOCK_REALTIME, &now);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (strncmp(entry->d_name, NEW_FILE_UNFINISHED,
		            strlen(NEW_FILE_UNFINISHED)) == 0 &&
		    fstatat(kept->opened, entry->d_name, &status,
		            AT_SYMLINK_NOFOLLOW) == 0 &&
		    now.tv_sec - status.st_mtim.tv_sec > OLD_SECONDS)
			unlinkat(kept->opened, entry->d_name, 0);
	if (directory != NULL)
		closedir(directory);
	else if (copy >= 0)
		close(copy);
}

int
kept_prune(struct kept *kept, const char *id, size_t most_commits,
           uint64_t most_bytes, size_t *n_removed, struct error *error)
{
	size_t left;
	uint64_t bytes = 0;

	*n_removed = 0;
	remove_unfinished(kept);
	if (kept_list(kept, error) != 0)
		return -1;
	left = kept->n;
	for (size_t i = 0; i < kept->n; i++)
		bytes += kept->commits[i].size;
	for (size_t i = 0; i < kept->n && (left > most_commits ||
	                                   bytes > most_bytes); i++) {
		const struct kept_commit *commit = &kept->commits[i];

		if (strcmp(commit->id, id) == 0)
			continue;
		if (unlinkat(kept->opened, strrchr(commit->path, '/') + 1,
		             0) != 0 && errno != ENOENT)
			return error_set(error, "%.200s: %s", commit->path,
			                 strerror(errno));
		left--;
		bytes -= commit->size;
		++*n_removed;
	}
	return *n_removed == 0 ? 0 : kept_list(kept, error);
}
