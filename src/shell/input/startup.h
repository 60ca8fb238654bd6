/* SPDX-License-Identifier: GPL-3.0-or-later */
/* startup.h -- runs the user's files of commands before the prompt opens.
 *
 * As gdb does: the user's own file before a profile is loaded, that of the
 * current directory after it.  Call these only if the prompt will open, so
 * that the output of scripts does not depend on the files.
 */
#ifndef CPPROF_SHELL_INPUT_STARTUP_H
#define CPPROF_SHELL_INPUT_STARTUP_H

#include "src/shell/session/session.h"

/*
 * Runs $XDG_CONFIG_HOME/cpprof/init or ~/.config/cpprof/init, if it exists.
 * Only here, and in the file of settings, can autoload be changed.  A command
 * that fails is reported and ends the file.
 */
void startup_run_own(struct session *session);

/*
 * Runs .cpprofrc of the current directory if autoload is on and the file is
 * the user's, a plain file, and no one else's to write.  If it is not run, a
 * note says why, and how to allow it.
 */
void startup_run_local(struct session *session);

#endif
