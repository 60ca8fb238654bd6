/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skip.h -- skips a case and says why; cmocka.h is to stand before it. */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

#include <stdio.h>

/* tests/run-test.py puts the reason where TAP has it. */
#define skip_since(...) \
	(printf("# skip: " __VA_ARGS__), printf("\n"), fflush(stdout), skip())

#endif
