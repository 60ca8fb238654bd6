/* SPDX-License-Identifier: GPL-3.0-or-later */
/* disassembly.h -- the instructions of functions. */
#ifndef CPPROF_SYMBOLS_CODE_DISASSEMBLY_H
#define CPPROF_SYMBOLS_CODE_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/symbols/elf/elf_file.h"

/* An instruction, or bytes that are none (".byte"). */
struct instruction {
	uint64_t address;	/* as program.h defines it */
	uint32_t size;		/* bytes */
	uint32_t part;		/* from 0; a function's code may be in several
				 * places, which are its parts */
	uint64_t target;	/* of a direct call or jump; 0: none */
	bool ends_block;	/* it is a jump or a return */
	const char *text;	/* "call 0x1160 <checksum>" in Intel syntax */
	uint32_t name_begin, n_name;	/* of the text; n_name 0: no name */
};

/* Starts with `{ 0 }`. */
struct disassembly {
	struct instruction *items;	/* [n] of each module by address */
	size_t n, capacity;
	uint32_t n_parts;
	struct arena arena;		/* texts */
};

enum disassembly_state {
	DISASSEMBLY_READ,
	DISASSEMBLY_MISSING,		/* the module's file; see
					 * elf_file.h */
	DISASSEMBLY_UNREADABLE,
	DISASSEMBLY_DIFFERS,
	DISASSEMBLY_NO_DECODER,		/* for code of its machine */
	DISASSEMBLY_NO_CODE,		/* the file has no functions there */
};

/*
 * Decodes the functions that addresses[n], ascending, of a module belong to,
 * each from its start to its end, and adds their instructions.  Where they
 * begin and end, symbols say, or the unwind tables.  Machines: x86, x86-64,
 * 64-bit Arm.  O(symbols of the module + bytes of the functions).  0 with
 * *state, or -1 with *error set for want of memory or after Ctrl-C;
 * disassembly_free in either case.
 */
int disassembly_add(struct disassembly *disassembly,
                    const struct module_file *module,
                    const uint64_t *addresses, size_t n,
                    enum disassembly_state *state, struct error *error);
void disassembly_free(struct disassembly *disassembly);

/*
 * The number of the instruction that has a byte at an address, of items [first,
 * end), all of one module; SIZE_MAX: none.  O(log n).
 */
size_t disassembly_find(const struct disassembly *disassembly, size_t first,
                        size_t end, uint64_t address);

/*
 * Divides items [first, end), all of one module, into basic blocks: all
 * instructions of a block are executed equally often, but for calls that do not
 * come back and for jumps whose targets are not in their code.  blocks[end -
 * first]: the number, from `first` on, of the first instruction of the block
 * that each one is in.  O(n log n).
 */
void disassembly_blocks(const struct disassembly *disassembly, size_t first,
                        size_t end, size_t *blocks);

#endif
