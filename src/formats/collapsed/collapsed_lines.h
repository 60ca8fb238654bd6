/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_lines.h -- lines of collapsed stacks, block by block.
 *
 * Shared by collapsed.c, which sees the input, and collapsed_lines.c, which
 * sees the lines in it.
 */
#ifndef CPPROF_FORMATS_COLLAPSED_LINES_H
#define CPPROF_FORMATS_COLLAPSED_LINES_H

#include <sys/types.h>

#include "src/formats/collapsed/collapsed_header.h"
#include "src/formats/collapsed/collapsed_stack.h"
#include "src/formats/reader.h"
#include "src/formats/stack_writer.h"

struct collapsed {
	struct reader reader;		/* but lines are read here */
	struct collapsed_header header;
	/* NULL before the first stack. */
	struct stack_parser *parser;
	struct stack_writer *writer;
	struct error cut;		/* the error of a last line without an
					 * end */
	bool is_malformed;		/* reading failed because of a line */
};

/* Sets an error at the line that is read; returns -1. */
int collapsed_fail_line(struct collapsed *input, struct error *error,
                        const char *what);

/*
 * Reads the complete lines in bytes[size], header and stacks; returns their
 * size, or -1 with *error set.  *last is the line before if that was a stack,
 * otherwise NULL; it is set to the last of these lines likewise.
 */
ssize_t collapsed_read_lines(struct collapsed *input,
                             const char **last, const char *bytes,
                             size_t size, struct error *error);

#endif
