/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skip.h -- skips a case and prints the reason; include cmocka.h before it. */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

#include <stdio.h>

/* tests/run-test.py moves the reason to where TAP expects it. */
#define skip_since(...) \
	(printf("# skip: " __VA_ARGS__), printf("\n"), fflush(stdout), skip())

#endif
