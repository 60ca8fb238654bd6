/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interrupt.h -- Ctrl-C ends the current work, not the program. */
#ifndef CPPROF_SHELL_TERMINAL_INTERRUPT_H
#define CPPROF_SHELL_TERMINAL_INTERRUPT_H

/*
 * From now on SIGINT sets interrupt_requested (src/base/progress.h), and system
 * calls that wait return with EINTR.
 */
void interrupt_catch(void);

#endif
