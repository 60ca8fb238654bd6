/* SPDX-License-Identifier: MIT */
/* start.h -- settings, handlers, threads: what runs from start to end. */
#ifndef CPPROF_START_H
#define CPPROF_START_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/sources/resource.h"

/* ---- settings.c ---- */

/*
 * Reads the collector's settings from the environment.
 *
 * Functions: from the constructor or cpprof_start, before there is a second
 * sampled thread; not from a handler.
 */

/*
 * Reads the environment, the command line, and /proc into `process` (the C
 * library may not have them yet), and chooses the resources.  `output` is the
 * directory of the files; NULL: the environment names it.
 *
 * False if the process is not to be sampled: no directory is named, it is
 * setuid, or a debugger, a tracer or valgrind watches it, which would show the
 * user every tick.  *problem is then a message, or NULL.  errno is set.
 */
bool settings_read(char **environment, char **words, const char *output,
    const char **problem);

/* Whether a tracer (gdb, strace) watches the first thread of the process. */
bool settings_have_tracer(void);

/* The value of an environment variable, or NULL. */
const char *settings_variable(char **environment, const char *name);

/* ---- own-resource.c ---- */

/*
 * Resources that the program itself declares and spends.
 *
 * They have the last columns.  The number of columns is fixed when the file is
 * created.  If sampling is on from the program's start, the program declares
 * its resources later; columns are reserved for it if it is linked with the
 * library, since then it may declare some.  A reserved column that is not used
 * has no name.
 */

/*
 * Adds columns for the declared resources, and with `keeps` also for resources
 * that may yet be declared.  Before the file is created, after all other
 * columns are there.  From the constructor or cpprof_start.
 */
void own_resources_add(bool keeps);

/*
 * Whether the program, or a library loaded with it, is linked with this
 * library.  From the constructor.
 */
bool own_resources_are_likely(void);

/* ---- offer.c ---- */

/*
 * Writes a line to standard output for each resource in a list (as in
 * CPPROF_RESOURCES; NULL: for all): name, source, flags, and why no better
 * source is used, separated by tabs.  Returns 0, or 1 if the list names a
 * resource that does not exist.  From the constructor.
 */
int offer_resources(const char *list, bool is_random);

/* ---- output.c ---- */

/*
 * For a recording that the program itself starts: creates the directory `name`
 * (NULL: PROGRAM.cpprof) with access for the user
 * only, or uses an empty one or one into which processes that still run are
 * recording.  An earlier recording of that name is first renamed to
 * PROGRAM.1.cpprof, one that has that name to number 2, and so on.  Stores the
 * absolute path in path[size].  False with errno set; EAGAIN: `cpprof record`
 * is recording there.  Not from a handler.
 */
bool output_prepare(const char *name, char *path, size_t size);

/*
 * Whether the recorder of this recording has ended: nobody has locked the
 * directory any more.  Async-signal-safe.
 */
bool output_is_abandoned(void);

/* ---- sampler.c ---- */

/*
 * The handlers of our signals.  Ticks and traps can take a sample.
 *
 * All functions: not from a handler, unless stated otherwise.
 */

/*
 * Installs the handlers and turns sampling on.  If the program has stopped
 * sampling, a thread's next tick calls put_to_sleep, in the handler.  False
 * with errno set.  From the constructor or cpprof_start.
 */
bool sampler_install(void (*put_to_sleep)(struct thread *));

/*
 * Sets a function that the handler of ticks calls first: whether the signal was
 * sent to make its thread begin sampling, which the function then does.  It
 * must not touch thread-local variables otherwise.
 */
void sampler_on_wake(bool (*wake)(const siginfo_t *info, const void *context));

/*
 * Gives the signals back to the program, for good.  In a forked child, which
 * has only one thread.  Async-signal-safe.
 */
void sampler_uninstall(void);

/* ---- threads.c ---- */

/*
 * The states of threads, and which thread gets them next.
 *
 * A state is one block of memory, in which each room has its own part
 * (lib/base/thread.h).  A thread that ends gives its state to the next one with
 * the same start routine.  So there are never more states than there were
 * threads at once, and not many more trees in the file
 * (lib/store/thread-file.c).
 */

struct carryover;

/*
 * Returns a state for a thread that will run `routine` with `argument`: an idle
 * one if its last thread ran the same.  NULL if there is no memory.  Not from a
 * handler.
 */
struct thread *threads_take(const void *routine, void *argument);

/*
 * Gives back a state whose thread was not created or has ended.  Not from a
 * handler.
 */
void threads_give_back(struct thread *thread);

/*
 * Whether the thread of a state has not ended, as far as is known: another one
 * may have got its number.  Async-signal-safe.
 */
bool threads_lives(const struct thread *thread);

/* The list of all states.  Async-signal-safe. */
struct thread *threads_all(void);

/* What ended threads have left, for each start routine.  Async-signal-safe. */
struct carryover *threads_carryovers(void);

/*
 * First in a thread that is to be sampled: sets up its state and makes
 * thread_self point to it.  Its stack is at `stack` now and ends at
 * `stack_end`.  Async-signal-safe.
 */
void threads_begin(struct thread *thread, const void *stack,
    const void *stack_end);

/*
 * Samples the calling thread again, which was asleep.  Async-signal-safe.
 */
void threads_resume_sampling(struct thread *thread);

/*
 * In a forked child: the other threads are gone, and no state has anything in
 * the child's file.  Async-signal-safe.
 */
void threads_forked(void);

/*
 * When a recording has ended and another begins in this process: the states of
 * threads that have not noticed the end (THREAD_LEFT) are not used until they
 * do.  Those of other threads that go on wait for their own threads
 * (THREAD_ASLEEP), all others are idle.  Not from a handler; no other thread
 * uses the collector.
 */
void threads_begin_again(void);

/*
 * The thread of that state (THREAD_LEFT) has noticed that its recording has
 * ended, and has another state now, or ends; then the state becomes idle, if
 * that can be done.  On that thread; async-signal-safe.
 */
void threads_take_back(struct thread *thread, bool has_ended);

/* ---- start.c ---- */

/* What the room above does when sampling begins and when a thread ends. */
struct start_parts {
	/*
	 * Called when resources are chosen: opens the gates of the wrappers, or
	 * closes them all.  Not from a handler.
	 */
	void (*open_gates)(bool is_sampled);
	/*
	 * Called when the calling thread ends, perhaps cancelled in a measured
	 * call.  Async-signal-safe.
	 */
	void (*end_calls)(struct thread *thread);
	/*
	 * In a process into which the library was loaded: wraps calls of modules
	 * that were loaded since.  Not from a handler.
	 */
	void (*look_for_modules)(void);
	/*
	 * Called when the process ends, perhaps several times, while other
	 * threads run: counts what is only counted when it is over.
	 */
	void (*finish)(void);
};

/*
 * To be called when the library has been loaded.  Samples the process if the
 * environment says so.  If the environment asks for it, instead lists the
 * available resources (offer.c) and ends the process.  From the constructor.
 */
void start_library(const struct start_parts *parts, char **environment,
    char **words);

/*
 * Begins to sample this process, with the calling thread and the environment's
 * settings.  `output` is the absolute path of an existing directory; NULL:
 * named in the environment.  `words` is main's argv; NULL if the program may
 * have changed it.  False with errno set; *problem is then a message, or NULL.
 * Not from a handler.
 */
bool start_process(char **environment, char **words, const char *output,
    const char **problem);

/*
 * Notes that the process is about to end other than by exit; `false` takes that
 * back.  Async-signal-safe.
 */
void start_leave(bool is_leaving);

/*
 * Count what the process has used so far: start_end before an end without exit
 * handlers, start_execute before another program is executed.  start_execute
 * only in the sampled process itself (sampling_is_own_process).  start_end is
 * async-signal-safe.  May change errno.
 */
void start_end(void);
void start_execute(void);

/*
 * First in a new thread that has a state: begins the thread and starts its
 * timer.  On that thread, not from a handler.
 */
void start_thread_sampling(struct thread *thread);

/*
 * Samples the calling thread, if it is not sampled yet or sleeps.  False if
 * there is no memory.  Not from a handler.
 */
bool start_calling_thread(void);

/* Samples the interrupted thread, with that state.  In the handler. */
void start_woken_thread(struct thread *thread, const void *context);

/* The same, outside the handler, for the calling thread at that stack address. */
void start_waking_thread(struct thread *thread, uintptr_t stack);

/*
 * Waits until no other thread is just beginning or ending to be sampled, which
 * takes system calls.  After sampling_turn(false) none does.  False: one has
 * not come to an end in some seconds.  Not from a handler.
 */
bool start_wait_for_changes(void);

/* Whether one is, without waiting. */
bool start_is_changing(void);

/* Looks for modules that were loaded since.  Not from a handler. */
void start_look_for_modules(void);

/*
 * Closes all gates and turns sampling off, also for threads that have not
 * noticed that it was stopped.  Returns as start_wait_for_changes.  Not from a
 * handler.
 */
bool start_end_inside(void);

/*
 * Stops sampling the calling thread until control.c wakes it.  Its timers are
 * freed.  Also in the handler.
 */
void start_put_to_sleep(struct thread *thread);

/* ---- control.c ---- */

/*
 * Completes the recording and ends sampling for good in all threads.  `flag`,
 * one of header.flags, says why; 0: none.  Not from a handler.
 */
void control_end(uint32_t flag);

/*
 * For inside.c, on a thread of ours that is not sampled.
 *
 * The first begins to sample all other threads of the process with the settings
 * in that environment, after an earlier recording has ended, if there was one.
 * False with errno and *problem set, as from start_process.
 *
 * The second does so for threads that were started since.  The third ends
 * sampling in all threads, and leaves them and the process's signals as they
 * were; threads that do not run need not run for that.
 *
 * But a thread may be stopped in the collector's own code.  What it can reach
 * stays as it is: the handlers, its timer, the memory.  control_clean_up gives
 * back what has been left so, and is to be called again until it returns true:
 * nothing is left, or another recording takes care of it.
 */
bool control_begin_inside(char **environment, const char **problem);
void control_wake_new(void);
void control_end_inside(void);
bool control_clean_up(void);

/*
 * Whether the calling thread is sampled, in a process into which the library was
 * loaded.  If it is to be woken, it begins now: a thread that mostly waits may
 * have no tick for a long time.  Not from a handler of ours.
 */
bool control_begin_here(void);

#endif
