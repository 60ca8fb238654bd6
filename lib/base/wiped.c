/* SPDX-License-Identifier: MIT */
/* wiped.c -- both ends of the memory that forked children find cleared. */
#include "lib/base/wiped.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/cpprofdata.h"
#include "lib/run/start.h"

#define END(part) __attribute__((section(".bss.cpprof_wiped." part), \
    aligned(CPPROFDATA_PAGE), used))

static char start[1] END("0");
static char end[0] END("9");

/* If the linker does not sort, there is nothing between the two. */
static bool
is_sorted(void)
{
	const uintptr_t size = (uintptr_t)end - (uintptr_t)start;

	return (uintptr_t)end > (uintptr_t)start &&
	    (uintptr_t)&process_own - (uintptr_t)start < size &&
	    (uintptr_t)&start_same_process - (uintptr_t)start < size;
}

bool
wiped_begin(void)
{
	errno = ENOSYS;
	return is_sorted() && files_advise(start, (size_t)(end - start),
	    MADV_WIPEONFORK) == 0;
}
