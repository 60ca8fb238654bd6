/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printable_writer.h -- text of other formats made fit for a terminal.
 *
 * What an exporter writes holds names as they are.  On the way to a terminal
 * they become what text_add_printable makes of them; lines and tabs stay.
 */
#ifndef CPPROF_OUTPUT_PRINTABLE_WRITER_H
#define CPPROF_OUTPUT_PRINTABLE_WRITER_H

#include "src/base/text_buffer.h"
#include "src/base/writer.h"

struct printable_writer {
	struct writer writer;		/* to write to */
	struct writer *to;		/* borrowed */
	char begun[4];			/* a character that is not whole yet */
	size_t n_begun;
	struct text_buffer text;
};

void printable_writer_start(struct printable_writer *printable,
                            struct writer *to);

/* Hands on what is left, and frees; the errno of the first failure, or 0. */
int printable_writer_end(struct printable_writer *printable);

#endif
