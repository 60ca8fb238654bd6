/* SPDX-License-Identifier: GPL-3.0-or-later */
/* offers.h -- which resources the collector can give on this machine.
 *
 * Only the collector knows, so this starts a program with the collector
 * preloaded, which tries its sources and writes an answer.
 */
#ifndef CPPROF_SHELL_RECORD_OFFERS_H
#define CPPROF_SHELL_RECORD_OFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"

/* The texts belong to struct offers. */
struct offer {
	const char *name;
	const char *source;	/* "": it cannot be recorded */
	bool is_coarse, can_be_random;
	const char *why;	/* why not, or why no better source; or "" */
};

struct offers {
	struct offer *items;
	size_t n, capacity;
	struct text_buffer text;
};

/*
 * Asks about the resources in a list like the value of CPPROF_RESOURCES, or
 * about all if it is NULL.  library: see preload.h.  0, or -1 with *error set.
 * Call offers_free in either case.
 */
int offers_ask(struct offers *offers, const char *library,
               const char *resources, bool is_random, struct error *error);
void offers_free(struct offers *offers);

#endif
