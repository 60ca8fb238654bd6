/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_list.h -- which runs of a program paths stand for.
 *
 * A file is a run, and so is a recording, a directory with a file for each
 * process.  A directory without such files in which there are recordings holds
 * several runs: record --repeat writes one.  To merge, any directory without a
 * recording's files holds many profiles.
 */
#ifndef CPPROF_FORMATS_RUN_LIST_H
#define CPPROF_FORMATS_RUN_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"

/* Start with { 0 }. */
struct run_list {
	const char *output;	/* a file to write, which is no member of a
				 * directory; "-": standard output; NULL: none */
	bool was_output_found;	/* in a directory, and left out */
	char **paths;		/* [n] as load_profiles takes them */
	size_t n, capacity;
	char *program;		/* the ELF file that was among the paths, which
				 * goes with each of them; NULL: none was */
};

/*
 * Adds the recordings in a directory, in the order of their names, numbers in
 * these by value; none if there are no recordings in it.  0, or -1 with *error
 * set.
 */
int run_list_add_directory(struct run_list *runs, const char *path,
                           struct error *error);

/* Adds the runs that n paths stand for.  0, or -1 with *error set. */
int run_list_add_paths(struct run_list *runs, const char *const *paths,
                       size_t n, struct error *error);

/*
 * Adds the members of a merged profile that a path stands for: the path itself
 * if it is a file, a recording, or a directory of perf; else all files and
 * recordings below the directory, at any depth, but for what is hidden, links
 * to directories, pipes and the like, and the output.  If there are none, or
 * the directory cannot be read, the path itself, for the reader to say so.  0,
 * or -1 with *error set for want of memory.
 */
int run_list_add_members(struct run_list *runs, const char *path,
                         struct error *error);

/*
 * Whether no two of the paths are one file, or a file and the recording in
 * which it is: it would count twice.  0, or -1 with *error set.  Pipes and
 * devices are not looked at.  O(n log n).
 */
int run_list_check_distinct(const struct run_list *runs, struct error *error);

void run_list_free(struct run_list *runs);

#endif
