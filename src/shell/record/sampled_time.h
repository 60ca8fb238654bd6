/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampled_time.h -- how much of a program's CPU time was sampled, and why not.
 *
 * The kernel reports the CPU time of the program and of all descendants that
 * were waited for.  The collector counts the time that it sampled, in memory
 * that all processes of the recording share (lib/cpprof-shared.h).  A process
 * that outlives its parent, such as a daemon, is not in the first sum, and in
 * the second only with what it reports before the program ends.
 */
#ifndef CPPROF_SHELL_RECORD_SAMPLED_TIME_H
#define CPPROF_SHELL_RECORD_SAMPLED_TIME_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/text_buffer.h"

struct cpprof_shared;

struct sampled_time {
	int fd;				/* -1: no memory, nothing is known */
	struct cpprof_shared *shared;
	char name[48];			/* by which to open it; or "" */
	int file;			/* the second memory; -1: none */
	char file_name[PATH_MAX];
	uint64_t cpu_ns;		/* the kernel's; set by the caller */
};

/* Never fails; without shared memory, nothing is known. */
void sampled_time_start(struct sampled_time *time);

/*
 * Makes the file for processes that cannot open the memory.  When the directory
 * is empty.  sampled_time_end removes it.
 */
void sampled_time_add_file(struct sampled_time *time, const char *directory);
void sampled_time_end(struct sampled_time *time);

/* Whether enough CPU time was used that there should be samples. */
bool sampled_time_is_much(const struct sampled_time *time);

/* Processes whose I/O by io_uring should have been counted but was not. */
uint64_t sampled_time_n_rings(const struct sampled_time *time);

/* Files made and brief records written, as the processes count them. */
uint64_t sampled_time_n_recorded(const struct sampled_time *time);

/*
 * The first adds why there is no sample at all: "the collector was not loaded".
 * The second adds how much CPU time was not sampled and why, if that is more
 * than noise: "0.50 of 1.02 CPU s were not sampled: 2 programs link
 * statically".  It also reports programs that could not see the recording,
 * whose time is often unknown.  It returns whether it added anything.
 */
void sampled_time_add_none(const struct sampled_time *time,
                           struct text_buffer *text);
bool sampled_time_add_missing(const struct sampled_time *time,
                              struct text_buffer *text);

#endif
