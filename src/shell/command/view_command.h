/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_command.h -- runs a view for a command. */
#ifndef CPPROF_SHELL_COMMAND_VIEW_COMMAND_H
#define CPPROF_SHELL_COMMAND_VIEW_COMMAND_H

#include "src/refine/refine.h"
#include "src/shell/command/command.h"
#include "src/shell/session/session.h"
#include "src/views/view.h"

/* Shows a view of the profile with the current root and settings. */
int view_command(struct session *session, view_function *view,
                 struct table *table, struct error *error);

/* The same around the function that was given, if one was. */
int view_command_rooted(struct session *session, view_function *view,
                        const struct value *root, struct table *table,
                        struct error *error);

/*
 * The same for what matches the pattern that was given, if one was; an error if
 * nothing does.
 */
int view_command_matching(struct session *session, view_function *view,
                          const struct value *pattern, struct table *table,
                          struct error *error);

/*
 * The arguments [N] [PATTERN], in either order, and what runs a view with
 * them.
 */
#define LISTING_ARGUMENTS \
	{ "N", &arg_rows, ARG_OPTIONAL | ARG_ANYWHERE, \
	  "how many rows (default: as limit and threshold say)" }, \
	{ "PATTERN", &arg_pattern, ARG_OPTIONAL, \
	  "which functions to list (default: all)" }, \
	ARGUMENTS_END

int view_command_listing(struct session *session, view_function *view,
                         const struct arguments *arguments,
                         struct table *table, struct error *error);

/*
 * Shows a view of threads, processes or labels.  *wanted: what the command asks
 * for; the totals are filled in, and freed before it returns.
 */
int view_command_sections(struct session *session, section_view *view,
                          struct section_request *wanted,
                          struct table *table, struct error *error);

/* ---- selection.c ---- */

/* The argument of narrow and drop: which stacks are meant. */

/*
 * `thread GLOB`, `process GLOB` or `label KEY=GLOB`, else a path.  A path of a
 * function that is called thread is written in parentheses, or alone.
 */
extern const struct argument_kind arg_selection;

/* The step that keeps or drops these stacks; NULL with *error set. */
struct step *selection_step(bool drops, const struct value *value,
                            struct error *error);

/*
 * The words [begin, end) of a line as one pattern, since names of threads and
 * hosts may have blanks.  0, or -1 with *error set.
 */
int selection_read_words(const struct reading *reading, size_t begin,
                         size_t end, struct pattern_word *word);

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
