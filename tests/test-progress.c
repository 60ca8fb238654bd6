/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-progress.c -- whether a program makes progress between its samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "lib/run/sample.h"

static void
signal_at(struct thread_progress *progress, long long pc, long long counter)
{
	ucontext_t context;

	memset(&context, 0, sizeof context);
	context.uc_mcontext.gregs[REG_RIP] = pc;
	context.uc_mcontext.gregs[REG_RBX] = counter;
	progress_note(progress, &context);
}

static void
progress_is_lacking_where_registers_stay_the_same(void **state)
{
	struct thread_progress progress = { 0 };
	int i;

	(void)state;
	for (i = 0; i < PROGRESS_SIGNALS; i++)
		signal_at(&progress, 0x1000, 5);
	assert_false(progress.is_lacking);
	for (i = 0; i < 2; i++)
		signal_at(&progress, 0x1000, 5);
	assert_true(progress.is_lacking);
}

static void
progress_is_made_where_one_register_changes(void **state)
{
	struct thread_progress progress = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 10 * PROGRESS_SIGNALS; i++)
		signal_at(&progress, 0x1000, i);
	assert_false(progress.is_lacking);
}

/* With pauses it moves now and then, which is no reason to end them. */
static void
progress_stays_lacking_while_signals_follow_on_each_other(void **state)
{
	struct thread_progress progress = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 20 * PROGRESS_SIGNALS; i++)
		signal_at(&progress, 0x1000, i < 2 * PROGRESS_SIGNALS ? 0 :
		    i / 2);
	assert_true(progress.is_lacking);
	for (i = 0; i < 2 * PROGRESS_SIGNALS; i++)
		signal_at(&progress, 0x2000, i);
	assert_false(progress.is_lacking);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    progress_is_lacking_where_registers_stay_the_same),
		cmocka_unit_test(progress_is_made_where_one_register_changes),
		cmocka_unit_test(
		    progress_stays_lacking_while_signals_follow_on_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
