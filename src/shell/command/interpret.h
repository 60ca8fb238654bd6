/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpret.h -- runs a command line. */
#ifndef CPPROF_SHELL_COMMAND_INTERPRET_H
#define CPPROF_SHELL_COMMAND_INTERPRET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"
#include "src/shell/command/command.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"

/*
 * Runs line[length]; a blank line or a comment does nothing.  0, or -1 with
 * *error set, or unset if the failure has been reported or needs no message.
 */
int interpret_line(struct session *session, const char *line, size_t length,
                   struct error *error);

/* Runs a command on n words, such as those of cpprof's own command line. */
int interpret_words(struct session *session, const struct command *command,
                    char *const *words, size_t n, struct error *error);

/*
 * Shows the first rows of what a command without arguments answers, in at most
 * n_lines of a terminal, without its heading but n_first_lines: the prompt's
 * first screen.
 */
int interpret_beginning(struct session *session, const char *command,
                        size_t n_lines, struct error *error);

/* What takes a command's table, which is freed when it returns. */
typedef int answer_function(const struct table *table, void *context,
                            struct error *error);

/*
 * Runs a line whose command fills a table, and gives the table to `take`;
 * nothing is shown.  0, or -1 with *error set, or unset if the failure has been
 * reported.
 */
int interpret_answer(struct session *session, const char *line,
                     answer_function *take, void *context,
                     struct error *error);

/* ---- sink.c ---- */

/*
 * Where a command's output goes.
 *
 * To standard output, a file or a shell command.  At the prompt, output that is
 * longer than the screen goes to a pager, which is started when that is known.
 */

struct sink {
	struct writer writer;
	bool is_terminal;		/* the output goes to a terminal */

	enum redirect redirect;
	const char *target;		/* borrowed */
	int descriptor;			/* -1: the output fits the screen */
	pid_t child;			/* 0: none */
	struct new_file file;		/* target, if is_new_file */
	bool is_new_file;
	struct text_buffer held;	/* the output until it is longer */
	size_t columns, lines_left;	/* of the screen */
	size_t column;			/* after the last byte held */
	bool in_escape;			/* in an escape sequence for a colour */
	bool is_cut;			/* stop at the end of the screen */
};

/*
 * Call this before each output of a command that watch repeats.  Clears a
 * terminal, or separates the outputs by an empty line.  0, or -1 as sink_close.
 */
int sink_begin_again(struct session *session, bool is_first,
                     struct error *error);

/* Who writes: programs share their output while they run. */
enum sink_writer { SINK_OF_COMMAND, SINK_OF_PROGRAM };

/*
 * Opens it.  What a command writes to a file replaces the old file at the end
 * (writer.h); what a program writes is there at once.  Call sink_close only
 * after 0.
 */
int sink_open(struct sink *sink, const struct session *session,
              enum redirect redirect, const char *target,
              enum sink_writer by, struct error *error);

/*
 * Writes what is left and waits for the command or pager.  is_whole: all was
 * written; if not, an old file stays.  0, or -1 with
 * *error set if a file could not be written or a command failed.  If standard
 * output fails, sets session->output_lost, and leaves *error unset if its
 * reader has gone.
 */
int sink_close(struct sink *sink, struct session *session, bool is_whole,
               struct error *error);

#endif
