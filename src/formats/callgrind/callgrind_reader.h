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
#include "src/formats/reader.h"

#define NO_NODE_YET UINT32_MAX
#define NO_PLACE UINT32_MAX

enum { MAX_POSITIONS = 3 };

struct callgrind {
	struct reader reader;
	struct callgrind_events events;
	struct callgrind_names *names;
	struct call_graph *graph;	/* the profile's; NULL before costs */

	/* The part's head. */
	const char *command;		/* NULL: none; the arena's */
	uint64_t pid, thread;
	bool has_pid, has_thread, is_head;
	bool is_callgrind;		/* the creator is */
	bool has_estimates;		/* costs of calls are not believed */
	bool is_uncounted;		/* numbers of calls are not */
	bool has_end;			/* a line that stands behind costs */
	uint32_t n_positions;
	uint32_t line_column;		/* of the positions, UINT32_MAX: none */

	uint64_t positions[MAX_POSITIONS];	/* of the last cost */
	uint32_t object, file, called_object, called_file;
	uint32_t code_file;		/* of the costs: the function's, or
					 * one whose code was inlined */
	uint32_t node, callee;
	bool is_call;			/* the next cost is what calls used */
	bool is_jump;			/* or none: where a jump is */
	uint64_t calls;
	uint32_t place;			/* of the last own costs */
};

/*
 * Each reads one line, without its end, the key of which ("cfn", "events") has
 * been found, or, of costs, which ends in '\n'.  0, or -1 with *error set.
 */
int callgrind_head_line(struct callgrind *input, const char *line,
                        size_t key_length, size_t length,
                        struct error *error);
int callgrind_name_line(struct callgrind *input, const char *line,
                        size_t key_length, size_t length,
                        struct error *error);
int callgrind_costs_line(struct callgrind *input, const char *line,
                         struct error *error);

/* The first line behind a head: enters who ran; likewise. */
int callgrind_end_head(struct callgrind *input, struct error *error);

#endif
