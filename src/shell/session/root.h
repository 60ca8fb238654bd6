/* SPDX-License-Identifier: GPL-3.0-or-later */
/* root.h -- which function downward views begin at when none is named. */
#ifndef CPPROF_SHELL_SESSION_ROOT_H
#define CPPROF_SHELL_SESSION_ROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/shell/session/naming.h"

/*
 * By call site, a function that calls has other names where it does so, and
 * its own is no root for what happens in it.
 */
bool root_is_split(const struct naming *naming, const char *function);

/*
 * The user's choice (NULL: none) where it occurs and is not split, else main,
 * else the outermost function with most hits; NO_NAME where there is none.
 */
uint32_t root_choose(const struct naming *naming, const char *choice);

#endif
