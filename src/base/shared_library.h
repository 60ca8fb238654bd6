/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shared_library.h -- libraries that are loaded when they are first needed. */
#ifndef CPPROF_BASE_SHARED_LIBRARY_H
#define CPPROF_BASE_SHARED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function, and the pointer that is to lead to it. */
struct shared_library_function {
	const char *name;
	void *place;
};

/*
 * Loads the library of that name, as the loader finds it, for as long as the
 * program runs, and sets the pointers in order.  False: it, or one of the
 * functions, is not there; the pointers from that one on are as before.
 */
bool shared_library_load(const char *name,
                         const struct shared_library_function *functions,
                         size_t n);

#endif
