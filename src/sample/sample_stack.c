/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_stack.c -- walks the stack of a sample, in its copy and beyond.
 *
 * The thread runs on while its stack is walked.  A frame that it has not left
 * since the sample still lies where it was, and so do all frames outside it.
 * So memory outside the copy is read first, and then the return addresses in
 * the outer part of the copy are read again.  If they are still there, the
 * frames that they belong to were not left.
 *
 * The kernel's own frames are in the sample, as addresses.
 */
#include "src/sample/sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "src/base/memory.h"

enum {
	SAMPLE_FRAMES_MAX = 1 << 20,
	SAMPLE_BLOCK = 16384,		/* bytes that are read at once */
	SAMPLE_BLOCKS_MAX = 4096,	/* of them for a stack, 64 MiB */
	SAMPLE_SLOTS = 8,		/* return addresses that are read again */
	SAMPLE_NULL_PAGE = 4096,	/* bytes where no code can be */
};

/* Memory of the thread as it was read after the sample. */
struct sample_block {
	uint64_t start;
	size_t size;		/* bytes that could be read */
	unsigned char *bytes;	/* [SAMPLE_BLOCK] */
};

/* Where in the copy a return address is. */
struct sample_slot {
	uint64_t at, value;
};

struct sample_walker {
	struct sample_space space;
	struct stack_unwinder *unwinder;
	struct sample_stack stack;

	/* Of the present stack: */
	pid_t tid;
	struct sample_block *blocks;	/* [n_blocks_allocated] */
	size_t n_blocks, n_blocks_allocated, blocks_capacity;
	size_t last;			/* block that was used last */
	struct sample_slot slots[SAMPLE_SLOTS];
	size_t n_slots;			/* so far */
	struct error error;		/* of reading a block */
};

struct sample_walker *
sample_walker_new(const struct sample_space *space, struct error *error)
{
	struct sample_walker *walker = memory_array(1, sizeof *walker, error);

	if (walker == NULL)
		return NULL;
	walker->space = *space;
	walker->unwinder = stack_unwinder_new(error);
	if (walker->unwinder == NULL) {
		free(walker);
		return NULL;
	}
	return walker;
}

void
sample_walker_free(struct sample_walker *walker)
{
	if (walker == NULL)
		return;
	for (size_t i = 0; i < walker->n_blocks_allocated; i++)
		free(walker->blocks[i].bytes);
	free(walker->blocks);
	free(walker->stack.frames);
	stack_unwinder_free(walker->unwinder);
	free(walker);
}

/* ---- memory outside the copy ---- */

/* Reads the block at an address; NULL: no memory for it. */
static struct sample_block *
sample_walker_read_block(struct sample_walker *walker, uint64_t start)
{
	struct iovec local, remote = { (void *)(uintptr_t)start, SAMPLE_BLOCK };
	struct sample_block *block;
	ssize_t size;

	if (walker->n_blocks == SAMPLE_BLOCKS_MAX)
		return NULL;
	if (walker->n_blocks == walker->n_blocks_allocated) {
		if (memory_grow(&walker->blocks, &walker->blocks_capacity,
		                walker->n_blocks + 1, sizeof *walker->blocks,
		                &walker->error) != 0)
			return NULL;
		walker->blocks[walker->n_blocks].bytes = memory_array(
		    SAMPLE_BLOCK, 1, &walker->error);
		if (walker->blocks[walker->n_blocks].bytes == NULL)
			return NULL;
		walker->n_blocks_allocated++;
	}
	block = &walker->blocks[walker->n_blocks];
	local = (struct iovec){ block->bytes, SAMPLE_BLOCK };
	size = process_vm_readv(walker->tid, &local, 1, &remote, 1, 0);
	block->start = start;
	block->size = size > 0 ? (size_t)size : 0;
	walker->last = walker->n_blocks++;
	return block;
}

static struct sample_block *
sample_walker_block(struct sample_walker *walker, uint64_t start)
{
	if (walker->last < walker->n_blocks &&
	    walker->blocks[walker->last].start == start)
		return &walker->blocks[walker->last];
	for (size_t i = walker->n_blocks; i-- > 0;)
		if (walker->blocks[i].start == start) {
			walker->last = i;
			return &walker->blocks[i];
		}
	return sample_walker_read_block(walker, start);
}

/* A stack_frame's reader. */
static bool
sample_walker_read(void *context, uint64_t address, size_t size,
                   uint64_t *number)
{
	struct sample_walker *walker = context;
	unsigned char bytes[8] = { 0 };

	for (size_t i = 0; i < size && i < sizeof bytes;) {
		const uint64_t start = (address + i) &
		    ~(uint64_t)(SAMPLE_BLOCK - 1);
		const struct sample_block *block =
		    sample_walker_block(walker, start);
		size_t at = (size_t)(address + i - start);

		if (block == NULL)
			return false;
		for (; i < size && at < SAMPLE_BLOCK; i++, at++) {
			if (at >= block->size)
				return false;
			bytes[i] = block->bytes[at];
		}
	}
	memcpy(number, bytes, sizeof *number);
	*number = le64toh(*number);
	return true;
}

/* Notes where the frame's return address was found, if that is in the copy. */
static void
sample_walker_note_slot(struct sample_walker *walker,
                        const struct stack_frame *frame)
{
	const uint64_t at = frame->return_at;
	const uint64_t offset = at - frame->stack_start;
	uint64_t value;

	if (at < frame->stack_start || frame->stack_size < 8 ||
	    offset > frame->stack_size - 8)
		return;
	memcpy(&value, frame->stack + offset, sizeof value);
	value = le64toh(value);
	if ((value & frame->arch->address_mask) == stack_frame_pc(frame))
		walker->slots[walker->n_slots++ % SAMPLE_SLOTS] =
		    (struct sample_slot){ at, value };
}

/* Whether the noted return addresses are still there. */
static bool
sample_walker_verify(const struct sample_walker *walker)
{
	const size_t n = walker->n_slots < SAMPLE_SLOTS ? walker->n_slots :
	    SAMPLE_SLOTS;
	struct iovec local[SAMPLE_SLOTS], remote[SAMPLE_SLOTS];
	uint64_t values[SAMPLE_SLOTS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		local[i] = (struct iovec){ &values[i], sizeof values[i] };
		remote[i] = (struct iovec){
			(void *)(uintptr_t)walker->slots[i].at,
			sizeof values[i] };
	}
	if (n > 0 && process_vm_readv(walker->tid, local, n, remote, n, 0) !=
	    (ssize_t)(n * sizeof *values))
		return false;
	for (size_t i = 0; i < n; i++)
		if (le64toh(values[i]) != walker->slots[i].value)
			return false;
	return true;
}

/* ---- frames ---- */

static int
sample_stack_add(struct sample_stack *stack, uint32_t module, uint64_t address,
                 uint64_t pc, uint64_t sp, struct error *error)
{
	if (memory_grow(&stack->frames, &stack->capacity, stack->n + 1,
	                sizeof *stack->frames, error) != 0)
		return -1;
	stack->frames[stack->n++] = (struct sample_frame){ module, address,
		pc, sp };
	return 0;
}

static void
sample_stack_end(struct sample_stack *stack, enum cpprofdata_drop why)
{
	stack->is_partial = true;
	stack->why = why;
}

/*
 * The frame of an address in the kernel.  If it hides where it is, all its
 * addresses are one frame, in a module without a build-id.
 */
static int
sample_walk_add_kernel(struct sample_walker *walker, uint64_t address,
                       struct error *error)
{
	struct sample_stack *stack = &walker->stack;
	struct perf_machine *machine = walker->space.machine;
	const struct perf_map *map = perf_space_find(
	    perf_machine_kernel_space(machine), address);
	uint64_t base;
	uint32_t module;

	if (map != NULL && map->module != NO_MODULE)
		return sample_stack_add(stack, map->module, address -
		                        map->start + map->offset, 0, 0,
		                        error);
	if (map != NULL) {
		module = perf_machine_module(machine, "[bpf]", error);
		base = address;
	} else {
		module = perf_machine_kernel(machine, &base, error);
	}
	if (error->is_set)
		return -1;
	if (module == NO_MODULE) {
		module = perf_machine_module(machine, KERNEL_PATH, error);
		base = address;
		if (module == NO_MODULE || (stack->n > 0 &&
		    stack->frames[stack->n - 1].module == module))
			return module == NO_MODULE ? -1 : 0;
	}
	return sample_stack_add(stack, module, address - base, 0, 0, error);
}

/* Adds the frames of the kernel, innermost first. */
static int
sample_walk_kernel(struct sample_walker *walker,
                   const struct perf_sample *sample, struct error *error)
{
	uint64_t context = PERF_CONTEXT_USER;
	bool is_first = true;

	for (uint64_t i = 0; i < sample->n_chain; i++) {
		const uint64_t word = perf_number_at(sample->chain + 8 * i);

		if (word >= PERF_CONTEXT_MAX) {
			context = word;
			continue;
		}
		/* The others are addresses to return to. */
		if (context == PERF_CONTEXT_KERNEL &&
		    sample_walk_add_kernel(walker, word - !is_first,
		                           error) != 0)
			return -1;
		is_first = false;
	}
	return 0;
}

/* Adds the frames of the process, innermost first. */
static int
sample_walk_process(struct sample_walker *walker,
                    const struct perf_space *maps, struct stack_frame *frame,
                    struct error *error)
{
	static const enum cpprofdata_drop reasons[] = {
		[STACK_END_NO_RULES] = CPPROFDATA_PARTIAL_NO_RULES,
		[STACK_END_NO_MEMORY] = CPPROFDATA_PARTIAL_BAD_STACK,
	};
	const struct sample_space *space = &walker->space;
	struct sample_stack *stack = &walker->stack;
	size_t n_copied = 0;	/* frames that were found in the copy */
	bool has_changed = false;
	int found = 1;

	while (found > 0) {
		const uint64_t address = stack_frame_address(frame);
		struct perf_map *map = perf_space_find(maps, address);
		const bool has_module = map != NULL &&
		    map->module != NO_MODULE;
		/* No code is where this would be called from. */
		const bool is_nowhere = map == NULL &&
		    stack->n > stack->n_kernel;

		/* Go generates no code: its stack has changed.  So has one that a
		 * signal handler has left, which is seldom in the copy. */
		has_changed = !has_module && (frame->has_left_stack ||
		    (is_nowhere && walker->n_blocks > 0 &&
		    !frame->was_guessed));
		if (has_changed)
			break;
		/* A frame pointer was something else, or this is the number of
		 * arguments, above an entry point that has no rules. */
		if (is_nowhere && (frame->was_guessed ||
		    frame->callee.is_open || address < SAMPLE_NULL_PAGE)) {
			frame->end = STACK_END_NO_RULES;
			found = 0;
			break;
		}
		if (sample_stack_add(stack, has_module ? map->module :
		        NO_MODULE, !has_module ? address :
		        perf_machine_address(space->machine, map, address),
		        address, stack_frame_sp(frame), error) != 0)
			return -1;
		if (walker->n_blocks == 0)
			n_copied = stack->n;
		if (stack->n == SAMPLE_FRAMES_MAX) {
			sample_stack_end(stack, CPPROFDATA_PARTIAL_TOO_DEEP);
			break;
		}
		found = map == NULL ? stack_unwinder_step(walker->unwinder,
		    NULL, 0, 0, frame, error) : perf_frame_step(
		    walker->unwinder, space->machine, space->profile,
		    space->modules, map, frame, error);
		if (found > 0)
			sample_walker_note_slot(walker, frame);
	}
	/* The last one did not call the one before. */
	if (frame->was_refuted) {
		stack->n--;
		if (n_copied > stack->n)
			n_copied = stack->n;
	}
	if (found < 0 || walker->error.is_set)
		return found < 0 ? -1 : error_set(error, "%s",
		                                  walker->error.text);
	/* What a guess led to is no stack that could be read. */
	if (frame->end == STACK_END_NO_MEMORY && frame->was_guessed)
		frame->end = STACK_END_NO_RULES;
	if (found == 0 && frame->end != STACK_END_OUTERMOST)
		sample_stack_end(stack, reasons[frame->end]);
	stack->was_guessed = frame->was_guessed;
	stack->was_late = walker->n_blocks > 0;
	if (stack->was_late && (has_changed || !sample_walker_verify(walker))) {
		stack->n = n_copied;
		sample_stack_end(stack, CPPROFDATA_PARTIAL_LATE);
	}
	return 0;
}

/* Makes the walker ready for another stack. */
static void
sample_walk_begin(struct sample_walker *walker, uint32_t tid)
{
	struct sample_stack *stack = &walker->stack;

	stack->n = stack->n_kernel = 0;
	stack->is_partial = stack->was_guessed = stack->was_late = false;
	walker->tid = (pid_t)tid;
	walker->n_blocks = 0;
	walker->n_slots = 0;
}

const struct sample_stack *
sample_walk(struct sample_walker *walker, const struct perf_attr *attr,
            const struct perf_sample *sample, struct error *error)
{
	struct sample_stack *stack = &walker->stack;
	const struct perf_space *maps = perf_machine_space(
	    walker->space.machine, sample->pid, error);
	struct stack_frame frame;

	if (maps == NULL)
		return NULL;
	sample_walk_begin(walker, sample->tid);
	if (sample_walk_kernel(walker, sample, error) != 0)
		return NULL;
	stack->n_kernel = stack->n;
	/* A thread of the kernel has no other frames. */
	if (sample->abi == 0 && stack->n > 0)
		return stack;
	if (!perf_frame_begin(attr, sample, &frame)) {
		sample_stack_end(stack, CPPROFDATA_PARTIAL_BAD_STACK);
		return stack;
	}
	frame.read_outside = sample_walker_read;
	frame.context = walker;
	return sample_walk_process(walker, maps, &frame, error) == 0 ? stack :
	    NULL;
}

/*
 * Where a thread waits: "NUMBER ARGUMENT... SP PC", of which only the last two
 * matter, and which are 0 if this user may not know.  False: it runs, or has
 * ended.
 */
static bool
sample_walk_find_place(uint32_t pid, uint32_t tid, uint64_t *sp, uint64_t *pc)
{
	char path[64], line[256];
	const char *last, *before = NULL;
	FILE *file;

	*sp = *pc = 0;
	snprintf(path, sizeof path, "/proc/%u/task/%u/syscall", pid, tid);
	file = fopen(path, "re");
	if (file == NULL)
		return errno == EPERM || errno == EACCES;
	if (fgets(line, sizeof line, file) == NULL) {
		const int number = errno;

		fclose(file);
		return number == EPERM || number == EACCES;
	}
	fclose(file);
	last = strrchr(line, ' ');
	if (last != NULL)
		before = memrchr(line, ' ', (size_t)(last - line));
	if (before == NULL)
		return false;
	*sp = strtoull(before, NULL, 16);
	*pc = strtoull(last, NULL, 16);
	return true;
}

const struct sample_stack *
sample_walk_waiting(struct sample_walker *walker, uint32_t pid, uint32_t tid,
                    struct error *error)
{
	const struct perf_space *maps = perf_machine_space(
	    walker->space.machine, pid, error);
	const struct dwarf_arch *arch = DWARF_OWN_ARCH;
	struct stack_frame frame = {
		.arch = arch,
		.is_interrupted = true,
		.read_outside = sample_walker_read,
		.context = walker,
		.registers.known = CFI_BIT(arch->sp) | CFI_BIT(arch->pc),
	};
	uint64_t *const sp = &frame.registers.value[arch->sp];
	uint64_t *const pc = &frame.registers.value[arch->pc];

	if (maps == NULL || !sample_walk_find_place(pid, tid, sp, pc))
		return NULL;
	frame.stack_start = *sp;
	sample_walk_begin(walker, tid);
	if (*pc == 0) {
		sample_stack_end(&walker->stack, CPPROFDATA_PARTIAL_BAD_STACK);
		return &walker->stack;
	}
	return sample_walk_process(walker, maps, &frame, error) == 0 ?
	    &walker->stack : NULL;
}

void
sample_walk_cut(struct sample_walker *walker, size_t n, bool is_whole)
{
	struct sample_stack *stack = &walker->stack;

	stack->n -= n;
	if (is_whole)
		stack->is_partial = false;
	else
		sample_stack_end(stack, CPPROFDATA_PARTIAL_INTERPRETED);
}
