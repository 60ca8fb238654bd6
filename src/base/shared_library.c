/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shared_library.c -- loads a library, and finds its functions. */
#include "src/base/shared_library.h"

#include <dlfcn.h>

bool
shared_library_load(const char *name,
                    const struct shared_library_function *functions, size_t n)
{
	void *const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);

	for (size_t i = 0; i < n; i++) {
		void *function = library == NULL ? NULL :
		    dlsym(library, functions[i].name);

		if (function == NULL)
			return false;
		*(void **)functions[i].place = function;
	}
	return library != NULL;
}
