/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skip.h -- skips a case and prints the reason; include cmocka.h before it. */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

#include <stdio.h>
#include <stdlib.h>

/* tests/run-test.py moves the reason to where TAP expects it. */
#define skip_since(...) \
	(printf("# skip: " __VA_ARGS__), printf("\n"), fflush(stdout), skip())

/* Skips a case that takes long where CHECK_QUICK is set, as in check-quick. */
#define skip_if_quick() \
	do { \
		if (getenv("CHECK_QUICK") != NULL) \
			skip_since("make check runs it, since it takes long"); \
	} while (0)

#endif
