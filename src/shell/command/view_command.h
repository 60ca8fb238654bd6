/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_command.h -- runs a view for a command. */
#ifndef CPPROF_SHELL_COMMAND_VIEW_COMMAND_H
#define CPPROF_SHELL_COMMAND_VIEW_COMMAND_H

#include "src/refine/refine.h"
#include "src/shell/command/command.h"
#include "src/shell/session/session.h"
#include "src/views/view.h"

/*
 * Runs a command that has a view or a section_view in place of run.
 *
 * An argument that was given takes the place of what the session has:
 * arg_function of the root, arg_rows of the limit and, unless runs are
 * compared, of the threshold.  arg_pattern says which functions the rows are
 * of, and it is an error if none matches; arg_path is the path.  The argument
 * of a section view is its choice `all`, or the key of a label.
 */
int view_command(struct session *session, const struct command *command,
                 const struct arguments *arguments, struct table *table,
                 struct error *error);

/* The arguments [N] [PATTERN], in either order. */
extern const struct argument listing_arguments[];

/* ---- selection.c ---- */

/* The argument of narrow and drop: which stacks are meant. */

/*
 * `thread GLOB`, `process GLOB`, `label KEY=GLOB` or `calls above LENGTH`, else a
 * path.  A path of a
 * function that is called thread is written in parentheses, or alone.
 */
extern const struct argument_kind arg_selection;

/* A part of the run: "2s..5s", "..5s", "2s..". */
bool selection_read_range(const char *text, uint64_t *begin_ns,
                          uint64_t *end_ns);

/* The step that keeps or drops these stacks; NULL with *error set. */
struct step *selection_step(bool drops, const struct value *value,
                            struct error *error);

/*
 * The words [begin, end) of a line as one pattern, since names of threads and
 * hosts may have blanks.  0, or -1 with *error set.
 */
int selection_read_words(const struct reading *reading, size_t begin,
                         size_t end, struct pattern_word *word);

/*
 * The observed calls of a function; NULL: of the only one.  NULL with *error
 * set.
 */
const struct observed_calls *calls_of_function(const struct profile *profile,
                                               const char *function,
                                               struct error *error);

/*
 * "[FUNCTION] above|below LENGTH", with a length like 20ms, or p99 for that of a
 * percentile, as the label of these calls and of the others.
 */
struct calls_selection {
	struct pattern_word these, others;
	double n_these, n_others;	/* calls */
	const char *words;		/* as typed: "handle above 10ms" */
};

/* Reads the words from `begin` on, all that are left.  0, or -1. */
int selection_read_calls(const struct reading *reading, size_t begin,
                         struct calls_selection *selection);

/* Offers the functions whose calls were observed. */
void selection_complete_calls(struct completion *completion,
                              const struct session *session,
                              const struct command *command);

/* Offers the keys of labels, and after a key and its '=' the values. */
void selection_complete_labels(struct completion *completion,
                               const struct profile *profile);

/* ---- picture_file.c ---- */

/* Commands that draw a view into a file. */

/*
 * The argument FILE, a name that ends in .svg or .html, wherever it stands:
 * value->words[0].
 */
extern const struct argument_kind arg_picture;

/*
 * Draws a view that has a picture or a chart, as wide as files have it, to a
 * file, which is replaced only by a whole picture.  command: for the table.
 */
int picture_file_write(struct session *session, const char *command,
                       view_function *view, const struct view_request *request,
                       const char *name, struct error *error);

#endif
