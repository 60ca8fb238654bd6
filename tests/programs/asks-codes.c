/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asks-codes.c -- asks `record` for the rules of all kinds of files, and of what
 * are no questions at all: see tests/tableless.py.
 *
 *	asks-codes FILE...
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "lib/cpprof-shared.h"

static unsigned random_state = 1;

static unsigned
next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

int
main(int argc, char **argv)
{
	const char *name = getenv("CPPROF_SHARED");
	const int file = name != NULL ? open(name, O_RDWR) : -1;
	struct cpprof_shared *shared = file < 0 ? MAP_FAILED :
	    mmap(NULL, CPPROF_SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
	         file, 0);
	const clock_t end = clock() + CLOCKS_PER_SEC / 2;
	unsigned answered = 0;

	if (shared == MAP_FAILED || argc < 2)
		return 2;
	for (unsigned n = 0; clock() < end || answered < 20; n++) {
		struct cpprof_shared_code *code =
		    &shared->codes[n % CPPROF_SHARED_CODES];
		unsigned char *bytes = (unsigned char *)&code->module;

		memset(&code->module, 0, sizeof code->module);
		code->module.file_size = n % 3;
		strncpy(code->module.path, argv[1 + n % (unsigned)(argc - 1)],
		        sizeof code->module.path - 1);
		for (unsigned i = 0; i < n % 5 * 20; i++)
			bytes[next_random() % sizeof code->module] =
			    (unsigned char)next_random();
		__atomic_store_n(&code->state, CPPROF_SHARED_CODE_ASKED,
		                 __ATOMIC_RELEASE);
		__atomic_fetch_add(&shared->n_codes_asked, 1,
		                   __ATOMIC_RELEASE);
		syscall(SYS_futex, &shared->n_codes_asked, FUTEX_WAKE, 1, NULL,
		        NULL, 0);
		answered = __atomic_load_n(&shared->n_codes_answered,
		                           __ATOMIC_ACQUIRE);
	}
	printf("answered\n");
	return 0;
}
