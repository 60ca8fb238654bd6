/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_reader.h -- what the parts of callgrind's reader share.
 *
 * callgrind.c takes the input apart into lines; those of a head ("KEY: ...")
 * are callgrind_head.c's, all others callgrind_body.c's.
 */
#ifndef CPPROF_FORMATS_CALLGRIND_READER_H
#define CPPROF_FORMATS_CALLGRIND_READER_H

#include "src/formats/callgrind/callgrind_events.h"
#include "src/formats/callgrind/callgrind_names.h"
#include "src/formats/format.h"
#include "src/formats/text_lines.h"

#define NO_NODE_YET UINT32_MAX

struct callgrind_reader {
	struct text_lines lines;
	struct profile *profile;
	struct callgrind_events events;
	struct callgrind_names *names;
	struct call_graph *graph;	/* the profile's; NULL before costs */

	/* The part's head. */
	const char *command;		/* NULL: none; the arena's */
	uint64_t pid, thread;
	bool has_pid, has_thread, is_head;
	bool is_callgrind;		/* the creator is */
	bool has_end;			/* a line that stands behind costs */
	uint32_t n_positions;

	uint32_t object, file, called_object, called_file;
	uint32_t node, callee;
	bool is_call;			/* the next cost is what calls used */
	uint64_t calls;
};

/* Whether the key of a line is that word. */
bool callgrind_is_key(const char *line, size_t length, const char *key);

static inline const char *
skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

/* Digits, or 0x and hexadecimal ones; NULL where it is no number. */
const char *callgrind_number(const char *at, uint64_t *number);

/*
 * Each reads one line, without its end, the key of which ("cfn", "events") has
 * been found, or, of costs, which ends in '\n'.  0, or -1 with *error set.
 */
int callgrind_head_line(struct callgrind_reader *reader, const char *line,
                        size_t key_length, size_t length,
                        struct error *error);
int callgrind_name_line(struct callgrind_reader *reader, const char *line,
                        size_t key_length, size_t length,
                        struct error *error);
int callgrind_costs_line(struct callgrind_reader *reader, const char *line,
                         struct error *error);

/* The first line behind a head: enters who ran; likewise. */
int callgrind_end_head(struct callgrind_reader *reader, struct error *error);

#endif
