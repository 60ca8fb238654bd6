/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picture_file.h -- commands that draw a view into a file. */
#ifndef CPPROF_SHELL_COMMAND_PICTURE_FILE_H
#define CPPROF_SHELL_COMMAND_PICTURE_FILE_H

#include "src/shell/command/arguments.h"
#include "src/shell/session/session.h"
#include "src/views/view.h"

/*
 * The argument FILE, a name that ends in .svg or .html, wherever it stands:
 * value->words[0].
 */
extern const struct argument_kind arg_picture;

/*
 * Draws a view that has a picture or a chart, as wide as files have it, to a
 * file, which is replaced only by a whole picture.  command: for the table.  0,
 * or -1 with *error set.
 */
int picture_file_write(struct session *session, const char *command,
                       view_function *view, const struct view_request *request,
                       const char *name, struct error *error);

#endif
