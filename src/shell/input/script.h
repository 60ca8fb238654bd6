/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.h -- runs commands from a file.
 *
 * If a command fails, a message "NAME:LINE: ..." goes to standard error, and
 * the script ends.  With --keep-going it continues, and fails at its end.  All
 * functions return 0, or -1 if a command failed, which has been reported.
 */
#ifndef CPPROF_SHELL_INPUT_SCRIPT_H
#define CPPROF_SHELL_INPUT_SCRIPT_H

#include <stdio.h>

#include "src/base/error.h"
#include "src/shell/session/session.h"

/* Runs the lines of an open stream; name: for messages. */
int script_run(struct session *session, FILE *stream, const char *name);

/* Runs a file; *error is set only if it cannot be opened. */
int script_run_file(struct session *session, const char *path,
                    struct error *error);

/* Runs one command; place: for messages, such as "-e:1". */
int script_run_line(struct session *session, const char *line, size_t length,
                    const char *place);

#endif
