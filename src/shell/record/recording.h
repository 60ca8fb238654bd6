/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording.h -- the directory that a recording is written to.
 *
 * Of record --repeat, it contains the directories run-1, run-2, ... instead of
 * files.  It is locked until the recording ends.  Its earlier contents are not
 * touched until the program is about to start.  Call, in this order:
 *
 *	recording_open		makes it or locks it; changes nothing in it
 *	recording_clear		moves an earlier recording out of the way
 *	recording_started	removes the recording that is replaced
 *	recording_undo		if the program did not start: restores all
 *	recording_close		in any case; ends the lock
 */
#ifndef CPPROF_SHELL_RECORD_RECORDING_H
#define CPPROF_SHELL_RECORD_RECORDING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/formats/cpprofdata/cpprofdata_summary.h"

/* What happens to an earlier recording of the same name. */
enum earlier_recording {
	EARLIER_MOVES,		/* gets a number: earlier.h */
	EARLIER_STAYS,		/* must not be replaced */
	EARLIER_GOES,		/* is replaced */
};

struct recording {
	const char *name;	/* as given; borrowed */
	char path[PATH_MAX];	/* absolute */
	int directory;		/* its descriptor, which holds the lock */
	int program;		/* the program's file, or -1; open so that its
				 * names can be read after it is removed */
	bool is_new;		/* made here */
	bool is_empty;		/* holds no earlier recording */
	bool needs_force;	/* recording_open failed because of an earlier
				 * recording that must not be replaced */
	unsigned n_moved;	/* earlier recordings that got a new number */
	bool is_impossible;	/* recording_open failed because of the machine:
				 * its limits, its disk or its rights */
	void (*on_limit)(int);	/* what SIGXFSZ does in the program */
	char aside[PATH_MAX];	/* the path of the replaced one; or "" */
};

/*
 * Makes the directory `name`, which only the user can read, or opens one that
 * is empty or contains a recording, and locks it.  Fails if it contains
 * anything else, if a recording is being written there, or if it contains a
 * recording and earlier is EARLIER_STAYS.  0, or -1 with *error set; call
 * recording_close in either case.
 */
int recording_open(struct recording *recording, const char *name,
                   enum earlier_recording earlier, struct error *error);

/*
 * Makes the directory empty: an earlier recording gets a name with a number,
 * or is moved aside to be removed.  0, or -1 with *error set; then call
 * recording_undo.
 */
int recording_clear(struct recording *recording,
                    enum earlier_recording earlier, struct error *error);

void recording_started(struct recording *recording);

/* Whether the directory still has its name: nobody removed or moved it. */
bool recording_is_there(const struct recording *recording);

/*
 * Gives earlier recordings their names back, and removes the directory if
 * recording_open made it.
 */
void recording_undo(struct recording *recording);

void recording_close(struct recording *recording);

/* Sums up the files of a recording; skips those that cannot be read. */
int recording_summarise(const char *path, struct cpprofdata_summary *summary,
                        struct error *error);

#endif
