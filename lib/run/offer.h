/* SPDX-License-Identifier: MIT */
/* offer.h -- tells the launcher which resources can be had here. */
#ifndef CPPROF_OFFER_H
#define CPPROF_OFFER_H

#include <stdbool.h>

/*
 * Writes a line to standard output for each resource in a list as
 * CPPROF_RESOURCES has it, or for all where that is NULL: name, source, flags
 * and why it is not better, apart by tabs.  Returns 0, or 1 where the list
 * names what does not exist.  In the constructor.
 */
int offer_resources(const char *list, bool is_random);

#endif
