/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history.h -- the lines typed at the prompt, kept from run to run. */
#ifndef CPPROF_SHELL_TERMINAL_HISTORY_H
#define CPPROF_SHELL_TERMINAL_HISTORY_H

#include <stddef.h>

#include "src/base/error.h"

enum { HISTORY_MOST = 1000, HISTORY_LONGEST = 16 * 1024 };

/* Start with `{ 0 }`. */
struct history {
	char **lines;		/* [n], oldest first */
	size_t n, capacity;
	size_t n_saved;		/* lines[n_saved..] are not in the file yet */
};

void history_free(struct history *history);

/*
 * Adds a line without its trailing blanks.  Does nothing if the line is then
 * empty, repeats the last one or is longer than HISTORY_LONGEST bytes.  0, or
 * -1 with *error set.
 */
int history_add(struct history *history, const char *line,
                struct error *error);

/*
 * Read and write $XDG_STATE_HOME/cpprof/history, or if that is not set
 * ~/.local/state/cpprof/history, in a directory that only the user can read.
 * A missing file is an empty history.  Loading shortens a file that has more
 * than twice HISTORY_MOST lines.  Saving appends the new lines, so that two
 * programs at the same time lose nothing.  0, or -1 with *error set.
 */
int history_load(struct history *history, struct error *error);
int history_save(struct history *history, struct error *error);

#endif
