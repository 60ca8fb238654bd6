/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept_git_check.c -- whether a repository's files are files.
 *
 * libgit2 opens by name what a repository has for a file.  A named pipe would
 * make it wait for ever, and settings may include any file of the machine.  So
 * before it reads a repository, all that it may open is looked at:
 *
 *	TOP/.git		or what that file names, and what commondir
 *				names there: the directories of git
 *	    config		includes nothing
 *	    HEAD, index, ...	no pipes or devices; nor below
 *	    refs, objects, ...	these, which have no links to directories
 *	    objects/info/alternates	names more directories like objects
 */
#include "src/shell/session/kept.h"

#include <ctype.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/named_file.h"
#include "src/base/progress.h"

enum {
	TEXT_BYTES_MOST = 4 << 20,	/* of a file that is read here */
	ENTRIES_MOST = 4000000,		/* that are looked at */
	ALTERNATES_MOST = 20,
};

struct kept_git_check {
	struct arena arena;
	size_t n_entries;
	const char *objects[ALTERNATES_MOST];	/* [n_objects] to look at */
	size_t n_objects;
};

/* The text of a file; "" if it is missing.  NULL with *error set. */
static char *
kept_git_check_read(struct kept_git_check *check, struct error *error,
                    const char *directory, const char *name)
{
	const char *path = arena_format(&check->arena, error, "%s/%s",
	                                directory, name);
	struct stat status;
	char *text = NULL;
	ssize_t n = 0;
	int file;

	if (path == NULL)
		return NULL;
	switch (named_file_open(path, 0, &file, &status)) {
	case NAMED_FILE_OPEN:
		break;
	case NAMED_FILE_MISSING:
		return arena_text(&check->arena, "", 0, error);
	default:
		error_set(error, "%.200s: expected a regular file", path);
		return NULL;
	}
	if (status.st_size > TEXT_BYTES_MOST)
		error_set(error, "%.200s: expected at most %d bytes", path,
		          TEXT_BYTES_MOST);
	else
		text = arena_alloc(&check->arena, (size_t)status.st_size + 1,
		                   error);
	if (text != NULL)
		n = read(file, text, (size_t)status.st_size);
	close(file);
	if (n < 0)
		error_set(error, "%.200s cannot be read", path);
	/* What follows a NUL counts, too. */
	for (ssize_t i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return n < 0 ? NULL : text;
}

/* A path that stands in a file, of which a relative one begins in a directory;
 * without what ends its line. */
static const char *
kept_git_check_join(struct kept_git_check *check, struct error *error,
                    const char *directory, const char *path)
{
	const int n = (int)strcspn(path, "\r\n");

	if (*path == '/')
		return arena_format(&check->arena, error, "%.*s", n, path);
	return arena_format(&check->arena, error, "%s/%.*s", directory, n,
	                    path);
}

/* Settings may not include files.  What only looks so does not matter. */
static int
kept_git_check_settings(struct kept_git_check *check, const char *directory,
                        const char *name, struct error *error)
{
	static const char section[] = "include";
	const char *at = kept_git_check_read(check, error, directory, name);

	while (at != NULL && (at = strchr(at, '[')) != NULL) {
		for (at++; isspace((unsigned char)*at); at++)
			;
		if (strncasecmp(at, section, strlen(section)) == 0)
			return error_set(error, "%.200s/%s has a section "
			    "[include]; cpprof opens no files that a "
			    "repository's settings name", directory, name);
	}
	return error->is_set ? -1 : 0;
}

/* ---- the walk ---- */

/* Whether libgit2 looks below an entry of git's directory. */
static bool
kept_git_check_is_walked(const FTSENT *entry)
{
	static const char *const walked[] = { "refs", "objects", "logs", "info" };

	for (size_t i = 0; i < sizeof walked / sizeof *walked; i++)
		if (strcmp(entry->fts_name, walked[i]) == 0)
			return true;
	return entry->fts_level != 1;
}

static int
kept_git_check_entry(FTS *walk, FTSENT *entry, bool is_git, struct error *error)
{
	const bool is_walked = !is_git || kept_git_check_is_walked(entry);
	struct stat status;

	switch (entry->fts_info) {
	case FTS_D:
		if (!is_walked)
			fts_set(walk, entry, FTS_SKIP);
		return 0;
	case FTS_SL:
		if (stat(entry->fts_accpath, &status) != 0 ||
		    S_ISREG(status.st_mode))
			return 0;
		/* Work trees of one repository may share these by links. */
		if (S_ISDIR(status.st_mode) && is_git && entry->fts_level == 1) {
			if (is_walked)
				fts_set(walk, entry, FTS_FOLLOW);
			return 0;
		}
		break;
	case FTS_DEFAULT:
		/* Opening a socket fails at once; git has some. */
		if (S_ISSOCK(entry->fts_statp->st_mode))
			return 0;
		break;
	default:
		return 0;
	}
	return error_set(error, "%.200s: expected a regular file or a "
	                 "directory", entry->fts_path);
}

/* Looks at a directory of git, or one of objects. */
static int
kept_git_check_walk(struct kept_git_check *check, const char *directory,
                    bool is_git, struct error *error)
{
	char *const roots[] = { (char *)(uintptr_t)directory, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
	                     NULL);
	FTSENT *entry;

	while (!error->is_set && walk != NULL &&
	       (entry = fts_read(walk)) != NULL) {
		if (check->n_entries++ == ENTRIES_MOST)
			error_set(error, "%.200s: expected at most %d files",
			          directory, ENTRIES_MOST);
		else if (check->n_entries % 1024 != 0 ||
		         progress_step(NULL, 0, 0, error) == 0)
			kept_git_check_entry(walk, entry, is_git, error);
	}
	if (walk != NULL)
		fts_close(walk);
	return error->is_set ? -1 : 0;
}

static int
kept_git_check_directory(struct kept_git_check *check, const char *directory,
                         struct error *error)
{
	if (kept_git_check_walk(check, directory, true, error) != 0 ||
	    kept_git_check_settings(check, directory, "config", error) != 0)
		return -1;
	return kept_git_check_settings(check, directory, "config.worktree",
	                               error);
}

/* Looks at the objects that the repository borrows. */
static int
kept_git_check_alternates(struct kept_git_check *check, const char *directory,
                          struct error *error)
{
	check->objects[check->n_objects++] = arena_format(&check->arena, error,
	    "%s/objects", directory);
	for (size_t i = 0; i < check->n_objects && !error->is_set; i++) {
		const char *line = kept_git_check_read(check, error,
		    check->objects[i], "info/alternates");

		for (; line != NULL && *line != '\0' && !error->is_set;
		     line += strspn(line, "\r\n")) {
			if (check->n_objects == ALTERNATES_MOST)
				return error_set(error, "%.200s/info/alternates: "
				    "expected fewer directories",
				    check->objects[i]);
			check->objects[check->n_objects++] = kept_git_check_join(
			    check, error, check->objects[i], line);
			line += strcspn(line, "\r\n");
		}
		if (i > 0 && !error->is_set)
			kept_git_check_walk(check, check->objects[i], false,
			                    error);
	}
	return error->is_set ? -1 : 0;
}

/* The directory that a file of it names, or itself. */
static const char *
kept_git_check_named(struct kept_git_check *check, struct error *error,
                     const char *directory, const char *name,
                     const char *before)
{
	const char *text = kept_git_check_read(check, error, directory, name);

	if (text == NULL)
		return NULL;
	if (strncmp(text, before, strlen(before)) != 0)
		return directory;
	text += strlen(before);
	text += strspn(text, " \t");
	return *text == '\0' ? directory :
	    kept_git_check_join(check, error, directory, text);
}

int
kept_git_check(const char *top, struct error *error)
{
	struct kept_git_check check = { 0 };
	const char *own = arena_format(&check.arena, error, "%s/.git", top);
	const char *common = NULL;
	struct stat status;

	if (own != NULL && stat(own, &status) == 0 && !S_ISDIR(status.st_mode))
		own = kept_git_check_named(&check, error, top, ".git",
		                           "gitdir:");
	if (own != NULL)
		common = kept_git_check_named(&check, error, own, "commondir",
		                              "");
	if (common != NULL &&
	    kept_git_check_directory(&check, own, error) == 0 &&
	    (common == own ||
	     kept_git_check_directory(&check, common, error) == 0))
		kept_git_check_alternates(&check, common, error);
	arena_free(&check.arena);
	return error->is_set ? -1 : 0;
}
