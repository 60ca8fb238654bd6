/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reporting.h -- what a report says: answers of commands, on one page. */
#ifndef CPPROF_SHELL_COMMAND_REPORTING_H
#define CPPROF_SHELL_COMMAND_REPORTING_H

#include "src/base/error.h"
#include "src/base/writer.h"
#include "src/shell/session/session.h"

/*
 * Writes a report of the session's profile, and of its comparison with the base
 * if there is one.  *left_out: rows that the page has no room for.  0, or -1
 * with *error set.
 */
int report_write(struct session *session, struct writer *writer,
                 uint64_t *left_out, struct error *error);

#endif
