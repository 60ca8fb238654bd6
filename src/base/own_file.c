/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own_file.c -- the places that are written to, found without being led astray.
 *
 * The path is walked as the kernel does it, but each link is read here, so that
 * its owner can be asked for first.  What has been walked is held open: whoever
 * exchanges a directory for a link meanwhile changes nothing.
 */
#include "src/base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	LINKS_MOST = 40,	/* as in the kernel */
	TRIES_MOST = 10,	/* to open what others exchange */
};

/* A path that is being walked. */
struct own_walk {
	const char *path;	/* as given, for messages */
	int directory;		/* what was walked so far */
	char rest[PATH_MAX];	/* what is left, links read so far put in */
	size_t left_own;	/* of rest: bytes at its end that are below a
				 * directory of our own */
	unsigned n_links;
	mode_t mode;		/* of directories that are made; 0: none are */
};

static int
own_fail(const struct own_walk *walk, int number, struct error *error)
{
	error_set(error, "%.200s: %s", walk->path, number == ESTALE ?
	          "changed meanwhile; try again" : strerror(number));
	errno = number;
	return -1;
}

/* why: what is wrong with the component, and what to do. */
static int
own_refuse(const struct own_walk *walk, const char *name, const char *why,
           struct error *error)
{
	const size_t n = strlen(walk->path), n_name = strlen(name);

	if (n >= n_name && strcmp(walk->path + n - n_name, name) == 0)
		error_set(error, "%.200s %s", walk->path, why);
	else
		error_set(error, "%.200s: %.60s %s", walk->path, name, why);
	errno = 0;
	return -1;
}

/* ---- who may have made what ---- */

/* Whether others may add entries to a directory, or exchange them. */
static bool
others_may_change(const struct stat *directory)
{
	struct stat root;

	if ((directory->st_mode & S_IWOTH) != 0 ||
	    ((directory->st_mode & S_IWGRP) != 0 &&
	     directory->st_gid != getegid()))
		return true;
	/* In a container the system's files may belong to a user without a name. */
	return directory->st_uid != geteuid() && directory->st_uid != 0 &&
	    (stat("/", &root) != 0 || root.st_uid != directory->st_uid);
}

/* Whether the user or the system made an entry of a directory. */
static bool
own_is_trusted(const struct stat *entry, int directory)
{
	struct stat status;

	if (entry->st_uid == geteuid() || entry->st_uid == 0)
		return true;
	return fstat(directory, &status) == 0 && !others_may_change(&status) &&
	    entry->st_uid == status.st_uid;
}

/* Whether the last component may be written to. */
static int
own_check_end(const struct own_walk *walk, const char *name,
              const struct stat *entry, bool is_own, struct error *error)
{
	struct stat directory;

	if (S_ISDIR(entry->st_mode) && !is_own)
		return 0;
	if (is_own && entry->st_uid != geteuid())
		return own_refuse(walk, name, "belongs to another user; remove "
		                  "it, or work in another directory", error);
	if (is_own)
		return S_ISREG(entry->st_mode) || S_ISDIR(entry->st_mode) ? 0 :
		    own_refuse(walk, name, "is no regular file; remove it",
		               error);
	if (fstat(walk->directory, &directory) != 0)
		return own_fail(walk, errno, error);
	if (!others_may_change(&directory))
		return 0;
	if (S_ISREG(entry->st_mode) && entry->st_nlink > 1)
		return own_refuse(walk, name, "has several names, and others "
		                  "may write to its directory; choose another "
		                  "name", error);
	return S_ISREG(entry->st_mode) ||
	    own_is_trusted(entry, walk->directory) ? 0 :
	    own_refuse(walk, name, "is no regular file, and another user made "
	               "it; choose another name", error);
}

/* ---- the walk ---- */

/* Goes to a directory, which becomes the walk's. */
static int
own_enter(struct own_walk *walk, int directory, struct error *error)
{
	if (directory < 0)
		return own_fail(walk, errno, error);
	if (walk->directory >= 0)
		close(walk->directory);
	walk->directory = directory;
	return 0;
}

/* Takes the next component off the rest; false: there is none. */
static bool
own_take_component(struct own_walk *walk, char name[NAME_MAX + 1],
                   bool *is_own, bool *is_last, struct error *error)
{
	char *at = walk->rest + strspn(walk->rest, "/");
	size_t n = strcspn(at, "/"), left;

	*is_own = strlen(at) <= walk->left_own;
	if (n == 0)
		return false;
	if (n > NAME_MAX) {
		own_fail(walk, ENAMETOOLONG, error);
		return false;
	}
	memcpy(name, at, n);
	name[n] = '\0';
	*is_last = at[n + strspn(at + n, "/")] == '\0';
	at += n;
	left = strlen(at);
	memmove(walk->rest, at, left + 1);
	if (walk->left_own > left)
		walk->left_own = left;
	return true;
}

static bool
own_is_proc(int directory)
{
	struct statfs system;

	return fstatfs(directory, &system) == 0 &&
	    system.f_type == PROC_SUPER_MAGIC;
}

/*
 * Reads a link, as readlinkat does, if it is trusted: its owner and its target
 * are those of one link, whatever is put in its place meanwhile.  -1 with *error
 * set.
 */
static ssize_t
own_read_link(const struct own_walk *walk, const char *name,
              char target[PATH_MAX], struct error *error)
{
	const int link = openat(walk->directory, name, O_PATH | O_NOFOLLOW |
	                        O_CLOEXEC);
	struct stat status;
	ssize_t n = -1;
	int number;

	if (link < 0 || fstat(link, &status) != 0)
		number = errno == ENOENT ? ESTALE : errno;
	else if (!S_ISLNK(status.st_mode))
		number = ESTALE;
	else if (!own_is_trusted(&status, walk->directory))
		number = 0;
	else
		number = (n = readlinkat(link, "", target, PATH_MAX)) < 0 ?
		    errno : 0;
	if (link >= 0)
		close(link);
	if (n < 0 && number == 0)
		return own_refuse(walk, name, "is a link that another user "
		                  "made; name the file that it leads to",
		                  error);
	return n < 0 ? own_fail(walk, number, error) : n;
}

/* Puts what a link leads to in front of the rest. */
static int
own_follow(struct own_walk *walk, const char *name, bool is_own,
           struct error *error)
{
	char target[PATH_MAX];
	ssize_t n;

	if (is_own)
		return own_refuse(walk, name, "is a link, which cpprof does "
		                  "not follow in a directory of its own; "
		                  "remove it", error);
	n = own_read_link(walk, name, target, error);
	if (n < 0)
		return -1;
	if (walk->n_links++ == LINKS_MOST)
		return own_fail(walk, ELOOP, error);
	if ((size_t)n + strlen(walk->rest) + 2 > sizeof target)
		return own_fail(walk, ENAMETOOLONG, error);
	/* The rest begins with a slash, unless it is empty. */
	memmove(walk->rest + n, walk->rest, strlen(walk->rest) + 1);
	memcpy(walk->rest, target, (size_t)n);
	return n > 0 && *target == '/' ?
	    own_enter(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
	              error) : 0;
}

/* Enters a directory, which is made if it is our own and may be. */
static int
own_step(struct own_walk *walk, const char *name, bool is_own,
         struct error *error)
{
	struct stat status;

	if (own_enter(walk, openat(walk->directory, name, O_PATH |
	                           O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
	              error) != 0)
		return -1;
	if (!is_own)
		return 0;
	if (fstat(walk->directory, &status) != 0)
		return own_fail(walk, errno, error);
	return status.st_uid == geteuid() ? 0 :
	    own_refuse(walk, name, "belongs to another user; work in another "
	               "directory, or as that user", error);
}

/* One component; 1: it was the last, and *place has it. */
static int
own_walk_component(struct own_walk *walk, const char *name, bool is_own,
                   bool is_last, struct own_place *place,
                   struct error *error)
{
	struct stat *entry = &place->status;

	if (strcmp(name, ".") == 0 && !is_last)
		return 0;
	place->is_there = fstatat(walk->directory, name, entry,
	                          AT_SYMLINK_NOFOLLOW) == 0;
	if (!place->is_there && errno == ENOENT && is_own && !is_last &&
	    walk->mode != 0) {
		if (mkdirat(walk->directory, name, walk->mode) != 0 &&
		    errno != EEXIST)
			return own_fail(walk, errno, error);
		place->is_there = fstatat(walk->directory, name, entry,
		                          AT_SYMLINK_NOFOLLOW) == 0;
	}
	if (!place->is_there && (errno != ENOENT || !is_last))
		return own_fail(walk, errno, error);
	if (place->is_there && S_ISLNK(entry->st_mode)) {
		if (!own_is_proc(walk->directory))
			return own_follow(walk, name, is_own, error);
		place->is_kernels = is_last;
		if (!is_last)
			return own_enter(walk, openat(walk->directory, name,
			    O_PATH | O_DIRECTORY | O_CLOEXEC), error);
	} else if (!is_last) {
		return own_step(walk, name, is_own, error);
	} else if (place->is_there &&
	           own_check_end(walk, name, entry, is_own, error) != 0) {
		return -1;
	}
	place->directory = walk->directory;
	place->is_own = is_own;
	place->has_slash = *walk->rest == '/';
	strcpy(place->name, name);
	return 1;
}

static int
own_start(struct own_walk *walk, const char *path, size_t own, mode_t mode,
          struct error *error)
{
	const size_t n = strlen(path);

	*walk = (struct own_walk){
		.path = path, .directory = -1, .mode = mode,
		.left_own = own < n ? n - own : 0,
	};
	if (n == 0)
		return own_fail(walk, ENOENT, error);
	if (n >= sizeof walk->rest)
		return own_fail(walk, ENAMETOOLONG, error);
	memcpy(walk->rest, path, n + 1);
	return own_enter(walk, open(*path == '/' ? "/" : ".", O_PATH |
	                            O_DIRECTORY | O_CLOEXEC), error);
}

int
own_place_open(struct own_place *place, const char *path, size_t own,
               mode_t mode, struct error *error)
{
	struct own_walk walk;
	char name[NAME_MAX + 1];
	bool is_own, is_last;
	int result = own_start(&walk, path, own, mode, error), number;

	*place = (struct own_place){ .directory = -1 };
	while (result == 0 &&
	       own_take_component(&walk, name, &is_own, &is_last, error))
		result = own_walk_component(&walk, name, is_own, is_last,
		                            place, error);
	if (result == 0 && !error->is_set) {
		/* "/", or a link to it. */
		place->directory = walk.directory;
		strcpy(place->name, ".");
		place->is_there = fstat(walk.directory, &place->status) == 0;
		result = 1;
	}
	if (result == 1)
		return 0;
	number = errno;
	if (walk.directory >= 0)
		close(walk.directory);
	errno = number;
	return -1;
}

void
own_place_close(struct own_place *place)
{
	if (place->directory >= 0)
		close(place->directory);
	place->directory = -1;
}

/* Finds a directory, which is made if it is missing. */
static int
own_directory_find(struct own_place *place, const char *path, size_t own,
                   mode_t mode, struct error *error)
{
	int number = 0;

	if (own_place_open(place, path, own, mode, error) != 0)
		return -1;
	if (place->is_there && !place->is_kernels &&
	    !S_ISDIR(place->status.st_mode))
		number = ENOTDIR;
	else if (!place->is_there &&
	         mkdirat(place->directory, place->name, mode) != 0 &&
	         errno != EEXIST)
		number = errno;
	if (number == 0)
		return 0;
	own_place_close(place);
	error_set(error, "%.200s: %s", path, strerror(number));
	errno = number;
	return -1;
}

int
own_directory_make(const char *path, size_t own, mode_t mode,
                   struct error *error)
{
	struct own_place place;

	if (own_directory_find(&place, path, own, mode, error) != 0)
		return -1;
	own_place_close(&place);
	return 0;
}

int
own_directory_open(const char *path, size_t own, mode_t mode,
                   struct error *error)
{
	struct own_place place;
	int directory, number;

	if (own_directory_find(&place, path, own, mode, error) != 0)
		return -1;
	directory = openat(place.directory, place.name, O_RDONLY |
	                   O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	number = errno;
	own_place_close(&place);
	if (directory < 0)
		error_set(error, "%.200s: %s", path, strerror(number));
	errno = number;
	return directory;
}

/* Whether an open file is the one that was found. */
static bool
own_is_same(const struct own_place *place, int descriptor)
{
	struct stat status;

	return fstat(descriptor, &status) == 0 &&
	    status.st_dev == place->status.st_dev &&
	    status.st_ino == place->status.st_ino;
}

/*
 * Opens the file at a place; the descriptor, or -1 with errno, ESTALE if it is
 * no longer what was found there.
 */
static int
own_place_write(const struct own_place *place, int flags, mode_t mode)
{
	const bool empties = (flags & O_TRUNC) != 0;
	int descriptor;

	if (place->has_slash) {
		errno = EISDIR;
		return -1;
	}
	flags |= O_WRONLY | O_CLOEXEC | O_NOCTTY;
	if (place->is_kernels)
		return openat(place->directory, place->name, flags);
	/* What was not there must not be there now. */
	flags |= place->is_there ? O_NOFOLLOW : O_NOFOLLOW | O_CREAT | O_EXCL;
	descriptor = openat(place->directory, place->name, flags & ~O_TRUNC,
	                    mode);
	if (descriptor < 0 || !place->is_there)
		return descriptor;
	if (!own_is_same(place, descriptor))
		errno = ESTALE;
	else if (!empties || !S_ISREG(place->status.st_mode) ||
	         ftruncate(descriptor, 0) == 0)
		return descriptor;
	close(descriptor);
	return -1;
}

/* Whether the file is another one than was found, or there is one now, or none. */
static bool
own_has_changed(const struct own_place *place, int number)
{
	if (place->is_kernels)
		return false;
	return number == ESTALE || (place->is_there ?
	    number == ENOENT || number == ELOOP : number == EEXIST);
}

int
own_file_open(struct own_place *place, const char *path, size_t own, int flags,
              mode_t mode, struct error *error)
{
	const struct own_walk named = { .path = path };
	struct error why;
	int number = 0;

	for (int i = 0; i < TRIES_MOST; i++) {
		int descriptor = -1;

		why = (struct error){ 0 };
		if (own_place_open(place, path, own, 0, &why) == 0) {
			descriptor = own_place_write(place, flags, mode);
			number = descriptor < 0 &&
			    own_has_changed(place, errno) ? ESTALE : errno;
			own_place_close(place);
			if (descriptor >= 0)
				return descriptor;
			own_fail(&named, number, &why);
		}
		number = errno;
		if (number != ESTALE)
			break;
	}
	error_pass(error, &why);
	errno = number;
	return -1;
}
