/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preload.c -- whether the collector can be preloaded, and from which path.
 *
 * The loader ignores LD_PRELOAD for programs that run with more rights than
 * their caller, and a program without an interpreter segment has no loader.  One
 * that needs no library has one, but does without the C library: Go's programs
 * that can be loaded anywhere start threads and handle signals by system calls.
 * Later, nothing would explain why the profile is empty, so this looks first.
 *
 * LD_PRELOAD is a list that blanks and colons separate, without any quoting.
 * If the library's path contains one, a symbolic link stands in for it.  The
 * link is in a directory that only the user can write to, always has the same
 * name for the same path, and is never removed: processes may outlive this one,
 * and each program that they start needs it.
 */
#include "src/shell/record/recording.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/cpprof-environment.h"

enum { MAX_INTERPRETERS = 4, HEAD_SIZE = 4096 };

bool
preload_is_built(void)
{
#ifdef HAS_COLLECTOR
	return true;
#else
	return false;
#endif
}

static int
preload_check_built(struct error *error)
{
	return preload_is_built() ? 0 : error_set(error, "this cpprof was "
	    "built without the collector, which needs x86-64, gcc and glibc "
	    "2.35");
}

/*
 * Whether the table at that segment, of a program that has a loader, names a
 * library that the program needs.
 */
static bool
preload_needs_library(int file, const Elf64_Phdr *segment)
{
	Elf64_Dyn entry;

	for (uint64_t at = 0; at + sizeof entry <= segment->p_filesz;
	     at += sizeof entry) {
		if (pread(file, &entry, sizeof entry,
		          (off_t)(segment->p_offset + at)) !=
		    (ssize_t)sizeof entry || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_NEEDED)
			return true;
	}
	return false;
}

/* Whether notes at that segment say that the collector is linked with it. */
static bool
preload_has_collector(int file, const Elf64_Phdr *segment)
{
	char notes[512];
	const size_t size = segment->p_filesz < sizeof notes ?
	    (size_t)segment->p_filesz : sizeof notes;
	const ssize_t n = pread(file, notes, size, (off_t)segment->p_offset);

	return n > 0 && memmem(notes, (size_t)n, CPPROF_STATIC_NOTE,
	                       CPPROF_STATIC_NOTE_SIZE) != NULL;
}

const char *
preload_unseen_resource(const struct record_options *options)
{
	for (size_t i = 0; i < options->n_resources; i++)
		if (options->resources[i].kind->needs_calls)
			return options->resources[i].kind->name;
	return NULL;
}

/* Not for scripts, whose mode Linux ignores. */
static int
check_elf(const char *path, const struct record_options *options, int file,
          const void *head, size_t size, struct error *error)
{
	Elf64_Phdr segment = { 0 };
	Elf64_Ehdr header = { 0 };
	char loader[PATH_MAX] = "";
	bool needs_library = false, has_collector = false;
	struct stat status;
	ssize_t length;

	if (fstat(file, &status) != 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	if (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
	    ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	     status.st_gid != getegid()))
		return error_set(error, "%s is set-user-ID or "
		                 "set-group-ID: the collector cannot be "
		                 "preloaded", path);
	if (geteuid() != 0 &&
	    fgetxattr(file, "security.capability", NULL, 0) > 0)
		return error_set(error, "%s has file capabilities: the "
		                 "collector cannot be preloaded", path);
	memcpy(&header, head, size < sizeof header ? size : sizeof header);
	if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != EM_X86_64)
		return error_set(error, "%s is not an x86-64 program: the "
		                 "collector cannot be loaded into it", path);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff +
		                   (uint64_t)i * header.e_phentsize);

		if (pread(file, &segment, sizeof segment, at) !=
		    (ssize_t)sizeof segment)
			break;
		if (segment.p_type == PT_DYNAMIC)
			needs_library = preload_needs_library(file, &segment);
		if (segment.p_type == PT_NOTE)
			has_collector |= preload_has_collector(file, &segment);
		if (segment.p_type != PT_INTERP)
			continue;
		length = pread(file, loader, sizeof loader - 1,
		               (off_t)segment.p_offset);
		loader[length > 0 ? length : 0] = '\0';
	}
	if (*loader == '\0' && has_collector)
		return preload_unseen_resource(options) == NULL ? 0 :
		    error_set(error, "%s is statically linked: the collector "
		              "in it does not see the calls that -r %s counts",
		              path, preload_unseen_resource(options));
	if (*loader == '\0')
		return error_set(error, "%s is statically linked: the collector "
		                 "is not in it and cannot be preloaded", path);
	if (strstr(loader, "/ld-musl-") != NULL)
		return error_set(error, "%s uses musl: the collector needs "
		                 "glibc", path);
	return needs_library ? 0 : error_set(error, "%s does not use the C "
	                                     "library: the collector cannot "
	                                     "work in it", path);
}

/* Checks one file; *next is its interpreter in head, or NULL. */
static int
preload_check_file(const char *path, const struct record_options *options,
                   char head[HEAD_SIZE + 1], char **next, struct error *error)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), result = 0;
	ssize_t size;

	*next = NULL;
	if (file < 0) {
		/* It can be executed but not read: leave it to the loader. */
		return errno == EACCES ? 0 : error_set(error, "%s: %s", path,
		                                       strerror(errno));
	}
	size = pread(file, head, HEAD_SIZE, 0);
	if (size < 0)
		size = 0;
	head[size] = '\0';
	if (size >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		result = check_elf(path, options, file, head, (size_t)size,
		                   error);
	else if (size >= 2 && memcmp(head, "#!", 2) == 0) {
		/* The interpreter on that line, up to its first blank. */
		head[strcspn(head, "\n")] = '\0';
		*next = head + 2 + strspn(head + 2, " \t");
		(*next)[strcspn(*next, " \t\r")] = '\0';
	}
	close(file);
	return result;
}

int
preload_check(const char *path, const struct record_options *options,
              struct error *error)
{
	char heads[2][HEAD_SIZE + 1], *next;

	if (preload_check_built(error) != 0)
		return -1;
	for (int i = 0; i < MAX_INTERPRETERS; i++) {
		if (preload_check_file(path, options, heads[i % 2], &next,
		                       error) != 0)
			return -1;
		if (next == NULL || *next == '\0')
			return 0;
		path = next;
	}
	return 0;
}

static bool
library_in(const char *folder, const char *subfolder, const char *name,
           char *path, size_t size)
{
	return (size_t)snprintf(path, size, "%s/%s%s", folder, subfolder,
	                        name) < size && access(path, R_OK) == 0;
}

/* The library itself: as built, beside a copy, or where it is installed. */
static int
find_library(const char *name, char *path, size_t size, struct error *error)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	self[length > 0 ? length : 0] = '\0';
	/* There may be no /proc. */
	if (length < 0 &&
	    realpath((const char *)getauxval(AT_EXECFN), self) == NULL)
		self[0] = '\0';
	if (strrchr(self, '/') != NULL)
		*strrchr(self, '/') = '\0';
	if (!library_in(self, ".libs/", name, path, size) &&
	    !library_in(self, "", name, path, size) &&
	    !library_in(LIBDIR, "", name, path, size) &&
	    !library_in(PKGLIBDIR, "", name, path, size) &&
	    !library_in(self, "../lib/", name, path, size) &&
	    !library_in(self, "../lib/cpprof/", name, path, size))
		return error_set(error, "%s not found beside %s or in %s",
		                 name, self, LIBDIR);
	return 0;
}

static bool
is_preloadable(const char *path)
{
	/* The last two end the path of an agent for Java. */
	return strpbrk(path, " :\t\n='") == NULL;
}

/* Opens the directory for links, which only the user can write to. */
static int
open_own_folder(char *path, size_t size, struct error *error)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat status;
	int folder;

	/*
	 * If another user could replace what is in it, root would load that
	 * user's library.
	 */
	if (base == NULL || *base != '/' || !is_preloadable(base) ||
	    lstat(base, &status) != 0 || !S_ISDIR(status.st_mode) ||
	    status.st_uid != geteuid() ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
	    access(base, W_OK) != 0)
		base = "/tmp";
	if ((size_t)snprintf(path, size, "%s/cpprof-%ld", base,
	                     (long)geteuid()) >= size)
		return error_set(error, "%s: path too long", base);
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return error_set(error, "%s: %s", path, strerror(errno));
	folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	if (fstat(folder, &status) != 0 || status.st_uid != geteuid() ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		close(folder);
		return error_set(error, "%s: other users can write to it",
		                 path);
	}
	return folder;
}

static bool
leads_to(int folder, const char *name, const char *target)
{
	char found[PATH_MAX];
	ssize_t length = readlinkat(folder, name, found, sizeof found - 1);

	if (length < 0)
		return false;
	found[length] = '\0';
	return strcmp(found, target) == 0;
}

/* Replaces the path by that of a link to it. */
static int
link_library(const char *library, char *path, size_t size, struct error *error)
{
	char place[PATH_MAX], name[64], target[PATH_MAX];
	int folder = open_own_folder(place, sizeof place, error);
	uint64_t hash = 0xcbf29ce484222325;
	bool ok;

	if (folder < 0)
		return -1;
	snprintf(target, sizeof target, "%s", path);
	/* Always the same for a path: its FNV-1a hash. */
	for (const char *at = path; *at != '\0'; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
	snprintf(name, sizeof name, "%016" PRIx64 "-%s", hash, library);
	ok = leads_to(folder, name, target) ||
	    symlinkat(target, folder, name) == 0 ||
	    (unlinkat(folder, name, 0) == 0 &&
	     symlinkat(target, folder, name) == 0) ||
	    leads_to(folder, name, target);	/* another was faster */
	if (!ok)
		error_set(error, "%s/%s: %s", place, name, strerror(errno));
	else if ((size_t)snprintf(path, size, "%s/%s", place, name) >= size)
		ok = error_set(error, "%s: path too long", place) == 0;
	close(folder);
	return ok ? 0 : -1;
}

static int
preload_find(const char *name, char *path, size_t size, struct error *error)
{
	if (find_library(name, path, size, error) != 0)
		return -1;
	return is_preloadable(path) ? 0 : link_library(name, path, size, error);
}

int
preload_find_library(char *path, size_t size, struct error *error)
{
	return preload_check_built(error) != 0 ? -1 :
	    preload_find(CPPROF_LIBRARY, path, size, error);
}

bool
preload_find_java_agent(char *path, size_t size)
{
	struct error none = { 0 };

	return preload_find(CPPROF_JAVA_AGENT, path, size, &none) == 0;
}
