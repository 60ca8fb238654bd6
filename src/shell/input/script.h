/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.h -- commands that come from a file.
 *
 * The first one that fails ends the script, after "NAME:LINE: message" on
 * standard error, unless the session keeps going; then the script fails in
 * the end.  Both return 0, or -1 when a command failed: it has been told.
 */
#ifndef CPPROF_SHELL_INPUT_SCRIPT_H
#define CPPROF_SHELL_INPUT_SCRIPT_H

#include <stdio.h>

#include "src/base/error.h"
#include "src/shell/session/session.h"

/* Lines of an open stream, under a name for messages. */
int script_run(struct session *session, FILE *stream, const char *name);

/* A file; *error is set only where it cannot be opened. */
int script_run_file(struct session *session, const char *path,
                    struct error *error);

/* One command, under the place that messages name: "-e:1". */
int script_run_line(struct session *session, const char *line, size_t length,
                    const char *place);

#endif
