/* SPDX-License-Identifier: MIT */
/* jitdump.h -- the records of jit-PID.dump, in the machine's own byte order.
 *
 * A header, then records.  Each has its size, so that those of unknown kinds
 * can be skipped.  What is said of a piece of code comes before its
 * JITDUMP_LOAD.
 * Source: linux, tools/perf/Documentation/jitdump-specification.txt;
 * JITDUMP_CALLS is ours.
 */
#ifndef CPPROF_JITDUMP_H
#define CPPROF_JITDUMP_H

#include <stdint.h>

#define JITDUMP_MAGIC 0x4a695444u

enum {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_LINES = 2,
	JITDUMP_CALLS = 0x43505243,	/* "CPRC" */
};

struct jitdump_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t timestamp, flags;
};

struct jitdump_record {
	uint32_t kind, size;		/* the size is with this head */
	uint64_t timestamp;
};

/* Then the name, ended by a NUL, and the code, which readers skip. */
struct jitdump_load {
	uint32_t pid, tid;
	uint64_t virtual_address, address, size, index;
};

struct jitdump_move {
	uint32_t pid, tid;
	uint64_t virtual_address, old, new, size, index;
};

/* Then n lines, each with the name of its file. */
struct jitdump_lines {
	uint64_t address, n;
};

struct jitdump_line {
	uint64_t address;
	uint32_t line, discriminator;
};

/*
 * Which functions the compiler put into one another: then n_texts texts, each
 * ended by a NUL, and n_places places, each followed by its frames, outermost
 * first.  The outermost is the function that the piece is named for.
 */
struct jitdump_calls {
	uint64_t address;
	uint32_t n_texts, n_places;
};

/* From this offset into the code up to the next place. */
struct jitdump_place {
	uint32_t offset, n_frames;
};

struct jitdump_frame {
	int32_t function, file;		/* numbers of texts; -1: unknown */
	int32_t line;			/* 0: unknown */
};

#endif
