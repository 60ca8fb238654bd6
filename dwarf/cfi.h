/* SPDX-License-Identifier: MIT */
/* cfi.h -- call frame information: the rules for leaving the frame at an address.
 *
 * A section is a sequence of entries: frame descriptions (FDE), one for each
 * range of code, and common information (CIE), to which they point.  Both hold
 * a program for a table with one row for each instruction at which something
 * changes.  A row has a rule for each register, and one for the CFA, the
 * canonical frame address.
 *
 * libdw reads the same tables, but it allocates at every look-up, which a
 * signal handler must not do, and keeps what it has read in trees that only
 * grow.  It also needs an ELF file where a process has just its mapping, and
 * its licence is not one under which any program may contain the collector.
 *
 * Nothing in a section is trusted: no byte outside of it is read, and the
 * number of instructions run for one row is bounded.  Nothing is allocated.
 * All functions are async-signal-safe, and may run on several threads at once
 * if each has its own scratch.
 *
 * Sources: DWARF 5, 6.4 (.debug_frame); LSB 5.0 core, 10.5 and 10.6
 * (.eh_frame).
 */
#ifndef CPPROF_DWARF_CFI_H
#define CPPROF_DWARF_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/constants.h"
#include "dwarf/read.h"

/* A section in memory, which belongs to the caller. */
struct cfi_section {
	const unsigned char *start, *end;
	uint64_t address;	/* of its first byte, where the program runs */
	size_t pointer_size;	/* 4 or 8 bytes */
	bool is_debug_frame;	/* else .eh_frame */
	/*
	 * A CIE read in one generation is read again in the next, since other
	 * bytes may be there.
	 */
	uint64_t generation;
};

enum cfi_kind {
	CFI_UNSPECIFIED,	/* as the ABI has it */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,		/* saved at CFA + offset */
	CFI_VALUE_OFFSET,	/* is CFA + offset */
	CFI_REGISTER,		/* is in register `offset` */
	CFI_EXPRESSION,		/* saved at the expression's value */
	CFI_VALUE_EXPRESSION	/* is the expression's value */
};

union cfi_operand {
	int64_t offset;
	const unsigned char *expression;	/* its length, ULEB128, first */
};

enum {
	CFI_REGISTERS = X86_64_REGISTERS,
	CFI_RETURN = X86_64_RIP,	/* the only column for return addresses */
	CFI_STACK = X86_64_RSP,
	CFI_CFA = CFI_REGISTERS,	/* the rule of the CFA */
	CFI_REMEMBERED = 16,	/* nesting of DW_CFA_remember_state */
	/* For one row: enough for a function that pushes arguments for some
	 * ten thousand calls. */
	CFI_INSTRUCTIONS_MAX = 1 << 18,
};

/*
 * The CFA's kind is CFI_REGISTER (cfa_register + offset) or
 * CFI_VALUE_EXPRESSION.  A row is usually written to memory that is in no
 * cache, so it is small, and operands are set only if the kind has one.
 */
struct cfi_row {
	uint8_t kinds[CFI_REGISTERS + 1];	/* enum cfi_kind */
	uint8_t cfa_register;
	bool is_signal;		/* handlers return to this code */
	union cfi_operand operands[CFI_REGISTERS + 1];
};

/* What a CIE says about its FDEs. */
struct cfi_cie {
	const unsigned char *at;	/* where it is; NULL: none was read */
	uint64_t generation;		/* of the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding;		/* of addresses, DWARF_EH_PE_* */
	bool has_augmentation;		/* FDEs have a size and that many bytes
					   before their program */
	bool is_signal;
	bool has_initial;		/* `initial` is valid */
	struct dwarf_input program;
	struct cfi_row initial;		/* the row after its program */
};

struct cfi_fde {
	uint64_t start, size;		/* of the code; the end is < 2^64 */
	/* Augmentation and program. */
	const unsigned char *rest, *rest_end;
};

/*
 * Working memory, which is too large for a signal handler's stack; zero before
 * its first use.  It keeps the last CIE, which most FDEs of a module share.
 */
struct cfi_scratch {
	struct cfi_cie cie;
	uint64_t row_start, row_end;	/* addresses for which the row is
					   valid */
	struct cfi_row row;
	struct cfi_row remembered[CFI_REMEMBERED];
};

/*
 * Reads the FDE at `at` in the section, and its CIE unless that is in *cie
 * already.  False if there is none, or if one of them is malformed or not
 * supported.
 */
bool cfi_read_fde(const struct cfi_section *section, const unsigned char *at,
    struct cfi_cie *cie, struct cfi_fde *fde);

/*
 * Finds the next FDE at *next or after it, and sets *next to the entry after
 * it.  At first, *next must be the start of the section.  FDEs that
 * cfi_read_fde refuses are skipped.  Returns the FDE's address; NULL at the
 * end.  O(1) per entry.
 */
const unsigned char *cfi_next_fde(const struct cfi_section *section,
    const unsigned char **next, struct cfi_cie *cie, struct cfi_fde *fde);

enum cfi_result {
	CFI_FOUND,
	CFI_NO_TABLE,	/* nothing covers the address */
	CFI_BAD		/* malformed or not supported */
};

/*
 * Sets scratch->row to the row for an address, and row_start and row_end to the
 * range of addresses that share it.  scratch->cie must be the FDE's.  The
 * address lies inside the instruction (for callers, the return address minus
 * 1).  Time: O(bytes of the program).
 */
enum cfi_result cfi_find_row(const struct cfi_section *section,
    const struct cfi_fde *fde, uint64_t address, struct cfi_scratch *scratch);

/*
 * The expression that is the rule of a register or CFI_CFA.  Returns its bytes,
 * which are in the section, and stores their number in *size.
 */
const unsigned char *cfi_expression(const struct cfi_row *row, unsigned reg,
    size_t *size);

#endif
