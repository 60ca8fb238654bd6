/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interrupt.h -- Ctrl-C ends what is being done, not the program. */
#ifndef CPPROF_SHELL_TERMINAL_INTERRUPT_H
#define CPPROF_SHELL_TERMINAL_INTERRUPT_H

/* From now on SIGINT sets interrupt_requested, and ends what waits. */
void interrupt_catch(void);

#endif
