/* SPDX-License-Identifier: MIT */
/* thread-file.h -- what a thread has in the file: its record and its tree.
 *
 * All functions: async-signal-safe, on the thread, in a handler or with ticks
 * held off.
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
	struct cpprofdata_thread *record;	/* private, as datafile.h says;
					   NULL: none in the file yet */
	struct cpprofdata_wait *wait_mapped;	/* in the record's mapping, only
					   written to; NULL: no record */
	bool is_announced;	/* the record names this thread */
	uint32_t phase;		/* that the remembered nodes belong to */
	struct tree tree;
	struct module_cache modules;
};

/*
 * Gives the thread its record in the file, or takes over the one that its
 * state has from an earlier thread.
 */
enum tree_result thread_file_announce(struct thread *thread);

/* Notes in its record that the thread has ended, or its present name. */
void thread_file_note_end(struct thread *thread);
void thread_file_note_name(struct thread *thread);

/*
 * Names the calling thread, whether it is sampled or not; NULL: as the system
 * does.  Not from a handler.
 */
void thread_file_name(const char *name);

/*
 * In a forked child: the thread has nothing in the new file.  On any thread's
 * state.
 */
void thread_file_forked(struct thread *thread);

#endif
