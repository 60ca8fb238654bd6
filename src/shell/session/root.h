/* SPDX-License-Identifier: GPL-3.0-or-later */
/* root.h -- the function that views of paths begin at by default. */
#ifndef CPPROF_SHELL_SESSION_ROOT_H
#define CPPROF_SHELL_SESSION_ROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/shell/session/naming.h"
#include "src/views/view.h"

/*
 * Whether a function has a name for each of its call sites.  Its own name is
 * then only that of its body, so it is no useful root.
 */
bool root_is_split(const struct naming *naming, const char *function);

/*
 * The user's choice (NULL: none) if it occurs and is not split, else main if it
 * is on nine tenths of the set's hits, else the outermost function if all
 * stacks begin with the same one.  NO_NAME if there is none: a root that lacks
 * much of the run would hide where it goes.  O(nodes).
 */
uint32_t root_choose(const struct naming *naming, const struct sample_set *set,
                     const char *choice);

#endif
