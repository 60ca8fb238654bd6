/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setting.h -- commands that hold a value. */
#ifndef CPPROF_SHELL_COMMAND_SETTING_H
#define CPPROF_SHELL_COMMAND_SETTING_H

#include "src/shell/command/arguments.h"
#include "src/shell/command/command.h"
#include "src/shell/session/session.h"

/* What a setting's command does: sets the value given, or shows it. */
int setting_run(struct session *session, const struct command *command,
                const struct arguments *arguments, struct table *table,
                struct error *error);

/* Shows one setting, or all for NULL, as lines that would set them again. */
int setting_show(const struct session *session, const struct command *setting,
                 const char *view, struct table *table, struct error *error);

#endif
