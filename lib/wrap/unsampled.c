/* SPDX-License-Identifier: MIT */
/* unsampled.c -- examines a program's environment, permissions and ELF headers.
 */
#include "lib/wrap/wrapped.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/readable.h"
#include "lib/cpprof-environment.h"

/*
 * The arguments of exec may be invalid pointers.  Then the kernel returns
 * EFAULT; reading them here must not fault first.
 */

static bool
unsampled_begins(struct readable *readable, const char *text, const char *start)
{
	for (; *start != '\0'; text++, start++)
		if (!readable_range(readable, (uintptr_t)text, 1) ||
		    *text != *start)
			return false;
	return true;
}

static bool
contains(struct readable *readable, const char *text, const char *part)
{
	for (; readable_range(readable, (uintptr_t)text, 1) && *text != '\0';
	    text++)
		if (unsampled_begins(readable, text, part))
			return true;
	return false;
}

/* The value of the first variable that begins with `start`, or NULL. */
static const char *
unsampled_find(struct readable *readable, char *const variables[],
               const char *start)
{
	struct readable array = { 0 };

	for (; readable_range(&array, (uintptr_t)variables,
	    sizeof *variables) && *variables != NULL; variables++)
		if (unsampled_begins(readable, *variables, start))
			return *variables + strlen(start);
	return NULL;
}

static bool
loads_library(char *const variables[])
{
	struct readable readable = { 0 };
	const char *preload = unsampled_find(&readable, variables,
	                                     "LD_PRELOAD=");

	return preload != NULL &&
	    contains(&readable, preload, CPPROF_LIBRARY) &&
	    unsampled_find(&readable, variables,
	                   CPPROF_ENVIRONMENT_OUTPUT "=/") != NULL;
}

/*
 * Whether the library's file exists, by the name in the variables.  True for
 * names longer than usual, so that the stack stays small.
 */
static bool
library_exists(char *const variables[])
{
	struct readable readable = { 0 };
	const char *at = unsampled_find(&readable, variables, "LD_PRELOAD=");
	struct stat status;
	char path[512];
	size_t n = 0;

	for (; readable_range(&readable, (uintptr_t)at, 1); at++) {
		const bool is_end = *at == '\0' || *at == ':' || *at == ' ';

		if (n == sizeof path)
			return true;
		path[n++] = is_end ? '\0' : *at;
		if (!is_end)
			continue;
		if (n > sizeof CPPROF_LIBRARY &&
		    strcmp(path + n - sizeof CPPROF_LIBRARY,
		    CPPROF_LIBRARY) == 0)
			return files_status_of(path, &status) == 0;
		if (*at == '\0')
			break;
		n = 0;
	}
	return true;
}

/*
 * Whether the file is an ELF program without an interpreter, by its first
 * bytes.
 */
static bool
is_static(const void *start, size_t size)
{
	const ElfW(Ehdr) *elf = start;
	const ElfW(Phdr) *headers;
	size_t i;

	if (size < sizeof *elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf->e_phentsize != sizeof *headers || elf->e_phoff > size ||
	    elf->e_phnum > (size - elf->e_phoff) / sizeof *headers ||
	    elf->e_phoff % sizeof(uint64_t) != 0)
		return false;
	headers = (const void *)((const char *)start + elf->e_phoff);
	for (i = 0; i < elf->e_phnum; i++)
		if (headers[i].p_type == PT_INTERP)
			return false;
	return true;
}

/* Bypasses the C library's function, which is wrapped. */
static uint32_t
own_id(long call)
{
	return (uint32_t)arch_system_call(call, 0, 0, 0, 0);
}

static enum cpprof_shared_reason
judge_file(int fd)
{
	uint64_t start[1024 / sizeof(uint64_t)];
	struct stat status;
	ssize_t n;

	if (files_status(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (((status.st_mode & S_ISUID) != 0 &&
	    status.st_uid != own_id(SYS_getuid)) ||
	    ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    status.st_gid != own_id(SYS_getgid))))
		return CPPROF_SHARED_PRIVILEGED;
	n = files_read(fd, start, sizeof start);
	return n > 0 && is_static(start, (size_t)n) ? CPPROF_SHARED_STATIC :
	    CPPROF_SHARED_N_REASONS;
}

enum cpprof_shared_reason
unsampled_reason(const char *path, char *const variables[])
{
	enum cpprof_shared_reason reason = CPPROF_SHARED_N_REASONS;
	const uint32_t user = own_id(SYS_geteuid);
	struct readable readable = { 0 };
	struct stat status;
	int fd;

	if (!loads_library(variables))
		return CPPROF_SHARED_NO_PRELOAD;
	/* Something else may be mounted where the recording's directory is. */
	if (files_status_of(process.shared_file, &status) != 0)
		return process.user != user ? CPPROF_SHARED_OTHER_USER :
		    CPPROF_SHARED_HIDDEN;
	/* In another user namespace the same user has another number. */
	if (process.user != user && status.st_uid != user)
		return CPPROF_SHARED_OTHER_USER;
	if (!library_exists(variables))
		return CPPROF_SHARED_HIDDEN;
	if (!contains(&readable, path, "/"))
		return reason;
	fd = files_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd >= 0) {
		reason = judge_file(fd);
		files_close(fd);
	}
	return reason;
}
