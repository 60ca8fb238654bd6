/* SPDX-License-Identifier: MIT */
/* offer.h -- lists for the launcher which resources are available here. */
#ifndef CPPROF_OFFER_H
#define CPPROF_OFFER_H

#include <stdbool.h>

/*
 * Writes a line to standard output for each resource in a list (as in
 * CPPROF_RESOURCES; NULL: for all): name, source, flags, and why no better
 * source is used, separated by tabs.  Returns 0, or 1 if the list names a
 * resource that does not exist.  From the constructor.
 */
int offer_resources(const char *list, bool is_random);

#endif
