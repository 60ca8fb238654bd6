/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed.h -- the parts of collapsed stacks, for the files of this folder.
 *
 * The comment lines that cpprof writes before the stacks, collapsed_header.c,
 * are also those of pprof's comments, so pprof's reader and writer use them.
 */
#ifndef CPPROF_COLLAPSED_COLLAPSED_H
#define CPPROF_COLLAPSED_COLLAPSED_H

#include <emmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/formats/reader.h"
#include "src/profile/profile.h"

/* ---- delimiters ---- */

/*
 * Where lines of collapsed stacks end and differ.
 *
 * Sixty-four bytes at a time, as sets of bits, so that finding the ends of
 * frames costs no branch a byte.
 */

#ifdef __SSE2__
#endif

enum { DELIMITERS_BLOCK = 64 };

/* Bit i stands for byte i of the block. */
struct delimiters {
	uint64_t semicolons;
	uint64_t stops;		/* ends of line and NULs */
};

/* Those of block[DELIMITERS_BLOCK], one byte after the other. */
static inline struct delimiters
find_delimiters_plainly(const char *block)
{
	struct delimiters found = { 0 };

	for (int i = 0; i < DELIMITERS_BLOCK; i++) {
		found.semicolons |= (uint64_t)(block[i] == ';') << i;
		found.stops |= (uint64_t)(block[i] == '\n' ||
		                          block[i] == '\0') << i;
	}
	return found;
}

/* The same, by the machine's vectors where it has them. */
static inline struct delimiters
find_delimiters(const char *block)
{
#ifdef __SSE2__
	struct delimiters found = { 0 };

#pragma GCC unroll 4
	for (int i = 0; i < DELIMITERS_BLOCK; i += 16) {
		__m128i bytes = _mm_loadu_si128((const void *)(block + i));
		__m128i semicolons =
		    _mm_cmpeq_epi8(bytes, _mm_set1_epi8(';'));
		__m128i ends = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
		__m128i nuls = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
		unsigned s = (unsigned)_mm_movemask_epi8(semicolons);
		unsigned e = (unsigned)_mm_movemask_epi8(
		    _mm_or_si128(ends, nuls));

		found.semicolons |= (uint64_t)s << i;
		found.stops |= (uint64_t)e << i;
	}
	return found;
#else
	return find_delimiters_plainly(block);
#endif
}

/* Where two blocks differ, one byte after the other. */
static inline uint64_t
find_differences_plainly(const char *a, const char *b)
{
	uint64_t found = 0;

	for (int i = 0; i < DELIMITERS_BLOCK; i++)
		found |= (uint64_t)(a[i] != b[i]) << i;
	return found;
}

/* The same by vectors. */
static inline uint64_t
find_differences(const char *a, const char *b)
{
#ifdef __SSE2__
	__m128i equal[4], all;
	uint64_t found = 0;

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		__m128i x = _mm_loadu_si128((const void *)(a + 16 * i));
		__m128i y = _mm_loadu_si128((const void *)(b + 16 * i));

		equal[i] = _mm_cmpeq_epi8(x, y);
	}
	all = _mm_and_si128(_mm_and_si128(equal[0], equal[1]),
	                    _mm_and_si128(equal[2], equal[3]));
	if (_mm_movemask_epi8(all) == 0xffff)
		return 0;
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		found |= (uint64_t)(unsigned)_mm_movemask_epi8(equal[i]) <<
		         (16 * i);
	return ~found;
#else
	return find_differences_plainly(a, b);
#endif
}

/* ---- frame_names.c ---- */

/*
 * Numbers of frame names, as fast as text can be read.
 *
 * The set of names in base/names.h is for all uses; this one is for the one
 * loop that sees every frame of a gigabyte of text.  A name is read in pieces
 * of 64 bytes, without a branch on its length: bytes after its end are read and
 * masked off.  Names hold no NUL, so equal pieces, padded with NULs, are equal
 * names.  That saves 3 to 9 % of the CPU time of a load of collapsed stacks.
 */

/* This many bytes after a name must be readable, whatever they are. */
enum { FRAME_NAMES_PADDING = 64 };

struct frame_names;

/*
 * For a profile that has neither names nor frames yet, which must outlive it.
 * Freed with frame_names_free; NULL with *error set.
 */
struct frame_names *frame_names_new(struct profile *profile,
                                    struct error *error);
void frame_names_free(struct frame_names *frames);

/*
 * The numbers of n names in a line, one after the other with a byte between
 * them: the first begins at line[begin], and the one after name i at
 * line[next[i]].  None has a NUL; an empty one is "[unknown]".  A new name is
 * entered into the profile both as a name and as a frame, under the same
 * number; a mangled one as demangle_and_add has it, once.
 */
int frame_names_add(struct frame_names *frames, const char *line, size_t begin,
                    const uint32_t *next, size_t n, uint32_t *numbers,
                    struct error *error);

/* ---- collapsed_header.c ---- */

/*
 * The header of collapsed stacks.
 *
 * Comments before the first stack (doc/formats.md):
 *
 * 	# cpprof 1
 * 	# resource: NAME; gtick=UNIT; interval=N	one a column
 * 	# program: TEXT		likewise command, host
 *
 * A line is a comment, anywhere in the file, if it is "#" or begins with "# ":
 * Austin writes such lines before and after the stacks, and inferno skips
 * them.  "#<Class:0x1>;run 4" is a stack.  A line that begins like one of the
 * above but does not match it is an error, lenient or not, since with wrong
 * columns all numbers would be wrong.
 */

/* Start with the process's texts NULL. */
struct collapsed_header {
	struct process process;		/* texts live in the profile */
	bool has_process;
};

/* Whether a line, without its end, is a comment. */
static inline bool
collapsed_is_comment(const char *line, size_t length)
{
	return length > 0 && line[0] == '#' &&
	       (length == 1 || line[1] == ' ');
}

/*
 * The last blank of text[length), which a count follows: a space or a tab,
 * since flamegraph.pl accepts any white space there.  NULL: there is none.
 */
const char *collapsed_find_blank(const char *text, size_t length);

/* Whether a line, without its end, ends in a blank and a count. */
bool collapsed_has_count(const char *line, size_t length);

/*
 * Reads one line, without its end, entering resources into the profile.  0,
 * or -1 with *error set to what was expected, without file and line.
 */
int collapsed_header_line(struct collapsed_header *header,
                          struct profile *profile, const char *line,
                          size_t length, struct error *error);

/*
 * Ends the header; stacks[size) follow.  Enters the process and, if no
 * resource was named, the resource "samples" for bare counts.  If all of the
 * first stacks have two counts, as difffolded.pl and similar programs write
 * them, the resources are "before" and "after", with a warning.
 */
int collapsed_header_end(const struct collapsed_header *header,
                         struct profile *profile, const char *name,
                         const char *stacks, size_t size,
                         struct error *error);

/*
 * Adds the header of a profile: a line for each resource, and for what is
 * known of the first process.  Returns the number of resources whose names
 * were changed, because they do not fit a line or occur twice.
 */
uint32_t collapsed_header_add(struct text_buffer *header,
                              const struct profile *profile);

/*
 * Reads the digits of [text, end); false if there are none, other characters,
 * or too many.
 */
bool collapsed_parse_count(const char *text, const char *end,
                           uint64_t *count);

/* Likewise digits, or "2.75", whose decimal places go to *fraction. */
bool collapsed_parse_decimal(const char *text, const char *end,
                             uint64_t *count, double *fraction);

/* ---- collapsed_stack.c ---- */

/*
 * Lines of collapsed stacks, parsed into batches.
 *
 * A line shares its outermost frames with the previous line as far as their
 * texts agree, so that in sorted input only the ends of lines are parsed.
 */

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

/* ---- collapsed_lines.c ---- */

/*
 * Lines of collapsed stacks, block by block.
 *
 * Shared by collapsed.c, which sees the input, and collapsed_lines.c, which
 * sees the lines in it.
 */

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

/* ---- collapsed_probe.c ---- */

/*
 * Whether a text is collapsed stacks.
 *
 * Any text could be collapsed stacks with bad lines.  The rule:
 *
 * - A text that begins with "# cpprof 1" is (PROBE_SURE).
 * - Otherwise the first hundred complete lines that are neither blank nor
 *   comments decide.  A line is a stack if it ends in a blank and a number,
 *   and if the text before these has a letter and does not end as a field's
 *   name or value does ("x = 5", "x: 5", "x, 5").  With a ';' between names
 *   only an operator before the number makes it no stack ("a; b = 5").  If the
 *   blank is a tab, there must be a ';': lines without one are rows of a
 *   table.
 * - If at least half of the lines are stacks, the text is (PROBE_LIKELY).  If
 *   fewer are, but one of these has a ';', it may be (PROBE_MAYBE); so may a
 *   text whose first line is longer than the probe can see.  Then a malformed
 *   line is an error at that line.
 * - Otherwise it is not (PROBE_NO).
 *
 * format.h defines these answers.
 */

int collapsed_probe(const void *head, size_t size);

/* ---- collapsed_threads.c ---- */

/* Collapsed stacks whose outermost frame is a thread. */

/*
 * Takes the outermost frames off the stacks of a profile without sections, and
 * makes each a thread with a section.  A stack that has no other frame keeps
 * it.  Known forms, of which the rest is a plain name:
 *
 *	java-4711/4712		stackcollapse-perf.pl --tid
 *	java-4711		stackcollapse-perf.pl --pid
 *	[main tid=4712]		async-profiler -t
 */
int collapsed_take_threads(struct profile *profile, struct error *error);

#endif
