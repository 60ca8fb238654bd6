/* SPDX-License-Identifier: MIT */
/* action.c -- which signals are ours; actions of the program's other signals,
 * and the stacks that they use.
 *
 * A tick needs stack for the kernel's frame, which holds all registers, and for
 * the handler.  Our action asks for the alternate stack, because a program may
 * run on stacks of a few kilobytes that it grows itself, as Go does, and have
 * an alternate stack for signals.  If a program's alternate stack is too small
 * even for one tick, ticks use the stack that they interrupt.  If it is too
 * small for a tick within one of the program's handlers, ticks wait until the
 * handler has returned.
 */
#include "lib/signals/signals.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "lib/base/lookup.h"
#include "lib/base/sampling.h"

#define FRAME_SIZE_OLD 2048		/* reported by kernels before 5.14 */
#define TICK_SIZE 4096			/* for our handler, with a reserve */
#define PROGRAM_SIZE 16384		/* for a handler of the program */
#define STOPS 4				/* nested calls stopped in handlers */

/*
 * Bit number - 1: the program's action for that signal masks this one of ours.
 */
static _Atomic uint64_t masked_by_program[OUR_SIGNALS];
static _Atomic bool are_stacks_small;
static _Atomic bool are_all_adapted;	/* the actions, since stacks are small */

signals_handler *our_handlers[OUR_SIGNALS];

int
signals_number(enum our_signal which)
{
	static int ticks;

	/* Without a table, which would lie on a page that nothing else needs. */
	if (which == OUR_TRAPS)
		return SIGTRAP;
	if (which == OUR_EXCEPTIONS)
		return SIGFPE;
	if (which == OUR_BUS_ERRORS)
		return SIGBUS;
	if (ticks == 0)
		ticks = SIGRTMAX - 1;	/* SIGRTMAX is a function call */
	return ticks;
}

enum our_signal
signals_find(int number)
{
	unsigned i;

	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL && signals_number(i) == number)
			break;
	return i;
}

bool
signals_are_ours(int number)
{
	return sampling_is_on() && signals_find(number) != OUR_SIGNALS;
}

static void
action_put(sigset_t *set, int number, bool is_in)
{
	if (is_in)
		sigaddset(set, number);
	else
		sigdelset(set, number);
}

const struct sigaction *
action_adapt(const struct sigaction *action, struct sigaction *copy)
{
	const struct sigaction *adapted = action;
	const bool is_masked = action != NULL && are_stacks_small &&
	    (action->sa_flags & SA_ONSTACK) != 0 &&
	    action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
	unsigned i;
	int number;

	for (i = 0; i < OUR_SIGNALS && action != NULL; i++) {
		number = signals_number(i);
		if (!signals_are_ours(number))
			continue;
		if (is_masked == (sigismember(&action->sa_mask, number) == 1))
			continue;
		if (adapted != copy)
			*copy = *action;
		adapted = copy;
		action_put(&copy->sa_mask, number, is_masked);
	}
	return adapted;
}

void
action_note(int number, const struct sigaction *action, struct sigaction *old)
{
	const uint64_t bit = number >= 1 && number <= 64 ?
	    (uint64_t)1 << (number - 1) : 0;
	unsigned i;
	int ours;

	for (i = 0; i < OUR_SIGNALS; i++) {
		ours = signals_number(i);
		if (!signals_are_ours(ours))
			continue;
		if (old != NULL)
			action_put(&old->sa_mask, ours,
			           (masked_by_program[i] & bit) != 0);
		if (action == NULL)
			continue;
		if (sigismember(&action->sa_mask, ours) == 1)
			atomic_fetch_or(&masked_by_program[i], bit);
		else
			atomic_fetch_and(&masked_by_program[i], ~bit);
	}
}

/* The size of the kernel's frame for a signal. */
static size_t
frame_size(void)
{
	const size_t size = getauxval(AT_MINSIGSTKSZ);

	return size < FRAME_SIZE_OLD ? FRAME_SIZE_OLD : size;
}

/* The least size for a tick within a handler of the program. */
static size_t
least_size(void)
{
	return 2 * frame_size() + TICK_SIZE + PROGRAM_SIZE;
}

bool
action_is_small(size_t size)
{
	return size < least_size();
}

size_t
action_size_for_calls(void)
{
	return least_size() + STOPS * (frame_size() + TICK_SIZE);
}

bool
action_fit_stack(size_t size)
{
	struct sigaction action, copy;
	int number;

	if (!sampling_is_on())
		return true;
	/*
	 * Adapt handlers that were installed before the stack was known.  A
	 * thread that comes while another is at it does the same, as it must
	 * not enter one of the handlers before.
	 */
	if (size < least_size() && !are_all_adapted) {
		are_stacks_small = true;
		for (number = 1; number < _NSIG; number++)
			if (!signals_are_ours(number) &&
			    real()->sigaction(number, NULL, &action) == 0 &&
			    action_adapt(&action, &copy) == &copy)
				real()->sigaction(number, &copy, NULL);
		are_all_adapted = true;
	}
	return size >= frame_size() + TICK_SIZE;
}
