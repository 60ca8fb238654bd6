/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.h -- what an unfinished command line may go on with. */
#ifndef CPPROF_SHELL_COMMAND_COMPLETE_H
#define CPPROF_SHELL_COMMAND_COMPLETE_H

#include <stddef.h>

#include "src/shell/line/completion.h"
#include "src/shell/session/session.h"

/*
 * Fills the completion of line[length]; frees nothing before, so use each one
 * once.  Whatever comes out, free.
 */
void complete_line(struct completion *completion,
                   const struct session *session, const char *line,
                   size_t length);

#endif
