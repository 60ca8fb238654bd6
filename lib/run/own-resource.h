/* SPDX-License-Identifier: MIT */
/* own-resource.h -- resources that the program itself names and spends.
 *
 * They have the last columns.  How many columns there are is fixed when the
 * file is made; a program that declares its resources later, because sampling
 * has been on from its start, finds columns kept for it, if it is linked with
 * the library and so may want them.  One that is not taken has no name.
 */
#ifndef CPPROF_OWN_RESOURCE_H
#define CPPROF_OWN_RESOURCE_H

#include <stdbool.h>

#include "lib/sources/resource.h"

/*
 * Gives columns to what has been declared; with `keeps` also to what may yet
 * be.  Before the file is made, once all other columns are there.
 */
void own_resources_add(bool keeps);

/* Whether the program, or a library that came with it, is linked with us. */
bool own_resources_are_likely(void);

#endif
