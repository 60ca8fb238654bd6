/* SPDX-License-Identifier: MIT */
/* wiped.c -- the bounds of the memory that is zeroed in forked children. */
#include "lib/base/wiped.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/files.h"
#include "lib/cpprofdata.h"

#define END(part) __attribute__((section(".bss.cpprof_wiped." part), \
    aligned(CPPROFDATA_PAGE), used))

static char start[1] END("0");
static char end[0] END("9");

/*
 * If the linker has not sorted the sections, nothing lies between the bounds.
 */
static bool
is_between(const volatile void *variable)
{
	return (uintptr_t)end > (uintptr_t)start &&
	    (uintptr_t)variable - (uintptr_t)start <
	    (uintptr_t)end - (uintptr_t)start;
}

bool
wiped_begin(const volatile void *one, const volatile void *other)
{
	errno = ENOSYS;
	return is_between(one) && is_between(other) && files_advise(start,
	    (size_t)(end - start), MADV_WIPEONFORK) == 0;
}
