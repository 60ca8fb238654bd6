/* SPDX-License-Identifier: GPL-3.0-or-later */
/* no-recorder.c -- what the collector's unwinder needs of the rest of the
 * collector, for tests that link it alone: there is nobody to ask for rules.
 */
#include "lib/base/process.h"
#include "lib/base/shared.h"

struct process_names process_names;

bool
shared_answers_codes(void)
{
	return false;
}

bool
shared_ask_code(const struct cpprof_code_module *module)
{
	(void)module;
	return false;
}

uint32_t
shared_code_answers(void)
{
	return 0;
}
