/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printable_writer.h -- escapes text of other formats for a terminal.
 *
 * Exporters write names as they are.  On the way to a terminal
 * text_add_printable escapes them; line feeds and tabs stay.
 */
#ifndef CPPROF_OUTPUT_PRINTABLE_WRITER_H
#define CPPROF_OUTPUT_PRINTABLE_WRITER_H

#include "src/base/text_buffer.h"
#include "src/base/writer.h"

struct printable_writer {
	struct writer writer;		/* to write to */
	struct writer *to;		/* borrowed */
	char begun[4];			/* the bytes of an incomplete
					 * character */
	size_t n_begun;
	struct text_buffer text;
};

void printable_writer_start(struct printable_writer *printable,
                            struct writer *to);

/* Writes what is left, and frees; the errno of the first failure, or 0. */
int printable_writer_end(struct printable_writer *printable);

#endif
