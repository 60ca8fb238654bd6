/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.h -- completes the last word of a command line. */
#ifndef CPPROF_SHELL_COMMAND_COMPLETE_H
#define CPPROF_SHELL_COMMAND_COMPLETE_H

#include <stddef.h>

#include "src/shell/line/completion.h"
#include "src/shell/session/session.h"

/*
 * Sets *completion, which need not be initialised, to the candidates for the
 * last word of line[length].  Call completion_free afterwards.
 */
void complete_line(struct completion *completion,
                   const struct session *session, const char *line,
                   size_t length);

#endif
