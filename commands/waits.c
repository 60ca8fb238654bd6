/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/waits.c -- who waited for whom, at locks and their like. */
#include "src/shell/command/view_command.h"

const struct command command_waits = {
	.name = "waits",
	.group = GROUP_LOOK,
	.summary = "which call paths waited for which others, those held up first",
	.description =
	    "Each row has two call paths: one that waited, and one that it "
	    "waited for. That is the path that left the lock, signalled the "
	    "condition, posted the semaphore, came last to the barrier, "
	    "wrote to the pipe, socket pair or eventfd, or the thread that "
	    "was joined. Rows come in three groups, the longest first in "
	    "each: what others held up, at locks and their like; threads that "
	    "waited for others to end, as main does in every program with "
	    "threads; and those that waited for work or a result, at "
	    "conditions, semaphores and pipes, while nobody held a lock. "
	    "With a pattern, only rows with such a "
	    "function on either path are shown, so waits FUNCTION shows what it "
	    "waited for and who waited for it.\n\n"
	    "[wake-up] is the time from then until the waiter ran again, or "
	    "until another thread was faster. [gave-up] is a wait that "
	    "nobody ended, for example by a timeout, [not-seen] one whose end passed none of the "
	    "functions that cpprof watches, such as one by another process, "
	    "[owner-died] one for a robust mutex whose owner ended, and "
	    "[not-ended] one that lasted until the process ended.\n\n"
	    "The sum of all rows is lock-waits, and that of the rows of a path "
	    "on the right is its blame. The profile must be a recording with "
	    "-r blame. The current resource does not matter.",
	.example = "waits",
	.arguments = listing_arguments,
	.view = view_waits,
};
