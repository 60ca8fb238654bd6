/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sink.h -- where a command's output goes.
 *
 * Standard output, a file, a shell command; at the prompt what is longer than
 * the screen goes to the pager, which starts once that is seen.
 */
#ifndef CPPROF_SHELL_COMMAND_SINK_H
#define CPPROF_SHELL_COMMAND_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"

struct sink {
	struct writer writer;
	bool is_terminal;		/* the output is laid out for one */

	enum redirect redirect;
	const char *target;		/* borrowed */
	int descriptor;			/* -1: the pager has not been needed */
	pid_t child;			/* 0: none */
	struct text_buffer held;	/* what fits the screen so far */
	size_t columns, lines_left;	/* of the screen */
	size_t column;			/* where the last byte held ended */
	bool in_escape;			/* in one that sets a colour */
	bool is_cut;			/* at the end of the screen */
};

/*
 * Before what session->is_watching repeats is shown, perhaps again: clears a
 * terminal, or separates texts.  0, or -1 as sink_close.
 */
int sink_begin_again(struct session *session, bool is_first,
                     struct error *error);

/* Opens it; 0, or -1 with *error set.  Once open, close it. */
int sink_open(struct sink *sink, const struct session *session,
              enum redirect redirect, const char *target,
              struct error *error);

/*
 * Writes what is left and waits for the command or pager.  0, or -1 with
 * *error set when a file could not be written or a command failed.  Standard
 * output that fails sets session->output_lost, with *error unset when its
 * reader went away.
 */
int sink_close(struct sink *sink, struct session *session,
               struct error *error);

#endif
