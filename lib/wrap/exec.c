/* SPDX-License-Identifier: MIT */
/* exec.c -- calls that replace the program or end it at once.
 *
 * Neither runs exit handlers, so the time of the end and the CPU time used so
 * far are written to the file here.
 *
 * A perf event that overflowed inside execve would send its SIGTRAP to the new
 * program, which would die of it.  So the thread's events are stopped first,
 * and started again if the call fails.  A child of vfork has no events of its
 * own, and its parent's are left alone.
 *
 * The new program inherits signal masks and ignored signals as the old program
 * sees them.  If the collector cannot enter it, `record` is asked to sample it
 * from outside; if it cannot, the recording counts it with the reason.
 */
#include <alloca.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/base/readable.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/cpprof-environment.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/signals/signals.h"
#include "lib/sources/sources.h"
#include "lib/wrap/wrapped.h"

extern char **environ;

/*
 * Programs that will not be sampled.  All of this also runs in a child of vfork.
 */

/*
 * The arguments of exec may be invalid pointers.  Then the kernel returns
 * EFAULT; reading them here must not fault first.
 */

static bool
exec_text_begins(struct readable *readable, const char *text, const char *start)
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
		if (exec_text_begins(readable, text, part))
			return true;
	return false;
}

/* The value of the first variable that begins with `start`, or NULL. */
static const char *
exec_find_variable(struct readable *readable, char *const variables[],
                   const char *start)
{
	struct readable array = { 0 };

	for (; readable_range(&array, (uintptr_t)variables,
	    sizeof *variables) && *variables != NULL; variables++)
		if (exec_text_begins(readable, *variables, start))
			return *variables + strlen(start);
	return NULL;
}

/*
 * Whether the library's file exists, by its name in the value of LD_PRELOAD.
 * True for names longer than usual, so that the stack stays small.
 */
static bool
library_exists(const char *at)
{
	struct readable readable = { 0 };
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

/* Bypasses the C library's function, which is wrapped. */
static uint32_t
own_id(long call)
{
	return (uint32_t)arch_system_call(call, 0, 0, 0, 0);
}

/* Whether the program's table of dynamic entries names a library. */
static bool
exec_needs_library(int fd, uint64_t offset, uint64_t size)
{
	ElfW(Dyn) entries[16];
	ssize_t n;
	size_t i;

	if (arch_system_call(SYS_lseek, fd, (long)offset, SEEK_SET, 0) < 0)
		return false;
	while (size > 0 && (n = files_read(fd, entries, size <
	    sizeof entries ? size : sizeof entries)) > 0) {
		for (i = 0; i < (size_t)n / sizeof *entries; i++)
			if (entries[i].d_tag == DT_NEEDED)
				return true;
			else if (entries[i].d_tag == DT_NULL)
				return false;
		size -= (size_t)n;
	}
	return false;
}

/* Whether a collector in a static program can count what is sampled. */
static bool
exec_counts_all(void)
{
	unsigned i;

	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].row->needs_calls)
			return false;
	return true;
}

/* Whether notes of the program say that the collector is linked with it. */
static bool
exec_has_collector(int fd, uint64_t offset, uint64_t size)
{
	char notes[512];
	ssize_t n;

	if (arch_system_call(SYS_lseek, fd, (long)offset, SEEK_SET, 0) < 0)
		return false;
	n = files_read(fd, notes, size < sizeof notes ? size : sizeof notes);
	return n > 0 && memmem(notes, (size_t)n, CPPROF_STATIC_NOTE,
	    CPPROF_STATIC_NOTE_SIZE) != NULL;
}

/*
 * Whether the file with these first bytes is a program without the C library
 * and without the collector: linked statically, or one that needs no library at
 * all.
 */
static bool
exec_is_static(int fd, const void *start, size_t size)
{
	const ElfW(Ehdr) *elf = start;
	const ElfW(Phdr) *headers;
	bool has_loader = false;
	size_t i, dynamic = SIZE_MAX;

	if (size < sizeof *elf ||
	    memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf->e_phentsize != sizeof *headers || elf->e_phoff > size ||
	    elf->e_phnum > (size - elf->e_phoff) / sizeof *headers ||
	    elf->e_phoff % sizeof(uint64_t) != 0)
		return false;
	headers = (const void *)((const char *)start + elf->e_phoff);
	for (i = 0; i < elf->e_phnum; i++) {
		has_loader |= headers[i].p_type == PT_INTERP;
		if (headers[i].p_type == PT_DYNAMIC)
			dynamic = i;
	}
	for (i = 0; !has_loader && exec_counts_all() && i < elf->e_phnum; i++)
		if (headers[i].p_type == PT_NOTE && exec_has_collector(fd,
		    headers[i].p_offset, headers[i].p_filesz))
			return false;
	return !has_loader || dynamic == SIZE_MAX || !exec_needs_library(fd,
	    headers[dynamic].p_offset, headers[dynamic].p_filesz);
}

/* A program that is setuid or setgid, or does without the C library. */
static enum cpprof_shared_reason
judge_file(const char *path)
{
	union {
		ElfW(Ehdr) elf;
		char bytes[1024];
	} start;
	enum cpprof_shared_reason reason = CPPROF_SHARED_N_REASONS;
	const int fd = files_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	struct stat status;
	ssize_t n;

	if (fd < 0)
		return reason;
	if (files_status(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (((status.st_mode & S_ISUID) != 0 &&
	    status.st_uid != own_id(SYS_getuid)) ||
	    ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    status.st_gid != own_id(SYS_getgid))))
		reason = CPPROF_SHARED_PRIVILEGED;
	else if ((n = files_read(fd, &start, sizeof start)) > 0 &&
	    exec_is_static(fd, &start, (size_t)n))
		reason = CPPROF_SHARED_STATIC;
	files_close(fd);
	return reason;
}

/*
 * The same for a name that execvpe and posix_spawnp look for in $PATH.  Nothing
 * is known of it in directories with longer names than usual.
 */
static enum cpprof_shared_reason
judge_name(const char *name)
{
	const char *at = getenv("PATH");
	const size_t length = strlen(name);
	struct stat status;
	char file[512];

	while (at != NULL && *at != '\0') {
		const size_t n = strcspn(at, ":");

		if (n > 0 && n + length + 2 <= sizeof file) {
			*(char *)mempcpy(file, at, n) = '/';
			strcpy(file + n + 1, name);
			if (files_status_of(file, &status) == 0 &&
			    S_ISREG(status.st_mode) &&
			    (status.st_mode & 0111) != 0)
				return judge_file(file);
		}
		at += n + (at[n] == ':');
	}
	return CPPROF_SHARED_N_REASONS;
}

/*
 * Why the program at `path` (NULL: not known) will not be sampled if it is
 * executed with these environment variables; CPPROF_SHARED_N_REASONS if no
 * reason is known.  `searches`: in $PATH, if it is only a name.
 */
static enum cpprof_shared_reason
exec_unsampled_reason(const char *path, bool searches, char *const variables[])
{
	const uint32_t user = own_id(SYS_geteuid);
	struct readable readable = { 0 };
	struct stat status;
	const char *preload = exec_find_variable(&readable, variables,
	    "LD_PRELOAD=");

	if (preload == NULL || !contains(&readable, preload, CPPROF_LIBRARY) ||
	    exec_find_variable(&readable, variables,
	    CPPROF_ENVIRONMENT_OUTPUT "=/") == NULL)
		return CPPROF_SHARED_NO_PRELOAD;
	/* Something else may be mounted where the recording's directory is. */
	if (files_status_of(process.shared_file, &status) != 0)
		return process.user != user ? CPPROF_SHARED_OTHER_USER :
		    CPPROF_SHARED_HIDDEN;
	/* In another user namespace the same user has another number. */
	if (process.user != user && status.st_uid != user)
		return CPPROF_SHARED_OTHER_USER;
	if (!library_exists(preload))
		return CPPROF_SHARED_HIDDEN;
	if (path == NULL)
		return CPPROF_SHARED_N_REASONS;
	return searches && !contains(&readable, path, "/") ?
	    judge_name(path) : judge_file(path);
}

/*
 * Calls that execute a program.
 */

/* What to undo if the call fails. */
struct undo {
	struct thread *thread;	/* NULL: nothing of its own */
	bool has_timer;
	bool is_outside;	/* `record` will sample the new program, */
	char *const *variables;	/* which gets this environment */
	enum cpprof_shared_reason reason;	/* why the collector will not be
						   in the new program */
};

/*
 * The reason why the collector will not be in the program about to be executed,
 * which is counted; CPPROF_SHARED_N_REASONS if it will be.  Reading the file is
 * not charged to the program.
 */
static enum cpprof_shared_reason
count_unsampled(const char *path, bool searches, char *const variables[],
                bool is_own)
{
	struct thread *thread = thread_self;
	enum cpprof_shared_reason reason;
	struct sample_guard guard;
	bool is_guarded;

	if (!shared_is_mapped() || !sampling_is_on())
		return CPPROF_SHARED_N_REASONS;
	is_guarded = thread != NULL && thread->held_off == 0 &&
	    !thread->is_sampling && is_own &&
	    sample_guard_begin(thread, &guard);
	reason = exec_unsampled_reason(path, searches, variables);
	if (is_guarded)
		sample_guard_end(thread, &guard);
	if (reason != CPPROF_SHARED_N_REASONS)
		shared_count(reason, 0);
	return reason;
}

/*
 * What `record` samples from outside it samples with all that it starts, which
 * the collector must not enter.  So the library is taken out of LD_PRELOAD.
 */

static const char preload_name[] = "LD_PRELOAD=";

/* Its size with the final NUL; 0: not all of it can be read. */
static size_t
readable_size(struct readable *readable, const char *text)
{
	size_t n = 0;

	while (readable_range(readable, (uintptr_t)&text[n], 1))
		if (text[n++] == '\0')
			return n;
	return 0;
}

/*
 * The size of such an environment; 0: the library is not in this one, or not
 * all of it can be read, and the call will fail.
 */
static size_t
stripped_size(char *const variables[])
{
	struct readable array = { 0 }, readable = { 0 };
	size_t n, length, text = 0;
	bool has_library = false;

	for (n = 0; readable_range(&array, (uintptr_t)&variables[n],
	    sizeof *variables); n++) {
		if (variables[n] == NULL)
			return has_library ? (n + 1) * sizeof *variables +
			    text : 0;
		if (!exec_text_begins(&readable, variables[n], preload_name))
			continue;
		length = readable_size(&readable, variables[n]);
		if (length == 0)
			return 0;
		text += length;
		has_library |= strstr(variables[n], CPPROF_LIBRARY) != NULL;
	}
	return 0;
}

/* Copies LD_PRELOAD without the library.  Whether it has others. */
static bool
strip_preload(char *text, const char *variable)
{
	static const char library[] = "/" CPPROF_LIBRARY;
	char *const start = text + sizeof preload_name - 1;
	char *from, *to;
	size_t length;

	strcpy(text, variable);
	for (from = to = start; *from != '\0'; from += length) {
		length = strcspn(from, ": ");
		length += from[length] != '\0';
		if (memmem(from, length, library, sizeof library - 1) != NULL)
			continue;
		memmove(to, from, length);
		to += length;
	}
	if (to > start && (to[-1] == ':' || to[-1] == ' '))
		to--;
	*to = '\0';
	return to > start;
}

/* Makes it in memory of that size. */
static char *const *
stripped(char *const variables[], void *memory)
{
	struct readable readable = { 0 };
	char **copy = memory, *text;
	size_t n = 0, at = 0, i;

	while (variables[n] != NULL)
		n++;
	text = (char *)(copy + n + 1);
	for (i = 0; i < n; i++) {
		copy[at] = variables[i];
		if (exec_text_begins(&readable, variables[i], preload_name)) {
			/* Without other libraries there is no variable. */
			if (!strip_preload(text, variables[i]))
				continue;
			copy[at] = text;
			text += strlen(text) + 1;
		}
		at++;
	}
	copy[at] = NULL;
	return copy;
}

/*
 * The copy's memory, since stacks may be small.  A child of vfork that executes
 * a program cannot free it, since it is its parent's, too.  So a thread keeps it
 * for the next time.
 */
static __thread struct {
	void *memory;
	size_t size;
	uint32_t user;		/* the process that is making a call; 0: none */
} stripping;

/* Makes the copy if there has to be one.  False if there is no room for it. */
static bool
strip_environment(char *const **variables)
{
	const uint32_t own = process_id();
	const size_t size = stripped_size(*variables);

	if (size == 0)
		return true;
	/* A signal handler makes a call while this thread makes one. */
	if (stripping.user == own)
		return false;
	if (stripping.size < size) {
		if (stripping.size > 0)
			files_unmap(stripping.memory, stripping.size);
		stripping.memory = files_map(size, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1);
		stripping.size = stripping.memory == MAP_FAILED ? 0 : size;
		if (stripping.size == 0)
			return false;
	}
	stripping.user = own;
	*variables = stripped(*variables, stripping.memory);
	return true;
}

/* A call has returned, or does not use the copy. */
static void
strip_end(char *const *used, char *const *given)
{
	if (used != given)
		stripping.user = 0;
}

/*
 * Asks `record` for a program that will not be sampled, and returns whether it
 * samples it.  Then the program gets the environment in *variables.  When a
 * program gets other rights, the kernel ends its events, and only root may have
 * new ones.
 */
static bool
exec_ask(enum cpprof_shared_reason reason, enum cpprof_shared_wish wish,
         char *const **variables)
{
	char *const *const given = *variables;

	if (reason == CPPROF_SHARED_N_REASONS ||
	    (reason == CPPROF_SHARED_PRIVILEGED && process.user != 0) ||
	    !shared_takes_questions() ||
	    !strip_environment(variables))
		return false;
	if (shared_ask(process_id(), wish))
		return true;
	strip_end(*variables, given);
	*variables = given;
	return false;
}

/*
 * Nothing of ours may be pending when our signals are blocked, or the next
 * program would get it.  errno is written only in a child of vfork, where it
 * belongs to the parent: elsewhere saving it would touch another page, and a
 * failing call sets it anyway.
 */
static struct undo
before_exec(const char *path, bool searches, char *const variables[])
{
	struct undo undo = { NULL };
	const unsigned char dispatch = dispatch_pause();
	const bool is_own = sampling_check_process() &&
	    sampling_is_own_process();
	const int saved = is_own ? 0 : errno;

	start_leave(true);
	if (is_own)
		undo.thread = thread_self;
	if (undo.thread != NULL)
		start_execute();
	undo.reason = count_unsampled(path, searches, variables, is_own);
	undo.variables = variables;
	undo.is_outside = exec_ask(undo.reason, CPPROF_SHARED_AT_EXEC,
	    &undo.variables);
	if (undo.is_outside)
		shared_uncount(undo.reason);
	/* Both may have started events again. */
	if (undo.thread != NULL) {
		perf_pause(undo.thread);
		undo.has_timer = undo.thread->meters->has_timer;
		timer_stop(undo.thread);
		undo.thread->run->is_in_call = true;
	}
	if (sampling_is_on())
		signals_prepare_exec();
	dispatch_resume(dispatch);
	if (!is_own)
		errno = saved;
	return undo;
}

static int
after_failed_exec(const struct undo *undo, char *const *variables)
{
	const unsigned char dispatch = dispatch_pause();
	int saved = errno;

	strip_end(undo->variables, variables);
	start_leave(false);
	if (sampling_is_on())
		signals_undo_exec();
	if (undo->thread != NULL) {
		shared_note_end(false);
		undo->thread->run->is_in_call = false;
		perf_go_on(undo->thread);
	}
	if (undo->has_timer)
		timer_start(undo->thread);
	if (undo->is_outside)
		shared_ask(process_id(), CPPROF_SHARED_NEVER_MIND);
	else if (undo->reason != CPPROF_SHARED_N_REASONS)
		shared_uncount(undo->reason);
	dispatch_resume(dispatch);
	errno = saved;
	return -1;
}

#define EXECUTE(name, parameters, arguments, path, searches)		\
EXPORTED int								\
name parameters								\
{									\
	char *const *const given = variables;				\
	const struct undo undo = before_exec(path, searches, given);	\
									\
	variables = undo.variables;					\
	real()->name arguments;						\
	return after_failed_exec(&undo, given);				\
}
EXECUTE(execve,
    (const char *path, char *const words[], char *const variables[]),
    (path, words, variables), path, false)
EXECUTE(execvpe,
    (const char *file, char *const words[], char *const variables[]),
    (file, words, variables), file, true)
EXECUTE(fexecve, (int fd, char *const words[], char *const variables[]),
    (fd, words, variables), NULL, false)
EXECUTE(execveat, (int folder, const char *path, char *const words[],
    char *const variables[], int flags),
    (folder, path, words, variables, flags), NULL, false)

EXPORTED int
execv(const char *path, char *const words[])
{
	return execve(path, words, environ);
}

EXPORTED int
execvp(const char *file, char *const words[])
{
	return execvpe(file, words, environ);
}

/* The number of arguments, without the final NULL. */
static size_t
exec_count(const char *first, va_list list)
{
	size_t n = first != NULL;

	while (n > 0 && va_arg(list, char *) != NULL)
		n++;
	return n;
}

/*
 * Collects the arguments into an array on the stack, since memory may be short.
 * Leaves `list` after the final NULL.
 */
#define COLLECT(first, words, list) \
	do { \
		size_t n_, i_; \
		\
		va_start(list, first); \
		n_ = exec_count(first, list); \
		va_end(list); \
		words = alloca((n_ + 1) * sizeof *words); \
		va_start(list, first); \
		words[0] = (char *)(uintptr_t)(first); \
		for (i_ = 1; i_ <= n_; i_++) \
			words[i_] = va_arg(list, char *); \
	} while (0)

EXPORTED int
execl(const char *path, const char *first, ...)
{
	char **words;
	va_list list;

	COLLECT(first, words, list);
	va_end(list);
	return execve(path, words, environ);
}

EXPORTED int
execlp(const char *file, const char *first, ...)
{
	char **words;
	va_list list;

	COLLECT(first, words, list);
	va_end(list);
	return execvpe(file, words, environ);
}

EXPORTED int
execle(const char *path, const char *first, ...)
{
	char **words, *const *variables;
	va_list list;

	COLLECT(first, words, list);
	variables = va_arg(list, char *const *);
	va_end(list);
	return execve(path, words, variables);
}

/*
 * posix_spawn calls none of the functions above.
 */

/* The program was counted; pid 0: there is no such program. */
static void
after_spawn(enum cpprof_shared_reason reason, bool is_outside, pid_t pid)
{
	const int saved = errno;

	if (reason != CPPROF_SHARED_N_REASONS && (pid == 0 || (is_outside &&
	    shared_ask((uint32_t)pid, CPPROF_SHARED_NOW))))
		shared_uncount(reason);
	errno = saved;
}

#define SPAWN(name, searches)						\
EXPORTED int								\
name(pid_t *pid, const char *path,					\
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr, \
    char *const words[], char *const variables[])			\
{									\
	const int saved = errno;					\
	const enum cpprof_shared_reason reason = count_unsampled(path,	\
	    searches, variables,					\
	    sampling_check_process() && sampling_is_own_process());	\
	char *const *used = variables;					\
	const bool is_outside = exec_ask(reason, CPPROF_SHARED_CHILD,	\
	    &used);							\
	pid_t other;							\
	int error;							\
									\
	pid = pid != NULL ? pid : &other;				\
	errno = saved;							\
	error = real()->name(pid, path, actions, attr, words, used);	\
	after_spawn(reason, is_outside, error == 0 ? *pid : 0);		\
	strip_end(used, variables);					\
	return error;							\
}
SPAWN(posix_spawn, false)
SPAWN(posix_spawnp, true)

/*
 * Ends that run no exit handlers.
 */

EXPORTED __attribute__((noreturn)) void
_exit(int status)
{
	start_end();
	start_leave(true);
	real()->_exit(status);
	__builtin_unreachable();
}

EXPORTED __attribute__((noreturn)) void
_Exit(int status)
{
	_exit(status);
}
