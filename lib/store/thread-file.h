/* SPDX-License-Identifier: MIT */
/* thread-file.h -- a thread's record and its tree in the file.
 *
 * All functions: async-signal-safe, on the thread, in a handler or with ticks
 * held off, unless stated otherwise.
 */
#ifndef CPPROF_THREAD_FILE_H
#define CPPROF_THREAD_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/cpprofdata.h"

#define THREAD_NAME_SIZE sizeof ((struct cpprofdata_thread *)0)->name
#include "lib/store/datafile.h"
#include "lib/store/tree.h"

/* ---- modules.c ---- */

/*
 * Which load module an address belongs to, as the file names it.
 *
 * A module gets a record when an address in it is first sampled.  Unloading
 * closes the record.  If the same file is loaded again, at any address, its
 * record is opened again; another file at the same address gets a record of its
 * own.
 */

#define MODULE_CACHE_SIZE 16

/*
 * A thread's cache of module ranges, most recently used first, so that a few
 * cache lines serve a whole stack.
 */
struct recent_modules {
	struct module_range {
		uint64_t start, end;	/* end 0: unused */
		uint64_t bias;
		uint32_t number;
	} ranges[MODULE_CACHE_SIZE];
	uint64_t epoch;
};

/*
 * Finds the module number and offset of an address; CPPROFDATA_NO_MODULE and
 * the address itself if it is in no module.  Async-signal-safe, on the cache's
 * thread.
 */
enum store_result modules_find(struct recent_modules *cache, uint64_t address,
    uint32_t *module, uint64_t *offset);

/*
 * The same for an address in the kernel, by the file in the recording's
 * directory (lib/cpprof-shared.h).  Without it, all addresses are at offset 0.
 */
enum store_result modules_find_kernel(struct recent_modules *cache,
    uint64_t address, uint32_t *module, uint64_t *offset);

/*
 * Empties the cache if a module was unloaded since it was last used.  If so,
 * returns true, and everything that the thread remembers of addresses is
 * invalid.  Async-signal-safe, on the cache's thread.
 */
bool modules_refresh(struct recent_modules *cache);

/*
 * The current epoch.  A cache of an earlier epoch is invalid.
 * Async-signal-safe.
 */
uint64_t modules_epoch(void);

/*
 * Closes the records of modules that are no longer loaded, and starts a new
 * epoch.  Not from a handler, and only with ticks held off.
 */
void modules_unloaded(void);

/*
 * How many modules have records; the number and the file of the i-th.  A module
 * keeps both.  Async-signal-safe.
 */
size_t modules_count(void);
const char *modules_file(size_t i, uint32_t *number);

/*
 * Invalidates a cache in a forked child, since its numbers belong to the
 * parent's file.  Async-signal-safe.
 */
static inline void
modules_forget(struct recent_modules *cache)
{
	cache->epoch = UINT64_MAX;
}

/* ---- kernel-modules.c ---- */

struct cpprof_kernel_module;

/* The addresses around one that are in the same module, or in none. */
struct kernel_range {
	uint64_t start, end;
	const struct cpprof_kernel_module *module;	/* NULL: none */
};

/*
 * Reads the list of the kernel's modules, once.  False if there is none.  With
 * the file's lock held.
 */
bool kernel_modules_read(void);

/* Where an address in the kernel is.  After the list was read. */
struct kernel_range kernel_modules_find(uint64_t address);

/* ---- phase.c ---- */

/*
 * The phase of its run that the program says it is in.
 *
 * The whole process is in one phase at a time.  In the file, the phase is the
 * outermost frame of all stacks sampled in it, so a phase that is entered again
 * continues its earlier entry.
 */

/*
 * Begins the phase `name`; NULL or "": no phase.  Only the first 63 bytes of a
 * name count.  False with errno set if there are too many names.  Not from a
 * handler.
 */
bool phase_set(const char *name);

/*
 * The number of a phase, whether the program ever enters it or not; 0 if there
 * are too many.  Not from a handler.
 */
uint32_t phase_number(const char *name);

/*
 * The numbers of "sampling", whose node has what the collector itself uses, and
 * of "forking", whose node has what a forked child uses before that.
 */
#define PHASE_SAMPLING 1
#define PHASE_FORKING 2

/* The current phase; 0: none.  Async-signal-safe. */
uint32_t phase_current(void);

/*
 * Sets a thread's *phase to the current one.  If it was another, returns true,
 * and the nodes that the thread remembers are invalid.  Async-signal-safe.
 */
bool phase_refresh(uint32_t *phase);

/*
 * The node of a phase in a thread's tree; of phase 0, TREE_ROOT.
 * Async-signal-safe, on the tree's thread.
 */
enum store_result phase_node(struct tree *tree, uint32_t phase,
    struct node *node);

/* ---- functions.c ---- */

/*
 * Functions that an interpreter runs.
 *
 * A function gets its record when a frame of it is first sampled.  It is
 * recognised by the address and the tag of its code object.  If a program makes
 * the same code again and again, its code objects share a record.
 */

struct python_frame;

/*
 * Sets frame->function, a number in the file; 0 stands for functions that are
 * not known.  Async-signal-safe, on the thread.
 */
enum store_result functions_find(struct thread *thread,
    struct python_frame *frame);

/* ---- thread-file.c ---- */

/* The part of a thread's state that belongs to lib/store. */
struct thread_file {
	struct cpprofdata_thread *record;	/* private (datafile.h); NULL:
						   none in the file yet */
	struct cpprofdata_wait *wait_mapped;	/* in the record's mapping, only
						   written; NULL: no record */
	bool is_announced;	/* the record names this thread */
	bool has_own_name;	/* and has its present name */
	unsigned char n_samples;	/* of this thread so far, at most 9 */
	uint32_t earlier_tid;	/* of the record's thread before this one */
	uint64_t earlier_end_ns;
	struct cpprofdata_wait wait;	/* the last that was noted */
	uint32_t phase;		/* of the remembered nodes */
	struct tree tree;
	struct recent_modules modules;
};

/*
 * Gives the thread a record in the file, or takes over the one that its state
 * has from an earlier thread.
 */
enum store_result thread_file_announce(struct thread *thread);

/*
 * Before a stack of an announced thread that has not its present name in its
 * record: sees that threads of different names do not share a record and its
 * tree, as long as there are not too many names.  Nothing may refer to nodes of
 * the tree.
 */
enum store_result thread_file_take_name(struct thread *thread);

/* Whether a thread has another name than its record. */
bool thread_file_is_renamed(const struct thread *thread);

/*
 * The name in the record of any thread with that start routine, or else that of
 * the calling thread, which has THREAD_NAME_SIZE bytes, with the final 0.
 */
void thread_file_name_of(const struct thread *any, const void *routine,
    char *name);

/*
 * Note in its record that the thread has ended, or its present name, unless
 * earlier threads had the record.
 */
void thread_file_note_end(struct thread *thread);
void thread_file_note_name(struct thread *thread);

/* Notes in its record where the thread waits, if it has a record. */
void thread_file_note_wait(struct thread *thread,
    const struct cpprofdata_wait *wait);

/*
 * Names the calling thread, whether it is sampled or not; NULL: restores the
 * system's name.  Not from a handler.
 */
void thread_file_name(const char *name);

/*
 * In a forked child: the thread has nothing in the child's file.  For any
 * thread's state.
 */
void thread_file_forked(struct thread *thread);

/* ---- brief.c ---- */

/*
 * A file shared by processes that have only samples of their beginning.
 *
 * Of a thousand processes that live for a millisecond, two hundred have a
 * sample of their beginning.  A file for each of these would cost more than the
 * rest of the collector's work for them.  Instead, each appends a record to one
 * file (lib/cpprofdata.h).
 *
 * All functions: async-signal-safe, any thread.
 */

/*
 * Appends a record of this process: one sample of that kind with `hits` hits of
 * the resource in the first of n columns, which stand for cpu_ns of CPU time,
 * and if is_of_both, as many of that in the second.  All processes of a
 * recording must have the same columns.  False if the file cannot be opened or
 * created, is not usable, or would exceed its limits.
 */
bool brief_add(enum cpprofdata_brief_kind kind, const unsigned *columns,
    unsigned n, uint64_t hits, bool is_of_both, uint64_t cpu_ns);

#endif
