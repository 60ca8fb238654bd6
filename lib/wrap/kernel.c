/* SPDX-License-Identifier: MIT */
/* kernel.c -- wrappers of library calls that only enter the kernel: `syscalls`.
 *
 * This is the fallback where neither the kernel's tracing nor syscall user
 * dispatch is allowed.  Each call of another wrapper counts as one system call,
 * too (wrapped_count_call).
 *
 * All wrappers have one shape: by the machine's calling convention, they pass
 * on as many registers as a system call has, whether the function uses them or
 * not, and return the result in the same register.
 */
#include <stddef.h>

#include "lib/wrap/wrapped.h"

typedef long kernel_call(long, long, long, long, long, long);

static struct kernel_next {
#define KERNEL(name) kernel_call *name;
#include "lib/wrap/kernel.def"
#undef KERNEL
} next;

#define KERNEL(name)							\
FIRST(long, name, (long a, long b, long c, long d, long e, long f),	\
    (a, b, c, d, e, f))
#include "lib/wrap/kernel.def"
#undef KERNEL

static struct kernel_next next = {
#define KERNEL(name) .name = first_##name,
#include "lib/wrap/kernel.def"
#undef KERNEL
};

static void
kernel_look_up(void)
{
#define KERNEL(name) lookup_real(#name, &next.name);
#include "lib/wrap/kernel.def"
#undef KERNEL
}

static enum gate gate;

static bool
kernel_pass(const void *return_address)
{
	return wrapped_pass(gate, return_address);
}

#define KERNEL(name)							\
EXPORTED kernel_call kernel_##name __asm__(#name);			\
long									\
kernel_##name(long a, long b, long c, long d, long e, long f)		\
{									\
	long result;							\
									\
	if (GATE_IS_CLOSED(gate) || !kernel_pass(__builtin_return_address(0))) \
		return next.name(a, b, c, d, e, f);			\
	result = next.name(a, b, c, d, e, f);				\
	wrapped_count_call((const void *)next.name);			\
	return result;							\
}
#include "lib/wrap/kernel.def"
#undef KERNEL

const struct resource_source source_kernel_calls = {
	.is_of_wrappers = true,
	.name = "library calls that enter the kernel",
	.can_be_random = true,
};

void
kernel_begin(bool is_sampled)
{
	gate = is_sampled && wrapped_counts_calls() ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		kernel_look_up();
}
