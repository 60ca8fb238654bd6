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

/* What perf_script_read_columns finds in a line. */
enum {
	PERF_SCRIPT_TASKS = 1 << 0,
	PERF_SCRIPT_CPU = 1 << 1,
	PERF_SCRIPT_PERIOD = 1 << 2,
	PERF_SCRIPT_EVENT = 1 << 3,
	PERF_SCRIPT_ADDRESS = 1 << 4,	/* of a sample without a stack */
	PERF_SCRIPT_ALL = (1 << 5) - 1
};

/*
 * "COMM [PID/]TID [[CPU]] [MISC] [TOD] [TIME:] [PERIOD] [EVENT:] [REST]", the
 * first line of a sample.
 */
struct perf_script_header {
	struct perf_text comm;
	struct perf_text event;		/* empty: not printed */
	struct perf_text rest;		/* other fields, and a frame if the
					 * sample has no stack */
	uint64_t pid, tid;		/* 0: not printed, or unknown */
	uint64_t period;		/* 1 where not printed */
	bool has_period;		/* it was printed */
	bool is_doubtful;		/* a number behind the time may be a
					 * period, or an address */
	bool has_time;
	uint64_t time_ns;		/* if it was printed; UINT64_MAX: it is
					 * no time */
	bool is_record;			/* not a sample: "PERF_RECORD_MMAP2 ...",
					 * as --show-mmap-events prints it */
	uint64_t n_lost;		/* samples, as such a record says */
	unsigned fields;		/* of perf_script_read_columns, and */
	bool has_other;			/* such as are not read, */
	bool has_column;		/* of which perf's columns tell */
	bool has_symbol;		/* and an address with its symbol is
					 * among them */
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
 * Reads a first line that perf_script_read_header does not accept: it has no
 * time, and no event or no thread.  What a word or number means is told by the
 * width of perf's columns, and by what all such lines of the text have in
 * common: known, fields to look for, PERF_SCRIPT_ALL to find out.  The rest of
 * the line is the command; false: it cannot be one.
 */
bool perf_script_read_columns(const char *line, size_t length, unsigned known,
                              struct perf_script_header *header);

/*
 * Whether a line is a frame as perf itself prints it: a tab and an address in a
 * column of 16.
 */
bool perf_script_is_printed_frame(const char *line, size_t length);

/* Whether a line is branches only: "0x4005c8/0x4005dc/P/-/-/0 ...". */
bool perf_script_is_branches(const char *line, size_t length);

/* Whether a line has any. */
bool perf_script_has_branches(const char *line, size_t length);

/*
 * Whether it has what only perf prints: branches, a data source ("|OP LOAD|"),
 * or at its end an instruction (" insn: 48 89 e5", " ilen: 3").
 */
bool perf_script_has_mark(const char *line, size_t length);

/*
 * Finds the frame of a sample without a stack in what follows the time, the
 * period or the event: a blank, an address in a column of 16 and, unless they
 * are left out, a symbol and an object; before it may be other fields.
 */
bool perf_script_find_frame(const struct perf_text *rest,
                            struct perf_text *frame);

/* Each says whether the line is one, and sets what it gets. */
bool perf_script_read_header(const char *line, size_t length,
                             struct perf_script_header *header);
bool perf_script_read_frame(const char *line, size_t length,
                            struct perf_script_frame *frame);

#endif
