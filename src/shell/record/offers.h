/* SPDX-License-Identifier: GPL-3.0-or-later */
/* offers.h -- which resources the collector can give on this machine.
 *
 * Nobody but the collector can tell, so it is asked: it is preloaded into a
 * program of ours, tries its sources, and answers.
 */
#ifndef CPPROF_SHELL_RECORD_OFFERS_H
#define CPPROF_SHELL_RECORD_OFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"

/* Texts are in the offers' own memory. */
struct offer {
	const char *name;
	const char *source;	/* "": it cannot be given */
	bool is_coarse, can_be_random;
	const char *why;	/* why it cannot, or no better; may be "" */
};

struct offers {
	struct offer *items;
	size_t n, capacity;
	struct text_buffer text;
};

/*
 * Asks about the resources in a list as CPPROF_RESOURCES has it, or all where
 * that is NULL.  library: see preload.h.  0, or -1 with *error set.  Whatever
 * it returns, free.
 */
int offers_ask(struct offers *offers, const char *library,
               const char *resources, bool is_random, struct error *error);
void offers_free(struct offers *offers);

#endif
