/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runs.h -- several runs of a program, each read by itself. */
#ifndef CPPROF_SHELL_SESSION_RUNS_H
#define CPPROF_SHELL_SESSION_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/formats/format.h"
#include "src/profile/profile.h"

/* Start with { 0 }. */
struct runs {
	struct profile **profiles;	/* [n] */
	char **paths;			/* [n] */
	uint32_t n;
	bool are_borrowed;		/* the profiles */
};

/*
 * Reads the runs that paths stand for (run_list.h).  0, or -1 with *error set
 * and *runs empty.
 */
int runs_read(struct runs *runs, const char *const *paths, size_t n,
              const struct read_options *options, struct error *error);
void runs_free(struct runs *runs);

/*
 * The same for paths of which some may be one run that has been read: `loaded`,
 * from n paths.  It is borrowed if it is one run; else all are read again.
 */
int runs_find(struct runs *runs, struct profile *loaded,
              const char *const *paths, size_t n,
              const struct read_options *options, struct error *error);

/*
 * Adds how much runs vary in what they used of each resource: "cpu 1.02 s on
 * average, 981 ms to 1.10 s, standard deviation 3.1%; ...".
 */
void runs_add_variation(const struct runs *runs, struct text_buffer *text);

#endif
