/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preload.c -- whether the loader will take our library into a program.
 *
 * The loader ignores LD_PRELOAD for programs that run with more rights than
 * their caller, and a program without an interpreter segment has no loader.
 * Nothing would tell the user later why the profile is empty, so look first.
 */
#include "src/shell/record/preload.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MAX_INTERPRETERS = 4, HEAD_SIZE = 4096 };

static int
check_rights(const char *path, int file, struct error *error)
{
	struct stat status;

	if (fstat(file, &status) != 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	if (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
	    ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	     status.st_gid != getegid()))
		return error_set(error, "%s runs with its owner's rights "
		                 "(set-user-ID or set-group-ID), and the "
		                 "loader then preloads nothing", path);
	if (geteuid() != 0 &&
	    fgetxattr(file, "security.capability", NULL, 0) > 0)
		return error_set(error, "%s runs with file capabilities, and "
		                 "the loader then preloads nothing", path);
	return 0;
}

static bool
has_interpreter(int file, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;
		off_t at = (off_t)(header->e_phoff +
		                   (uint64_t)i * header->e_phentsize);

		if (pread(file, &segment, sizeof segment, at) !=
		    (ssize_t)sizeof segment)
			return false;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static int
check_elf(const char *path, int file, const void *head, size_t size,
          struct error *error)
{
	Elf64_Ehdr header = { 0 };

	/* Linux gives none to scripts, whatever their mode. */
	if (check_rights(path, file, error) != 0)
		return -1;
	memcpy(&header, head, size < sizeof header ? size : sizeof header);
	if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != EM_X86_64)
		return error_set(error, "%s is not an x86-64 program: the "
		                 "collector cannot be loaded into it", path);
	if (!has_interpreter(file, &header))
		return error_set(error, "%s is statically linked: the "
		                 "collector cannot be preloaded (link it "
		                 "dynamically to profile it)", path);
	return 0;
}

/* The interpreter on a #! line, cut at its first blank, in place. */
static char *
interpreter_of(char *head)
{
	char *path = head + 2;

	path[strcspn(path, "\n")] = '\0';
	path += strspn(path, " \t");
	path[strcspn(path, " \t\r")] = '\0';
	return path;
}

/* Checks one file; *next is its interpreter in head, or NULL. */
static int
check_file(const char *path, char head[HEAD_SIZE + 1], char **next,
           struct error *error)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), result = 0;
	ssize_t size;

	*next = NULL;
	if (file < 0) {
		/* Executable, not readable: only the loader will know. */
		return errno == EACCES ? 0 : error_set(error, "%s: %s", path,
		                                       strerror(errno));
	}
	size = pread(file, head, HEAD_SIZE, 0);
	if (size < 0)
		size = 0;
	head[size] = '\0';
	if (size >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		result = check_elf(path, file, head, (size_t)size, error);
	else if (size >= 2 && memcmp(head, "#!", 2) == 0)
		*next = interpreter_of(head);
	close(file);
	return result;
}

int
preload_check(const char *path, struct error *error)
{
	char heads[2][HEAD_SIZE + 1], *next;

	for (int i = 0; i < MAX_INTERPRETERS; i++) {
		if (check_file(path, heads[i % 2], &next, error) != 0)
			return -1;
		if (next == NULL || *next == '\0')
			return 0;
		path = next;
	}
	return 0;
}
