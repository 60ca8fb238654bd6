/* SPDX-License-Identifier: GPL-3.0-or-later */
/* disasm.h -- instructions with their hits. */
#ifndef CPPROF_VIEWS_DISASM_H
#define CPPROF_VIEWS_DISASM_H

#include "src/views/code_hits.h"
#include "src/views/view.h"

/* Borrowed; the texts must live as long as the table. */
struct listed_instruction {
	uint64_t address;
	const char *text;
	uint32_t name_begin, n_name;	/* a name in the text; n_name 0: none */
	const char *module;
	uint32_t part;		/* neighbours of one part follow each other */
	const char *file;	/* of its line; NULL: unknown */
	uint32_t line;		/* 0: unknown */
	const char *source;	/* the line's text; NULL: unknown */
};

struct disassembled {
	uint32_t function;	/* a name */
	const struct listed_instruction *instructions;	/* [n] */
	const struct place_hits *hits;	/* [n + 1]; the last: of addresses
					 * outside of all instructions */
	uint32_t n;
	struct place_hits all;
	bool has_lines;		/* show source lines between */
};

/*
 * Fills an empty table with the instructions of a function, as view_list does
 * with lines; threshold 0 without a limit shows all.  Rows have the members of
 * cpprof.instructions/1 in doc/manual.md.
 * 0, or -1 with *error set.
 */
int view_disasm(const struct view_request *request,
                const struct disassembled *code, struct table *table,
                struct error *error);

#endif
