/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inject.h -- loads the collector into a process that runs already, on request.
 *
 * A thread of the process is stopped where it holds no lock of the C library,
 * and calls dlopen and a function of the collector.  That starts a thread of
 * the collector's, which does the rest (lib/cpprof-inside.h).  No other thread
 * is stopped, but those that block the collector's signals, for a moment.
 *
 *	inject.c		from the process to the recording, and its end
 *	inject_place.c		a directory that a process in a container sees
 *	inject_process.c	what is mapped in the process, and where functions are
 *	inject_thread.c		stops threads, and chooses the one that calls
 *	inject_call.c		the call itself
 *
 * All that stops threads runs in a child process of cpprof.  When it ends, by
 * whatever cause, the kernel lets all threads run on; and a call that has begun
 * then ends by itself, since it returns to rt_sigreturn, with all registers of
 * the thread in a frame that is already on its stack.
 */
#ifndef CPPROF_INJECT_INJECT_H
#define CPPROF_INJECT_INJECT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "lib/cpprof-inside.h"
#include "src/base/error.h"
#include "src/base/text_buffer.h"

/* ---- inject.c ---- */

/* A process with the collector in it. */
struct inject_target {
	pid_t pid;
	uint64_t start;		/* when it began, in ticks since the boot */
	uint64_t variable;	/* where its struct cpprof_inside is */
	uint64_t mask;		/* the collector's signals */
	size_t n_unreached;	/* threads that block these, and never were
				 * in a state in which their mask may be
				 * changed: they are not sampled */
	size_t n_threads;
	struct inject_thread_mask {
		pid_t tid;
		uint64_t blocked;	/* that it had blocked, of these; 0:
					 * its mask was not changed */
		bool is_open;		/* it is still to be looked at */
	} *threads;		/* [n_threads] */
};

/*
 * Whether the collector can be loaded into a process, as far as that can be seen
 * from outside.  0, or -1 with *error set: what forbids it, and the way on.
 */
int inject_check(pid_t pid, struct error *error);

/*
 * Loads the collector and begins sampling.  library: the path of its file;
 * place: where the process has a copy of it, or NULL; settings: the variables
 * of cpprof-environment.h, each with a NUL.  When this returns 0, all threads
 * are sampled, and *target must be given to inject_end.
 */
struct inject_place;
int inject_begin(struct inject_target *target, pid_t pid, const char *library,
                 const struct inject_place *place, const char *settings,
                 size_t size, struct error *error);

/* Whether the process is there and is sampled. */
bool inject_goes_on(const struct inject_target *target);

/*
 * Ends sampling, waits until the process is as it was, and frees the target.
 * False: that could not be seen, but it is going to end.
 */
bool inject_end(struct inject_target *target);

/* ---- inject_place.c ---- */

/*
 * A directory for the library and the recording of a process that does not see
 * where they are, or may not write there.
 */
struct inject_place {
	char path[64];		/* as the process sees it */
	int parent, directory;	/* open here; -1: there is none */
	char name[40];		/* in its parent */
};

/*
 * Whether the process has another user, who may not write to a directory of
 * cpprof's.
 */
bool inject_place_is_needed(pid_t pid);

/*
 * Makes one, locks it, and copies the library there.  -1 with *error set, and
 * nothing is left.
 */
int inject_place_make(struct inject_place *place, pid_t pid,
                      const char *library, struct error *error);

/*
 * Copies the recording's files, which the process may have changed, to an open
 * directory.  Whether all could be copied.
 */
bool inject_place_collect(const struct inject_place *place, int directory);

/* Removes it. */
void inject_place_remove(struct inject_place *place);

/* ---- inject_process.c ---- */

struct inject_mapping {
	uint64_t start, end, offset, inode;
	bool is_code;
	char *path;		/* "" if it has none */
};

/* What a process has mapped.  Start with { 0 } and its pid. */
struct inject_process {
	pid_t pid;
	char root[32];		/* its root directory, by /proc */
	struct inject_mapping *mappings;	/* [n] in order of address */
	size_t n, capacity;
};

/* Reads the mappings, anew if need be. */
int inject_process_read(struct inject_process *process, struct error *error);
void inject_process_free(struct inject_process *process);

/* The mapping with an address; NULL: none. */
const struct inject_mapping *inject_process_find(
    const struct inject_process *process, uint64_t address);

/* Whether a mapping belongs to a file whose name begins like that. */
bool inject_mapping_is(const struct inject_mapping *mapping,
                       const char *beginning);

/* The first mapping of such a file; NULL: none. */
const struct inject_mapping *inject_process_module(
    const struct inject_process *process, const char *beginning);

/* The address of a dynamic symbol of the file that is mapped there; 0: none. */
uint64_t inject_process_symbol(const struct inject_process *process,
                               const struct inject_mapping *mapping,
                               const char *name);

/* The name of the function at an address in the file; "": unknown. */
void inject_process_function(const struct inject_process *process,
                             uint64_t address, char *name, size_t size);

/* Copies memory of the process.  False if that is not possible. */
bool inject_read(pid_t pid, uint64_t from, void *to, size_t size);
bool inject_write(pid_t pid, uint64_t to, const void *from, size_t size);

/* ---- inject_thread.c ---- */

/*
 * Stops a thread; false with errno set: EAGAIN if it does not stop soon.  It
 * runs on after inject_thread_release, or when this process ends.
 */
bool inject_thread_stop(pid_t tid);
void inject_thread_release(pid_t tid);

/*
 * Stops a thread that holds no lock which loading a library needs, and has room
 * on its stack.  Returns its id, or -1 with *error set if there is none for a
 * second.
 */
pid_t inject_thread_choose(const struct inject_process *process,
                           struct error *error);

/*
 * Lets all threads take signals of a mask, and notes in the target which had
 * blocked some; and blocks them again.  A thread in the midst of the collector's
 * work, or of the C library's, is waited for.
 */
int inject_threads_unblock(struct inject_target *target, struct error *error);
void inject_threads_block(const struct inject_target *target);

/*
 * What a system call is continued with that was stopped: the kernel may let
 * some fail with EINTR that could as well begin anew.
 */
void inject_thread_mend_call(pid_t tid, struct user_regs_struct *registers);

/* ---- inject_call.c ---- */

enum {
	INJECT_STATE_SIZE = 16384,	/* of floating-point registers */
	INJECT_ROOM = 98304		/* what a call may use of the stack */
};

/* A result that could not be read. */
#define INJECT_UNKNOWN UINT64_MAX

/* A stopped thread that calls functions. */
struct inject_caller {
	pid_t tid;
	uint64_t to_return;	/* code that makes the call rt_sigreturn */
	uint64_t to_store;	/* code that stores a result; 0: there is none */
	struct user_regs_struct registers;	/* before the first call */
	uint64_t signals;			/* that it blocks */
	unsigned char state[INJECT_STATE_SIZE];	/* floating point */
	size_t state_size;
	uint64_t stack;		/* where its frame is */
	uint64_t text;		/* bytes on its stack, [PATH_MAX] */
	uint64_t result;	/* a word there */
	bool has_begun;
};

/*
 * Whether a thread with these registers runs on its own stack, and that has room
 * for a call.
 */
bool inject_call_has_room(const struct inject_process *process,
                          const struct user_regs_struct *registers);

/*
 * Prepares a stopped thread.  0, or -1 with *error set, and nothing has
 * changed.
 */
int inject_call_begin(struct inject_caller *caller,
                      const struct inject_process *process, pid_t tid,
                      struct error *error);

/*
 * Calls a function with two arguments, and waits.  -1 with *error set: the
 * thread has ended, or the call lasts; then the thread goes on by itself, and
 * the caller must not be used again.
 */
int inject_call(struct inject_caller *caller, uint64_t function,
                uint64_t first, uint64_t second, uint64_t *result,
                struct error *error);

/* Lets the thread go on where it was stopped. */
void inject_call_end(struct inject_caller *caller);

#endif
