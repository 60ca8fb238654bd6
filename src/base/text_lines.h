/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_lines.h -- the lines of a text file. */
#ifndef CPPROF_BASE_TEXT_LINES_H
#define CPPROF_BASE_TEXT_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

/*
 * Reads the next line of an open file, without its LF and with a NUL after it,
 * into *line, which grows as memory_grow does; NUL bytes can be in it.  1, or 0
 * at the end of the file, or -1 with *error set: also if the line is longer
 * than 16 MiB, so that a device without an end does not fill the memory.
 */
int text_line_read(FILE *file, char **line, size_t *capacity, size_t *length,
                   struct error *error);

#endif
