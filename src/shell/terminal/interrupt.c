/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interrupt.c -- Ctrl-C ends the current work, not the program. */
#include "src/shell/terminal/terminal.h"

#include <signal.h>
#include <stddef.h>

#include "src/base/progress.h"

static void
note_interrupt(int number)
{
	(void)number;
	interrupt_requested = 1;
}

void
interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = note_interrupt };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
}
