/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handles.h -- %3 in a command line: row 3 of the last view.
 *
 * A kind of argument says in `handle` what %3 means as such an argument.  Names
 * between bars replace it before the kind reads its words, so that the kind
 * sees only names.
 */
#ifndef CPPROF_SHELL_COMMAND_HANDLES_H
#define CPPROF_SHELL_COMMAND_HANDLES_H

#include <stddef.h>

#include "src/base/arena.h"
#include "src/base/error.h"
#include "src/shell/line/completion.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"

/* What %3, row 3 of the last view, is as an argument. */
enum handle_kind {
	HANDLE_NONE,		/* nothing but the word %3 */
	HANDLE_FUNCTION,	/* the function that the row is about, as one
				 * name between bars */
	HANDLE_PATH,		/* the names of its path, each between bars;
				 * also within the words of a longer path */
};

/*
 * The words with the handles among words[begin .. end-1] replaced: the same if
 * the kind takes none, else a copy in the arena.  A word that is the name of a
 * function stays.  NULL with *error set, also if there is no such row.
 */
const struct words *handles_replace(const struct session *session,
                                    enum handle_kind kind,
                                    const struct words *words, size_t begin,
                                    size_t end, struct arena *arena,
                                    struct error *error);

/* Offers the handles of the last view, if the word begins with %. */
void handles_complete(struct completion *completion,
                      const struct session *session);

#endif
