/* SPDX-License-Identifier: GPL-3.0-or-later */
/* input.h -- where commands come from: the prompt, scripts, and files at the
 * start.
 */
#ifndef CPPROF_INPUT_INPUT_H
#define CPPROF_INPUT_INPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/shell/session/session.h"

/* ---- describe.c ---- */

/* Describes the session at the prompt. */

/* Adds "(cpprof main cpu) ". */
void describe_prompt(const struct session *session, struct text_buffer *text);

/*
 * Each writes something, wrapped on a terminal, and returns its lines there; a
 * descriptor of -1 only counts them.
 */

/* A line about the profile: program, samples, resource, runs. */
size_t describe_profile(const struct session *session, int descriptor);

/* The banner: the version and the profile. */
size_t describe_welcome(const struct session *session, int descriptor);

/* Which commands to begin with. */
size_t describe_commands(int descriptor);

/* ---- script.c ---- */

/*
 * Runs commands from a file.
 *
 * If a command fails, a message "NAME:LINE: ..." goes to standard error, and
 * the script ends.  With --keep-going it continues, and fails at its end.  All
 * functions return 0, or -1 if a command failed, which has been reported.
 */

/* Runs the lines of an open stream; name: for messages. */
int script_run(struct session *session, FILE *stream, const char *name);

/* Runs a file; *error is set only if it cannot be opened. */
int script_run_file(struct session *session, const char *path,
                    struct error *error);

/* Runs one command; place: for messages, such as "-e:1". */
int script_run_line(struct session *session, const char *line, size_t length,
                    const char *place);

/* ---- settings_file.c ---- */

/* Applies the user's file of settings. */

/*
 * Writes $XDG_CONFIG_HOME/cpprof/FILE or ~/.config/cpprof/FILE to
 * path[PATH_MAX]; false if there is no home directory.
 */
bool settings_file_name(const char *file, char *path);

/*
 * Applies $XDG_CONFIG_HOME/cpprof/settings or ~/.config/cpprof/settings, if it
 * exists.  Each line is a setting, as `show` prints it; other commands are not
 * run.  Wrong lines are reported and skipped.  Call this only for a terminal,
 * so that the output of scripts does not depend on the file.
 */
void settings_file_apply(struct session *session);

/* ---- startup.c ---- */

/*
 * Runs the user's files of commands before the prompt opens.
 *
 * As gdb does: the user's own file before a profile is loaded, that of the
 * current directory after it.  Call these only if the prompt will open, so
 * that the output of scripts does not depend on the files.
 */

/*
 * Runs $XDG_CONFIG_HOME/cpprof/init or ~/.config/cpprof/init, if it exists.
 * Only here, and in the file of settings, can autoload be changed.  A command
 * that fails is reported and ends the file.
 */
void startup_run_own(struct session *session);

/*
 * Runs .cpprofrc of the current directory if autoload is on and the file is
 * the user's, a plain file, and no one else's to write.  If it is not run, a
 * note says why, and how to allow it.
 */
void startup_run_local(struct session *session);

/* ---- prompt.c ---- */

/* The command loop at a terminal; the only user of readline. */

/*
 * Reads and runs commands typed at the terminal until the user leaves.
 *
 * Ctrl-C clears the line that is being typed; while a command runs it sets
 * interrupt_requested, which ends the command.  The history is read before
 * and saved after.  input: the terminal, as a stream.
 */
void prompt_run(struct session *session, FILE *input);

#endif
