/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_waits.h -- when a process ended, and what its threads waited for.
 *
 * The collector writes where a thread waits when the wait begins, and charges
 * its time when it ends.  What was still on when the process ended, however it
 * did, or is on now, is charged here.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_WAITS_H
#define CPPROF_FORMATS_CPPROFDATA_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/formats/cpprofdata/cpprofdata_file.h"

/*
 * Finds out whether the process still runs, and up to when its threads are to
 * be charged: its end, or now.  The end of one that was killed while nobody
 * looked is taken to be its last sign of life, and is not `seen`.
 */
struct cpprofdata_end {
	bool is_running;
	bool is_seen;
	uint64_t mono_ns;	/* on the clock of the waits; 0: not known */
	uint64_t utc_ns;	/* since 1970; 0: not known */
};

struct cpprofdata_end cpprofdata_find_end(const struct cpprofdata_file *file);

/* Hits of one resource that are to be charged to one place. */
struct cpprofdata_charge {
	uint32_t resource;
	uint32_t node;		/* record, or CPPROFDATA_NO_NODE */
	bool is_wait;		/* a call that has not returned; else time that
				   no sample has found yet */
	uint64_t hits;
};

enum { CPPROFDATA_CHARGES_MAX = CPPROFDATA_MAX_RESOURCES + 1 };

/*
 * What thread record `number` is still to be charged, up to `end`; returns how
 * many charges there are.  *waits tells whether it is in a call.
 */
size_t cpprofdata_wait_charges(const struct cpprofdata_file *file,
                               const struct cpprofdata_end *end,
                               uint32_t number,
                               struct cpprofdata_charge *charges, bool *waits);

#endif
