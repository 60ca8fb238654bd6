/* SPDX-License-Identifier: GPL-3.0-or-later */
/* root.h -- the function that downward views begin at by default. */
#ifndef CPPROF_SHELL_SESSION_ROOT_H
#define CPPROF_SHELL_SESSION_ROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/shell/session/naming.h"

/*
 * Whether a function has a name for each of its call sites.  Its own name is
 * then only that of its body, so it is no useful root.
 */
bool root_is_split(const struct naming *naming, const char *function);

/*
 * The user's choice (NULL: none) if it occurs and is not split, else main,
 * else the outermost function with the most hits; NO_NAME if there is none.
 */
uint32_t root_choose(const struct naming *naming, const char *choice);

#endif
