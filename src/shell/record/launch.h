/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.h -- runs a program with the collector in it. */
#ifndef CPPROF_SHELL_RECORD_LAUNCH_H
#define CPPROF_SHELL_RECORD_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct launch {
	const char *library;	/* absolute path, see preload.h; NULL: the
				 * program runs without the collector, and what
				 * concerns only that is not used */
	const char *output;	/* absolute path of an existing directory */
	const char *resources;	/* the value of CPPROF_RESOURCES */
	bool is_random, is_alone, counts_returns;
	uint64_t max_size;	/* 0: no limit */
	const char *shared;	/* see sampled_time.h; "": none */
	uint64_t *cpu_ns;	/* set to the CPU time of the program and of
				 * all descendants that were waited for */
	const char *program;	/* the file to execute */
	char *const *words;	/* its arguments, words[0] the name as typed;
				 * ends with NULL */
	void (*started)(void *context);	/* called once the program runs */
	void *context;
	bool resets_sigpipe;	/* this process ignores SIGPIPE, but the
				 * program should not */
	void (*on_limit)(int);	/* what SIGXFSZ does in the program */
};

/*
 * Runs the program as a child, with the files of this process, and waits for
 * its end.  While it runs, this process ignores signals from the terminal and
 * passes SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 on to it.  *status: what a shell
 * would report, the exit status or 128 + N after signal N.  0, or -1 with
 * *error set if it could not be started.
 */
int launch_program(const struct launch *launch, int *status,
                   struct error *error);

/*
 * Executes the program in place of this process, which needs neither another
 * process nor an open file.  Returns only if that fails, -1 with *error set.
 */
int launch_in_place(const struct launch *launch, struct error *error);

#endif
