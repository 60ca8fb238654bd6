/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal.h -- the terminal: messages, children, history, Ctrl-C and
 * progress.
 */
#ifndef CPPROF_SHELL_TERMINAL_TERMINAL_H
#define CPPROF_SHELL_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"

/* ---- terminal.c ---- */

/* What the terminal on standard output can do. */

/* Whether standard output is one. */
bool terminal_is_output(void);

/* Whether it only scrolls: it has no colour and no cursor to move. */
bool terminal_is_dumb(void);

/* Whether it shows characters beyond ASCII, as the locale says. */
bool terminal_has_unicode(void);

/* Its size in columns and lines; 80 by 24 if it does not say. */
void terminal_size(size_t *columns, size_t *lines);

enum terminal_answer { TERMINAL_YES, TERMINAL_NO, TERMINAL_NOT_ASKED };

/*
 * Asks a question on standard error and reads a line from standard input, which
 * is a terminal: yes only for "y" or "yes", in any case.  Ctrl-C means no, and
 * ends nothing else.  Not asked: standard error is no terminal, or something was
 * typed already, which is no answer.
 */
enum terminal_answer terminal_ask(const char *question);

/* When text has colour. */
enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/*
 * Whether text gets colour on standard output (to_terminal) or in a file or
 * pipe.  COLOR_AUTO: on a terminal that is not dumb, unless NO_COLOR is set.
 */
bool terminal_wants_color(enum color_choice choice, bool to_terminal);

/* ---- message.c ---- */

/* Messages on standard error, one line each in a file or pipe. */

/*
 * Writes "where: text" and a line end with one call of write, control
 * characters escaped.  where may be NULL.  A terminal gets more lines, broken
 * at blanks, if one is too long for it.
 */
void message(const char *where, const char *text);

/*
 * Writes the program's name, ": " and the formatted text in the same way.  The
 * name is "cpprof" until message_name says else; it is borrowed.
 */
void message_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void message_name(const char *name);

/* ---- child.c ---- */

/* Finds programs, and runs the shell commands of the user. */

/*
 * Finds the file that a shell would run for `program`: itself if it has a
 * slash, else along PATH.  Writes it to path[size].
 */
int child_find_program(const char *program, char *path, size_t size,
                       struct error *error);

/*
 * Starts `sh -c command` with the usual signal actions.  If input is not NULL,
 * the command reads from a pipe: *input is its writing end, which the caller
 * closes.  Otherwise it reads the standard input of this program if may_read,
 * else nothing.  Pass *child to child_end.
 */
int child_start(const char *command, bool may_read, int *input, pid_t *child,
                struct error *error);

/*
 * Waits for the command.  0 if it ended with status 0 or by SIGPIPE, else -1
 * with *error saying how it ended.
 */
int child_end(const char *command, pid_t child, struct error *error);

/*
 * Runs a program, found along PATH, with n words, the first of which is its
 * name.  Adds what it writes to its standard output, at most `most` bytes; its
 * errors are lost.  *status is that of waitpid.  0, or -1 with *error set.
 */
int child_read(const char *const *words, size_t n, size_t most,
               struct text_buffer *output, int *status, struct error *error);

/* ---- history.c ---- */

/* The lines typed at the prompt, kept from run to run. */

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
 * empty, repeats the last one or is longer than HISTORY_LONGEST bytes.
 */
int history_add(struct history *history, const char *line,
                struct error *error);

/*
 * Read and write $XDG_STATE_HOME/cpprof/history, or if that is not set
 * ~/.local/state/cpprof/history, in a directory that only the user can read.
 * A missing file is an empty history.  Loading shortens a file that has more
 * than twice HISTORY_MOST lines.  Saving appends the new lines, so that two
 * programs at the same time lose nothing.
 */
int history_load(struct history *history, struct error *error);
int history_save(struct history *history, struct error *error);

/* ---- interrupt.c ---- */

/* Ctrl-C ends the current work, not the program. */

/*
 * From now on SIGINT sets interrupt_requested (src/base/progress.h), and system
 * calls that wait return with EINTR.
 */
void interrupt_catch(void);

/* ---- progress_line.c ---- */

/* Shows the progress of long work on a terminal. */

struct progress_line {
	struct progress progress;
	const char *what;		/* "loading" */
	const char *unit;		/* "files"; NULL: what counts is bytes */
	uint64_t start_ns, shown_ns;
	bool is_shown;
};

/*
 * Starts a line on standard error, which appears after the work has taken a
 * second.  Returns what the work reports to, valid until progress_line_end,
 * which erases the line; NULL if standard error is no terminal.
 */
const struct progress *progress_line_start(struct progress_line *line,
                                           const char *what);
void progress_line_end(struct progress_line *line);

/* ---- terminal_watch.c ---- */

/* Whether something was written to the terminal. */

struct terminal_watch {
	bool is_on;
	struct timespec written;
	bool saw_output;
};

/*
 * If standard output is a terminal, begins to watch for what any process
 * writes to it.  The echo of what is typed does not count.
 */
void terminal_watch_start(struct terminal_watch *watch);

/*
 * Ends the watch and sets saw_output: whether anything was written.  It is
 * false if that is not known.
 */
void terminal_watch_end(struct terminal_watch *watch);

#endif
