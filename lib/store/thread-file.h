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
#include "lib/store/modules.h"
#include "lib/store/tree.h"

/* The part of a thread's state that belongs to lib/store. */
struct thread_file {
	struct cpprofdata_thread *record;	/* private (datafile.h); NULL:
						   none in the file yet */
	struct cpprofdata_wait *wait_mapped;	/* in the record's mapping, only
						   written; NULL: no record */
	bool is_announced;	/* the record names this thread */
	bool is_settled;	/* and has its name */
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
 * Before a stack of an announced thread that is not settled: sees that threads
 * of different names do not share a record and its tree, as long as there are
 * not too many names.  Nothing may refer to nodes of the tree.
 */
enum store_result thread_file_settle(struct thread *thread);

/* Whether a settled thread has another name than its record. */
bool thread_file_is_renamed(const struct thread *thread);

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

#endif
