/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_unwinder.c -- callers from a copy of a stack.
 *
 * Rows are kept by address, since the same few come again and again.
 */
#include "src/symbols/unwind/stack_unwinder.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/unwind/code_rules.h"

enum {
	TABLES_MAX = 512 << 20,	/* bytes; beyond them no more are read */
	RECENT_BITS = 15,
	CALLS_BITS = 12,
};

/* How to leave the frame at an address. */
struct unwinder_recent {
	uint64_t address;
	uint32_t module;
	bool is_used, has_row;
	bool needs_proof;	/* the row was made from code */
	struct cfi_row row;
};

/* Whether code at an address may have been called by who it returns to. */
struct unwinder_call {
	uint64_t callee, return_address;
	uint32_t callee_module, module;
	bool is_used;
	enum code_answer answer;
};

/* What is known of a module; NULL: not read. */
struct unwinder_module {
	struct unwind_table *table;
	struct code_rules *code;
	size_t n_bytes;		/* of the code, so far */
};

struct stack_unwinder {
	struct unwinder_module *modules;	/* by number */
	size_t n_modules, capacity;
	size_t n_bytes;			/* of all of them */
	struct cfi_scratch scratch;
	struct cfi_machine machine;
	struct unwinder_recent recent[1 << RECENT_BITS];
	struct unwinder_call calls[1 << CALLS_BITS];
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
		unwinder->machine.preserved = UINT64_MAX;
	}
	return unwinder;
}

void
stack_unwinder_free(struct stack_unwinder *unwinder)
{
	if (unwinder == NULL)
		return;
	for (size_t i = 0; i < unwinder->n_modules; i++) {
		unwind_table_free(unwinder->modules[i].table);
		code_rules_free(unwinder->modules[i].code);
	}
	free(unwinder->modules);
	free(unwinder);
}

/* ---- rows ---- */

/* NULL with *error set. */
static struct unwinder_module *
unwinder_module_of(struct stack_unwinder *unwinder, uint32_t number,
                   struct error *error)
{
	if (number >= unwinder->n_modules) {
		if (memory_grow(&unwinder->modules, &unwinder->capacity,
		                (size_t)number + 1, sizeof *unwinder->modules,
		                error) != 0)
			return NULL;
		memset(unwinder->modules + unwinder->n_modules, 0,
		       (number + 1 - unwinder->n_modules) *
		       sizeof *unwinder->modules);
		unwinder->n_modules = (size_t)number + 1;
	}
	return &unwinder->modules[number];
}

/* The module's, read if need be; NULL with *error set. */
static struct unwind_table *
table_of(struct stack_unwinder *unwinder, const struct module_file *file,
         uint32_t number, struct error *error)
{
	struct unwinder_module *module = unwinder_module_of(unwinder, number,
	                                                    error);

	if (module == NULL)
		return NULL;
	if (module->table == NULL) {
		module->table = unwind_table_read(
		    unwinder->n_bytes <= TABLES_MAX ? file : NULL, error);
		if (module->table != NULL)
			unwinder->n_bytes += unwind_table_bytes(module->table);
	}
	return module->table;
}

/* Likewise, the rules from its code. */
static struct code_rules *
unwinder_code_of(struct stack_unwinder *unwinder,
                 const struct module_file *file, uint32_t number,
                 struct error *error)
{
	struct unwinder_module *module = unwinder_module_of(unwinder, number,
	                                                    error);

	if (module == NULL)
		return NULL;
	if (module->code == NULL) {
		module->code = code_rules_new(unwinder->n_bytes <= TABLES_MAX ?
		                              file : NULL, error);
		if (module->code == NULL)
			return NULL;
	}
	unwinder->n_bytes -= module->n_bytes;
	module->n_bytes = code_rules_bytes(module->code);
	unwinder->n_bytes += module->n_bytes;
	return module->code;
}

/* By reading the code itself. */
static int
unwinder_find_by_code(struct stack_unwinder *unwinder,
                      const struct module_file *file,
                      struct unwinder_recent *recent, struct error *error)
{
	struct code_rules *code = unwinder_code_of(unwinder, file,
	                                           recent->module, error);
	int found;

	if (code == NULL)
		return -1;
	found = code_rules_find(code, recent->address, &recent->row, error);
	if (found < 0)
		return -1;
	recent->has_row = found > 0;
	recent->needs_proof = found > 0 &&
	    recent->row.kinds[X86_64_RIP] != CFI_UNDEFINED;
	return 0;
}

/* NULL with *error set. */
static const struct unwinder_recent *
find_recent(struct stack_unwinder *unwinder, const struct module_file *file,
            uint32_t module, uint64_t address, const struct dwarf_arch *arch,
            struct error *error)
{
	uint64_t hash = (address ^ (uint64_t)module << 40) *
	                0x9e3779b97f4a7c15;
	struct unwinder_recent
	    *recent = &unwinder->recent[hash >> (64 - RECENT_BITS)];
	struct unwind_table *table;
	bool is_own;

	if (recent->is_used && recent->address == address &&
	    recent->module == module)
		return recent;
	table = table_of(unwinder, file, module, error);
	if (table == NULL)
		return NULL;
	/* Another machine's vdso is not to be had here, and this one's is. */
	is_own = unwind_table_arch(table) == arch;
	recent->address = address;
	recent->module = module;
	recent->needs_proof = false;
	recent->has_row = is_own &&
	    unwind_table_find(table, file, address, &unwinder->scratch);
	recent->is_used = false;
	if (recent->has_row)
		recent->row = unwinder->scratch.row;
	else if (is_own && arch == &dwarf_x86_64 &&
	         unwinder_find_by_code(unwinder, file, recent, error) != 0)
		return NULL;
	recent->is_used = true;
	return recent;
}

/*
 * Whether the frame's code may have called the frame that was left, which is at
 * frame->callee.
 */
static enum code_answer
unwinder_is_called(struct stack_unwinder *unwinder,
                   const struct module_file *file, uint32_t module,
                   uint64_t return_address, const struct stack_frame *frame,
                   struct error *error)
{
	const uint64_t hash = (return_address ^ frame->callee.address << 20 ^
	    (uint64_t)module << 50) * 0x9e3779b97f4a7c15;
	struct unwinder_call *call =
	    &unwinder->calls[hash >> (64 - CALLS_BITS)];
	struct code_rules *code;

	if (call->is_used && call->callee == frame->callee.address &&
	    call->callee_module == frame->callee.module &&
	    call->return_address == return_address && call->module == module)
		return call->answer;
	code = unwinder_code_of(unwinder, file, module, error);
	if (code == NULL)
		return CODE_NO_MEMORY;
	*call = (struct unwinder_call){
		.callee = frame->callee.address,
		.callee_module = frame->callee.module,
		.return_address = return_address,
		.module = module,
		.answer = code_rules_is_called(code, return_address,
		    frame->callee.address, frame->callee.module != module,
		    error),
	};
	call->is_used = call->answer != CODE_NO_MEMORY;
	return call->answer;
}

/* ---- steps ---- */

static bool
is_known(const struct stack_frame *frame, unsigned reg)
{
	return (frame->registers.known & CFI_BIT(reg)) != 0;
}

static bool
step_by_pointer(struct stack_frame *frame)
{
	const struct dwarf_arch *arch = frame->arch;
	uint64_t *registers = frame->registers.value;
	uint64_t pointer = registers[arch->fp];

	/* The ABI's mark of the outermost frame is a pointer of 0. */
	frame->end = !is_known(frame, arch->fp) ? STACK_END_NO_RULES :
	    pointer == 0 ? STACK_END_OUTERMOST : STACK_END_NO_MEMORY;
	if (!is_known(frame, arch->fp) ||
	    !stack_unwinder_read_stack(frame, pointer, 8,
	                               &registers[arch->fp]) ||
	    !stack_unwinder_read_stack(frame, pointer + 8, 8,
	                               &registers[arch->pc]))
		return false;
	registers[arch->pc] &= arch->address_mask;
	registers[arch->sp] = pointer + 16;
	if (!arch->record_ends_frame)
		frame->registers.known &= ~(CFI_BIT(arch->sp) |
		    CFI_BIT(arch->return_address));
	frame->return_at = pointer + 8;
	frame->is_interrupted = false;
	return true;
}

/*
 * Makes the stack pointer known again, if the row says that the frame pointer
 * and the return address are saved together: the frame pointer points there.
 * False: it stays unknown, and the row needs it.
 */
static bool
stack_frame_find_sp(struct stack_frame *frame, const struct cfi_row *row)
{
	const struct dwarf_arch *arch = frame->arch;
	const union cfi_operand *operands = row->operands;
	uint64_t *registers = frame->registers.value;

	if (is_known(frame, arch->sp) || row->kinds[CFI_CFA] != CFI_REGISTER ||
	    row->cfa_register != arch->sp)
		return true;
	if (row->kinds[arch->fp] != CFI_OFFSET ||
	    row->kinds[arch->return_address] != CFI_OFFSET ||
	    operands[arch->return_address].offset !=
	        operands[arch->fp].offset + 8 || !is_known(frame, arch->fp))
		return false;
	registers[arch->sp] = registers[arch->fp] -
	    (uint64_t)operands[arch->fp].offset -
	    (uint64_t)operands[CFI_CFA].offset;
	frame->registers.known |= CFI_BIT(arch->sp);
	return true;
}

static bool
step_by_row(struct stack_unwinder *unwinder, const struct cfi_row *row,
            struct stack_frame *frame)
{
	const struct dwarf_arch *arch = frame->arch;
	const unsigned column = row->kinds[arch->pc] != CFI_UNSPECIFIED ?
	    arch->pc : arch->return_address;
	enum cfi_step_result result;
	uint64_t cfa;

	unwinder->machine.arch = arch;
	unwinder->machine.context = frame;
	result = cfi_step(row, &unwinder->machine, &frame->registers, &cfa);
	frame->end = result == CFI_STEP_OUTERMOST ? STACK_END_OUTERMOST :
	    STACK_END_NO_MEMORY;
	if (result != CFI_STEP_DONE)
		return false;
	frame->return_at = row->kinds[column] == CFI_OFFSET ?
	    cfa + (uint64_t)row->operands[column].offset : 0;
	frame->is_interrupted = row->is_signal;
	return true;
}

/*
 * Whether the frame is the caller of the one that was left: 1; 0 if it is not,
 * or only may be where more is needed; -1.
 */
static int
unwinder_prove(struct stack_unwinder *unwinder, const struct module_file *file,
               uint32_t number, uint64_t address, struct stack_frame *frame,
               struct error *error)
{
	const bool was_guessed = frame->callee.was_guessed;
	enum code_answer answer;

	frame->callee.is_open = false;
	if (file == NULL)
		return was_guessed;
	answer = unwinder_is_called(unwinder, file, number, address + 1, frame,
	                            error);
	return answer == CODE_NO_MEMORY ? -1 :
	    answer == CODE_YES || (answer == CODE_UNKNOWN && was_guessed);
}

/* Notes that the frame that is about to be left needs a proof. */
static void
unwinder_note_callee(struct stack_frame *frame, uint32_t number,
                     uint64_t address, bool was_guessed)
{
	frame->callee.is_open = true;
	frame->callee.was_guessed = was_guessed;
	frame->callee.module = number;
	frame->callee.address = address;
}

int
stack_unwinder_step(struct stack_unwinder *unwinder,
                    const struct module_file *module, uint32_t number,
                    uint64_t address, struct stack_frame *frame,
                    struct error *error)
{
	const struct dwarf_arch *arch = frame->arch;
	const bool was_interrupted = frame->is_interrupted;
	const uint64_t before = stack_frame_sp(frame);
	const struct unwinder_recent *recent = NULL;
	const struct cfi_row *row = NULL;
	bool leaves_stack = false;
	int is_proved;

	if (module != NULL) {
		recent = find_recent(unwinder, module, number, address, arch,
		                     error);
		if (recent == NULL)
			return -1;
		if (recent->has_row) {
			row = &recent->row;
		} else if (arch->is_sigreturn_in_vdso && !was_interrupted &&
		           module_file_is_vdso(module)) {
			row = &unwinder->scratch.row;
			unwind_sigreturn_row(arch, &unwinder->scratch.row);
		}
	}
	/* The kernel has called a signal handler. */
	if (frame->callee.is_open && row != NULL && row->is_signal)
		frame->callee.is_open = false;
	if (frame->callee.is_open) {
		is_proved = unwinder_prove(unwinder, module, number, address,
		                           frame, error);
		if (is_proved <= 0) {
			frame->was_refuted = true;
			frame->end = STACK_END_NO_RULES;
			return is_proved;
		}
	}
	if (row == NULL || !stack_frame_find_sp(frame, row)) {
		if (!step_by_pointer(frame))
			return 0;
		frame->was_guessed |= module != NULL;
		if (module != NULL && arch == &dwarf_x86_64)
			unwinder_note_callee(frame, number, address, true);
	} else if (!step_by_row(unwinder, row, frame)) {
		return 0;
	} else {
		leaves_stack = row->leaves_stack;
		frame->has_left_stack |= leaves_stack;
		if (recent != NULL && recent->needs_proof)
			unwinder_note_callee(frame, number, address, false);
	}
	frame->end = stack_frame_pc(frame) == 0 ? STACK_END_OUTERMOST :
	    STACK_END_NO_MEMORY;
	/* longjmp's last instructions run on their caller's stack. */
	if (stack_frame_pc(frame) != 0 && (stack_frame_sp(frame) > before ||
	    leaves_stack || (was_interrupted &&
	                     stack_frame_sp(frame) == before)))
		return 1;
	/* There is no caller that would have to be proved. */
	frame->callee.is_open = false;
	return 0;
}
