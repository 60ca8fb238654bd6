/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legacy_symbols.h -- the section "--- symbol" of a text profile.
 *
 * pprof of gperftools writes it before the profile:
 *
 *	--- symbol
 *	binary=/path
 *	0x000000000042ecc3 caller--inlined
 *	---
 *
 * Its addresses are those of the profile, or these less one.  Inlined calls are
 * joined by "--", innermost last.
 */
#ifndef CPPROF_FORMATS_LEGACY_SYMBOLS_H
#define CPPROF_FORMATS_LEGACY_SYMBOLS_H

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/formats/legacy/legacy_addresses.h"
#include "src/formats/line_text.h"

/* Start with zeroes. */
struct legacy_symbols {
	char *program;		/* "binary="; NULL: unknown */
	struct names *lines;	/* NULL: none; kept until all addresses of the
				 * profile are known */
};

void legacy_symbols_free(struct legacy_symbols *symbols);

/* Adds a line of the section; 0, or -1 with *error set. */
int legacy_symbols_add(struct legacy_symbols *symbols, struct line_text line,
                       struct error *error);

/* Names the addresses that have no name yet; 0, or -1 with *error set. */
int legacy_symbols_name(const struct legacy_symbols *symbols,
                        struct legacy_addresses *addresses,
                        struct pprof_builder *builder, struct error *error);

#endif
