/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings_file.h -- applies the user's file of settings. */
#ifndef CPPROF_SHELL_INPUT_SETTINGS_FILE_H
#define CPPROF_SHELL_INPUT_SETTINGS_FILE_H

#include <stdbool.h>

#include "src/shell/session/session.h"

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

#endif
