/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampled_time.h -- how much of a program's CPU time was sampled, and why not.
 *
 * The kernel says what the program and all descendants that were waited for
 * have used; the collector counts what it sampled in memory that all processes
 * of the recording share (lib/cpprof-shared.h).  Who outlives its parent, as
 * daemons do, is in neither sum but for what it tells before the program ends.
 */
#ifndef CPPROF_SHELL_RECORD_SAMPLED_TIME_H
#define CPPROF_SHELL_RECORD_SAMPLED_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/text_buffer.h"

struct cpprof_shared;

struct sampled_time {
	int fd;				/* -1: none, nothing is known */
	struct cpprof_shared *shared;
	char name[48];			/* to open it by, "" if there is none */
	uint64_t cpu_ns;		/* the kernel's sum: the caller's */
};

/* Always usable; where there is no such memory it knows nothing. */
void sampled_time_start(struct sampled_time *time);
void sampled_time_end(struct sampled_time *time);

/* Whether so much CPU time was used that there should be samples. */
bool sampled_time_is_much(const struct sampled_time *time);

/* Processes with I/O by io_uring that was to be counted and was not. */
uint64_t sampled_time_n_rings(const struct sampled_time *time);

/* Files made and brief records written, by the processes' own count. */
uint64_t sampled_time_n_recorded(const struct sampled_time *time);

/*
 * Adds why there is no sample at all: "the collector was not loaded"; and where
 * some CPU time has no samples and it is beyond noise, how much that is and
 * why: "0.50 of 1.02 CPU s were not sampled: 2 programs link statically"; true
 * if it does.
 */
void sampled_time_add_none(const struct sampled_time *time,
                           struct text_buffer *text);
bool sampled_time_add_missing(const struct sampled_time *time,
                              struct text_buffer *text);

#endif
