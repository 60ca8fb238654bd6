/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_script_line.h -- lines of what perf script prints.
 *
 * There is no grammar; commands hold blanks, symbols blanks, brackets and
 * semicolons, and perf script -F leaves fields out.
 * Source: perf-script(1), tools/perf/builtin-script.c (linux 6.1).
 */
#ifndef CPPROF_FORMATS_PERF_SCRIPT_LINE_H
#define CPPROF_FORMATS_PERF_SCRIPT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a line, in place. */
struct perf_text {
	const char *text;
	size_t length;
};

/*
 * "COMM [PID/]TID [[CPU]] [MISC] [TIME:] [PERIOD] [EVENT:] [REST]", the first
 * line of a sample.  COMM and TID may be missing where TIME and EVENT
 * are there.
 */
struct perf_script_header {
	struct perf_text comm;
	struct perf_text event;		/* empty: not printed */
	struct perf_text rest;		/* a frame, or an event's arguments */
	uint64_t pid, tid;		/* 0: not printed, or unknown */
	uint64_t period;		/* 1 where not printed */
	bool has_period;		/* it was printed */
	bool has_time;
	uint64_t time_ns;		/* if it was printed; UINT64_MAX: it is
					 * no time */
	bool is_record;			/* not a sample: "PERF_RECORD_MMAP2 ...",
					 * as --show-mmap-events prints it */
	uint64_t n_lost;		/* samples, as such a record says */
};

/* "\t    ADDRESS SYMBOL+0xOFFSET (OBJECT)". */
struct perf_script_frame {
	uint64_t address;
	bool has_address;
	bool lacks_symbol;		/* an address, and "[unknown]" below */
	struct perf_text symbol;	/* without the offset; never empty */
	struct perf_text object;	/* empty: not printed */
};

/*
 * Reads a sample's first line of which perf script -F left out the time, the
 * event or more: any text may be one.  A number alone is a TID, or if it is
 * padded to ten columns a PERIOD; then the event is "period" if none is named.
 */
void perf_script_read_brief(const char *line, size_t length,
                            struct perf_script_header *header);

/*
 * Whether a line is a frame as perf itself prints it: a tab and an address in a
 * column of 16.
 */
bool perf_script_is_printed_frame(const char *line, size_t length);

/*
 * Whether what follows the event is a frame: of a sample without a stack perf
 * prints a blank, an address in a column of 16 and, unless they are left out,
 * a symbol and an object.
 */
bool perf_script_is_only_frame(const struct perf_text *rest);

/* Each says whether the line is one, and sets what it gets. */
bool perf_script_read_header(const char *line, size_t length,
                             struct perf_script_header *header);
bool perf_script_read_frame(const char *line, size_t length,
                            struct perf_script_frame *frame);

#endif
