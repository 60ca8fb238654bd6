/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_paths.h -- call paths kept as a trie, one record a path.
 *
 * A record is its parent record and one more name.  Only the path that is
 * being shown is ever built up in memory.
 */
#ifndef CPPROF_BASE_CALL_PATHS_H
#define CPPROF_BASE_CALL_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/names.h"

#define NO_RECORD UINT32_MAX

/* Borrows its arrays; whoever makes it documents how long they live. */
struct call_paths {
	const struct names *names;
	const uint32_t *parent;		/* NO_RECORD: the path's first record */
	const uint32_t *name;
	bool is_innermost_first;	/* the walk up starts at the outermost
					 * name: upward profiles */
};

/* The number of names in the record's path. */
size_t call_paths_length(const struct call_paths *paths, uint32_t record);

/* Writes them to names[call_paths_length()], outermost first. */
void call_paths_get(const struct call_paths *paths, uint32_t record,
                    uint32_t *names);

#endif
