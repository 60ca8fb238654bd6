/* SPDX-License-Identifier: MIT */
/* cpprof-code.h -- rules for code without unwind tables, in a file.
 *
 * The collector cannot decode instructions in a signal handler.  So when it
 * meets code of a module that no table covers, it asks `record`
 * (lib/cpprof-shared.h), which reads the module's code
 * (src/symbols/unwind/code_file.c) and writes a file of rules to the
 * recording's directory.  Until that is there, such code has no rules.
 *
 *	header			addresses below count from its `base`
 *	ranges[n_ranges]	by start: how to leave the frame at an address
 *	functions[n_functions]	by start: what a call of this address leads to
 *	extents[n_extents]	the code without tables of a function
 *	tails[n_tails]		functions that a function ends by jumping to
 *
 * A caller found by such a range counts only if its call leads to the code that
 * was left: the call's target is a function one of whose extents has that code,
 * or that of the functions it ends by jumping to; or that leads anywhere.
 *
 * All numbers are of this machine.  Everybody may write into the directory, so
 * nothing in such a file is trusted.
 */
#ifndef CPPROF_CODE_H
#define CPPROF_CODE_H

#include <stddef.h>
#include <stdint.h>

#define CPPROF_CODE_MAGIC 0x31646f63u	/* "cod1" */
#define CPPROF_CODE_FILE "code."	/* and the key, 16 hexadecimal digits */
#define CPPROF_CODE_MAX_SIZE ((uint64_t)32 << 20)

#define CPPROF_CODE_MAX_PATH 440
#define CPPROF_CODE_MAX_BUILD_ID 32

/* Which file a module is of.  All that is not used is 0. */
struct cpprof_code_module {
	uint64_t file_size, file_mtime_ns;	/* only without a build-id */
	uint32_t build_id_size;		/* 0: none */
	uint32_t unused;
	uint8_t build_id[CPPROF_CODE_MAX_BUILD_ID];
	char path[CPPROF_CODE_MAX_PATH];	/* absolute, NUL-padded */
};

_Static_assert(sizeof(struct cpprof_code_module) == 496, "module size");

struct cpprof_code_header {
	uint32_t magic;
	uint32_t n_ranges, n_functions, n_extents, n_tails;
	uint32_t is_complete;	/* functions that are not here lead to no code
				   without tables, and to no other module */
	uint64_t base;		/* an address in the module, without its bias */
};

/* How a frame is left. */
enum cpprof_code_kind {
	CPPROF_CODE_STACK,	/* CFA = rsp + cfa_offset */
	CPPROF_CODE_FRAME,	/* CFA = rbp + cfa_offset */
	CPPROF_CODE_END,	/* it is outermost */
	CPPROF_CODE_OTHER	/* its return address is not where calls leave
				   it, so none must be guessed */
};

/* What the caller's frame pointer is. */
enum cpprof_code_saved {
	CPPROF_CODE_SAME,
	CPPROF_CODE_SAVED,	/* at CFA + frame_offset */
	CPPROF_CODE_LOST
};

struct cpprof_code_range {
	uint32_t start, end;
	int32_t cfa_offset, frame_offset;
	uint8_t kind, saved;
	uint8_t is_proved;	/* by a table that is not loaded */
	uint8_t unused;
};

#define CPPROF_CODE_ANYWHERE 1u	/* it ends by a jump through a register or
				   memory */
#define CPPROF_CODE_UNSURE 2u	/* some of its jumps could not be followed */

struct cpprof_code_function {
	uint32_t start;
	uint32_t flags;
	uint32_t first_extent, n_extents;
	uint32_t first_tail, n_tails;
};

struct cpprof_code_extent {
	uint32_t start, end;
};

static inline uint64_t
cpprof_code_size(const struct cpprof_code_header *header)
{
	return sizeof *header +
	    (uint64_t)header->n_ranges * sizeof(struct cpprof_code_range) +
	    (uint64_t)header->n_functions *
	    sizeof(struct cpprof_code_function) +
	    (uint64_t)header->n_extents * sizeof(struct cpprof_code_extent) +
	    (uint64_t)header->n_tails * sizeof(uint32_t);
}

/* The number by which a module's file is named. */
static inline uint64_t
cpprof_code_key(const struct cpprof_code_module *module)
{
	const unsigned char *bytes = (const unsigned char *)module;
	uint64_t key = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < sizeof *module; i++)
		key = (key ^ bytes[i]) * 0x100000001b3u;
	return key ^ key >> 32;
}

/* Writes that name to name[CPPROF_CODE_NAME_SIZE], with NUL. */
#define CPPROF_CODE_NAME_SIZE (sizeof CPPROF_CODE_FILE + 16)

static inline void
cpprof_code_name(uint64_t key, char *name)
{
	const size_t length = sizeof CPPROF_CODE_FILE - 1;
	size_t i;

	for (i = 0; i < length; i++)
		name[i] = CPPROF_CODE_FILE[i];
	for (i = 0; i < 16; i++)
		name[length + i] = "0123456789abcdef"[key >> (60 - 4 * i) & 15];
	name[length + i] = '\0';
}

#endif
