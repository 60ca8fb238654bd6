/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings_file.h -- settings that the user keeps. */
#ifndef CPPROF_SHELL_INPUT_SETTINGS_FILE_H
#define CPPROF_SHELL_INPUT_SETTINGS_FILE_H

#include "src/shell/session/session.h"

/*
 * Applies $XDG_CONFIG_HOME/cpprof/settings or ~/.config/cpprof/settings, where
 * there is one: a setting a line, as `show` prints them; no other command is
 * run.  Lines that are wrong are told and passed over.  For people at a
 * terminal: what a script prints does not depend on it.
 */
void settings_file_apply(struct session *session);

#endif
