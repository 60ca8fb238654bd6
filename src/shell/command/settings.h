/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings.h -- commands that hold a value.
 *
 * Most are rows of commands/settings.def.  A setting that needs code of its
 * own is a command with get and set, such as commands/root.c.
 */
#ifndef CPPROF_SHELL_COMMAND_SETTINGS_H
#define CPPROF_SHELL_COMMAND_SETTINGS_H

#include "src/shell/command/arguments.h"
#include "src/shell/command/command.h"
#include "src/shell/session/session.h"

/* Sets the value that was given, or shows the setting if none was. */
int setting_run(struct session *session, const struct command *setting,
                const struct arguments *arguments, struct table *table,
                struct error *error);

/*
 * Shows one setting, or all if it is NULL, as lines that would set them again.
 * Leaves out a setting that has no value yet.
 */
int setting_show(const struct session *session, const struct command *setting,
                 struct table *table, struct error *error);

/*
 * For get: a copy of text[length] in the arena, between bars if it needs them.
 * NULL with *error set.
 */
const char *setting_word(const char *text, size_t length, struct arena *arena,
                         struct error *error);

#endif
