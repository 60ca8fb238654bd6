/* SPDX-License-Identifier: MIT */
/* own-resource.h -- resources that the program itself declares and spends.
 *
 * They have the last columns.  The number of columns is fixed when the file is
 * created.  If sampling is on from the program's start, the program declares
 * its resources later; columns are reserved for it if it is linked with the
 * library, since then it may declare some.  A reserved column that is not used
 * has no name.
 */
#ifndef CPPROF_OWN_RESOURCE_H
#define CPPROF_OWN_RESOURCE_H

#include <stdbool.h>

#include "lib/sources/resource.h"

/*
 * Adds columns for the declared resources, and with `keeps` also for resources
 * that may yet be declared.  Before the file is created, after all other
 * columns are there.  From the constructor or cpprof_start.
 */
void own_resources_add(bool keeps);

/*
 * Whether the program, or a library loaded with it, is linked with this
 * library.  From the constructor.
 */
bool own_resources_are_likely(void);

#endif
