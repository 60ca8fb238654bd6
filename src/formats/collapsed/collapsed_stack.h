/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_stack.h -- lines of collapsed stacks, parsed into batches.
 *
 * A line shares its outermost frames with the previous line as far as their
 * texts agree, so that in sorted input only the ends of lines are parsed.
 */
#ifndef CPPROF_FORMATS_COLLAPSED_STACK_H
#define CPPROF_FORMATS_COLLAPSED_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/reader.h"
#include "src/formats/stack_writer.h"

struct stack_parser;

/*
 * For a reader whose profile has its resources, and no names yet; the reader
 * must outlive it, and learns which columns have counts below zero.  Freed with
 * stack_parser_free; NULL with *error set.
 */
struct stack_parser *stack_parser_new(struct reader *reader,
                                      struct error *error);
void stack_parser_free(struct stack_parser *parser);

/* The fractions dropped from counts: "2.75" counts as 2. */
struct cut_fractions {
	uint64_t n;		/* counts */
	double sum;		/* of the dropped fractions */
};

/* Of all lines so far; lives as long as the parser. */
const struct cut_fractions *
stack_parser_fractions(const struct stack_parser *parser);

enum {
	STACK_PARSED,		/* it is in the batch */
	STACK_MALFORMED,	/* *malformed says what was expected */
	STACK_UNENDED,		/* there is no end of line */
	STACK_FAILED,		/* out of memory: *error */
};

/*
 * Parses the line at the front of line[size], after which SOURCE_PADDING bytes
 * can be read.  *end: its end, unless it has none.  last: the line parsed just
 * before, still in memory; NULL if there was none or other lines came between.
 */
int stack_parser_line(struct stack_parser *parser, struct stack_batch *batch,
                      uint64_t line_number, const char *last,
                      const char *line, size_t size, size_t *end,
                      struct error *malformed, struct error *error);

#endif
