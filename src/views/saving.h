/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saving.h -- what a run would gain without some of its hits.
 *
 * That depends on what hits are.  CPU time, bytes and counts add up: what is not
 * used is saved, whatever thread it was.  Real time is the time of the run only
 * if one thread was sampled.  The times of several threads overlap, and a thread
 * that waits for another one gains nothing from a cheaper wait; there is then no
 * saving to be told.
 */
#ifndef CPPROF_VIEWS_SAVING_H
#define CPPROF_VIEWS_SAVING_H

#include "src/views/view.h"

enum saving_kind {
	SAVING_TIME,	/* the run is shorter */
	SAVING_USE,	/* less of the resource is used */
	SAVING_NONE,	/* not known: the times of several threads */
};

struct saving {
	enum saving_kind kind;
	const char *who;	/* "the run", "the 5 threads" */
	bool are_several;	/* it is not "the run" */
	const char *of;		/* " of CPU time", or "" */
	const char *unless;	/* what must be so, ", if it has one thread";
				 * or "" */
};

/*
 * What is true for the set, which is the request's own.  Its texts live as long
 * as the table.  0, or -1 with *error set.  O(nodes).
 */
int saving_of(const struct sample_set *set, struct saving *saving,
              struct table *table, struct error *error);

/*
 * Adds a header line: "IF_WHAT, the run would take 38.4 s instead of 122.8 s",
 * with `probably` if it is_estimated; all amounts in gticks.  Nothing is added
 * where no saving is known.  0, or -1 with *error set.
 */
int saving_add_line(const struct saving *saving, const struct sample_set *set,
                    const char *if_what, bool is_estimated, uint64_t after,
                    uint64_t before, struct table *table,
                    struct error *error);

/*
 * Adds a header line that says why there is no saving, if there is none: hits
 * have that part of the time of all threads.  0, or -1 with *error set.
 */
int saving_add_lack(const struct saving *saving, const struct sample_set *set,
                    uint64_t hits, struct table *table, struct error *error);

#endif
