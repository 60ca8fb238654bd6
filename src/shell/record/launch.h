/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.h -- runs a program with the collector in it. */
#ifndef CPPROF_SHELL_RECORD_LAUNCH_H
#define CPPROF_SHELL_RECORD_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct launch {
	const char *library;	/* absolute path, see preload.h */
	const char *output;	/* absolute path of an existing directory */
	const char *resources;	/* as CPPROF_RESOURCES has them */
	bool is_random, is_alone, counts_returns;
	uint64_t max_size;	/* 0: no limit */
	const char *shared;	/* see sampled_time.h; "": none */
	uint64_t *cpu_ns;	/* is set to what the program, and all its
				 * descendants that were waited for, have used */
	const char *program;	/* the file to execute */
	char *const *words;	/* its arguments, words[0] the name as typed;
				 * ends with NULL */
	void (*started)(void *context);	/* called once the program runs */
	void *context;
	bool resets_sigpipe;	/* this process ignores it on its own account:
				 * the program should not */
	void (*on_limit)(int);	/* what SIGXFSZ does in the program */
};

/*
 * Runs the program as a child of this process, with this one's files, to its
 * end.  Signals from the terminal are the child's affair meanwhile; SIGTERM,
 * SIGHUP, SIGUSR1 and SIGUSR2 are handed on.  *status is what a shell would
 * report: the exit status, or 128 + N after signal N.  0, or -1 with *error
 * set when it could not be started.
 */
int launch_program(const struct launch *launch, int *status,
                   struct error *error);

#endif
