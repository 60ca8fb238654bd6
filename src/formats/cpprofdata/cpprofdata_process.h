/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_process.h -- the process of a recording: whether it still runs,
 * when it ended, and what its threads waited for.
 *
 * The collector writes where a thread waits when the wait begins, and charges
 * its time when it ends.  Waits that were still going on when the process
 * ended, in whatever way, or that are going on now, are charged here.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_PROCESS_H
#define CPPROF_FORMATS_CPPROFDATA_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/formats/cpprofdata/cpprofdata_file.h"

/*
 * Whether the process has the file mapped, so that it may still grow.  False
 * if that is unknown: a process of another machine or another user.
 */
bool cpprofdata_is_written_by(const char *path, uint64_t pid);

/*
 * Records in a file that its process has ended without recording its end; does
 * nothing if it runs, or its end is recorded.
 */
void cpprofdata_note_gone(const char *path);

/*
 * Records in a file that its process runs now, if it keeps waits; false if it
 * keeps none, so that this is not needed.
 */
bool cpprofdata_note_seen(const char *path);

/*
 * Finds out whether the process still runs, and up to when its threads are
 * charged: its end, or now.  If it was killed unobserved, its last sign of
 * life counts as its end, which is not `seen`.
 */
struct cpprofdata_end {
	bool is_running;
	bool is_seen;
	uint64_t mono_ns;	/* on the clock of the waits; 0: unknown */
	uint64_t utc_ns;	/* since 1970; 0: unknown */
};

struct cpprofdata_end cpprofdata_find_end(const struct cpprofdata_file *file);

/* Hits of one resource to be charged to one place. */
struct cpprofdata_charge {
	uint32_t resource;
	uint32_t node;		/* record, or CPPROFDATA_NO_NODE */
	bool is_wait;		/* a call that has not returned; otherwise time
				 * without a sample so far */
	uint64_t hits;
	uint64_t begin_ns, end_ns;	/* when; on the clock of the waits */
};

enum { CPPROFDATA_CHARGES_MAX = CPPROFDATA_MAX_RESOURCES + 1 };

/*
 * The charges still due for thread record `number`, up to `end`; returns their
 * number.  *waits: whether it is in a call.
 */
size_t cpprofdata_wait_charges(const struct cpprofdata_file *file,
                               const struct cpprofdata_end *end,
                               uint32_t number,
                               struct cpprofdata_charge *charges, bool *waits);

#endif
