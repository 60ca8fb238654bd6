/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording.h -- the directory that a recording goes into.
 *
 * It is locked for as long as the recording goes on, and nothing that was in
 * it before is touched until the program is about to start:
 *
 *	recording_open		makes or locks it; touches nothing
 *	recording_clear		moves an earlier recording out of the way
 *	recording_started	removes what is replaced
 *	recording_undo		the program did not start: as it was before
 *	recording_close		always; ends the lock
 */
#ifndef CPPROF_SHELL_RECORD_RECORDING_H
#define CPPROF_SHELL_RECORD_RECORDING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/formats/cpprofdata/cpprofdata_summary.h"

/* What becomes of an earlier recording of the same name. */
enum earlier_recording {
	EARLIER_MOVES,		/* gets a number: earlier.h */
	EARLIER_STAYS,		/* it should not be replaced */
	EARLIER_GOES,		/* it is replaced */
};

struct recording {
	const char *name;	/* as the user knows it; borrowed */
	char path[PATH_MAX];	/* absolute */
	int directory;		/* its descriptor, which holds the lock */
	int program;		/* the file that is run, open so that it can
				 * be named though it is removed; -1 */
	bool is_new;		/* made here */
	bool is_empty;		/* holds no earlier recording */
	bool needs_force;	/* why recording_open failed: it holds one
				 * that is not to be replaced unasked */
	unsigned n_moved;	/* earlier recordings that got a number, or
				 * the next one */
	void (*on_limit)(int);	/* what SIGXFSZ does in the program */
	char aside[PATH_MAX];	/* where the one to be replaced is; or "" */
};

/*
 * Makes the directory `name` for the user alone, or opens one that is empty
 * or holds a recording, and locks it.  Fails where it holds anything else,
 * where a recording goes on in it, and where it holds a recording that
 * should stay.  0, or -1 with *error set; close it in either case.
 */
int recording_open(struct recording *recording, const char *name,
                   enum earlier_recording earlier, struct error *error);

/*
 * Leaves an empty, locked directory of that name: an earlier recording is
 * moved to the name with a number, or set aside to be removed.  0, or -1 with
 * *error set; recording_undo is to follow then.
 */
int recording_clear(struct recording *recording,
                    enum earlier_recording earlier, struct error *error);

void recording_started(struct recording *recording);

/* Whether the name still is that directory: nobody removed or moved it. */
bool recording_is_there(const struct recording *recording);

/*
 * Gives earlier recordings back their names, and removes the directory if it
 * was made for this recording.
 */
void recording_undo(struct recording *recording);

void recording_close(struct recording *recording);

/* Adds up what the files in it hold; unreadable ones count nothing. */
int recording_summarise(const char *path, struct cpprofdata_summary *summary,
                        struct error *error);

#endif
