/* SPDX-License-Identifier: GPL-3.0-or-later */
/* single-step.h -- a SIGTRAP after each instruction of the calling thread. */
#ifndef CPPROF_TESTS_SINGLE_STEP_H
#define CPPROF_TESTS_SINGLE_STEP_H

#include <stdbool.h>

static inline void
set_trace_flag(bool on)
{
	if (on)
		__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" :
		    : : "memory", "cc");
	else
		__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" :
		    : : "memory", "cc");
}

#endif
