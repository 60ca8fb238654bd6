/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_reader.h -- shared by the parts of callgrind's reader.
 *
 * callgrind.c splits the input into lines; callgrind_head.c reads those of a
 * head ("KEY: ..."), callgrind_body.c all others.
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
	struct call_graph *graph;	/* the profile's; NULL before the first
					 * cost */

	/* The part's head. */
	const char *command;		/* in the arena; NULL: none */
	uint64_t pid, thread;
	bool has_pid, has_thread, is_head;
	bool is_callgrind;		/* created by callgrind itself */
	bool has_estimates;		/* costs of calls are only estimates */
	bool is_uncounted;		/* numbers of calls are unknown */
	bool has_end;			/* a line that follows costs was
					 * read */
	uint32_t n_positions;
	uint32_t line_column;		/* of the positions, UINT32_MAX: none */

	uint64_t positions[MAX_POSITIONS];	/* of the last cost */
	uint32_t object, file, called_object, called_file;
	uint32_t code_file;		/* of the costs: the function's, or
					 * that of inlined code */
	uint32_t node, callee;
	bool is_call;			/* the next cost is that of calls */
	bool is_jump;			/* the next line is no cost: the place
					 * of a jump */
	uint64_t calls;
	uint32_t place;			/* of the last own costs */
};

/*
 * Each reads one line: without its end if it has a key ("cfn", "events"),
 * which has been found; ending in '\n' if it has costs.  0, or -1 with *error
 * set.
 */
int callgrind_head_line(struct callgrind *input, const char *line,
                        size_t key_length, size_t length,
                        struct error *error);
int callgrind_name_line(struct callgrind *input, const char *line,
                        size_t key_length, size_t length,
                        struct error *error);
int callgrind_costs_line(struct callgrind *input, const char *line,
                         struct error *error);

/* At the first line after a head: enters the process; likewise. */
int callgrind_end_head(struct callgrind *input, struct error *error);

#endif
