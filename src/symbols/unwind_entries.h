/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_entries.h -- the entries of a module's unwind tables.
 *
 * The section is a row of entries: descriptions (FDE), each of a range of code,
 * and what several have in common (CIE), to which they point back.  It comes
 * in two forms, .eh_frame, which every program carries, and .debug_frame, which
 * is debug information.  Nothing in it is trusted: what is not understood is
 * passed over, in bounded time and without a byte read outside of the section.
 *
 * Source: Linux Standard Base Core 5.0, 10.5 and 10.6; DWARF 5, 6.4.1.
 */
#ifndef CPPROF_SYMBOLS_UNWIND_ENTRIES_H
#define CPPROF_SYMBOLS_UNWIND_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/symbols/elf/elf_file.h"

/* A section; the bytes are those of the file or a copy. */
struct unwind_section {
	struct bytes bytes;
	uint64_t address;	/* of its first byte */
	size_t pointer_size;	/* 4 or 8 */
	bool is_debug;		/* .debug_frame */
};

/* What the descriptions that point to it share. */
struct unwind_common {
	size_t offset;		/* its own */
	bool is_known;		/* else the rest means nothing */
	uint8_t encoding;	/* of addresses */
	bool has_augmentation;	/* each description has a size and so many
				 * bytes before its rules */
	bool is_signal;		/* its code is where handlers return to */
	uint64_t code_unit;
	int64_t data_unit;
	uint64_t return_register;
	struct bytes rules;	/* with the section's offsets */
};

/* What one description says. */
struct unwind_entry {
	uint64_t start, size;	/* of the code; does not pass 2^64 */
	struct bytes rest;	/* augmentation and rules, as above */
	struct unwind_common common;
};

/*
 * The file's section, the bytes living as long as the file is open; false
 * where there is none of little-endian numbers.
 */
bool unwind_section_find(struct unwind_section *section,
                         const struct elf_file *file, bool is_debug);

/*
 * Goes over the descriptions.  *offset: at first 0, then where the next entry
 * is looked for; *entry, at first `{ 0 }`, becomes the description that was
 * found, *at, unless NULL, where it stands.  False at the end.  O(1) an entry.
 */
bool unwind_entries_next(const struct unwind_section *section, size_t *offset,
                         struct unwind_entry *entry, size_t *at);

/* An address in one of the encodings; fails where it is not known. */
uint64_t unwind_take_address(const struct unwind_section *section,
                             struct bytes *in, unsigned encoding);

/* DWARF's numbers of varying length; longer ones than 10 bytes fail. */
uint64_t unwind_take_uleb(struct bytes *in);
int64_t unwind_take_sleb(struct bytes *in);

#endif
