/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_stacks.c -- the frames of perf's samples.
 *
 * A call chain is of addresses, with marks between those of the kernel and of
 * the process.  Where perf copied the top of the process's stack instead, that
 * is walked.
 */
#include "src/formats/perf/perf_stacks.h"

#include <stdlib.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/symbols/unwind/stack_unwinder.h"

/* Frames of a copied stack; it is at most 64 KiB. */
enum { WALKED_MAX = 8192 };

struct perf_stacks {
	struct profile *profile;
	struct perf_spaces *spaces;
	struct perf_frames *frames;
	struct module_cache *modules;
	struct stack_unwinder *unwinder;	/* NULL before it is needed */
	struct perf_stacks_missed missed;
};

struct perf_stacks *
perf_stacks_new(struct profile *profile, struct perf_spaces *spaces,
                struct perf_frames *frames, struct module_cache *modules,
                struct error *error)
{
	struct perf_stacks *stacks = memory_array(1, sizeof *stacks, error);

	if (stacks != NULL)
		*stacks = (struct perf_stacks){ .profile = profile,
			.spaces = spaces, .frames = frames,
			.modules = modules };
	return stacks;
}

void
perf_stacks_free(struct perf_stacks *stacks)
{
	if (stacks == NULL)
		return;
	stack_unwinder_free(stacks->unwinder);
	free(stacks);
}

struct perf_stacks_missed
perf_stacks_missed(const struct perf_stacks *stacks)
{
	return stacks->missed;
}

size_t
perf_stacks_room(const struct perf_sample *sample)
{
	return 1 + (size_t)sample->n_chain + (size_t)sample->n_calls + 1 +
	    (sample->stack_size > 0 ? WALKED_MAX : 0);
}

/* The frame of an address of neither the kernel nor a process. */
static uint32_t
add_elsewhere(struct perf_stacks *stacks, struct perf_stack *stack,
              struct error *error)
{
	const char *name = "[unknown]";

	switch (stack->context) {
	case PERF_CONTEXT_HYPERVISOR:
		name = "[hypervisor]";
		break;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
	case PERF_CONTEXT_GUEST_USER:
		name = "[guest]";
		stack->has_guest = true;
		break;
	}
	return perf_frames_name(stacks->frames, name, error);
}

static int
add_address(struct perf_stacks *stacks, struct perf_stack *stack,
            uint64_t address, struct error *error)
{
	uint32_t label;

	/* A call may be the last instruction of its function. */
	if (!stack->is_first)
		address--;
	stack->is_first = false;
	if (stack->context == PERF_CONTEXT_KERNEL)
		label = perf_frames_kernel(stacks->frames, address, error);
	else if (stack->context == PERF_CONTEXT_USER)
		label = perf_frames_user(stacks->frames, stack->pid,
		                         stack->space, address, error);
	else
		label = add_elsewhere(stacks, stack, error);
	stack->labels[stack->n++] = label;
	return label != UINT32_MAX ? 0 : -1;
}

static uint64_t
context_of(const struct perf_record *record)
{
	switch (record->misc & PERF_MODE_MASK) {
	case PERF_MODE_KERNEL:
		return PERF_CONTEXT_KERNEL;
	case PERF_MODE_USER:
		return PERF_CONTEXT_USER;
	case PERF_MODE_HYPERVISOR:
		return PERF_CONTEXT_HYPERVISOR;
	case PERF_MODE_GUEST_KERNEL:
	case PERF_MODE_GUEST_USER:
		return PERF_CONTEXT_GUEST;
	default:
		return PERF_CONTEXT_MAX;
	}
}

/*
 * Whether a word is neither an address nor a mark: something that a program
 * without frame pointers left where they were looked for.
 */
static bool
is_damaged(uint64_t word)
{
	return word >= PERF_CONTEXT_MAX &&
	    word != PERF_CONTEXT_KERNEL && word != PERF_CONTEXT_USER &&
	    word != PERF_CONTEXT_USER_DEFERRED &&
	    word != PERF_CONTEXT_HYPERVISOR && word != PERF_CONTEXT_GUEST &&
	    word != PERF_CONTEXT_GUEST_KERNEL &&
	    word != PERF_CONTEXT_GUEST_USER;
}

/*
 * The process's frames by the calls that the processor kept: where it is, which
 * the call chain says, and where each of them was called from.
 */
static int
add_calls(struct perf_stacks *stacks, struct perf_stack *stack,
          const struct perf_sample *sample, uint64_t ip, struct error *error)
{
	stack->is_first = true;
	if (add_address(stacks, stack, ip, error) != 0)
		return -1;
	for (uint64_t i = 0; i < sample->n_calls; i++) {
		stack->is_first = true;		/* it is the call itself */
		if (add_address(stacks, stack, perf_number_at(sample->calls +
		    i * PERF_BRANCH_SIZE), error) != 0)
			return -1;
	}
	return 0;
}

/*
 * Word i of the chain says of what the next ones are.  Returns whether they are
 * to be read: not if something else has these frames.
 */
static bool
begin_context(struct perf_stack *stack, const struct perf_sample *sample,
              uint64_t i, uint64_t word)
{
	stack->context = word;
	stack->is_first = true;
	if (word != PERF_CONTEXT_USER_DEFERRED)
		return true;
	/* A cookie; where there is more, perf has put the frames there. */
	stack->context = PERF_CONTEXT_USER;
	if (sample->n_chain - i > 2)
		return true;
	stack->is_deferred = sample->n_chain - i == 2;
	if (stack->is_deferred)
		stack->cookie = perf_number_at(sample->chain + 8 * (i + 1));
	return false;
}

/*
 * The call chain, without the process's part where its stack was copied.  What
 * lies behind a damaged word is not believed.
 */
static int
add_chain(struct perf_stacks *stacks, struct perf_stack *stack,
          const struct perf_sample *sample, bool is_copied,
          struct error *error)
{
	for (uint64_t i = 0; i < sample->n_chain; i++) {
		uint64_t address = perf_number_at(sample->chain + 8 * i);

		if (is_damaged(address)) {
			stack->context = PERF_CONTEXT_MAX;
			return add_address(stacks, stack, address, error);
		}
		if (address >= PERF_CONTEXT_MAX) {
			if (!begin_context(stack, sample, i, address))
				return 0;
		} else if (is_copied && stack->context == PERF_CONTEXT_USER) {
			continue;
		} else if (sample->n_calls > 0 &&
		           stack->context == PERF_CONTEXT_USER) {
			return add_calls(stacks, stack, sample, address,
			                 error);
		} else if (add_address(stacks, stack, address, error) != 0) {
			return -1;
		}
	}
	return 0;
}

/* What the kernel copied of a process of x86-64; false: nothing of use. */
static bool
begin_stack(const struct perf_attr *attr, const struct perf_sample *sample,
            struct stack_frame *frame)
{
	/* In the kernel's order; 99: a segment or flags. */
	static const uint8_t numbers[] = { X86_64_RAX, X86_64_RBX, X86_64_RCX,
		X86_64_RDX, X86_64_RSI, X86_64_RDI, X86_64_RBP, X86_64_RSP,
		X86_64_RIP, 99, 99, 99, 99, 99, 99, 99, X86_64_R8, X86_64_R9,
		X86_64_R10, X86_64_R11, X86_64_R12, X86_64_R13, X86_64_R14,
		X86_64_R15 };
	const uint64_t needed = 1 << 6 | 1 << 7 | 1 << 8;
	/* Segments, which are registers of their own on other processors. */
	const uint64_t foreign = 0xf << 12 | UINT64_MAX << sizeof numbers;
	uint64_t mask = attr->user_registers;
	struct bytes in = bytes_of(sample->registers,
	    (size_t)__builtin_popcountll(mask) * 8);

	if (sample->abi != 2 || sample->stack_size == 0 ||
	    sample->registers == NULL || (mask & needed) != needed ||
	    (mask & foreign) != 0)
		return false;
	*frame = (struct stack_frame){ .is_interrupted = true,
		.stack = sample->stack, .stack_size = sample->stack_size };
	for (unsigned bit = 0; bit < sizeof numbers; bit++) {
		uint64_t value;

		if ((mask >> bit & 1) == 0)
			continue;
		value = bytes_number(&in, 8);
		if (numbers[bit] >= X86_64_REGISTERS)
			continue;
		frame->registers.value[numbers[bit]] = value;
		frame->registers.known |= (uint32_t)1 << numbers[bit];
	}
	frame->stack_start = frame->registers.value[X86_64_RSP];
	return true;
}

/* Makes the frame its caller's, and whether it could; -1 with *error set. */
static int
walk_on(struct perf_stacks *stacks, const struct perf_stack *stack,
        struct stack_frame *frame, struct error *error)
{
	uint64_t address = frame->registers.value[X86_64_RIP] -
	                   !frame->is_interrupted;
	struct perf_map *map = perf_space_find(stack->space, address);
	struct module_file file = { .search = module_cache_search(
		stacks->modules) };
	const struct module *module;

	if (map == NULL)
		return 0;
	if (map->module == NO_MODULE)
		return stack_unwinder_step(stacks->unwinder, NULL, 0, 0, frame,
		                           error);
	module = &stacks->profile->modules[map->module];
	file.path = module->path;
	file.build_id = module->build_id;
	file.build_id_size = module->build_id_size;
	return stack_unwinder_step(stacks->unwinder, &file, map->module,
	    perf_spaces_address(stacks->spaces, map, address), frame, error);
}

/* The frames of the process, outwards from *frame. */
static int
add_copied(struct perf_stacks *stacks, struct perf_stack *stack,
           struct stack_frame *frame, struct error *error)
{
	size_t n = 0;
	int found;

	if (stacks->unwinder == NULL)
		stacks->unwinder = stack_unwinder_new(error);
	if (stacks->unwinder == NULL)
		return -1;
	stack->context = PERF_CONTEXT_USER;
	do {
		stack->is_first = frame->is_interrupted;
		if (add_address(stacks, stack, frame->registers.value[X86_64_RIP],
		                error) != 0)
			return -1;
		found = walk_on(stacks, stack, frame, error);
	} while (found > 0 && ++n < WALKED_MAX);
	return found < 0 ? -1 : 0;
}

/* An empty stack of a process; 0, or -1 with *error set. */
static int
begin_process(struct perf_stacks *stacks, const struct perf_sample *sample,
              uint64_t context, struct perf_stack *stack, struct error *error)
{
	*stack = (struct perf_stack){ .labels = stack->labels,
		.pid = sample->pid, .context = context, .is_first = true };
	stack->space = perf_spaces_of(stacks->spaces, sample->pid, error);
	return stack->space != NULL ? 0 : -1;
}

/*
 * Whether a sample of the kernel has frames of its process only, as with
 * --user-callchains: where it is in the kernel is then in its address alone.
 */
static bool
lacks_kernel(const struct perf_record *record,
             const struct perf_sample *sample, bool is_copied)
{
	uint64_t first = sample->n_chain > 0 ? perf_number_at(sample->chain) : 0;

	return context_of(record) == PERF_CONTEXT_KERNEL &&
	    (sample->n_chain > 0 ? first == PERF_CONTEXT_USER ||
	                           first == PERF_CONTEXT_USER_DEFERRED :
	                           is_copied);
}

int
perf_stacks_fill(struct perf_stacks *stacks, const struct perf_attr *attr,
                 const struct perf_record *record,
                 const struct perf_sample *sample, struct perf_stack *stack,
                 struct error *error)
{
	struct stack_frame frame;
	bool is_copied = begin_stack(attr, sample, &frame);

	if (begin_process(stacks, sample, context_of(record), stack,
	                  error) != 0 ||
	    (lacks_kernel(record, sample, is_copied) &&
	     add_address(stacks, stack, sample->ip, error) != 0) ||
	    add_chain(stacks, stack, sample, is_copied, error) != 0 ||
	    (is_copied && add_copied(stacks, stack, &frame, error) != 0))
		return -1;
	stack->is_ip_only = stack->n == 0;
	if (stack->is_deferred)
		stack->context = context_of(record);
	if (stack->is_ip_only &&
	    add_address(stacks, stack, sample->ip, error) != 0)
		return -1;
	stacks->missed.n_guests += stack->has_guest;
	stacks->missed.n_unwalked += sample->stack_size > 0 && !is_copied;
	return 0;
}

int
perf_stacks_fill_process(struct perf_stacks *stacks,
                         const struct perf_sample *record,
                         struct perf_stack *stack, struct error *error)
{
	return begin_process(stacks, record, PERF_CONTEXT_USER, stack,
	                     error) == 0 ?
	    add_chain(stacks, stack, record, false, error) : -1;
}
