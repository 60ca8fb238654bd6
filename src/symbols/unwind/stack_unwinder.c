/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_unwinder.c -- callers from a copy of a stack, of x86-64 programs.
 *
 * Rows are kept by address, since the same few come again and again.
 */
#include "src/symbols/unwind/stack_unwinder.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum {
	TABLES_MAX = 512 << 20,	/* bytes; beyond them no more are read */
	RECENT_BITS = 15,
};

/* How to leave the frame at an address. */
struct unwinder_recent {
	uint64_t address;
	uint32_t module;
	bool is_used, has_row;
	struct cfi_row row;
};

struct stack_unwinder {
	struct unwind_table **tables;	/* by number; NULL: not read */
	size_t n_tables, capacity;
	size_t n_bytes;			/* of all of them */
	struct cfi_scratch scratch;
	struct cfi_machine machine;
	struct unwinder_recent recent[1 << RECENT_BITS];
};

/* ---- the stack ---- */

/* A cfi_machine's reader: of the copy, or what the frame has beside it. */
static bool
stack_unwinder_read_stack(void *context, uint64_t address, size_t size,
                          uint64_t *number)
{
	const struct stack_frame *frame = context;
	uint64_t at = address - frame->stack_start;

	if (address < frame->stack_start || frame->stack_size < size ||
	    at > frame->stack_size - size)
		return frame->read_outside != NULL &&
		    frame->read_outside(frame->context, address, size, number);
	*number = 0;
	memcpy(number, frame->stack + at, size);
	*number = le64toh(*number);
	return true;
}

struct stack_unwinder *
stack_unwinder_new(struct error *error)
{
	struct stack_unwinder *unwinder = memory_array(1, sizeof *unwinder,
	                                               error);

	/* Like libgcc, which callees of special conventions rely on. */
	if (unwinder != NULL) {
		unwinder->machine.read = stack_unwinder_read_stack;
		unwinder->machine.preserved = UINT32_MAX;
	}
	return unwinder;
}

void
stack_unwinder_free(struct stack_unwinder *unwinder)
{
	if (unwinder == NULL)
		return;
	for (size_t i = 0; i < unwinder->n_tables; i++)
		unwind_table_free(unwinder->tables[i]);
	free(unwinder->tables);
	free(unwinder);
}

/* ---- rows ---- */

/* The module's, read if need be; NULL with *error set. */
static const struct unwind_table *
table_of(struct stack_unwinder *unwinder, const struct module_file *file,
         uint32_t number, struct error *error)
{
	if (number >= unwinder->n_tables) {
		if (memory_grow(&unwinder->tables, &unwinder->capacity,
		                (size_t)number + 1,
		                sizeof(struct unwind_table *), error) != 0)
			return NULL;
		memset(unwinder->tables + unwinder->n_tables, 0,
		       (number + 1 - unwinder->n_tables) *
		       sizeof(struct unwind_table *));
		unwinder->n_tables = (size_t)number + 1;
	}
	if (unwinder->tables[number] == NULL) {
		unwinder->tables[number] = unwind_table_read(
		    unwinder->n_bytes <= TABLES_MAX ? file : NULL, error);
		if (unwinder->tables[number] != NULL)
			unwinder->n_bytes += unwind_table_bytes(
			    unwinder->tables[number]);
	}
	return unwinder->tables[number];
}

/* NULL with *error set. */
static const struct unwinder_recent *
find_recent(struct stack_unwinder *unwinder, const struct module_file *file,
            uint32_t module, uint64_t address, struct error *error)
{
	uint64_t hash = (address ^ (uint64_t)module << 40) *
	                0x9e3779b97f4a7c15;
	struct unwinder_recent
	    *recent = &unwinder->recent[hash >> (64 - RECENT_BITS)];
	const struct unwind_table *table;

	if (recent->is_used && recent->address == address &&
	    recent->module == module)
		return recent;
	table = table_of(unwinder, file, module, error);
	if (table == NULL)
		return NULL;
	recent->is_used = true;
	recent->address = address;
	recent->module = module;
	recent->has_row = unwind_table_find(table, address,
	                                    &unwinder->scratch);
	if (recent->has_row)
		recent->row = unwinder->scratch.row;
	return recent;
}

/* ---- steps ---- */

static bool
step_by_pointer(struct stack_frame *frame)
{
	uint64_t *registers = frame->registers.value;
	uint64_t pointer = registers[X86_64_RBP];

	/* The ABI's mark of the outermost frame is a pointer of 0. */
	frame->end = (frame->registers.known >> X86_64_RBP & 1) == 0 ?
	    STACK_END_NO_RULES : pointer == 0 ? STACK_END_OUTERMOST :
	    STACK_END_NO_MEMORY;
	if ((frame->registers.known >> X86_64_RBP & 1) == 0 ||
	    !stack_unwinder_read_stack(frame, pointer, 8,
	                               &registers[X86_64_RBP]) ||
	    !stack_unwinder_read_stack(frame, pointer + 8, 8,
	                               &registers[X86_64_RIP]))
		return false;
	registers[X86_64_RSP] = pointer + 16;
	frame->is_interrupted = false;
	return true;
}

int
stack_unwinder_step(struct stack_unwinder *unwinder,
                    const struct module_file *module, uint32_t number,
                    uint64_t address, struct stack_frame *frame,
                    struct error *error)
{
	const uint64_t *registers = frame->registers.value;
	uint64_t before = registers[X86_64_RSP], cfa;
	enum cfi_step_result step;
	bool was_interrupted = frame->is_interrupted;
	const struct unwinder_recent *recent = NULL;

	if (module != NULL) {
		recent = find_recent(unwinder, module, number, address, error);
		if (recent == NULL)
			return -1;
	}
	if (recent == NULL || !recent->has_row) {
		if (!step_by_pointer(frame))
			return 0;
		frame->was_guessed |= module != NULL;
	} else {
		unwinder->machine.context = frame;
		step = cfi_step(&recent->row, &unwinder->machine,
		                &frame->registers, &cfa);
		frame->end = step == CFI_STEP_OUTERMOST ?
		    STACK_END_OUTERMOST : STACK_END_NO_MEMORY;
		if (step != CFI_STEP_DONE)
			return 0;
		frame->is_interrupted = recent->row.is_signal;
	}
	frame->end = registers[X86_64_RIP] == 0 ? STACK_END_OUTERMOST :
	    STACK_END_NO_MEMORY;
	/* longjmp's last instructions run on their caller's stack. */
	return registers[X86_64_RIP] != 0 &&
	    (registers[X86_64_RSP] > before ||
	     (was_interrupted && registers[X86_64_RSP] == before));
}
