/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_tables.h -- profiles as tables for engines that know SQL.
 *
 * An engine cannot tell which canonical paths a stack counts for.  A table has
 * that, so that the value of a path is a sum over the stacks in it, each of
 * which counts once, also under recursion.  doc/tables.md describes the tables.
 */
#ifndef CPPROF_SHELL_SESSION_PATH_TABLES_H
#define CPPROF_SHELL_SESSION_PATH_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/format.h"
#include "src/formats/merged/merging.h"
#include "src/profile/profile.h"

enum { PATH_TABLES_NAMES = 8 };	/* of a path, unless one says else */

struct path_tables;

/* Borrowed. */
struct path_tables_request {
	const char *directory;		/* made if it is missing */
	const char *key;		/* by which hits are in directories of
					 * their own; NULL: none */
	size_t most_names;		/* of a path */
	struct naming_rule rule;
	unsigned hidden;		/* enum hidden_frames */
	const struct read_options *read;
};

/* Freed with path_tables_free; NULL with *error set. */
struct path_tables *path_tables_new(const struct path_tables_request *request,
                                    struct error *error);
void path_tables_free(struct path_tables *tables);

/*
 * Adds the profile that load_profiles reads at the path; id: who it is; NULL:
 * its content.  Calls warn for each warning.  What there is too much of in
 * memory is written.
 */
enum merged_input path_tables_add(struct path_tables *tables, const char *path,
                                  const char *id,
                                  void (*warn)(void *context,
                                               const char *text),
                                  void *context, struct error *error);

/* Writes the rest. */
int path_tables_end(struct path_tables *tables, struct error *error);

#endif
