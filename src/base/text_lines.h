/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_lines.h -- the lines of a text file. */
#ifndef CPPROF_BASE_TEXT_LINES_H
#define CPPROF_BASE_TEXT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct text_lines {
	char *bytes;		/* the file; each line ends in a NUL */
	size_t size;		/* of the file */
	const char **lines;	/* [n] line i + 1, without its end */
	uint32_t n;
};

/*
 * Splits bytes[size], which must have room for a NUL at bytes[size] and which
 * it takes over, even if it fails.  Lines end in LF or CR LF.  0, or -1 with
 * *error set.
 */
int text_lines_split(struct text_lines *text, char *bytes, size_t size,
                     struct error *error);
void text_lines_free(struct text_lines *text);

#endif
