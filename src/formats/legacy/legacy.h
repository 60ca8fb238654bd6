/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legacy.h -- lines of the text formats of gperftools and old Go, for the files
 * of this folder.
 */
#ifndef CPPROF_LEGACY_LEGACY_H
#define CPPROF_LEGACY_LEGACY_H

#include "src/base/error.h"
#include "src/formats/reader.h"

/* ---- legacy_lines.c ---- */

/*
 * Lines of gperftools' and Go's older text profiles.
 *
 * Headers and samples:
 *
 * 	heap profile: N: BYTES [N: BYTES] @ heap/RATE	heap_v2/RATE,
 * 							heapprofile, growthz
 * 	     1:     9216 [     1:     9216] @ 0xc635c8 0x42ecc3
 * 	heap_v2/RATE					of jemalloc
 * 	@ 0xc635c8 0x42ecc3
 * 	  t*: 1: 9216 [0: 0]
 * 	goroutine profile: total 7			any name
 * 	1 @ 0x44cb3 0x45045
 * 	--- contentionz 1 ---		--- contention:, --- mutex:
 * 	cycles/second = 3201000000
 * 	sampling period = 100
 * 	  19490304       27 @ 0xbccc97 0xc61202
 * 	--- threadz 1 ---
 * 	--- Thread 7f794ab90940 (name: main/14748) stack: ---
 * 	  PC:  0x00bc8f1c: helper(arg *)
 * 	  0x0040be31: main
 *
 * Values are of what was sampled; the functions below turn them into estimates
 * of the whole, as google/pprof does, in the same arithmetic.
 * Source: google/pprof, profile/legacy_profile.go; jemalloc, src/prof_data.c
 * and bin/jeprof.in.
 */

enum legacy_kind {
	LEGACY_NONE,		/* the line begins none of these */
	LEGACY_HEAP,		/* also growth and fragmentation */
	LEGACY_JEMALLOC,
	LEGACY_COUNT,
	LEGACY_CONTENTION,
	LEGACY_THREADS,
};

struct legacy_header {
	enum legacy_kind kind;
	struct line_text name;	/* name of the count, LEGACY_COUNT only */
	bool has_allocated;	/* samples have two pairs of values: what was
				 * allocated, and what of it is in use */
	bool is_scaled;		/* by the rate; LEGACY_HEAP only */
	uint64_t rate;		/* mean bytes between two samples, 0 unknown;
				 * of contention the sampling period */
	uint64_t cycles_per_second;	/* 0: unknown; contention only */
};

/* Reads a line; its kind is LEGACY_NONE where it begins no profile. */
struct legacy_header legacy_read_header(struct line_text line);

/* Whether a line begins a thread; *name (may be NULL): what it is called. */
bool legacy_is_thread(struct line_text line, struct line_text *name);

/* Whether a line is the heading of the mappings. */
bool legacy_is_memory_map(struct line_text line);

/*
 * Reads "KEY = VALUE" of a contention profile into the header, and the number
 * of samples that were discarded into *discarded.  1; 0: the line is none; or
 * -1 with *error set.
 */
int legacy_read_attribute(struct legacy_header *header, struct line_text line,
                          uint64_t *discarded, struct error *error);

/* A sample's values, in the order of the types. */
enum { LEGACY_VALUES_MAX = 4 };

struct legacy_values {
	uint64_t values[LEGACY_VALUES_MAX];
	int n;
	uint64_t n_raw;		/* samples that were really taken; 1 if there
				 * are two pairs, which differ in that number */
};

/*
 * Reads the values before a sample's '@' (of jemalloc, those of a line "t*:")
 * and estimates the whole; *line becomes what follows.  0, or -1 with *error
 * set to what was expected.
 */
int legacy_read_values(const struct legacy_header *header,
                       struct line_text *line, struct legacy_values *values,
                       struct error *error);

/* What Go writes of a frame after a sample, with debug=1. */
struct legacy_comment {
	uint64_t address;
	struct line_text name, file;	/* empty: unknown */
	uint64_t line;			/* 0: unknown */
};

/* "#\t0x42ecc2\tmain.f+0x22\t/home/f.go:12"; false: another comment. */
bool legacy_read_comment(struct line_text line,
                         struct legacy_comment *comment);

/* "  PC:  0x00bc8f1c: helper(arg *)" of a thread; false: it has no name. */
bool legacy_read_frame(struct line_text line, uint64_t *address,
                       struct line_text *name);

/*
 * Takes the next address, "0x" and digits, and whatever is before it.  1; 0:
 * there is none; or -1 with *error set.
 */
int legacy_take_address(struct line_text *line, uint64_t *address,
                        struct error *error);

#endif
